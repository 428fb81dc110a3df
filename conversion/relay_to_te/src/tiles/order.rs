//! An order of operations in which those of each tile stand together.

use fusion_dialects::{Op, OpExt, defining_op, op_key};
use std::collections::{BTreeSet, HashMap};

/// The operations in such an order, otherwise as before where that is possible.
pub fn together<'c>(ops: &[Op<'c>], tiles: &[Vec<Op<'c>>]) -> Vec<Op<'c>> {
    // What stands together is one node, with the place of its first operation.
    let places: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
    let mut node: Vec<usize> = (0..ops.len()).collect();
    for members in tiles {
        let at: Vec<usize> = members.iter().filter_map(|op| places.get(&op_key(*op)).copied()).collect();
        let first = at.iter().copied().min().unwrap_or(0);
        at.into_iter().for_each(|i| node[i] = first);
    }
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut waits: HashMap<usize, BTreeSet<usize>> = HashMap::new();
    let mut wanted: HashMap<usize, BTreeSet<usize>> = HashMap::new();
    for (i, op) in ops.iter().enumerate() {
        members.entry(node[i]).or_default().push(i);
        let waits = waits.entry(node[i]).or_default();
        let makers = op.operand_values().into_iter().filter_map(defining_op);
        for from in makers.filter_map(|maker| places.get(&op_key(maker)).map(|&at| node[at])) {
            if from != node[i] && waits.insert(from) {
                wanted.entry(from).or_default().insert(node[i]);
            }
        }
    }
    let mut ready: BTreeSet<usize> = waits.iter().filter(|(_, w)| w.is_empty()).map(|(n, _)| *n).collect();
    let mut made = Vec::with_capacity(ops.len());
    while let Some(next) = ready.pop_first() {
        made.extend(members[&next].iter().map(|&i| ops[i]));
        for user in wanted.remove(&next).unwrap_or_default() {
            if let Some(left) = waits.get_mut(&user)
                && left.remove(&next)
                && left.is_empty()
            {
                ready.insert(user);
            }
        }
    }
    debug_assert_eq!(made.len(), ops.len(), "no tile waits for itself");
    made
}
