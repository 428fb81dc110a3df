//! `prefetch`: prefetches data before it is needed.
//!
//!     for k                                for k
//!       y += x[k] * w[k, ..]       =>        prefetch w[k + 2, ..]
//!                                            y += x[k] * w[k, ..]
//!
//! It changes nothing that is computed (Ragan-Kelley et al., "Halide", 2013, have a directive of that name). For patterns
//! that a processor's own prefetcher does not see.
//!
//! Over a loop inside, what a whole iteration touches is prefetched little by little, so that it never waits for memory:
//!
//!     for i  for k                         for i  for k
//!       y[i] += x[i, k] * w[k]      =>        y[i] += x[i, k] * w[k]
//!                                             prefetch the k-th part of x[i + 1, ..]

use super::super::{AxisId, Handle, Handles, Prefetch, Schedule, StageId};
use fusion_dialects::{Op, OpExt};

/// Has each iteration of a loop prefetch what one some steps later reads or writes; over a loop inside, a share in each iteration of that.
pub fn prefetch<'c>(
    tree: &mut Schedule<'c>,
    source: Handle,
    stage: StageId,
    axis: AxisId,
    ahead: u64,
    over: Option<(StageId, AxisId)>,
) -> Result<(), String> {
    let tensor = match source {
        Handle::Input(input) => tree.inputs[input],
        Handle::Stage(of) => match tree.stages[of].op.result_values()[..] {
            [result] => result,
            _ => {
                return Err(format!(
                    "prefetches stage \"{}\", which has several results",
                    tree.stages[of].name
                ));
            }
        },
        Handle::Axis(..) => return Err("prefetches a loop; name a stage or an argument".into()),
    };
    let s = &tree.stages[stage];
    s.place(axis)?;
    if let Some((inner, within)) = over {
        tree.stages[inner].place(within)?;
    }
    tree.stages[stage].prefetches.push(Prefetch { axis, tensor, ahead, over });
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let source = handles.source(operands[0])?;
    let (stage, axis) = handles.axis(operands[1])?;
    let ahead = op.int("ahead").and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
    let over = operands.get(2).map(|over| handles.axis(*over)).transpose()?;
    prefetch(tree, source, stage, axis, ahead, over)
}
