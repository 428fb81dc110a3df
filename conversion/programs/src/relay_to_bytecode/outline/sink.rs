//! Tensor code that one region of a branch alone needs is computed there.
//!
//! ```text
//!   %h = relay.dense %x, %w                          relay.match %list
//!   relay.match %list                                case [@List::@Nil] { yield %x }
//!   case [@List::@Nil] { yield %x }         ==>      case [@List::@Cons, ...] {
//!   case [@List::@Cons, ...] { ... %h }                %h = relay.dense %x, %w ...
//! ```
//!
//! The other regions then do not pay for it. Bodies of loops and closures may run often; nothing sinks into those.

use super::is_tensor_code;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Block, BlockLike, Op, OpExt, OperationLike, kind_of, op_key, ops_in, parent_of, relay, users,
};
use std::collections::HashSet;

/// Moves what can be moved out of a block.
pub fn sink(block: Block) {
    let ops = ops_in(block);
    let here: HashSet<usize> = ops.iter().map(|op| op_key(*op)).collect();
    for op in ops.iter().rev().filter(|op| is_tensor_code(**op)) {
        if let Some(into) = only_region(*op, &here)
            && let Some(first) = into.first_operation()
        {
            op.move_before_op(first);
        }
    }
}

/// The region's block that holds all uses of an operation's results, when it is a branch's.
fn only_region<'c>(op: Op<'c>, here: &HashSet<usize>) -> Option<Block<'c>> {
    let mut found: Option<(usize, Block<'c>)> = None;
    for user in op.result_values().into_iter().flat_map(users) {
        let (branch, block) = region_of(user, here)?;
        let index = (0..branch.region_count()).position(|i| branch.body(i) == Some(block))?;
        match &found {
            None => found = Some((index, block)),
            Some((_, known)) => (*known == block).then_some(())?,
        }
    }
    found.map(|(_, block)| block)
}

/// The branch of a block that a use stands in, and the region's block.
fn region_of<'c>(user: Op<'c>, here: &HashSet<usize>) -> Option<(Op<'c>, Block<'c>)> {
    let mut inner = user;
    loop {
        if here.contains(&op_key(inner)) {
            return None;
        }
        let outer = parent_of(inner)?;
        if here.contains(&op_key(outer)) {
            let branches = matches!(kind_of(outer), Some(Kind::Relay(relay::Op::If | relay::Op::Match)));
            return Some((outer, inner.block()?)).filter(|_| branches && !is_tensor_code(outer));
        }
        inner = outer;
    }
}
