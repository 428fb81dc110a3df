//! `stream`: a result of the kernel is stored past the caches.
//!
//!     for i                             for i
//!       y[i] = f(x[i])          =>        y[i] = f(x[i])       16 elements at once, straight to memory
//!
//! A store into a cache reads the line first, and puts out what is there. Where the kernel reads and writes more than the last cache
//! holds, both are for nothing: two thirds of what `y = a + b` moves are left (Intel, "64 and IA-32 Architectures Optimization Reference
//! Manual", section on non-temporal stores). Whole vectors are stored so where memory begins at a multiple of 64 bytes, which is
//! asked for when the kernel runs; all else is stored as ever. GPUs take no notice.

use super::super::{Attach, Handles, Schedule, StageId};
use fusion_dialects::{Op, OpExt};

/// Has a stage stored past the caches.
pub fn stream(tree: &mut Schedule, stage: StageId) -> Result<(), String> {
    let s = &tree.stages[stage];
    if !tree.results.contains(&stage) {
        return Err(format!(
            "stores stage \"{}\" past the caches, which is no result of the kernel: what reads it would wait for memory",
            s.name
        ));
    }
    if s.is_reduction() || s.attach == Attach::Inline {
        return Err(format!(
            "stores stage \"{}\" past the caches, whose elements are stored again and again while they are summed up; use \
             te.cache_write first",
            s.name
        ));
    }
    tree.stages[stage].streams = true;
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    stream(tree, stage)
}
