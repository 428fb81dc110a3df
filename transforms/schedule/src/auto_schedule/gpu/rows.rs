//! A block of threads for a row, or a warp for each of several: softmax, normalizations, and reductions along memory.
//!
//!     for i  for k  m[i] max= x[i, k]                  for i (block_x)
//!     for i  for k  e[i, k] = exp(x[i, k] - m[i])        m = max over k of x[i, k]       threads share k, all get m
//!     for i  for k  s[i] += e[i, k]                =>    e[k] = exp(x[i, k] - m)         threads share k, in shared memory
//!     for i  for k  y[i, k] = e[i, k] / s[i]             s = sum over k of e[k]
//!                                                        y[i, k] = e[k] / s
//!
//! Neighbouring threads take neighbouring elements, or accesses of 16 bytes (`lanes`). What is one number a row stays in a register of every thread. The groups
//! are those of `rows` for processors; see also NVIDIA's "Apex" layer normalization and the softmax of "Triton" (Tillet, 2019).

use super::super::accesses::{offsets, shape_of};
use super::super::parts;
use super::super::placement::Nest;
use super::super::reductions::{fits_lanes, reads_once};
use super::super::row_groups::{Rows, length};
use super::super::writer::Writer;
use super::{elements, lanes};
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Target;
use std::collections::BTreeSet;

/// The most threads that share a row.
const MOST_THREADS: u64 = 512;
/// Elements of a row that a thread takes, at least, before there are more threads.
const FEWEST_ELEMENTS: u64 = 4;
/// Elements that a block reduces at least where several share a row.
const FEWEST_OF_A_PART: u64 = 16_384;
/// Threads of a block that has several rows.
const THREADS: u64 = 256;

/// Writes the primitives of a group; false where a row is too long to be kept in shared memory.
pub fn schedule(writer: &mut Writer, rows: &Rows, target: &Target) -> Result<bool, String> {
    let kept: u64 = rows
        .members
        .iter()
        .filter(|(stage, _)| !writer.tree.stages[*stage].is_reduction())
        .map(|(stage, fixed)| row_bytes(&writer.tree, *stage, fixed))
        .sum();
    if kept > target.gpu.shared_bytes / 2 {
        return Ok(false);
    }
    let stages = rows.members.iter().map(|(s, fixed)| (*s, fixed.clone()));
    let all: Vec<(StageId, BTreeSet<usize>)> = stages.chain([(rows.host, rows.shared.clone())]).collect();
    let length = all.iter().map(|(s, fixed)| length(&writer.tree, *s, fixed)).max().unwrap_or(1);
    let most_lanes = all.iter().map(|(s, fixed)| lanes_of(&writer.tree, *s, fixed)).max().unwrap_or(1);
    let threads = threads((length, most_lanes), kept == 0, target);
    let leaves = writer.tree.stages[rows.host].leaves.clone();
    let (outer, inner): (Vec<AxisId>, Vec<AxisId>) = leaves.iter().partition(|a| rows.shared.contains(a));
    let order = [outer.as_slice(), &inner].concat();
    if order != leaves {
        writer.reorder(rows.host, &order)?;
    }
    let at = bind_rows(writer, rows.host, &outer, if kept == 0 { threads } else { THREADS })?;
    for (member, _) in rows.members.iter().rev() {
        writer.compute_at(*member, rows.host, at)?;
    }
    for (stage, fixed) in &all {
        let reduction = writer.tree.stages[*stage].is_reduction();
        // A member of several elements a row is for all threads.
        if *stage != rows.host && row_elements(&writer.tree, *stage, fixed) > 1 {
            writer.set_scope(*stage, Scope::Shared)?;
        }
        if reduction {
            share_reduction(writer, *stage, threads)?;
        } else {
            share_elements(writer, *stage, fixed, threads)?;
        }
    }
    Ok(true)
}

/// Writes the primitives of a reduction along memory by itself, with what goes on with its results; false for another nest.
pub fn alone(writer: &mut Writer, nest: &Nest, target: &Target) -> Result<bool, String> {
    let reduction = nest.reduction.unwrap_or(nest.stage);
    let s = &writer.tree.stages[reduction];
    let (rank, own) = (s.rank(), s.op_axes());
    if !s.is_reduction() || !fits_lanes(&writer.tree, reduction) || !reads_once(&writer.tree, reduction) {
        return Ok(false);
    }
    let length: u64 = s.axes[rank..own].iter().map(|a| a.extent).product();
    let rows: u64 = s.axes[..rank].iter().map(|a| a.extent).product();
    if let Some(axis) = (rank..own).find(|&a| s.axes[a].extent > 1) {
        let extent = s.axes[axis].extent;
        let fewest = FEWEST_OF_A_PART.div_ceil((length / extent.max(1)).max(1));
        if let Some(parts) = parts::number(extent, rows, target.cores, (fewest, 1))
            && let Some(partial) = parts::of(writer, reduction, axis, parts)?
        {
            let own = Nest { stage: partial, reduction: None };
            for nest in [&own, nest] {
                if !alone(writer, nest, target)? {
                    elements::schedule(writer, nest, target)?;
                }
            }
            return Ok(true);
        }
    }
    let lanes = lanes_of(&writer.tree, reduction, &(0..rank).collect());
    let threads = threads((length, lanes), true, target);
    let outer: Vec<AxisId> = (0..writer.tree.stages[nest.stage].rank()).collect();
    if !outer.is_empty() {
        let at = bind_rows(writer, nest.stage, &outer, threads)?;
        if let Some(reduction) = nest.reduction {
            writer.compute_at(reduction, nest.stage, at)?;
        }
    }
    // What goes on with a single number is computed behind it, on one thread.
    share_reduction(writer, reduction, threads)?;
    Ok(true)
}

