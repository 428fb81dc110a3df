//! State in pieces: what the body of a loop is when tensors are taken apart along leading axes.
//!
//!     %p : [4, n]                                     p0, p1, p2, p3 : [n]
//!     %x = gather(%p, 0)                        =>    x = p0
//!     %q = concat(expand_dims(%x + 1), ...)           q0 = x + 1, ...
//!
//! All loops of a kernel go over one shape, that of the elements. A tensor of that shape, or of one that broadcasts to it, is one
//! piece; one with axes in front of it is a piece for each place along these. Operators that only move whole pieces around
//! are gone then, and all that is left must be elementwise.

use super::counting::{Counting, counting};
use super::passes;
use super::rolled::rolled;
use fusion_dialects::relay::constant_value;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, Value, arguments, defining_op, is_splat, key, kind_of, op_key, ops_in, relay, tensor_type,
    unused,
};
use fusion_operators::ops::indexing::GATHER;
use fusion_operators::ops::shape::{
    BROADCAST_TO, CONCAT, EXPAND_DIMS, RESHAPE, SLICE, SPLIT, SQUEEZE, slices,
};
use fusion_operators::ops::{elementwise, indexing};
use fusion_operators::relation::{checked_axis, int_attr};
use fusion_operators::{Call, Operator, TensorType};
use std::collections::HashSet;

/// Pieces of one tensor, at most.
const MOST_PIECES: usize = 64;

/// A loop that is elementwise.
pub struct Form<'c> {
    /// How it counts.
    pub counting: Counting,
    /// The shape that its loops go over.
    pub shape: Vec<u64>,
    /// The values of the state that are needed, the counter among them.
    pub state: Vec<usize>,
    /// The operations of a step, without constants.
    pub body: Vec<Op<'c>>,
    /// The state that follows a step.
    pub next: Vec<Value<'c>>,
}

/// Which pieces an operator's results are, as those of its operands.
pub enum Moves {
    /// Each piece is computed of those at the same place of all operands.
    Elementwise,
    /// For each result, the operand and its piece that each of its pieces is.
    Pieces(Vec<Vec<(usize, usize)>>),
}

/// The form of a `relay.while` that can be a kernel; `None` for others. Nothing is changed.
pub fn form(op: Op<'_>) -> Option<Form<'_>> {
    let counting = counting(op)?;
    let mut state = needed(op)?;
    if !state.contains(&counting.counter) {
        state.push(counting.counter);
        state.sort_unstable();
    }
    let shapes = |v: &Value| tensor_type(*v).and_then(|t| t.shape());
    let carried = op.operand_values();
    let all: Vec<Vec<u64>> = state.iter().map(|&k| shapes(&carried[k])).collect::<Option<_>>()?;
    let mut candidates: Vec<Vec<u64>> = all.iter().filter(|s| !s.is_empty()).cloned().collect();
    candidates.sort_by_key(|s| s.len());
    let tails: Vec<Vec<u64>> = candidates.iter().filter(|s| s.len() > 1).map(|s| s[1..].to_vec()).collect();
    candidates.extend(tails);
    candidates.dedup();
    let body: Vec<Op> = live_ops(op, &state);
    let fits = |shape: &Vec<u64>| {
        let known = |v: Value| lead(&tensor_type(v)?, shape);
        let carried = state.iter().all(|&k| {
            let ty = tensor_type(carried[k]);
            // What is carried is as large as what goes over the loops, or a scalar.
            ty.is_some_and(|t| t.rank() == 0 || t.rank() >= shape.len() && lead(&t, shape).is_some())
        });
        let steps = body.iter().all(|op| {
            op.operand_values()
                .into_iter()
                .chain(op.result_values())
                .all(|v| known(v).is_some() || is_index(v))
                && moves(*op, shape).is_some()
        });
        shape.iter().product::<u64>() > 0 && carried && steps
    };
    let shape = candidates.into_iter().find(fits)?;
    let next = ops_in(op.body(1)?).last()?.operand_values();
    let counter = counting.counter;
    let others: Vec<usize> = state.iter().copied().filter(|&k| k != counter).collect();
    if let Some(step) = rolled(op, &live_ops(op, &others), &others, counter)
        && let Some(counting) = counting.repeated(step.copies)
    {
        return Some(Form { counting, shape, state, body: step.ops, next: step.next });
    }
    Some(Form { counting, shape, state, body, next })
}

/// The values of the state that the results that are used depend on; `None` when one of these is a scalar that no constant is.
fn needed(op: Op) -> Option<Vec<usize>> {
    let body = op.body(1)?;
    let (own, next) = (arguments(body), ops_in(body).last()?.operand_values());
    let counter = counting(op)?.counter;
    let mut found: Vec<usize> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (k, result) in op.result_values().into_iter().enumerate() {
        if unused(result) || k == counter || passes(op, k) {
            continue;
        }
        if tensor_type(result)?.rank() == 0 {
            return None;
        }
        open.push(k);
    }
    while let Some(k) = open.pop() {
        if found.contains(&k) || passes(op, k) {
            continue;
        }
        found.push(k);
        let mut values = HashSet::new();
        reached(next[k], &mut values);
        open.extend((0..own.len()).filter(|&i| values.contains(&key(own[i]))));
    }
    found.sort_unstable();
    (!found.is_empty()).then_some(found)
}

/// A value and all that it is computed of.
fn reached(value: Value, found: &mut HashSet<usize>) {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        if found.insert(key(next)) {
            open.extend(defining_op(next).map(|op| op.operand_values()).unwrap_or_default());
        }
    }
}

