//! `tile`: two loops become four, in blocks.
//!
//!     for i in 0..8                  for io in 0..2
//!       for j in 0..8         =>       for jo in 0..4
//!         body(i, j)                     for ii in 0..4
//!                                          for ji in 0..2
//!                                            body(io * 4 + ii, jo * 2 + ji)
//!
//! It is two splits and a reorder (Ragan-Kelley et al., "Halide", 2013).

use super::super::{AxisId, Handle, Handles, Schedule, StageId};
use super::{reorder::reorder, split::split};
use fusion_dialects::{Op, OpExt};

/// Tiles two loops; gives the outer ones, then the inner ones.
pub fn tile(
    tree: &mut Schedule,
    stage: StageId,
    axes: [AxisId; 2],
    factors: [u64; 2],
) -> Result<[AxisId; 4], String> {
    if axes[0] == axes[1] {
        return Err(format!("tiles a loop of stage \"{}\" with itself", tree.stages[stage].name));
    }
    let (i, ii) = split(tree, stage, axes[0], factors[0])?;
    let (j, ji) = split(tree, stage, axes[1], factors[1])?;
    reorder(tree, stage, &[i, j, ii, ji])?;
    Ok([i, j, ii, ji])
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let ((stage, first), (other, second)) = (handles.axis(operands[0])?, handles.axis(operands[1])?);
    if stage != other {
        return Err("tiles loops of two stages".into());
    }
    let factors = op.ints("factors").unwrap_or_default();
    let above = |n: &i64| u64::try_from(*n).ok().filter(|n| *n > 0);
    let [Some(a), Some(b)] = factors.iter().map(above).collect::<Vec<_>>()[..] else {
        return Err(format!(
            "tiles loops of stage \"{}\" by {factors:?}; write two factors above 0",
            tree.stages[stage].name
        ));
    };
    let made = tile(tree, stage, [first, second], [a, b])?;
    handles.define(&op.result_values(), &made.map(|axis| Handle::Axis(stage, axis)));
    Ok(())
}
