//! Rows: all stages of a kernel that go over the same outer axes are computed at one loop over these.
//!
//!     for i  for k  m[i] max= x[i, k]                  for i
//!     for i  for k  e[i, k] = exp(x[i, k] - m[i])        for k  m max= x[i, k]
//!     for i  for k  s[i] += e[i, k]                =>    for k  e[k] = exp(x[i, k] - m)        one row: it stays in cache
//!     for i  for k  y[i, k] = e[i, k] / s[i]             for k  s += e[k]
//!                                                        for k  y[i, k] = e[k] / s
//!
//! Softmax, normalizations, and chains of reductions over the same axes are of this kind. Which stages are a group is in
//! [`row_groups`](crate::auto_schedule::row_groups).

use crate::auto_schedule::accesses::{lanes, offsets, shape_of};
use crate::auto_schedule::cpu::pipelines::{self, Pipeline};
use crate::auto_schedule::cpu::prefetch_row;
use crate::auto_schedule::fusion::along_fused;
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::operands::operands;
use crate::auto_schedule::placement::{inlined, is_cheap};
use crate::auto_schedule::reductions;
use crate::auto_schedule::row_groups::{self, Rows, length};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_machine::Machine;
use std::collections::BTreeSet;

/// Shorter rows fill no vector.
const FEWEST: u64 = 4;

/// The kind.
pub struct ByRows;

impl Kind for ByRows {
    fn about(&self) -> About {
        About {
            name: "rows",
            matches: "nests that go over the same outer axes, one of which is a reduction along memory",
            knobs: &[],
            formula: "vectors of all stages x operations",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let groups = row_groups::find_near(tree, kernel.nests, kernel.machine);
        all(groups.into_iter().map(|rows| Group { rows }))
    }
}

struct Group {
    rows: Rows,
}

impl Match for Group {
    fn nests(&self) -> Vec<StageId> {
        self.rows.stages()
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let stages = self.nests();
        let cycles = stages.iter().map(|&stage| traffic::in_vectors(tree, stage, kernel)).sum();
        Some(traffic::seconds(tree, kernel, &stages, cycles))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        schedule(writer, &self.rows, kernel.machine)
    }
}

/// Writes the primitives of a group.
fn schedule(writer: &mut Writer, rows: &Rows, machine: &Machine) -> Result<(), String> {
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
        let next = stages.get(place + 1).filter(|next| sums_up(&writer.tree, next, member));
        let summed = next.map(|next| {
            let (lanes, chains) = reductions::at_a_time(
                &writer.tree,
                next.0,
                length(&writer.tree, next.0, &next.1),
                vector_bytes,
            );
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
    let lanes = lanes(&writer.tree, stage, vector_bytes);
    if extent < FEWEST {
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
fn sums_up(tree: &Schedule, reduction: &(StageId, BTreeSet<usize>), of: &(StageId, BTreeSet<usize>)) -> bool {
    tree.stages[reduction.0].is_reduction()
        && length(tree, reduction.0, &reduction.1) == length(tree, of.0, &of.1)
        && tree.readers(of.0).contains(&reduction.0)
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