/// The operations of the body that the next values of a part of the state are computed by, without constants.
fn live_ops<'c>(op: Op<'c>, state: &[usize]) -> Vec<Op<'c>> {
    let Some(body) = op.body(1) else { return Vec::new() };
    let mut ops = ops_in(body);
    let next = ops.pop().map(|last| last.operand_values()).unwrap_or_default();
    let mut values = HashSet::new();
    state.iter().for_each(|&k| reached(next[k], &mut values));
    let is_constant =
        |op: &Op| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::Constant))) && !is_large(*op);
    let is_live = |op: &Op| op.result_values().into_iter().any(|v| values.contains(&key(v)));
    ops.into_iter().filter(|op| is_live(op) && !is_constant(op)).collect()
}

/// True for constants of several numbers, which a kernel does not hold.
fn is_large(op: Op) -> bool {
    !op.attr("value").is_some_and(is_splat)
}

/// The number that all elements of a constant are.
pub fn is_uniform(value: Value) -> bool {
    let op = defining_op(value).filter(|op| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::Constant))));
    op.is_some_and(|op| !is_large(op))
}

/// True for what a gather takes its pieces by.
fn is_index(value: Value) -> bool {
    constant_value(value).is_some_and(|t| t.dtype().is_int())
        && fusion_dialects::users(value).iter().all(|op| is(*op, &GATHER))
}

fn is(op: Op, operator: &'static Operator) -> bool {
    matches!(kind_of(op), Some(Kind::Operator(o)) if o.is(operator))
}

/// The axes in front of the elements of a tensor: none for one piece.
pub fn lead(ty: &TensorType, elements: &[u64]) -> Option<Vec<u64>> {
    let shape = ty.shape()?;
    if shape.len() <= elements.len() {
        let last = &elements[elements.len() - shape.len()..];
        return shape.iter().zip(last).all(|(&n, &m)| n == 1 || n == m).then(Vec::new);
    }
    let (front, back) = shape.split_at(shape.len() - elements.len());
    let few = front
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d as usize))
        .is_some_and(|n| (1..=MOST_PIECES).contains(&n));
    (back == elements && few).then(|| front.to_vec())
}

/// All places along leading axes, in row-major order.
pub fn places(lead: &[u64]) -> Vec<Vec<u64>> {
    let grow = |found: Vec<Vec<u64>>, n: &u64| -> Vec<Vec<u64>> {
        found.iter().flat_map(|at| (0..*n).map(move |i| [at.as_slice(), &[i]].concat())).collect()
    };
    lead.iter().fold(vec![Vec::new()], grow)
}

/// The row-major number of a place; axes of one place stay at 0, and missing ones in front do not matter.
pub fn piece_at(lead: &[u64], place: &[u64]) -> usize {
    let place = &place[place.len() - lead.len()..];
    lead.iter().zip(place).fold(0, |n, (&d, &i)| n * d as usize + if d == 1 { 0 } else { i as usize })
}

