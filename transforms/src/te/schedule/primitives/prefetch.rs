//! `prefetch`: asks for data before it is needed.
//!
//!     for k                                for k
//!       y += x[k] * w[k, ..]       =>        prefetch w[k + 2, ..]
//!                                            y += x[k] * w[k, ..]
//!
//! It changes nothing that is computed (Ragan-Kelley et al., "Halide", 2013, have a directive of that name). For patterns
//! that a processor's own prefetcher does not see.

use super::super::{AxisId, Handle, Handles, Prefetch, Schedule, StageId};
use fusion_dialects::{Op, OpExt};

/// Has each iteration of a loop ask for what one some steps later reads.
pub fn prefetch<'c>(
    tree: &mut Schedule<'c>,
    source: Handle,
    stage: StageId,
    axis: AxisId,
    ahead: u64,
) -> Result<(), String> {
    let tensor = match source {
        Handle::Input(input) => tree.inputs[input],
        Handle::Stage(of) => match tree.stages[of].op.result_values()[..] {
            [result] => result,
            _ => {
                return Err(format!(
                    "asks for stage \"{}\", which has several results",
                    tree.stages[of].name
                ));
            }
        },
        Handle::Axis(..) => return Err("asks for a loop; name a stage or an argument".into()),
    };
    let s = &mut tree.stages[stage];
    s.place(axis)?;
    s.prefetches.push(Prefetch { axis, tensor, ahead });
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let source = handles.source(operands[0])?;
    let (stage, axis) = handles.axis(operands[1])?;
    let ahead = op.int("ahead").and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
    prefetch(tree, source, stage, axis, ahead)
}
