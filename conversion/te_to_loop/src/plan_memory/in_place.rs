//! Kernels that update one of their operands.
//!
//! The result of such a kernel (`loop.updates`) starts as that operand, and the program puts it there before the
//! call: with a copy, or, when nobody wants the operand afterwards, by giving the result the operand's memory. The
//! second makes a loop that fills a tensor row by row take time by its rows, not by their square.

use crate::lower::UPDATES;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Block, Op, OpExt, OperationLike, Value, defining_op, key, op_key, ops_in, users};
use std::collections::{HashMap, HashSet};

/// The operand that the kernel of a call updates, if it updates one.
pub fn updated_operand<'c>(call: Op<'c>, kernels: &HashMap<&'c str, Op<'c>>) -> Option<usize> {
    let kernel = kernels.get(call.text("kernel")?)?;
    let updated = usize::try_from(kernel.int(UPDATES)?).ok()?;
    let (operands, results) = (call.operand_values(), call.result_values());
    (updated < operands.len() && results.len() == 1).then_some(updated)
}

/// True when nothing after the call, nor the call by another operand, reads the memory of an operand; `exclusive` are
/// the tensors whose memory is theirs and their views', with the blocks they belong to.
pub fn ends_at<'c>(call: Op<'c>, operand: usize, exclusive: &HashMap<usize, Block<'c>>) -> bool {
    let mut root = call.operand_values()[operand];
    while let Some(source) = viewed(root) {
        root = source;
    }
    // In another block the call may run again, and wants the operand then.
    let Some(block) = call.block().filter(|block| exclusive.get(&key(root)) == Some(block)) else {
        return false;
    };
    let (mut names, mut next) = (vec![root], 0);
    let mut readers: Vec<Op> = Vec::new();
    while let Some(&name) = names.get(next) {
        for user in users(name) {
            match user.kind() {
                Some(Kind::Te(Te::View)) => names.extend(user.result_values()),
                // What a condition hands on has other names behind it.
                Some(Kind::Upstream(Upstream::Condition)) => return false,
                _ => readers.push(user),
            }
        }
        next += 1;
    }
    let before: HashSet<usize> = ops_in(block).into_iter().take_while(|op| *op != call).map(op_key).collect();
    let is_before = |reader: Op<'c>| {
        std::iter::successors(Some(reader), |op| op.parent_operation()).any(|op| before.contains(&op_key(op)))
    };
    // A use counts once an operand: the call may be there once only.
    readers.iter().filter(|reader| **reader == call).count() == 1
        && readers.iter().all(|reader| *reader == call || is_before(*reader))
}

/// The source of a view.
fn viewed(value: Value) -> Option<Value> {
    let op = defining_op(value).filter(|op| matches!(op.kind(), Some(Kind::Te(Te::View))))?;
    op.operand_values().first().copied()
}
