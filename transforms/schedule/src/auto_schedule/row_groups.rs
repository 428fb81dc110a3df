//! Groups of stages that are computed row by row: which stages of a kernel go over the same outer axes.
//!
//! The last stage is the host. A stage joins when all stages that read it are in the group and read it, in some axis, at the
//! same index at which the host is computed; the axes of the host for which this holds of all members are those of the
//! rows. How they are computed is in [`rows`](crate::auto_schedule::cpu::kinds::rows).

use super::accesses::{shape_of, stage_of};
use super::placement::Nest;
use super::reductions;
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::schedule::{Attach, Schedule, StageId};
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::indices::{accesses, put};
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Machine;
use std::collections::BTreeSet;

/// What the members may keep of a row on a GPU: more than threads share.
const MOST_SHARED_BYTES: u64 = 64 << 10;
/// The same on a processor, of whose stack it is, and half of the second cache, beside what is read and written. (Softmax of 512 x 32768, by
/// rows of 128 kB: 6.1 ms in place of 12.3 on Zen 4; of 32 x 131072, by rows of 512 kB: 1.8 in place of 2.7.)
const MOST_KEPT_BYTES: u64 = 512 << 10;

/// A nest and the stages computed in its rows.
pub struct Rows {
    /// The last stage.
    pub host: StageId,
    /// Axes of the host that all members have.
    pub shared: BTreeSet<usize>,
    /// The others in program order, and their axes that are shared.
    pub members: Vec<(StageId, BTreeSet<usize>)>,
}

impl Rows {
    /// The members and the host.
    pub fn stages(&self) -> Vec<StageId> {
        self.members.iter().map(|(stage, _)| *stage).chain([self.host]).collect()
    }

    /// How many rows there are.
    pub fn count(&self, tree: &Schedule) -> u64 {
        self.shared.iter().map(|axis| tree.stages[self.host].axes[*axis].extent).product()
    }

    /// True for the stages of the group.
    pub fn has(&self, stage: StageId) -> bool {
        self.host == stage || self.members.iter().any(|(s, _)| *s == stage)
    }
}

/// The groups among the nests of a kernel for a processor.
pub fn find_near(tree: &Schedule, nests: &[Nest], machine: &Machine) -> Vec<Rows> {
    find_of(tree, nests, MOST_KEPT_BYTES.min(machine.second_cache / 2), reductions::fits_lanes)
}

/// The same for a GPU.
pub fn find(tree: &Schedule, nests: &[Nest]) -> Vec<Rows> {
    find_of(tree, nests, MOST_SHARED_BYTES, reductions::fits_lanes)
}

/// The groups whose rows do not lie together in memory, or have a few elements: those of all nests, and those of what rows that lie together leave.
pub fn apart(tree: &Schedule, nests: &[Nest]) -> Vec<Rows> {
    let is_apart = |tree: &Schedule, stage| !reductions::fits_lanes(tree, stage);
    let mut all = find_of(tree, nests, MOST_SHARED_BYTES, is_apart);
    let together = find(tree, nests);
    let left: Vec<Nest> =
        nests.iter().filter(|nest| !together.iter().any(|rows| rows.has(nest.stage))).copied().collect();
    if left.len() < nests.len() {
        let others = find_of(tree, &left, MOST_SHARED_BYTES, is_apart).into_iter();
        let new: Vec<Rows> =
            others.filter(|rows| !all.iter().any(|known| known.stages() == rows.stages())).collect();
        all.extend(new);
    }
    all
}

/// The groups that keep no more than so many bytes of a row, and whose reductions are of a kind.
fn find_of(tree: &Schedule, nests: &[Nest], most: u64, is_kind: fn(&Schedule, StageId) -> bool) -> Vec<Rows> {
    let mut free: Vec<StageId> =
        nests.iter().flat_map(|n| n.reduction.into_iter().chain([n.stage])).collect();
    free.sort_unstable();
    let mut found = Vec::new();
    while let Some(host) = free.pop() {
        // A contraction stays with its epilogue.
        let splits = |rows: &Rows| {
            nests.iter().any(|n| rows.has(n.stage) && n.reduction.is_some_and(|r| !rows.has(r)))
        };
        if let Some(rows) = around(tree, host, &free, most, is_kind).filter(|rows| !splits(rows)) {
            free.retain(|s| !rows.has(*s));
            found.push(rows);
        }
    }
    found
}

/// The axes of a stage in terms of the host's; `None` for one that is none of these.
type Axes = Vec<Option<Expr>>;

