//! `recompute`: some readers of a stage get one of their own, which computes the same.
//!
//!     for i in 0..100  c[i] = g(i)                     for i in 0..60    c[i] = g(i)
//!     for i in 0..60   y[i] = f(c[i])          =>      for i in 60..100  d[i] = g(i)         the new stage
//!     for i in 60..100  y[i] = f(c[i])                 for i in 0..60    y[i] = f(c[i])
//!                                                      for i in 60..100  y[i] = f(d[i])
//!
//! So each can be arranged for those who read it, where `te.divide` has made two of one reader. Either is then computed, and kept, only as far
//! as it is read: along an axis where all its readers read it element by element, what they have of that axis. Stages that are
//! inlined between it and a reader are copied as well.

use super::super::{Attach, Handle, Handles, Schedule, Stage, StageId};
use super::cache_read::read_instead;
use super::divide::{is_untouched, must_be_free};
use crate::te::expr::Expr;
use crate::te::indices::accesses;
use fusion_dialects::{Build, Op, OpExt, ValueMap, str_attr};

/// Gives readers a stage of their own, which is given.
pub fn recompute(
    tree: &mut Schedule,
    stage: StageId,
    name: &str,
    readers: &[StageId],
) -> Result<StageId, String> {
    if !may_be_recomputed(tree, stage) {
        return Err(format!(
            "computes stage \"{}\" once more, which is a result of the kernel, a nest written by hand or arranged by other primitives already",
            tree.stages[stage].name
        ));
    }
    must_be_free(tree, name)?;
    let all = tree.readers(stage);
    if let Some(other) = readers.iter().find(|r| !all.contains(r)) {
        return Err(format!("is for stage \"{}\", which does not read that stage", tree.stages[*other].name));
    }
    let made = copy(tree, stage, name);
    for reader in readers {
        read_copy(tree, *reader, (stage, made));
    }
    for stage in [stage, made] {
        narrow(tree, stage);
    }
    Ok(made)
}

/// True for a stage as it was before any primitive, whose result is not one of the kernel.
pub fn may_be_recomputed(tree: &Schedule, stage: StageId) -> bool {
    is_untouched(tree, stage) && !tree.results.contains(&stage)
}

/// A stage that is as another one.
fn copy(tree: &mut Schedule, stage: StageId, name: &str) -> StageId {
    let op = tree.stages[stage].op;
    let copy = ValueMap::new().clone_op(&Build::after(op), op);
    copy.set_attr("name", str_attr(op.context_ref(), name));
    let made = tree.add(copy);
    tree.stages[made] = Stage { op: copy, name: name.to_owned(), ..tree.stages[stage].clone() };
    made
}

/// Has a stage read a copy, itself or through copies of the stages that are inlined into it.
fn read_copy(tree: &mut Schedule, reader: StageId, (stage, made): (StageId, StageId)) {
    let giving: Vec<StageId> =
        accesses(tree.stages[reader].op).iter().filter_map(|a| tree.giving(a.tensor)).collect();
    for read in giving {
        let copied = if read == stage {
            made
        } else if tree.stages[read].attach == Attach::Inline && reaches(tree, read, stage) {
            let name = format!("{}_for_{}", tree.stages[read].name, tree.stages[reader].name);
            let copied = copy(tree, read, &name);
            read_copy(tree, copied, (stage, made));
            copied
        } else {
            continue;
        };
        let results = tree.stages[read].op.result_values().into_iter();
        for (old, new) in results.zip(tree.stages[copied].op.result_values()) {
            read_instead(tree.stages[reader].op, old, new);
        }
        tree.changed();
    }
}

/// True when a stage reads another, itself or through inlined ones.
fn reaches(tree: &Schedule, reader: StageId, stage: StageId) -> bool {
    let mut read = accesses(tree.stages[reader].op).into_iter().filter_map(|a| tree.giving(a.tensor));
    read.any(|r| r == stage || tree.stages[r].attach == Attach::Inline && reaches(tree, r, stage))
}

/// Has a stage computed only as far as it is read.
fn narrow(tree: &mut Schedule, stage: StageId) {
    let mut reads = Vec::new();
    for reader in tree.readers(stage) {
        let extents = tree.stages[reader].extents().into_iter().enumerate();
        let axes: Vec<Option<Expr>> = extents.map(|(a, n)| Some(Expr::var(a, n))).collect();
        reads.extend(tree.reads_of(stage, reader, &axes).into_iter().map(|indices| (reader, indices)));
    }
    for axis in 0..tree.stages[stage].rank() {
        let part = |(reader, indices): &(StageId, Vec<Option<Expr>>)| {
            let of = indices.get(axis)?.as_ref()?.as_variable()?.id;
            let s = &tree.stages[*reader];
            Some((*s.begins.get(of)?, s.axes[of].extent))
        };
        let mut parts = reads.iter().map(part);
        let Some(first) = parts.next().flatten() else { continue };
        if parts.all(|other| other == Some(first)) {
            tree.stages[stage].narrow(axis, first.0, first.1);
        }
    }
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let stage = handles.stage(operands[0])?;
    let readers = operands[1..].iter().map(|v| handles.stage(*v)).collect::<Result<Vec<_>, _>>()?;
    let made = recompute(tree, stage, op.text("name").unwrap_or_default(), &readers)?;
    handles.define(&op.result_values(), &[Handle::Stage(made)]);
    Ok(())
}
