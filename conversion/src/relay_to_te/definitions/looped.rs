//! A counted loop of elementwise operators in a kernel: each element runs all steps by itself.
//!
//!     relay.while(%i, %x) { %i < n } do { f(%x) }      =>      te.compute axes [..]  { x = x0[e] ; loop.for n  x = f(x) ; x }
//!
//! The state is carried by the loop and never stored. What comes from outside is loaded before the loop.

use super::elementwise::{broadcast_indices, element};
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Kernel, Scalar, Scalars};
use fusion_dialects::{
    Op, OpExt, PassError, Value, arguments, defining_op, key, kind_of, op_key, ops_in, relay, splat,
    tensor_type,
};
use fusion_operators::ops::shape::{BROADCAST_TO, RESHAPE};
use fusion_operators::{Operator, Tensor, TensorType};
use fusion_relay::loop_kernels::{UNROLL, counting};
use std::collections::{HashMap, HashSet};

/// Operators that give an element what it is.
const REPEATS: &[&Operator] = &[&BROADCAST_TO, &RESHAPE];

/// The scalars that stand for tensors at a point.
type Elements<'c> = HashMap<usize, Scalar<'c>>;

/// Builds the loop's computation from what stands for its operands and for values outside; gives its results.
pub fn build<'c>(
    kernel: &Kernel<'c>,
    op: Op<'c>,
    outside: &dyn Fn(Value<'c>) -> Value<'c>,
) -> Result<Vec<Value<'c>>, PassError<'c>> {
    let wrong = |what: &str| PassError::at(op, format_args!("cannot stand in a kernel: {what}"));
    let counted = counting(op).ok_or_else(|| wrong("it does not count to a constant"))?;
    let body = op.body(1).ok_or_else(|| wrong("it has no body"))?;
    let results = op.result_values();
    let types: Vec<TensorType> = results
        .iter()
        .map(|v| tensor_type(*v).filter(|t| t.shape().is_some()))
        .collect::<Option<_>>()
        .ok_or_else(|| wrong("it carries something else than tensors of known extents"))?;
    let shape = types.iter().filter(|t| t.rank() > 0).find_map(TensorType::shape);
    let shape = shape.ok_or_else(|| wrong("it carries no tensor but scalars"))?;
    if types.iter().any(|t| t.rank() > 0 && t.shape().as_ref() != Some(&shape)) {
        return Err(wrong("it carries tensors of several shapes"));
    }
    let given: Vec<usize> = (0..types.len()).filter(|&k| types[k].rank() > 0).collect();
    let wanted: Vec<TensorType> = given.iter().map(|&k| types[k].clone()).collect();
    let unroll = op.int(UNROLL).and_then(|n| u64::try_from(n).ok()).unwrap_or(1).max(1);
    let mut outcome = Ok(());
    let made = kernel.stage(
        "loop",
        &wanted,
        &[0u64; 0],
        &[],
        |s, axes, _| {
            let load = |value: Value<'c>| {
                let from = tensor_type(value).map_or_else(Vec::new, |t| t.dims);
                s.load(outside(value), &broadcast_indices(s, axes, &from, &wanted[0].dims))
            };
            let invariant: Elements = taken(op).into_iter().map(|v| (key(v), load(v))).collect();
            // Scalars that no tensor depends on (the counter, mostly) need not be carried.
            let live = live(op, &given);
            let first: Vec<Scalar> = op.operand_values().into_iter().map(load).collect();
            let mut run = |state: Vec<Scalar<'c>>, steps: u64, together: u64| {
                let values: Vec<Value> = live.iter().map(|&k| state[k].value).collect();
                let loops = Loops { build: s.build };
                let last = loops.for_(steps, LoopKind::Serial, &values, |inner, _, carried| {
                    let mut now = state.clone();
                    live.iter().zip(carried).for_each(|(&k, v)| now[k].value = *v);
                    for _ in 0..together {
                        match step(&inner.scalars(), body, &now, &invariant) {
                            Ok(next) => now = next,
                            Err(why) => outcome = Err(why),
                        }
                    }
                    live.iter().map(|&k| now[k].value).collect()
                });
                let mut after = state;
                live.iter().zip(last).for_each(|(&k, value)| after[k].value = value);
                after
            };
            let mut state = first;
            if counted.trips >= unroll {
                state = run(state, counted.trips / unroll, unroll);
            }
            if counted.trips % unroll > 0 {
                state = run(state, counted.trips % unroll, 1);
            }
            given.iter().map(|&k| state[k]).collect()
        },
        |_, so_far, _| so_far.to_vec(),
    );
    outcome?;
    let mut all: Vec<Value> = op.operand_values().into_iter().map(outside).collect();
    for (&k, value) in given.iter().zip(made) {
        all[k] = value;
    }
    match (0..all.len()).find(|k| !given.contains(k) && !fusion_dialects::unused(results[*k])) {
        Some(_) => Err(wrong("a scalar of its state is used behind it")),
        None => Ok(all),
    }
}

