//! Loops whose number of steps is known: a counter goes up to a constant.
//!
//!     relay.while(%i = 0, %go = true, ...) { %i < 200 and %go } do { ... relay.yield %i + 1, %go, ... }      200 steps

use fusion_dialects::relay::constant_value;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, Value, arguments, defining_op, kind_of, ops_in};
use fusion_operators::Operator;
use fusion_operators::ops::elementwise::{ADD, LESS, LOGICAL_AND};

/// What is known of a loop that counts.
pub struct Counting {
    /// Which value of the state counts.
    pub counter: usize,
    /// What it begins with.
    pub first: i64,
    /// What is added to it in each step; above 0.
    pub step: i64,
    /// The number of steps; above 0.
    pub trips: u64,
}

impl Counting {
    /// What the counter is at the end.
    pub fn last(&self) -> i64 {
        self.first.wrapping_add(self.step.wrapping_mul(self.trips as i64))
    }

    /// The same with that many times as many steps; `None` where the counter would have no room for them.
    pub fn repeated(&self, times: u64) -> Option<Counting> {
        let trips = self.trips.checked_mul(times)?;
        fits(self.first, self.step, trips).then_some(Counting { trips, ..*self })
    }
}

/// What is known of a `relay.while` that counts to a constant; `None` for others.
pub fn counting(op: Op) -> Option<Counting> {
    let (test, body) = (op.body(0)?, op.body(1)?);
    let (taken, next) = (arguments(test), ops_in(body).last()?.operand_values());
    let asked = *ops_in(test).last()?.operand_values().first()?;
    let mut open = vec![asked];
    let mut found = None;
    while let Some(condition) = open.pop() {
        if let Some(position) = taken.iter().position(|a| *a == condition) {
            if !stays_true(op, position, next[position]) {
                return None;
            }
        } else if let Some([a, b]) = call_of(condition, &LOGICAL_AND) {
            open.extend([a, b]);
        } else if let Some([a, b]) = call_of(condition, &LESS) {
            let counter = taken.iter().position(|v| *v == a)?;
            if found.replace((counter, number(b)?)).is_some() {
                return None;
            }
        } else if !is_true(condition) {
            return None;
        }
    }
    let (counter, end) = found?;
    let own = arguments(body)[counter];
    let step = match call_of(next[counter], &ADD)? {
        [a, b] if a == own => number(b)?,
        [a, b] if b == own => number(a)?,
        _ => return None,
    };
    let first = number(op.operand_values()[counter])?;
    if step < 1 || end <= first {
        return None;
    }
    let trips = (i128::from(end) - i128::from(first) + i128::from(step) - 1) / i128::from(step);
    let trips = u64::try_from(trips).ok()?;
    fits(first, step, trips).then_some(Counting { counter, first, step, trips })
}

/// True when the counter has not wrapped around beyond the end.
fn fits(first: i64, step: i64, trips: u64) -> bool {
    let last = i128::from(trips).checked_mul(step.into()).and_then(|n| n.checked_add(first.into()));
    last.is_some_and(|last| i32::try_from(last).is_ok())
}

/// The operands of a binary operator's call that gives a value.
fn call_of<'c>(value: Value<'c>, operator: &'static Operator) -> Option<[Value<'c>; 2]> {
    let op = defining_op(value)?;
    let is_call = matches!(kind_of(op), Some(Kind::Operator(o)) if o.is(operator));
    is_call.then(|| op.operand_values().try_into().ok())?
}

/// The integer that a value is known to be.
fn number(value: Value) -> Option<i64> {
    let tensor = constant_value(value).filter(|t| t.dtype().is_int() && t.len() == 1)?;
    i64::try_from(tensor.int_at(0)).ok()
}

fn is_true(value: Value) -> bool {
    constant_value(value).is_some_and(|t| t.len() == 1 && t.int_at(0) != 0)
}

/// True when a value of the state is true in the beginning and after each step.
fn stays_true<'c>(op: Op<'c>, position: usize, next: Value<'c>) -> bool {
    let own = op.body(1).and_then(|b| arguments(b).get(position).copied());
    is_true(op.operand_values()[position]) && (Some(next) == own || is_true(next))
}
