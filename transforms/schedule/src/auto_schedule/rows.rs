//! Rows: all stages of a kernel that go over the same outer axes are computed at one loop over these.
//!
//!     for i  for k  m[i] max= x[i, k]                  for i
//!     for i  for k  e[i, k] = exp(x[i, k] - m[i])        for k  m max= x[i, k]
//!     for i  for k  s[i] += e[i, k]                =>    for k  e[k] = exp(x[i, k] - m)        one row: it stays in cache
//!     for i  for k  y[i, k] = e[i, k] / s[i]             for k  s += e[k]
//!                                                        for k  y[i, k] = e[k] / s
//!
//! The last stage is the host. A stage joins when all stages that read it are in the group and read it, in some axis, at the
//! same index at which the host is computed; the axes of the host for which this holds of all members are those of the
//! rows. Softmax, normalizations, and chains of reductions over the same axes are of this kind.

use super::accesses::{offsets, shape_of, stage_of};
use super::fusion::along_fused;
use super::operands::operands;
use super::pipelines::{self, Pipeline};
use super::placement::{Nest, inlined, is_cheap};
use super::prefetch_row;
use super::reductions;
use super::tiling::lanes;
use super::writer::Writer;
use crate::schedule::{Attach, AxisId, Schedule, StageId};
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

/// The groups whose rows do not lie together in memory, or have a few elements.
pub fn find_apart(tree: &Schedule, nests: &[Nest]) -> Vec<Rows> {
    find_of(tree, nests, MOST_SHARED_BYTES, |tree, stage| !reductions::fits_lanes(tree, stage))
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
    let size = |t| tensor_type(t).map_or(4, |t| t.dtype.size() as u64);
    let results = tree.stages[stage].op.result_values().into_iter().map(size).sum::<u64>();
    match elements.product::<u64>() {
        1 => 0,
        elements => elements * results,
    }
}

/// Writes the primitives of a group.
pub fn schedule(writer: &mut Writer, rows: &Rows, machine: &Machine) -> Result<(), String> {
    let vector_bytes = machine.vector_bytes;
    let leaves = writer.tree.stages[rows.host].leaves.clone();
    let (outer, inner): (Vec<AxisId>, Vec<AxisId>) = leaves.iter().partition(|a| rows.shared.contains(a));
    let order = [outer.as_slice(), &inner].concat();
    let Some(&at) = outer.last() else { return Ok(()) };
    if order != leaves {
        writer.reorder(rows.host, &order)?;
    }
    let pipeline = Pipeline::of(writer, rows, at, machine)?;
    let at = pipeline.as_ref().map_or(at, |p| p.axis);
    for &(member, _) in rows.members.iter().rev() {
        writer.compute_at(member, rows.host, at)?;
    }
    let host = (rows.host, rows.shared.clone());
    let stages: Vec<&(StageId, BTreeSet<usize>)> = rows.members.iter().chain([&host]).collect();
    for (place, member) in stages.iter().enumerate() {
        let (stage, fixed) = *member;
        let joined = pipeline.as_ref().filter(|p| p.joined.contains(stage)).map(|_| pipelines::VECTORS);
        if writer.tree.stages[*stage].is_reduction() {
            reductions::vectorize_in(writer, *stage, vector_bytes, joined)?;
            continue;
        }
        let next = stages.get(place + 1).filter(|next| sums_up(writer, next, member));
        let summed = next.map(|next| {
            let (lanes, chains) =
                reductions::at_a_time(writer, next.0, length(&writer.tree, next.0, &next.1), vector_bytes);
            lanes * chains
        });
        elementwise(writer, *stage, fixed, vector_bytes, (joined, summed))?;
    }
    prefetch_row::prefetch(writer, rows, at, machine)?;
    pipeline.map_or(Ok(()), |p| writer.pipeline(rows.host, p.axis))
}

