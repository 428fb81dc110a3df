//! A body that was written several times: one step of it, to be run that many times as often.
//!
//!     for i in 0..10                              for i in 0..30
//!       a1, b1 = f(a, b)                            a, b = f(a, b)
//!       a2, b2 = f(a1, b1)                 =>
//!       a, b   = f(a2, b2)
//!
//! Who unrolls a loop by hand does it for a compiler that would not. Here how many steps stand behind each other is chosen by what
//! they take, and a step that is known as one needs fewer registers than several whose operations are mixed.
//!
//! With `m` operations a step, operation `i + m` must be operation `i` once more: the same operator of the same attributes, whose
//! operands are those of `i` a step later. The state a step later is what the first step makes of it. Operations that do not depend on
//! the state are of no step.

use super::passes;
use fusion_dialects::{Op, OpExt, OperationLike, Value, ValueLike, arguments, defining_op, key, ops_in};
use std::collections::{HashMap, HashSet};

/// One step of a loop.
pub struct Rolled<'c> {
    /// Its operations.
    pub ops: Vec<Op<'c>>,
    /// The state that follows.
    pub next: Vec<Value<'c>>,
    /// How often the body has it.
    pub copies: u64,
}

/// The shortest step that a body consists of; `None` where that is the body itself. `ops` compute what follows of the `state`, from
/// which the counter is left out: where they use it, each copy has another number.
pub fn rolled<'c>(op: Op<'c>, ops: &[Op<'c>], state: &[usize], counter: usize) -> Option<Rolled<'c>> {
    let body = op.body(1)?;
    let own = arguments(body);
    let uses_counter = ops.iter().any(|o| o.operand_values().contains(&own[counter]));
    if uses_counter || !fusion_dialects::unused(op.result_values()[counter]) {
        return None;
    }
    let last = ops_in(body).last()?.operand_values();
    let state: Vec<usize> = state.iter().copied().filter(|&k| !passes(op, k)).collect();
    let (ops, fixed) = apart(ops, state.iter().map(|&k| own[k]));
    (1..=ops.len() / 2).filter(|m| ops.len().is_multiple_of(*m)).find_map(|m| {
        let copies = ops.len() / m;
        let mut later = Later::of(state.iter().map(|&k| own[k]), &ops, m)?;
        // Else they are side by side, for several values of the state, and would only take turns.
        if !ops[m..2 * m].iter().any(|o| o.operand_values().iter().any(|v| later.is_of_first(*v))) {
            return None;
        }
        state.iter().for_each(|&k| later.assume(own[k], last[k], copies));
        let mut next = last.clone();
        for &k in &state {
            next[k] = later.after_a_step(own[k])?;
            let after = (0..copies).try_fold(own[k], |value, _| later.get(value));
            if after != Some(last[k]) {
                return None;
            }
        }
        let ops = fixed.iter().chain(&ops[..m]).copied().collect();
        Some(Rolled { ops, next, copies: copies as u64 })
    })
}

/// The operations that depend on the state, and those that do not, which all steps share.
fn apart<'c>(ops: &[Op<'c>], state: impl Iterator<Item = Value<'c>>) -> (Vec<Op<'c>>, Vec<Op<'c>>) {
    let mut changing: HashSet<usize> = state.map(key).collect();
    ops.iter().partition(|op| {
        let changes = op.operand_values().iter().any(|v| changing.contains(&key(*v)));
        if changes {
            changing.extend(op.result_values().into_iter().map(key));
        }
        changes
    })
}

/// What values are a step later.
struct Later<'c> {
    /// The state, as far as it changes.
    state: HashSet<usize>,
    /// Results of operations, and those of the first step among them.
    results: HashSet<usize>,
    of_first: HashSet<usize>,
    known: HashMap<usize, Value<'c>>,
    /// The other way round.
    before: HashMap<usize, Value<'c>>,
}

impl<'c> Later<'c> {
    /// Where operations repeat after `m`; `None` where they do not.
    fn of(state: impl Iterator<Item = Value<'c>>, ops: &[Op<'c>], m: usize) -> Option<Self> {
        let (before, after) = (&ops[..ops.len() - m], &ops[m..]);
        if !before.iter().zip(after).all(|(a, b)| is_same(*a, *b)) {
            return None;
        }
        let results = |ops: &[Op<'c>]| ops.iter().flat_map(|op| op.result_values()).collect::<Vec<_>>();
        let keys = |values: Vec<Value<'c>>| values.into_iter().map(key).collect();
        let mut later = Later {
            state: state.map(key).collect(),
            results: keys(results(ops)),
            of_first: keys(results(&ops[..m])),
            known: HashMap::new(),
            before: HashMap::new(),
        };
        results(before).into_iter().zip(results(after)).for_each(|(a, b)| _ = later.is(a, b));
        before.iter().zip(after).all(|(a, b)| later.takes(*a, *b)).then_some(later)
    }

    /// True when `a` is `b` a step later, as it is from here on where nothing is known of it.
    fn is(&mut self, a: Value<'c>, b: Value<'c>) -> bool {
        let known = *self.known.entry(key(a)).or_insert(b);
        self.before.entry(key(b)).or_insert(a);
        known == b
    }

    /// True when the operands of `b` are those of `a` a step later.
    fn takes(&mut self, a: Op<'c>, b: Op<'c>) -> bool {
        let mut pairs = a.operand_values().into_iter().zip(b.operand_values());
        pairs.all(|(a, b)| if self.changes(a) { self.is(a, b) } else { is_equal(a, b) })
    }

    /// A value of the state that is `last` after all steps and that none of the later ones reads: it stays, or is what the last step
    /// makes of it.
    fn assume(&mut self, own: Value<'c>, last: Value<'c>, copies: usize) {
        let earlier =
            |value| if self.changes(value) { self.before.get(&key(value)).copied() } else { Some(value) };
        let next =
            if last == own { Some(own) } else { (1..copies).try_fold(last, |value, _| earlier(value)) };
        if let Some(next) = next.filter(|_| !self.known.contains_key(&key(own))) {
            self.is(own, next);
        }
    }

    fn changes(&self, value: Value<'c>) -> bool {
        self.state.contains(&key(value)) || self.results.contains(&key(value))
    }

    fn get(&self, value: Value<'c>) -> Option<Value<'c>> {
        if self.changes(value) { self.known.get(&key(value)).copied() } else { Some(value) }
    }

    /// A value of the state a step later, where the first step has it.
    fn after_a_step(&self, own: Value<'c>) -> Option<Value<'c>> {
        let next = self.get(own)?;
        (!self.results.contains(&key(next)) || self.is_of_first(next)).then_some(next)
    }

    /// True for results of the first step.
    fn is_of_first(&self, value: Value<'c>) -> bool {
        self.of_first.contains(&key(value))
    }
}

/// True for the same value, and for equal constants.
fn is_equal(a: Value, b: Value) -> bool {
    let ops = defining_op(a).zip(defining_op(b));
    a == b || ops.is_some_and(|(a, b)| a.operand_count() == 0 && is_same(a, b))
}

/// True for the same operator with the same attributes and types.
fn is_same<'c>(a: Op<'c>, b: Op<'c>) -> bool {
    let types = |op: Op<'c>| op.result_values().into_iter().map(|v| v.r#type()).collect::<Vec<_>>();
    a.name() == b.name()
        && a.operand_count() == b.operand_count()
        && a.region_count() + b.region_count() == 0
        && a.attributes().eq(b.attributes())
        && types(a) == types(b)
}