/// The values of the state that some of them depend on, these among them.
fn live(op: Op, wanted: &[usize]) -> Vec<usize> {
    let Some(body) = op.body(1) else { return Vec::new() };
    let own = arguments(body);
    let next = ops_in(body).last().map(|last| last.operand_values()).unwrap_or_default();
    let mut found: Vec<usize> = Vec::new();
    let mut open = wanted.to_vec();
    while let Some(k) = open.pop() {
        if found.contains(&k) {
            continue;
        }
        found.push(k);
        let (mut values, mut seen) = (vec![next[k]], HashSet::new());
        while let Some(value) = values.pop() {
            if seen.insert(key(value)) {
                values.extend(defining_op(value).map(|op| op.operand_values()).unwrap_or_default());
            }
        }
        open.extend((0..own.len()).filter(|&i| seen.contains(&key(own[i]))));
    }
    found.sort_unstable();
    found
}

/// What the body takes from outside, each once.
fn taken(op: Op<'_>) -> Vec<Value<'_>> {
    let Some(body) = op.body(1) else { return Vec::new() };
    let inside: Vec<usize> = ops_in(body).into_iter().map(op_key).collect();
    let own = arguments(body);
    let mut found: Vec<Value> = Vec::new();
    for value in ops_in(body).into_iter().flat_map(|o| o.operand_values()) {
        let is_inside =
            defining_op(value).is_some_and(|o| inside.contains(&op_key(o))) || own.contains(&value);
        if !is_inside && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// One step of the state.
fn step<'c>(
    s: &Scalars<'c>,
    body: fusion_dialects::Block<'c>,
    state: &[Scalar<'c>],
    invariant: &Elements<'c>,
) -> Result<Vec<Scalar<'c>>, PassError<'c>> {
    let mut known = invariant.clone();
    known.extend(arguments(body).into_iter().map(key).zip(state.iter().copied()));
    for op in ops_in(body) {
        let operands: Vec<Scalar> =
            op.operand_values().into_iter().filter_map(|v| known.get(&key(v)).copied()).collect();
        let made = match kind_of(op) {
            Some(Kind::Relay(relay::Op::Yield)) => return Ok(operands),
            Some(Kind::Relay(relay::Op::Constant)) => {
                op.attr("value").and_then(splat).map(|t| constant(s, &t))
            }
            Some(Kind::Operator(o)) if REPEATS.iter().any(|r| o.is(r)) => operands.first().copied(),
            Some(Kind::Operator(o)) => op
                .result_values()
                .first()
                .and_then(|v| tensor_type(*v))
                .and_then(|t| element(s, o, &op.attrs(), &operands, t.dtype)),
            _ => None,
        };
        let made = made
            .ok_or_else(|| PassError::at(op, "cannot stand in the loop of a kernel, which is elementwise"))?;
        known.extend(op.result_values().into_iter().map(|v| (key(v), made)));
    }
    Err(PassError::new(s.build.location, "a loop has a body without relay.yield"))
}

/// The number that a constant is everywhere.
fn constant<'c>(s: &Scalars<'c>, number: &Tensor) -> Scalar<'c> {
    match number.dtype().is_float() {
        true => s.float(number.f64_at(0), s.compute_type(number.dtype())),
        false => s.int(number.int_at(0) as i64, number.dtype()),
    }
}
