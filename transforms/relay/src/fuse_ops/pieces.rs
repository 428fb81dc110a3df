//! Pieces of tensors that stay outside of groups: slices that lie together in memory.
//!
//! ```text
//!   call @step(%all)   with  %x = slice %all [3..4]      =>      %x = slice %all [3..4]     a view, at no cost
//!                            add %x, ..                          call @step(%x)   with  add %x, ..
//! ```
//!
//! Groups that differ only in which piece they read are then one function, which is compiled once. Programs around kernels of GPUs
//! have no such views.

use super::graph::operator_of;
use fusion_dialects::{Op, OpExt, key, tensor_type};
use fusion_operators::ops::{contiguous::contiguous_slice, shape::SLICE};
use fusion_operators::{Call, TensorType};
use std::collections::HashSet;

/// Where in its operand's memory a slice begins, in elements, when it lies together there.
pub fn contiguous_piece(op: Op) -> Option<u64> {
    let operator = operator_of(op).filter(|operator| operator.is(&SLICE))?;
    let operands: Vec<TensorType> =
        op.operand_values().into_iter().map(tensor_type).collect::<Option<_>>()?;
    contiguous_slice(&Call { op: operator, operands: &operands, attrs: &op.attrs() })
}

/// The operations of a group without pieces of what comes from outside, which stay where they are. All of them where nothing else
/// would be left.
pub(super) fn without_pieces<'c>(ops: &[Op<'c>]) -> Vec<Op<'c>> {
    let mut inside: HashSet<usize> = HashSet::new();
    let mut kept = Vec::new();
    for op in ops {
        let computed = op.operand_values().into_iter().any(|v| inside.contains(&key(v)));
        if computed || contiguous_piece(*op).is_none() {
            inside.extend(op.result_values().into_iter().map(key));
            kept.push(*op);
        }
    }
    if kept.is_empty() { ops.to_vec() } else { kept }
}
