//! What a step of a loop kernel takes: numbers that its time is calculated from.
//!
//!     %t = relay.sin %a ; %b' = relay.add %b, %t ; relay.yield %i + 1, %b, %b'
//!
//!     operations 10 + 1        of one element, a sine counts as ten
//!     chain      11            the longest way from the state to the state that follows
//!     carried    2             values of the state, each in a register
//!     moved      1             those that take the place of another: a was b
//!     live       3             values that are needed at the same time
//!
//! A product that is only added, once, is part of the sum: a multiply-add.

use super::counting::counting;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, Value, arguments, key, kind_of, nested_ops, ops_in, relay, tensor_type, users,
};
use fusion_operators::ops::elementwise::{ADD, MUL, SUB};
use fusion_operators::{Call, Operator, TensorType};
use std::collections::HashMap;

/// What a loop kernel does in each step, for one element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// Steps.
    pub trips: u64,
    /// Elements, each of which runs all steps.
    pub elements: u64,
    /// Operations of a step.
    pub operations: f64,
    /// Operations on the longest way through a step.
    pub chain: f64,
    /// Values that are carried from step to step.
    pub carried: u64,
    /// Those of them that are another of them in the next step.
    pub moved: u64,
    /// The most values that are needed at a time.
    pub live: u64,
}

/// The loop of a kernel: the `relay.while` in a primitive function, if it has one.
pub fn loop_of(function: Op<'_>) -> Option<Op<'_>> {
    let is_loop = |op: &Op| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::While)));
    nested_ops(function).into_iter().find(is_loop)
}

/// What the steps of a `relay.while` take that is elementwise; `None` where it does not count to a constant.
pub fn steps(op: Op) -> Option<Steps> {
    let trips = counting(op)?.trips;
    let body = op.body(1)?;
    let (own, mut ops) = (arguments(body), ops_in(body));
    let next = ops.pop()?.operand_values();
    let is_carried = |v: &Value| tensor_type(*v).is_some_and(|t| t.rank() > 0);
    let elements = own.iter().filter_map(|v| tensor_type(*v)?.elements()).max()?;
    let mut steps = Steps { trips, elements, ..Steps::default() };
    steps.carried = own.iter().filter(|v| is_carried(v)).count() as u64;
    let other = |(k, v): (usize, &Value)| is_carried(v) && own.contains(v) && own.get(k) != Some(v);
    steps.moved = next.iter().enumerate().filter(|(k, v)| other((*k, v))).count() as u64;
    let mut depth: HashMap<usize, f64> = HashMap::new();
    for op in &ops {
        let work = if is_added(*op) { 0.0 } else { of_an_element(*op, elements) };
        steps.operations += work;
        let before =
            op.operand_values().iter().filter_map(|v| depth.get(&key(*v))).copied().fold(0.0, f64::max);
        op.result_values().iter().for_each(|v| _ = depth.insert(key(*v), before + work));
    }
    steps.chain = next.iter().filter_map(|v| depth.get(&key(*v))).copied().fold(0.0, f64::max);
    steps.live = most_live(&own, &ops, &next);
    Some(steps)
}

/// True for a product that nothing but one sum or difference reads.
fn is_added(op: Op) -> bool {
    let is = |op: Op, all: &[&Operator]| matches!(kind_of(op), Some(Kind::Operator(o)) if all.iter().any(|a| o.is(a)));
    let results = op.result_values();
    let floats = results.iter().all(|v| tensor_type(*v).is_some_and(|t| t.dtype.is_float()));
    let users: Vec<Op> = results.into_iter().flat_map(users).collect();
    floats && is(op, &[&MUL]) && users.len() == 1 && users.iter().all(|user| is(*user, &[&ADD, &SUB]))
}

/// Operations that a call takes for each element of the loop; none for what is a scalar, which all elements share.
fn of_an_element(op: Op, elements: u64) -> f64 {
    let Some(Kind::Operator(operator)) = kind_of(op) else { return 0.0 };
    let types = |values: Vec<Value>| values.into_iter().filter_map(tensor_type).collect::<Vec<TensorType>>();
    let (operands, results) = (types(op.operand_values()), types(op.result_values()));
    if results.iter().all(|t| t.rank() == 0) {
        return 0.0;
    }
    let attrs = op.attrs();
    (operator.cost)(&Call { op: operator, operands: &operands, attrs: &attrs }, &results) / elements as f64
}

/// The most tensors that are needed at a time, from what a step begins with to what it gives.
fn most_live<'c>(own: &[Value<'c>], ops: &[Op<'c>], next: &[Value<'c>]) -> u64 {
    let mut last: HashMap<usize, usize> = HashMap::new();
    for (place, op) in ops.iter().enumerate() {
        op.operand_values().iter().for_each(|v| _ = last.insert(key(*v), place));
    }
    next.iter().for_each(|v| _ = last.insert(key(*v), ops.len()));
    let is_tensor = |v: &&Value| tensor_type(**v).is_some_and(|t| t.rank() > 0);
    let mut live: Vec<usize> = own.iter().filter(is_tensor).map(|v| key(*v)).collect();
    let mut most = live.len();
    for (place, op) in ops.iter().enumerate() {
        live.extend(op.result_values().iter().filter(is_tensor).map(|v| key(*v)));
        most = most.max(live.len());
        live.retain(|value| last.get(value).is_some_and(|&used| used > place));
    }
    most as u64
}