/// How an operator moves pieces of tensors with such elements; `None` when it is none that can stand in a kernel.
pub fn moves(op: Op, elements: &[u64]) -> Option<Moves> {
    let Some(Kind::Operator(operator)) = kind_of(op) else { return None };
    if elementwise::ALL.iter().any(|o| operator.is(o)) {
        return Some(Moves::Elementwise);
    }
    let types: Vec<TensorType> = op.operand_values().into_iter().map(tensor_type).collect::<Option<_>>()?;
    let attrs = op.attrs();
    let call = Call { op: operator, operands: &types, attrs: &attrs };
    let results: Vec<TensorType> = op.result_values().into_iter().map(tensor_type).collect::<Option<_>>()?;
    let leads: Vec<Vec<u64>> = results.iter().map(|t| lead(t, elements)).collect::<Option<_>>()?;
    let from = lead(&types[0], elements);
    let moved = if operator.is(&GATHER) {
        let (from, axis) = (from?, indexing::axis(&call).ok()?);
        let numbers = constant_value(op.operand_values()[1])?;
        let rank = types[1].rank();
        let extent = *from.get(axis)?;
        let at = |place: &Vec<u64>| {
            let index = piece_at(&types[1].shape()?, &place[axis..axis + rank]);
            let number = i64::try_from(numbers.int_at(index)).ok()?;
            let number = if number < 0 { number + extent as i64 } else { number };
            let number = u64::try_from(number).ok().filter(|&n| n < extent)?;
            Some((0, piece_at(&from, &[&place[..axis], &[number], &place[axis + rank..]].concat())))
        };
        vec![places(&leads[0]).iter().map(at).collect::<Option<_>>()?]
    } else if operator.is(&SLICE) {
        let (from, slices) = (from?, slices(&call).ok()?);
        if slices.iter().any(|s| s.axis >= from.len()) {
            return None;
        }
        let at = |place: &Vec<u64>| {
            let mut place = place.clone();
            for s in &slices {
                let (begin, _) = s.of(from[s.axis]);
                place[s.axis] =
                    u64::try_from(begin + i128::from(place[s.axis]) * i128::from(s.stride)).ok()?;
            }
            Some((0, piece_at(&from, &place)))
        };
        vec![places(&leads[0]).iter().map(at).collect::<Option<_>>()?]
    } else if operator.is(&SPLIT) {
        let (from, axis) = (from?, checked_axis(int_attr(&call, "axis", 1).ok()?, types[0].rank(), 1).ok()?);
        from.get(axis)?;
        let mut begin = 0;
        let mut each = Vec::new();
        for lead in &leads {
            let at = |place: Vec<u64>| {
                let mut place = place;
                place[axis] += begin;
                (0, piece_at(&from, &place))
            };
            each.push(places(lead).into_iter().map(at).collect());
            begin += lead.get(axis)?;
        }
        each
    } else if operator.is(&CONCAT) {
        let axis = checked_axis(int_attr(&call, "axis", 2).ok()?, types[0].rank(), 2).ok()?;
        leads[0].get(axis)?;
        let fronts: Vec<Vec<u64>> = types.iter().map(|t| lead(t, elements)).collect::<Option<_>>()?;
        let at = |mut place: Vec<u64>| {
            for (k, front) in fronts.iter().enumerate() {
                if place[axis] < front[axis] {
                    return Some((k, piece_at(front, &place)));
                }
                place[axis] -= front[axis];
            }
            None
        };
        vec![places(&leads[0]).into_iter().map(at).collect::<Option<_>>()?]
    } else if operator.is(&BROADCAST_TO) {
        let from = from?;
        vec![places(&leads[0]).iter().map(|place| (0, piece_at(&from, place))).collect()]
    } else if [&RESHAPE, &SQUEEZE, &EXPAND_DIMS].iter().any(|o| operator.is(o)) {
        let count = |lead: &[u64]| lead.iter().product::<u64>();
        let whole = |t: &TensorType| t.shape().is_some_and(|s| s.ends_with(elements));
        let one = |t: &TensorType| t.elements() == Some(1);
        let (from, to) = (from?, &leads[0]);
        let fits = count(&from) == count(to) && (whole(&types[0]) && whole(&results[0]) || one(&types[0]));
        fits.then(|| vec![(0..count(&from) as usize).map(|piece| (0, piece)).collect()])?
    } else {
        return None;
    };
    Some(Moves::Pieces(moved))
}

/// The values from outside that a step uses, each once; what the loop passes on unchanged is what it began with.
pub fn taken<'c>(op: Op<'c>, form: &Form<'c>) -> Vec<Value<'c>> {
    let Some(block) = op.body(1) else { return Vec::new() };
    let inside: HashSet<usize> = ops_in(block).into_iter().map(op_key).collect();
    let own = arguments(block);
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    let given = form.state.iter().filter(|&&k| k != form.counting.counter).map(|&k| form.next[k]);
    for value in form.body.iter().flat_map(|o| o.operand_values()).chain(given) {
        let argument = own.iter().position(|a| *a == value);
        let value = argument.map_or(value, |k| op.operand_values()[k]);
        let changes = argument.is_some_and(|k| !passes(op, k));
        let is_inside = defining_op(value).is_some_and(|o| inside.contains(&op_key(o)));
        if !is_inside && !changes && !is_index(value) && seen.insert(key(value)) {
            found.push(value);
        }
    }
    found
}
