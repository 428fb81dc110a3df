//! `recompute`: some readers of a stage get one of their own, which computes the same.
//!
//!     for i in 0..100  c[i] = g(i)                     for i in 0..60    c[i] = g(i)
//!     for i in 0..60   y[i] = f(c[i])          =>      for i in 60..100  d[i] = g(i)         the new stage
//!     for i in 60..100  y[i] = f(c[i])                 for i in 0..60    y[i] = f(c[i])
//!                                                      for i in 60..100  y[i] = f(d[i])
//!
//! So each can be arranged for those who read it, where `te.divide` has made two of one reader. Either is then computed, and kept, only as far
//! as it is read. Stages that are inlined between it and a reader are copied as well, and it may be inlined itself: then each of those that
//! read it has loads of its own, which te.cache_read tells apart. With a part of an axis, what is read there has a
//! stage of its own:
//!
//!     for j in 0..200  c[j] = g(j)                     for j in 0..100    c[j] = g(j)
//!     for i in 0..100  y[i] = c[i] * c[100 + i]  =>    for j in 100..200  d[j] = g(j)        part 0, 100, 200
//!                                                      for i in 0..100    y[i] = c[i] * d[100 + i]

use super::super::{Attach, Handle, Handles, Schedule, Stage, StageId};
use super::divide::{has_plain_loops, must_be_free};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{accesses, load_of, put};
use fusion_dialects::{Build, Op, OpExt, Value, ValueMap, key, ops_in, str_attr};

/// A part of an axis of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The axis.
    pub axis: usize,
    /// Where it begins.
    pub from: u64,
    /// Where it ends: the first place behind it.
    pub to: u64,
}

impl Part {
    /// True when what is read with those indices lies in it.
    fn holds(&self, indices: &[Option<Expr>]) -> bool {
        let range = indices.get(self.axis).and_then(|index| index.as_ref()?.range());
        range.is_some_and(|(low, high)| self.from as i64 <= low && high < self.to as i64)
    }
}

/// Gives readers a stage of their own, for all that they read or for a part; gives the new one.
pub fn recompute(
    tree: &mut Schedule,
    stage: StageId,
    name: &str,
    readers: &[StageId],
    part: Option<Part>,
) -> Result<StageId, String> {
    if !may_be_recomputed(tree, stage) {
        return Err(format!(
            "computes stage \"{}\" once more, which is a result of the kernel, a nest written by hand or arranged by other primitives already",
            tree.stages[stage].name
        ));
    }
    must_be_free(tree, name)?;
    // One that is inlined itself reads it as well.
    let all = [tree.readers(stage), tree.consumers(stage)].concat();
    if let Some(other) = readers.iter().find(|r| !all.contains(r)) {
        return Err(format!("is for stage \"{}\", which does not read that stage", tree.stages[*other].name));
    }
    if let Some(part) = part {
        let holds = |r: &StageId| {
            tree.reads_of(stage, *r, &points(tree, *r)).iter().any(|indices| part.holds(indices))
        };
        if let Some(other) = readers.iter().find(|r| !holds(r)) {
            return Err(format!(
                "is for stage \"{}\", which reads nothing of that stage from {} to {} along axis {} alone",
                tree.stages[*other].name, part.from, part.to, part.axis
            ));
        }
    }
    let made = copy(tree, stage, name);
    for &reader in readers {
        let point = points(tree, reader);
        read_copy(tree, reader, &point, (stage, made), part);
    }
    // What is inlined is computed as far as it is read.
    if tree.stages[stage].attach == Attach::Root {
        [stage, made].into_iter().for_each(|stage| narrow(tree, stage));
    }
    Ok(made)
}

