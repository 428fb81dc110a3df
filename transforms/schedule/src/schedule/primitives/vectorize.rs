//! `vectorize`: all iterations of a loop at once, in one vector.
//!
//!     for v in 0..16  y[i + v] = f(x[i + v])      =>      y[i .. i+16] = f(x[i .. i+16])
//!
//! Over a reduction axis, each lane keeps a result of its own, and so does each iteration of the unrolled reduction loops
//! of the stage; at the end of the reduction the partial results are combined:
//!
//!     for k  for v in 0..16  a += x[k * 16 + v]   =>      for k  p[0..16] += x[k*16 .. k*16+16] ; a = p[0] + ... + p[15]

use super::super::{AxisId, Handles, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{Op, OpExt};

/// The longest vector: beyond it a loop is not meant for one.
pub const MOST_LANES: u64 = 256;

/// Marks a loop.
pub fn vectorize(tree: &mut Schedule, stage: StageId, axis: AxisId) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    s.place(axis)?;
    let reduce = s.axes[axis].reduce;
    let other = |l: &AxisId| s.axes[*l].kind == LoopKind::Vectorized && s.axes[*l].reduce != reduce;
    if s.leaves.iter().any(other) {
        return Err(format!(
            "vectorizes a parallel and a reduction axis of stage \"{}\"; lanes are of one kind",
            s.name
        ));
    }
    let a = &mut s.axes[axis];
    if a.extent > MOST_LANES {
        return Err(format!(
            "vectorizes a loop of {} iterations, at most {MOST_LANES} make a vector; split it first",
            a.extent
        ));
    }
    a.kind = LoopKind::Vectorized;
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    vectorize(tree, stage, axis)
}