fn around(
    tree: &Schedule,
    host: StageId,
    free: &[StageId],
    most: u64,
    is_kind: fn(&Schedule, StageId) -> bool,
) -> Option<Rows> {
    let shape = shape_of(tree, host);
    if !may_join(tree, host, is_kind) {
        return None;
    }
    let axes = shape.iter().enumerate().map(|(i, &n)| Some(Expr::var(i, n)));
    let reduced = tree.stages[host].op_axes() - shape.len();
    let mut group: Vec<(StageId, Axes)> = vec![(host, axes.chain(vec![None; reduced]).collect())];
    let mut shared: BTreeSet<usize> = (0..shape.len()).filter(|&i| shape[i] > 1).collect();
    for &stage in free.iter().rev() {
        let inside = |s: StageId| group.iter().any(|(member, _)| *member == s);
        if tree.results.contains(&stage)
            || !may_join(tree, stage, is_kind)
            || !tree.readers(stage).into_iter().all(inside)
        {
            continue;
        }
        let axes = axes_of(tree, stage, &group);
        let own: BTreeSet<usize> = axes.iter().flatten().filter_map(variable).collect();
        let common: BTreeSet<usize> = shared.intersection(&own).copied().collect();
        let kept: u64 = group
            .iter()
            .skip(1)
            .map(|(s, a)| row_bytes(tree, *s, a, &common))
            .chain([row_bytes(tree, stage, &axes, &common)])
            .sum();
        if common.is_empty() || kept > most {
            continue;
        }
        shared = common;
        group.push((stage, axes));
    }
    let is_shared = |a: &Option<Expr>| a.as_ref().and_then(variable).is_some_and(|v| shared.contains(&v));
    let fixed = |axes: &Axes| (0..axes.len()).filter(|&i| is_shared(&axes[i])).collect();
    let mut members: Vec<_> = group[1..].iter().map(|(s, axes)| (*s, fixed(axes))).collect();
    members.sort_unstable();
    let reduces = members.iter().any(|&(s, _)| tree.stages[s].is_reduction());
    reduces.then_some(Rows { host, shared, members })
}

/// Reductions are of the kind, and read memory once.
fn may_join(tree: &Schedule, stage: StageId, is_kind: fn(&Schedule, StageId) -> bool) -> bool {
    !tree.stages[stage].is_reduction() || (is_kind(tree, stage) && reductions::reads_once(tree, stage))
}

/// The axes of a stage: the indices with which the group reads it, where all agree.
fn axes_of(tree: &Schedule, stage: StageId, group: &[(StageId, Axes)]) -> Axes {
    let mut reads = Vec::new();
    for (reader, axes) in group {
        reads_of(tree, stage, *reader, axes, &mut reads);
    }
    let rank = tree.stages[stage].rank();
    let agreed = |axis: usize| {
        let first: &Option<Expr> = reads.first()?.get(axis)?;
        reads.iter().all(|r: &Axes| r.get(axis) == Some(first)).then(|| first.clone())?
    };
    let parallel = (0..rank).map(agreed);
    parallel.chain((rank..tree.stages[stage].op_axes()).map(|_| None)).collect()
}

fn reads_of(tree: &Schedule, stage: StageId, reader: StageId, axes: &Axes, found: &mut Vec<Axes>) {
    for access in accesses(tree.stages[reader].op) {
        let Some(read) = stage_of(tree, access.tensor) else { continue };
        let at: Axes = access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, axes))).collect();
        if read == stage {
            found.push(at);
        } else if tree.stages[read].attach == Attach::Inline {
            reads_of(tree, stage, read, &at, found);
        }
    }
}

/// The variable an expression is.
fn variable(e: &Expr) -> Option<usize> {
    match (e.terms().next(), e.terms().nth(1), e.offset()) {
        (Some((Atom::Var(v), 1)), None, 0) => Some(v.id),
        _ => None,
    }
}

/// What is kept of a stage for a row; a single number is a value.
fn row_bytes(tree: &Schedule, stage: StageId, axes: &Axes, shared: &BTreeSet<usize>) -> u64 {
    let fixed = |a: &Option<Expr>| a.as_ref().and_then(variable).is_some_and(|v| shared.contains(&v));
    let elements = shape_of(tree, stage).into_iter().zip(axes).filter(|(_, a)| !fixed(a)).map(|(n, _)| n);
    let size = |t| tensor_type(t).map_or(LANE_BYTES, |t| t.dtype.size() as u64);
    let results = tree.stages[stage].op.result_values().into_iter().map(size).sum::<u64>();
    match elements.product::<u64>() {
        1 => 0,
        elements => elements * results,
    }
}

/// Elements that a row has of a stage, reduced ones among them.
pub fn length(tree: &Schedule, stage: StageId, fixed: &BTreeSet<usize>) -> u64 {
    let s = &tree.stages[stage];
    (0..s.op_axes()).filter(|a| !fixed.contains(a)).map(|a| s.axes[a].extent).product()
}
