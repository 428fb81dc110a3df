//! `pipeline`: what an iteration stores last is stored while the next one is computed.
//!
//!     for i                                        e[0, ..], s = what row 0 needs
//!       e[..], s = what row i needs                for i in 0..n - 1
//!       for k  y[i, k] = e[k] / s          =>        for k  e[(i + 1) mod 2, k], s' = what row i + 1 needs
//!                                                           y[i, k] = e[i mod 2, k] / s
//!                                                    s = s'
//!                                                  for k  y[n - 1, k] = e[(n - 1) mod 2, k] / s
//!
//! Where stores go past the caches (`te.stream`), a processor waits for them, and has nothing else to do in a loop that only stores: of a
//! softmax they take as long as its exponentials (Lam, "Software Pipelining", 1988; TVM annotates loops with `software_pipeline_stage`).
//! The last loop of the iteration is joined to the last one of what is computed there, which needs as many iterations, or the loop
//! stays as it is (`loop-overlap`). GPUs take no notice.

use super::super::{Attach, AxisId, Handles, Schedule, StageId};
use super::annotate::annotate;
use fusion_dialects::loops::{LoopKind, PIPELINED};
use fusion_dialects::{Op, OpExt, int_attr};

/// Makes a pipeline of a loop.
pub fn pipeline(tree: &mut Schedule, stage: StageId, axis: AxisId) -> Result<(), String> {
    let s = &tree.stages[stage];
    let place = s.place(axis)?;
    if s.axes[axis].reduce {
        return Err(format!(
            "makes a pipeline of a reduction axis of stage \"{}\", whose iterations go on with what the one before has summed up",
            s.name
        ));
    }
    if s.axes[axis].kind != LoopKind::Serial {
        return Err(format!(
            "makes a pipeline of a loop of stage \"{}\" that is not serial, so that no iteration is the next one; use te.split first, \
             and make the inner loop a pipeline",
            s.name
        ));
    }
    if !tree.stages.iter().any(|o| o.attach == Attach::At(stage, axis)) {
        return Err(format!(
            "makes a pipeline of a loop of stage \"{}\" at which nothing is computed; use te.compute_at first",
            s.name
        ));
    }
    if place + 1 == s.leaves.len() {
        return Err(format!(
            "makes a pipeline of a loop of stage \"{}\" with no loop inside, which would run beside what is computed there",
            s.name
        ));
    }
    let value = int_attr(s.op.context_ref(), 1);
    annotate(tree, stage, axis, PIPELINED, value)
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    pipeline(tree, stage, axis)
}
