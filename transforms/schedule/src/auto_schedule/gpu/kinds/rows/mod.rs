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

mod alone;
mod group;

use super::elements::WARP;
use crate::auto_schedule::accesses::{offsets, shape_of};
use crate::auto_schedule::gpu::lanes;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
pub use alone::Alone;
use fusion_dialects::loops::LoopKind;
use fusion_machine::Target;
pub use group::ByRows;
use std::collections::BTreeSet;

/// The most threads that share a row.
const MOST_THREADS: u64 = 512;
/// Elements of a row that a thread takes, at least, before there are more threads.
const FEWEST_ELEMENTS: u64 = 4;
/// Threads of a block that has several rows.
const THREADS: u64 = 256;

/// Threads for a row of so many elements, of which some are read at once: a power of two, so that they can combine what they have.
pub(super) fn threads((length, lanes): (u64, u64), may_be_few: bool, target: &Target) -> u64 {
    let wanted = (length / FEWEST_ELEMENTS.max(lanes)).max(1);
    let floor = 1u64 << wanted.ilog2();
    let least = if may_be_few { target.gpu.warp.min(WARP) } else { 2 * WARP };
    floor.clamp(least, MOST_THREADS.min(target.gpu.block_threads))
}

/// Rows of a block, where each has so many threads: several where a warp does for each.
fn rows_of_block(threads: u64) -> u64 {
    if threads > WARP { 1 } else { (THREADS / threads.max(1)).max(1) }
}

/// Binds the loops over rows: to blocks, and where a warp does for a row, to the warps of a block.
fn bind_rows(writer: &mut Writer, stage: StageId, outer: &[AxisId], of_block: u64) -> Result<AxisId, String> {
    let mut row = outer[0];
    for next in &outer[1..] {
        row = writer.fuse(stage, row, *next)?;
    }
    if of_block < 2 || writer.tree.stages[stage].axes[row].extent < 2 {
        writer.bind(stage, row, LoopKind::BlockX)?;
        return Ok(row);
    }
    let (block, warp) = writer.split_guarded(stage, row, of_block)?;
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