/// True for a stage as it was before any primitive, or that is inlined, whose result is not one of the kernel.
pub fn may_be_recomputed(tree: &Schedule, stage: StageId) -> bool {
    let attach = &tree.stages[stage].attach;
    has_plain_loops(tree, stage)
        && matches!(attach, Attach::Root | Attach::Inline)
        && !tree.results.contains(&stage)
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

/// The axes of a stage at all points that are computed of it.
fn points(tree: &Schedule, stage: StageId) -> Vec<Option<Expr>> {
    let s = &tree.stages[stage];
    let begin = |axis: usize| s.begins.get(axis).map_or(0, |begin| *begin as i64);
    let along = |axis: usize| Expr::var(axis, s.axes[axis].extent).plus(&Expr::constant(begin(axis)));
    (0..s.op_axes()).map(|axis| Some(along(axis))).collect()
}

/// Has a stage, at a point, read a copy of another one, or of a part of it, itself or through copies of the stages that are inlined into it.
fn read_copy<'c>(
    tree: &mut Schedule<'c>,
    reader: StageId,
    point: &[Option<Expr>],
    (stage, made): (StageId, StageId),
    part: Option<Part>,
) {
    let op = tree.stages[reader].op;
    let loads = op.body(0).map(ops_in).unwrap_or_default().into_iter().filter(|op| load_of(*op).is_some());
    let mut copied: Vec<(StageId, StageId)> = Vec::new();
    for (load, access) in loads.zip(accesses(op)) {
        let at: Vec<Option<Expr>> =
            access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, point))).collect();
        let Some(read) = tree.giving(access.tensor) else { continue };
        let inside = if read == stage {
            vec![at.clone()]
        } else if tree.stages[read].attach == Attach::Inline {
            tree.reads_of(stage, read, &at)
        } else {
            continue;
        };
        let held = inside.iter().filter(|indices| part.is_none_or(|part| part.holds(indices))).count();
        if held == 0 {
            continue;
        }
        let instead = if read == stage {
            made
        } else if let Some((_, known)) = copied.iter().find(|(of, _)| *of == read && held == inside.len()) {
            *known
        } else {
            let name =
                free_name(tree, &format!("{}_for_{}", tree.stages[read].name, tree.stages[reader].name));
            let own = copy(tree, read, &name);
            read_copy(tree, own, &at, (stage, made), part);
            // One that still reads the rest as well is for this load alone.
            if held == inside.len() {
                copied.push((read, own));
            }
            own
        };
        read_result(tree, load, read, instead);
        tree.changed();
    }
}

/// Has a load read the same result of another stage.
fn read_result<'c>(tree: &Schedule<'c>, load: Op<'c>, old: StageId, new: StageId) {
    let results = |s: StageId| -> Vec<Value<'c>> { tree.stages[s].op.result_values() };
    let tensor = load.operand_values()[0];
    let place = results(old).iter().position(|v| key(*v) == key(tensor));
    if let Some(value) = place.and_then(|place| results(new).get(place).copied()) {
        load.set_operand_value(0, value);
    }
}

/// That name, or the first with a number that no stage has.
fn free_name(tree: &Schedule, name: &str) -> String {
    let numbered = (1..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| tree.named(name).is_none()).unwrap_or_else(|| name.to_owned())
}

/// Has a stage computed only as far as it is read.
fn narrow(tree: &mut Schedule, stage: StageId) {
    let readers = tree.readers(stage).into_iter();
    let reads: Vec<_> = readers.flat_map(|r| tree.reads_of(stage, r, &points(tree, r))).collect();
    let extents = tree.stages[stage].extents();
    for (axis, extent) in extents.into_iter().enumerate().take(tree.stages[stage].rank()) {
        let range = |indices: &Vec<Option<Expr>>| indices.get(axis)?.as_ref()?.range();
        let mut ranges = reads.iter().map(range);
        let Some(first) = ranges.next().flatten() else { continue };
        let joined = ranges.try_fold(first, |(low, high), next| {
            let (from, to) = next?;
            Some((low.min(from), high.max(to)))
        });
        // What a conditional load asks for outside is not there.
        let Some((low, high)) = joined.map(|(low, high)| (low.max(0) as u64, high + 1)) else { continue };
        let end = (high.max(0) as u64).min(extent);
        if low < end {
            tree.stages[stage].narrow(axis, low, end - low);
        }
    }
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let stage = handles.stage(operands[0])?;
    let readers = operands[1..].iter().map(|v| handles.stage(*v)).collect::<Result<Vec<_>, _>>()?;
    let place = |n: i64| u64::try_from(n).unwrap_or(0);
    let part = op.ints("part").and_then(|part| match part[..] {
        [axis, from, to] => Some(Part { axis: place(axis) as usize, from: place(from), to: place(to) }),
        _ => None,
    });
    let made = recompute(tree, stage, op.text("name").unwrap_or_default(), &readers, part)?;
    handles.define(&op.result_values(), &[Handle::Stage(made)]);
    Ok(())
}
