//! `fuse`: two neighbouring loops become one.
//!
//!     for i in 0..3
//!       for j in 0..4        =>      for f in 0..12
//!         body(i, j)                   body(f / 4, f mod 4)
//!
//! What is computed at the second loop is then computed at the one over both, which is as often.

use super::super::{Attach, Axis, AxisId, Handle, Handles, Origin, Relation, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{Op, OpExt};

/// Fuses two loops, the first directly outside the second; gives the one over both.
pub fn fuse(tree: &mut Schedule, stage: StageId, first: AxisId, second: AxisId) -> Result<AxisId, String> {
    let s = &tree.stages[stage];
    let (place, next) = (s.place(first)?, s.place(second)?);
    if next != place + 1 {
        return Err(format!(
            "fuses loops {place} and {next} of stage \"{}\", which are not neighbours; reorder them first",
            s.name
        ));
    }
    let (a, b) = (&s.axes[first], &s.axes[second]);
    if a.reduce != b.reduce {
        return Err(format!("fuses a parallel axis and a reduction axis of stage \"{}\"", s.name));
    }
    tree.must_be_free(stage, first, "fuse")?;
    tree.must_be_plain(stage, second, "fuse")?;
    let reduce = a.reduce;
    let Some(extent) = a.extent.checked_mul(b.extent).filter(|n| *n <= i64::MAX as u64) else {
        return Err(format!(
            "fuses loops of {} and {} iterations of stage \"{}\", which are more together than can be counted",
            a.extent, b.extent, s.name
        ));
    };
    let s = &mut tree.stages[stage];
    let (relation, fused) = (s.relations.len(), s.axes.len());
    s.axes.push(Axis { extent, reduce, kind: LoopKind::Serial, origin: Origin::Fuse(relation) });
    s.relations.push(Relation::Fuse { first, second, fused });
    s.leaves.splice(place..=next, [fused]);
    for other in &mut tree.stages {
        match &mut other.attach {
            Attach::At(of, at) | Attach::After(of, at) if (*of, *at) == (stage, second) => *at = fused,
            _ => {}
        }
    }
    Ok(fused)
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let (stage, first) = handles.axis(operands[0])?;
    let (other, second) = handles.axis(operands[1])?;
    if stage != other {
        return Err("fuses loops of two stages".into());
    }
    let fused = fuse(tree, stage, first, second)?;
    handles.define(&op.result_values(), &[Handle::Axis(stage, fused)]);
    Ok(())
}
