//! `parallel`: iterations of a loop may run at the same time.
//!
//!     for i in 0..n  body(i)      =>      thread t runs body(i) for its share of 0..n

use super::super::{AxisId, Handles, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{Op, OpExt};

/// Marks a loop.
pub fn parallel(tree: &mut Schedule, stage: StageId, axis: AxisId) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    let place = s.place(axis)?;
    if s.axes[axis].reduce {
        return Err(format!("runs a reduction axis of stage \"{}\" in parallel, which would race", s.name));
    }
    if s.leaves[..place].iter().any(|&l| s.axes[l].reduce) {
        return Err(format!(
            "runs a loop of stage \"{}\" in parallel that stands inside a reduction; reorder it first",
            s.name
        ));
    }
    s.axes[axis].kind = LoopKind::Parallel;
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    parallel(tree, stage, axis)
}