/// Threads for a row of so many elements, of which some are read at once: a power of two, so that they can combine what they have.
pub(super) fn threads((length, lanes): (u64, u64), may_be_few: bool, target: &Target) -> u64 {
    let wanted = (length / FEWEST_ELEMENTS.max(lanes)).max(1);
    let floor = 1u64 << wanted.ilog2();
    let least = if may_be_few { target.gpu.warp.min(32) } else { THREADS.min(64) };
    floor.clamp(least, MOST_THREADS.min(target.gpu.block_threads))
}

/// Binds the loops over rows: to blocks, and where a warp does for a row, to the warps of a block.
fn bind_rows(writer: &mut Writer, stage: StageId, outer: &[AxisId], threads: u64) -> Result<AxisId, String> {
    let mut row = outer[0];
    for next in &outer[1..] {
        row = writer.fuse(stage, row, *next)?;
    }
    let rows = THREADS / threads.max(1);
    if threads > 32 || rows < 2 || writer.tree.stages[stage].axes[row].extent < 2 {
        writer.bind(stage, row, LoopKind::BlockX)?;
        return Ok(row);
    }
    let (block, warp) = writer.split_guarded(stage, row, rows)?;
    writer.bind(stage, block, LoopKind::BlockX)?;
    writer.bind(stage, warp, LoopKind::ThreadY)?;
    Ok(warp)
}

/// Elements of a row that lie together and that a thread takes at once: of those it combines, or of all but the fixed axes.
pub(super) fn lanes_of(tree: &Schedule, stage: StageId, fixed: &BTreeSet<usize>) -> u64 {
    let s = &tree.stages[stage];
    let (rank, own) = (s.rank(), s.op_axes());
    let extents: Vec<u64> = s.axes[..own].iter().map(|a| a.extent).collect();
    let accesses = offsets(tree, stage, None);
    match s.is_reduction() {
        // The first access is the store, which is outside of the reduction.
        true => lanes::of(tree, stage, &accesses[1..], &extents, &(rank..own)),
        false => {
            let open = (0..rank).rev().take_while(|a| !fixed.contains(a)).count();
            let all = open == (0..rank).filter(|a| !fixed.contains(a)).count();
            if all { lanes::of(tree, stage, &accesses, &extents, &(rank - open..rank)) } else { 1 }
        }
    }
}

/// Has threads share what a reduction combines.
pub(super) fn share_reduction(writer: &mut Writer, stage: StageId, threads: u64) -> Result<(), String> {
    let lanes = lanes_of(&writer.tree, stage, &BTreeSet::new());
    let s = &writer.tree.stages[stage];
    let (rank, own) = (s.rank(), s.op_axes());
    let mut along: AxisId = rank;
    for next in rank + 1..own {
        along = writer.fuse(stage, along, next)?;
    }
    // What lanes have is combined before threads combine it.
    (along, _) = lanes::take(writer, stage, along, lanes)?;
    let (_, thread) = writer.split_guarded(stage, along, threads)?;
    writer.bind(stage, thread, LoopKind::ThreadX)
}

/// Has threads share the elements of a row.
pub(super) fn share_elements(
    writer: &mut Writer,
    stage: StageId,
    fixed: &BTreeSet<usize>,
    threads: u64,
) -> Result<(), String> {
    let extents = shape_of(&writer.tree, stage);
    let open: Vec<AxisId> = (0..extents.len()).filter(|a| !fixed.contains(a)).collect();
    let Some((&first, rest)) = open.split_first() else { return Ok(()) };
    let together = open.windows(2).all(|w| w[0] + 1 == w[1]);
    let mut along = first;
    if together {
        for next in rest {
            along = writer.fuse(stage, along, *next)?;
        }
    } else {
        along = *rest.last().unwrap_or(&first);
    }
    let lanes = lanes_of(&writer.tree, stage, fixed);
    (along, _) = lanes::take(writer, stage, along, lanes)?;
    let extent = writer.tree.stages[stage].axes[along].extent;
    if extent > threads {
        (_, along) = writer.split(stage, along, threads)?;
    }
    writer.bind(stage, along, LoopKind::ThreadX)
}

fn row_elements(tree: &Schedule, stage: StageId, fixed: &BTreeSet<usize>) -> u64 {
    let shape = shape_of(tree, stage);
    (0..shape.len()).filter(|a| !fixed.contains(a)).map(|a| shape[a]).product()
}

fn row_bytes(tree: &Schedule, stage: StageId, fixed: &BTreeSet<usize>) -> u64 {
    let size = |t| tensor_type(t).map_or(4, |t| t.dtype.size() as u64);
    let results = tree.stages[stage].op.result_values().into_iter().map(size).sum::<u64>();
    row_elements(tree, stage, fixed).saturating_mul(results)
}
