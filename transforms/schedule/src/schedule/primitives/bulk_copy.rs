//! `bulk_copy`: a stage that copies an argument is copied by TMA, each of which one thread asks for.
//!
//! ```text
//!   for i, k (shared by all threads)             a box of 128 x 64 of x, from (io * 128, ko * 64) on,
//!     tile[i, k] = x[io * 128 + i, ..]     =>    is on its way to tile
//! ```
//!
//! The tile is the same, zeros where it goes beyond the tensor. No thread computes addresses or waits for its own part, and how the
//! elements lie in shared memory is that of `storage_swizzle` (NVIDIA, "PTX ISA", cp.async.bulk.tensor). There are several buffers, of which those
//! ahead are filled while one is read (`loop-pipeline`), and what is filled is told by mbarriers.

use super::super::{Handles, Schedule, StageId};
use super::storage_align::own_layout;
use fusion_dialects::indices::accesses;
use fusion_dialects::indices::expr::Atom;
use fusion_dialects::loops::{Scope, tensor_copy};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, key, kind_of, ops_in, tensor_type};

/// Has a stage copied by TMA.
pub fn bulk_copy(tree: &mut Schedule, stage: StageId) -> Result<(), String> {
    own_layout(tree, stage, "copies in bulk")?;
    let s = &tree.stages[stage];
    if s.scope != Some(Scope::Shared) || s.buffers < 2 {
        return Err(format!(
            "copies in bulk stage \"{}\", which is not in several buffers of shared memory; use te.set_scope and te.double_buffer first",
            s.name
        ));
    }
    if !is_copy(tree, stage) {
        return Err(format!(
            "copies in bulk stage \"{}\", which is no copy of an argument; use te.cache_read of one first",
            s.name
        ));
    }
    tree.stages[stage].bulk = true;
    Ok(())
}

/// True for stages each of whose elements is that of an argument, with the same indices.
pub fn is_copy(tree: &Schedule, stage: StageId) -> bool {
    let s = &tree.stages[stage];
    let read = accesses(s.op);
    let [access] = &read[..] else { return false };
    let is_input = tree.inputs.iter().any(|input| key(*input) == key(access.tensor));
    let same = |(axis, index): (usize, &Option<fusion_dialects::indices::expr::Expr>)| {
        index.as_ref().is_some_and(|e| {
            let mut terms = e.terms();
            let along = matches!(terms.next(), Some((Atom::Var(v), 1)) if v.id == axis);
            // An axis of one element has no variable.
            let single = e.as_constant() == Some(0) && s.axes[axis].extent == 1;
            single || (along && terms.next().is_none() && e.offset() == 0)
        })
    };
    let dtype = |value| tensor_type(value).map(|t| t.dtype);
    let plain = |op: &Op| {
        matches!(
            kind_of(*op),
            Some(Kind::Te(Te::Load | Te::Yield))
                | Some(Kind::Upstream(Upstream::ExtF | Upstream::TruncF | Upstream::ArithConstant))
        )
    };
    is_input
        && access.indices.len() == s.rank()
        && access.indices.iter().enumerate().all(same)
        && s.op.result_values().first().is_some_and(|r| dtype(*r) == dtype(access.tensor))
        && s.op.body(0).is_some_and(|body| ops_in(body).iter().all(plain))
}

/// True where boxes of such a tensor can be copied, which are swizzled in shared memory.
pub fn can_copy(extents: &[u64], size: &[u64], bytes: u64) -> bool {
    extents.len() <= tensor_copy::MOST_AXES && tensor_copy::limits(extents, size, bytes, true).is_ok()
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    bulk_copy(tree, stage)
}
