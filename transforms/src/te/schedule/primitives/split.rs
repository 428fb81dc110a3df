//! `split`: one loop becomes two.
//!
//!     for i in 0..10                 for io in 0..3
//!       body(i)              =>        for ii in 0..4
//!                                        body(io * 4 + ii)      what is beyond 10 is not computed
//!
//! The remainder is peeled off as a nest of its own, or guarded where the inner loop stands outside the outer one.

use super::super::{Axis, AxisId, Handle, Handles, Origin, Relation, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{Op, OpExt};

/// Splits a loop; gives the outer and the inner one.
pub fn split(
    tree: &mut Schedule,
    stage: StageId,
    axis: AxisId,
    factor: u64,
) -> Result<(AxisId, AxisId), String> {
    let s = &mut tree.stages[stage];
    let place = s.place(axis)?;
    if factor == 0 {
        return Err("splits by 0; the factor must be above 0".into());
    }
    if s.axes[axis].kind != LoopKind::Serial {
        return Err(format!(
            "splits a loop of stage \"{}\" that is annotated already; split it first",
            s.name
        ));
    }
    let Axis { extent, reduce, .. } = s.axes[axis];
    let relation = s.relations.len();
    let (outer, inner) = (s.axes.len(), s.axes.len() + 1);
    let made = |extent| Axis { extent, reduce, kind: LoopKind::Serial, origin: Origin::Split(relation) };
    s.axes.push(made(extent.div_ceil(factor)));
    s.axes.push(made(factor.min(extent.max(1))));
    s.relations.push(Relation::Split { parent: axis, outer, inner, factor });
    s.leaves.splice(place..=place, [outer, inner]);
    Ok((outer, inner))
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let factor = op.int("factor").and_then(|f| u64::try_from(f).ok()).unwrap_or(0);
    let (outer, inner) = split(tree, stage, axis, factor)?;
    handles.define(&op.result_values(), &[Handle::Axis(stage, outer), Handle::Axis(stage, inner)]);
    Ok(())
}
