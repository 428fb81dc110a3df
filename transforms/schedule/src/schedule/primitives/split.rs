//! `split`: one loop becomes two.
//!
//!     for i in 0..10                 for io in 0..3
//!       body(i)              =>        for ii in 0..4
//!                                        body(io * 4 + ii)      what is beyond 10 is not computed
//!
//! What is left over is peeled off as a nest of its own, behind the last block also where the outer loop is split again, or guarded where the
//! inner loop stands outside the outer one. The tails are those of Halide (Ragan-Kelley et al., 2013, and its `TailStrategy`):
//!
//!     guard    for io in 0..3  for ii in 0..4  if io * 4 + ii < 10  body
//!     peel     for io in 0..2  for ii in 0..4  body ;  for ii in 0..2  body
//!     pad      for io in 0..3  for ii in 0..4  body      into a buffer of 12; loads beyond the end of what is read give 0
//!
//! A reduction pads where that adds products of zeros.

use super::super::zeros::sums_zeros;
use super::super::{Axis, AxisId, Handle, Handles, Origin, Relation, Schedule, StageId, Tail};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, kind_of};

/// How a loop is cut up.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// Iterations of a block.
    Factor(u64),
    /// The most blocks.
    Parts(u64),
}

/// The number of [`Tail::Guard`] in the dialect's attribute.
pub const GUARD: i64 = 0;
/// That of [`Tail::Pad`].
pub const PAD: i64 = 2;

/// Splits a loop; gives the outer and the inner one.
pub fn split(
    tree: &mut Schedule,
    stage: StageId,
    axis: AxisId,
    factor: u64,
) -> Result<(AxisId, AxisId), String> {
    split_with(tree, stage, axis, Size::Factor(factor), Tail::Any)
}

/// Splits a loop, with a say in what becomes of the iterations that are left over.
pub fn split_with(
    tree: &mut Schedule,
    stage: StageId,
    axis: AxisId,
    size: Size,
    tail: Tail,
) -> Result<(AxisId, AxisId), String> {
    let place = tree.stages[stage].place(axis)?;
    tree.must_be_free(stage, axis, "split")?;
    if tail == Tail::Pad {
        may_pad(tree, stage, axis)?;
    }
    let Axis { extent, reduce, .. } = tree.stages[stage].axes[axis];
    let factor = match size {
        Size::Factor(0) => {
            return Err(format!(
                "splits a loop of stage \"{}\" by 0; the factor must be above 0",
                tree.stages[stage].name
            ));
        }
        Size::Parts(0) => {
            return Err(format!(
                "splits a loop of stage \"{}\" into 0 parts; there must be one",
                tree.stages[stage].name
            ));
        }
        Size::Factor(factor) => factor,
        Size::Parts(parts) => extent.div_ceil(parts).max(1),
    };
    let each = if matches!(tail, Tail::Pad | Tail::Guard) { factor } else { factor.min(extent.max(1)) };
    let s = &mut tree.stages[stage];
    let relation = s.relations.len();
    let (outer, inner) = (s.axes.len(), s.axes.len() + 1);
    let made = |extent| Axis { extent, reduce, kind: LoopKind::Serial, origin: Origin::Split(relation) };
    s.axes.push(made(extent.div_ceil(factor)));
    s.axes.push(made(each));
    s.relations.push(Relation::Split { parent: axis, outer, inner, factor, tail });
    s.leaves.splice(place..=place, [outer, inner]);
    Ok((outer, inner))
}

/// The largest block that padding rounds up to, or of which each iteration asks whether it is one.
const MOST_IN_BLOCK: u64 = 1 << 16;

/// Fails when a stage cannot be computed beyond its end.
fn may_pad(tree: &Schedule, stage: StageId, axis: AxisId) -> Result<(), String> {
    let s = &tree.stages[stage];
    if s.axes[axis].reduce && !sums_zeros(s.op, axis) {
        return Err(format!(
            "pads a reduction axis of stage \"{}\", which would combine elements that are none",
            s.name
        ));
    }
    if !matches!(s.axes[axis].origin, Origin::Root(_)) {
        return Err(format!(
            "pads a loop of stage \"{}\" that was split or fused before; pad an axis of the computation",
            s.name
        ));
    }
    if tree.results.contains(&stage) {
        return Err(format!(
            "pads stage \"{}\", a result of the kernel, whose buffer has no room for it; use te.cache_write first",
            s.name
        ));
    }
    let is_nest = |op: Op| matches!(kind_of(op), Some(Kind::Te(Te::Extern)));
    if is_nest(s.op) || tree.consumers(stage).iter().any(|&c| is_nest(tree.stages[c].op)) {
        return Err(format!("pads stage \"{}\", which a loop nest written by hand reads or writes", s.name));
    }
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let number = |name: &str| op.int(name).map(|n| u64::try_from(n).unwrap_or(0));
    let size = match (number("factor"), number("parts")) {
        (Some(factor), None) => Size::Factor(factor),
        (None, Some(parts)) => Size::Parts(parts),
        _ => return Err("needs either a factor or a number of parts".into()),
    };
    // The numbers of the dialect's attribute.
    let tail = match op.int("tail") {
        None => Tail::Any,
        Some(GUARD) => Tail::Guard,
        Some(1) => Tail::Peel,
        Some(_) => Tail::Pad,
    };
    // Loops over a block have all of its iterations, there or not.
    if let (Tail::Pad | Tail::Guard, Size::Factor(factor)) = (tail, size)
        && factor > MOST_IN_BLOCK
    {
        let does = if tail == Tail::Pad { "pads to blocks" } else { "guards blocks" };
        return Err(format!(
            "{does} of {factor} iterations, at most {MOST_IN_BLOCK} make one; split a loop of stage \"{}\" by less",
            tree.stages[stage].name
        ));
    }
    let (outer, inner) = split_with(tree, stage, axis, size, tail)?;
    handles.define(&op.result_values(), &[Handle::Axis(stage, outer), Handle::Axis(stage, inner)]);
    Ok(())
}