/// Vectorizes an elementwise stage along its last axes, except for those that are fixed in a row; so many vectors at a time, where a
/// pipeline says so. What the next stage sums up so many elements at a time is made so many at a time, by vectors of its own: both become
/// one loop (`loop-fuse`). A softmax of 128 x 1024 with a mask takes 42 us in place of 44 on Zen 4.
fn elementwise(
    writer: &mut Writer,
    stage: StageId,
    fixed: &BTreeSet<usize>,
    vector_bytes: u64,
    (joined, summed): (Option<u64>, Option<u64>),
) -> Result<(), String> {
    let extents = shape_of(&writer.tree, stage);
    let accesses = offsets(&writer.tree, stage, None);
    let open = (0..extents.len()).rev().take_while(|a| !fixed.contains(a)).count();
    let good = |n: &usize| along_fused(&accesses, &extents, *n).iter().all(|c| matches!(c, Some(0 | 1)));
    let Some(together) = (1..=open).rev().find(good) else { return Ok(()) };
    let extent: u64 = extents[extents.len() - together..].iter().product();
    let lanes = lanes(writer, stage, vector_bytes);
    if extent < 4 {
        return Ok(());
    }
    let mut along: AxisId = extents.len() - together;
    for next in extents.len() - together + 1..extents.len() {
        along = writer.fuse(stage, along, next)?;
    }
    if extent > lanes {
        let vectors = joined.unwrap_or_else(|| at_once(&writer.tree, stage, extent, lanes));
        (_, along) = writer.split(stage, along, lanes * vectors)?;
        if joined.is_some() || (vectors > 1 && summed == Some(lanes * vectors)) {
            let (copies, vector) = writer.split(stage, along, lanes)?;
            writer.unroll(stage, copies)?;
            along = vector;
        }
    }
    writer.vectorize(stage, along)
}

/// True for a reduction over all that a stage has of a row, which reads it.
fn sums_up(writer: &Writer, reduction: &(StageId, BTreeSet<usize>), of: &(StageId, BTreeSet<usize>)) -> bool {
    writer.tree.stages[reduction.0].is_reduction()
        && length(&writer.tree, reduction.0, &reduction.1) == length(&writer.tree, of.0, &of.1)
        && writer.tree.readers(of.0).contains(&reduction.0)
}

/// Elements that a row has of a stage, reduced ones among them.
pub fn length(tree: &Schedule, stage: StageId, fixed: &BTreeSet<usize>) -> u64 {
    let s = &tree.stages[stage];
    (0..s.op_axes()).filter(|a| !fixed.contains(a)).map(|a| s.axes[a].extent).product()
}

/// How many vectors of a row are one: where few operations compute it from a row of an input, all that is read is prefetched before
/// anything is stored (layer normalization of 512 x 768 takes 56 us in place of 70 on Zen 4). A row that was kept is near, and
/// stores of many lines on end take longer then (softmax of 4096 x 1024: 1.8 ms in place of 1.4).
fn at_once(tree: &Schedule, stage: StageId, extent: u64, lanes: u64) -> u64 {
    let is_whole = |n: &u64| extent.is_multiple_of(lanes * n);
    match takes_little(tree, stage, extent) && reads_input(tree, stage) {
        true => [8, 4, 2].into_iter().find(is_whole).unwrap_or(1),
        false => 1,
    }
}

/// True when a stage reads an input of as many elements.
fn reads_input(tree: &Schedule, stage: StageId) -> bool {
    let elements: u64 = shape_of(tree, stage).iter().product();
    let operands = operands(tree, stage).unwrap_or_default();
    operands.iter().any(|o| o.input.is_some() && o.shape.iter().product::<u64>() >= elements)
}

/// True when few operations compute an element, beside what is the same for all of a row of so many.
fn takes_little(tree: &Schedule, stage: StageId, extent: u64) -> bool {
    let elements = |stage: StageId| shape_of(tree, stage).iter().product::<u64>();
    is_cheap(tree, stage)
        && inlined(tree, stage)
            .all(|read| elements(read) * extent <= elements(stage) || takes_little(tree, read, extent))
}
