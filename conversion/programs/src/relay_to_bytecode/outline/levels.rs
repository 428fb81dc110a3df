//! Which operations of a block run before which kernel.
//!
//! Tensor code of level n runs as one kernel after the other operations of level n, which may wait for kernels below n alone:
//!
//! ```text
//!     level of tensor code  >=  levels of what it uses           others 0, kernel 0, others 1, kernel 1, ...
//!     level of others       >=  levels of others it uses,
//!                               1 + levels of tensor code it uses, the level of the last one with an effect
//! ```
//!
//! The smallest levels give the fewest kernels. Tensor code that has a choice (nobody needs it yet at its smallest level) takes the
//! highest at which there is a kernel anyway: it is then computed where it is used, and nothing is kept from kernel to kernel.

use super::{Extents, extents, is_constant, used};
use crate::relay_to_bytecode::scalars::in_kernels;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, Value, key, kind_of, nested_ops, op_key, parent_of, relay, users};
use fusion_operators::ops::creation::DYNAMIC_IOTA;
use fusion_relay_to_te::tiles::weights;
use std::collections::{BTreeSet, HashMap};

/// What runs together.
#[derive(Default)]
pub struct Level<'c> {
    /// First these, in order.
    pub others: Vec<Op<'c>>,
    /// Then these, as one kernel.
    pub tensors: Vec<Op<'c>>,
}

/// The operations of a block but its last, by levels.
pub fn levels<'c>(ops: &[Op<'c>]) -> Vec<Level<'c>> {
    let places: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
    let tensor = in_kernels(ops);
    let mut of: HashMap<usize, usize> = HashMap::new();
    let mut level = vec![0; ops.len()];
    let mut effect = 0;
    for (i, op) in ops.iter().enumerate() {
        let mut least = 0;
        for value in used(*op) {
            if let Some(&from) = of.get(&key(value)) {
                least = least.max(level[from] + usize::from(tensor[from] && !tensor[i]));
            }
        }
        if has_effect(*op) {
            least = least.max(effect);
            effect = least;
        }
        level[i] = least;
        of.extend(op.result_values().into_iter().map(|v| (key(v), i)));
    }
    let count = level.iter().max().map_or(0, |most| most + 1);
    let mut settled: BTreeSet<usize> = BTreeSet::new();
    let mut latest = vec![0; ops.len()];
    for i in (0..ops.len()).rev().filter(|i| tensor[*i]) {
        latest[i] = latest_of(ops[i], count, &places, &tensor, |user| latest[user], &level);
        if latest[i] == level[i] {
            settled.insert(level[i]);
        }
    }
    for i in (0..ops.len()).rev().filter(|i| tensor[*i]) {
        let most = latest_of(ops[i], count, &places, &tensor, |user| level[user], &level);
        level[i] = settled.range(level[i]..=most).next_back().copied().unwrap_or(most);
        settled.insert(level[i]);
    }
    let mut all: Vec<Level> = (0..count).map(|_| Level::default()).collect();
    for (i, op) in ops.iter().enumerate() {
        let at = &mut all[level[i]];
        if tensor[i] { at.tensors.push(*op) } else { at.others.push(*op) }
    }
    all
}

/// Tensor code of one level as kernels: what has dynamic extents stands beside what has not, and each waits for what it uses. A number
/// from which an extent is taken is computed by a kernel before.
pub fn groups<'c>(tensors: &[Op<'c>]) -> Vec<Vec<Op<'c>>> {
    let mut of: HashMap<usize, usize> = HashMap::new();
    for op in tensors {
        // Even groups have known extents.
        let parity = usize::from(extents(*op) == Some(Extents::Dynamic));
        let before = |v: Value<'c>| Some(of.get(&key(v)).copied()? + usize::from(takes_extent_from(*op, v)));
        let least = used(*op).into_iter().filter_map(before).max().unwrap_or(0);
        let group = least + usize::from(least % 2 != parity);
        of.extend(op.result_values().into_iter().map(|v| (key(v), group)));
    }
    // A weight is made where it is multiplied.
    let products = weights::of_products(tensors);
    let group_of = |op: &Op<'c>| {
        let at = products.get(&op_key(*op)).unwrap_or(op);
        at.result_values().first().and_then(|v| of.get(&key(*v))).copied().unwrap_or(0)
    };
    let mut groups: Vec<Vec<Op<'c>>> = Vec::new();
    for op in tensors {
        let group = group_of(op);
        groups.resize_with(groups.len().max(group + 1), Vec::new);
        groups[group].push(*op);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// True for a number that says how large the operation's result is: it is known before the kernel runs.
fn takes_extent_from<'c>(op: Op<'c>, value: Value<'c>) -> bool {
    let sized = matches!(kind_of(op), Some(Kind::Operator(operator)) if operator.is(&DYNAMIC_IOTA));
    sized && op.operand_values().contains(&value)
}

/// The last level at which tensor code may run.
fn latest_of(
    op: Op,
    count: usize,
    places: &HashMap<usize, usize>,
    tensor: &[bool],
    of_tensor: impl Fn(usize) -> usize,
    level: &[usize],
) -> usize {
    let mut latest = count.saturating_sub(1);
    for user in op.result_values().into_iter().flat_map(users) {
        // The operation of this block that the user is, or is nested in; the block's last has no place.
        let around = std::iter::successors(Some(user), |op| parent_of(*op));
        if let Some(&at) = around.into_iter().find_map(|op| places.get(&op_key(op))) {
            latest = latest.min(if tensor[at] { of_tensor(at) } else { level[at].saturating_sub(1) });
        }
    }
    latest
}

/// True for operations that must stay in order.
fn has_effect(op: Op) -> bool {
    use relay::Op as R;
    let itself = |op: Op| match kind_of(op) {
        Some(Kind::Operator(_)) => false,
        Some(Kind::Relay(kind)) => matches!(kind, R::Apply | R::Call | R::RefNew | R::RefRead | R::RefWrite),
        _ => !is_constant(op),
    };
    // What a closure does, it does when it is called.
    let runs_regions = matches!(kind_of(op), Some(Kind::Relay(R::If | R::While | R::Match)));
    itself(op) || runs_regions && nested_ops(op).into_iter().any(itself)
}
