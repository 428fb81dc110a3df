//! `skip_padding`: a loop of a sum of products passes over iterations that only add products with the zeros of a padding.
//!
//!     p[r] = a[r - 3] if 0 <= r - 3 <= 6 else 0
//!     for y  for k in 0..7                       =>    for y  for k in max(0, 3 - y) .. min(7, 10 - y)
//!       for j  s[y] += p[y + k, j] * w[k, j]             for j  s[y] += p[y + k, j] * w[k, j]
//!
//! Of windows of 7 rows on 7 rows, 12 of 49 lie in the padding. What loops inside decide, or copies of a tile do differently, is asked of all of
//! them: a tile of several rows passes over what none of them needs. Weights are taken to be finite: 0 * inf is not added either.

use super::super::zeros::unless_padding;
use super::super::{AxisId, Handles, Schedule, StageId};
use super::annotate::annotate;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{Op, OpExt, int_attr};

/// The note on loops that do; it goes no further than to where loops are made.
pub const SKIPS_PADDING: &str = "skips_padding";

/// Has a loop pass over iterations that add nothing.
pub fn skip_padding(tree: &mut Schedule, stage: StageId, axis: AxisId) -> Result<(), String> {
    let s = &tree.stages[stage];
    s.place(axis)?;
    if !s.axes[axis].reduce {
        return Err(format!(
            "passes over iterations of a loop of stage \"{}\" that is none of a reduction, each of which has a result",
            s.name
        ));
    }
    if s.axes[axis].kind != LoopKind::Serial {
        return Err(format!(
            "passes over iterations of a loop of stage \"{}\" that is not serial, which has all of them at once",
            s.name
        ));
    }
    let conditions = unless_padding(tree, stage);
    if !s.roots(axis).any(|root| conditions.iter().any(|e| e.mentions(root))) {
        return Err(format!(
            "passes over iterations of a loop of stage \"{}\", which is no sum of products with elements of a stage that pads with zeros along it",
            s.name
        ));
    }
    let value = int_attr(s.op.context_ref(), 1);
    annotate(tree, stage, axis, SKIPS_PADDING, value)
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    skip_padding(tree, stage, axis)
}
