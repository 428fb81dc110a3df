//! `unroll`: one copy of the body for each iteration; the loops inside it are jammed together.
//!
//!     for u in 0..2                      a0 = a1 = 0
//!       a = 0                            for k
//!       for k  a += x[u, k]      =>        a0 += x[0, k]
//!       y[u] = a                           a1 += x[1, k]
//!                                        y[0] = a0 ; y[1] = a1

use super::super::{AxisId, Handles, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{Op, OpExt};

/// The most copies: beyond it code grows for nothing.
pub const MOST_COPIES: u64 = 64;

/// Marks a loop.
pub fn unroll(tree: &mut Schedule, stage: StageId, axis: AxisId) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    s.place(axis)?;
    let a = &mut s.axes[axis];
    if a.extent > MOST_COPIES {
        return Err(format!(
            "unrolls a loop of {} iterations, at most {MOST_COPIES} are copied; split it first",
            a.extent
        ));
    }
    a.kind = LoopKind::Unrolled;
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    unroll(tree, stage, axis)
}
