//! `divide`: what lies from a place on along an axis is computed by a stage of its own.
//!
//!     for i in 0..100  y[i] = f(i)      =>      for i in 0..60    y[i] = f(i)
//!                                               for i in 60..100  y[i] = f(i)         the new stage
//!
//! Both store into the same memory, and each has its own schedule: index-set splitting (Griebl, Feautrier and Lengauer, "Index Set
//! Splitting", 2000), where `te.split` with `tail peel` has the same loops in both parts. What both read is computed for both, unless
//! `te.recompute` gives the new stage its own.

use super::super::{Attach, AxisId, Handle, Handles, Origin, Schedule, Stage, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Build, Op, OpExt, ValueMap, kind_of, str_attr};

/// Divides a stage; gives the one of the rest.
pub fn divide(
    tree: &mut Schedule,
    stage: StageId,
    axis: AxisId,
    at: u64,
    name: &str,
) -> Result<StageId, String> {
    let s = &tree.stages[stage];
    s.place(axis)?;
    if !is_untouched(tree, stage) {
        return Err(format!("divides stage \"{}\" after other primitives; divide it first", s.name));
    }
    if !may_be_divided(tree, stage) {
        return Err(format!(
            "divides stage \"{}\", which has several results, or one that other stages read; divide a result of the kernel",
            s.name
        ));
    }
    let result = s.op.result_values()[0];
    if s.axes[axis].reduce || !matches!(s.axes[axis].origin, Origin::Root(_)) {
        return Err(format!(
            "divides a loop of stage \"{}\" that is a reduction; divide a parallel one",
            s.name
        ));
    }
    let (begin, extent) = (s.begins[axis], s.axes[axis].extent);
    if at == 0 || at >= extent {
        return Err(format!(
            "divides a loop of stage \"{}\" of {extent} iterations at {at}; both parts must have some",
            s.name
        ));
    }
    must_be_free(tree, name)?;
    let op = s.op;
    let copy = ValueMap::new().clone_op(&Build::after(op), op);
    copy.set_attr("name", str_attr(op.context_ref(), name));
    tree.stages[stage].into.get_or_insert(result);
    let rest = tree.add(copy);
    tree.stages[rest] = Stage { op: copy, name: name.to_owned(), ..tree.stages[stage].clone() };
    tree.stages[stage].narrow(axis, begin, at);
    tree.stages[rest].narrow(axis, begin + at, extent - at);
    tree.refresh();
    Ok(rest)
}

/// True for a result of the kernel, of a stage as it was before any primitive.
pub fn may_be_divided(tree: &Schedule, stage: StageId) -> bool {
    is_untouched(tree, stage)
        && tree.results.contains(&stage)
        && tree.consumers(stage).is_empty()
        && tree.stages[stage].op.result_values().len() == 1
}

/// True for a computation that no primitive has arranged yet.
pub(super) fn is_untouched(tree: &Schedule, stage: StageId) -> bool {
    tree.stages[stage].attach == Attach::Root && has_plain_loops(tree, stage)
}

/// True for a computation whose loops no primitive has arranged, wherever it is computed.
pub(super) fn has_plain_loops(tree: &Schedule, stage: StageId) -> bool {
    let s = &tree.stages[stage];
    let plain = s.axes.iter().all(|a| a.kind == LoopKind::Serial) && s.notes.is_empty();
    let arranged =
        s.layout.is_some() || s.scope.is_some() || !s.prefetches.is_empty() || s.tensorized.is_some();
    let used = (0..s.axes.len()).any(|a| tree.attached_to(stage, a).is_some());
    let is_compute = matches!(kind_of(s.op), Some(Kind::Te(Te::Compute)));
    is_compute && plain && !arranged && !used && s.relations.is_empty()
}

/// Fails where a stage has that name already.
pub(super) fn must_be_free(tree: &Schedule, name: &str) -> Result<(), String> {
    match tree.named(name) {
        Some(_) => Err(format!("makes a stage \"{name}\", but the kernel has one of that name")),
        None => Ok(()),
    }
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let at = u64::try_from(op.int("at").unwrap_or(0)).unwrap_or(0);
    let made = divide(tree, stage, axis, at, op.text("name").unwrap_or_default())?;
    handles.define(&op.result_values(), &[Handle::Stage(made)]);
    Ok(())
}
