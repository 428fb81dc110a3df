//! Windows: pools and depthwise convolutions, of which each result reads a few elements that its neighbours read as well.
//!
//! ```text
//!   for c, h, w  for r, q  y[c, h, w] += x[c, h + r, w + q] * f[c, r, q]
//!
//!   for (c, h / 2, w / 4) / 256 (block_x)  for 256 (thread_x)        2 x 4 results a thread, in registers
//!     for r, q (unrolled)  for 2, 4 (unrolled)  s += x[c, h + r, w + q] * f[c, r, q]
//!     for 2, 4 (unrolled)  y[c, h, w] = s
//! ```
//!
//! The padded input is no tensor of its own: what is beyond the edge is a condition of each read, which costs less than to write
//! the input to memory and read it again. A thread reads an element of the filter once for all of its results, and of the 4 + 3 - 1
//! elements that a row of 4 results needs each only once where they are unrolled side by side (the register tiles of Volkov and Demmel, 2008, for a
//! stencil). The tile is as large as leaves every core its threads. It may go beyond the end, where nothing is stored, if that is a small
//! part of all: 7 columns are two tiles of 4.

use super::super::placement::{Nest, is_cheap};
use super::super::writer::Writer;
use super::elements::block_and_thread;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::indices::expr::Expr;
use fusion_machine::Target;

/// Elements of a window, at most: of more, a reduction has other schedules.
const MOST_POINTS: u64 = 64;
/// Products of a thread that stand behind each other, at most.
const MOST_UNROLLED: u64 = 96;
/// Results of a thread, in rows and columns, those with the most reuse first.
const TILES: [(u64, u64); 6] = [(2, 4), (1, 4), (2, 2), (4, 1), (1, 2), (2, 1)];

/// One of so many results may be computed for nothing.
const MOST_BEYOND: u64 = 6;

/// Computes what windows read where they read it: padding, and what else is cheap.
pub fn inline_sources(writer: &mut Writer) -> Result<(), String> {
    for stage in 0..writer.tree.stages.len() {
        let consumers = writer.tree.consumers(stage);
        let all = !consumers.is_empty() && consumers.iter().all(|reader| is_window(&writer.tree, *reader));
        if all && is_cheap(&writer.tree, stage) && !writer.tree.results.contains(&stage) {
            writer.inline(stage)?;
        }
    }
    Ok(())
}

/// Writes the primitives of a nest over windows; false for another one, and where a thread has a single result.
pub fn schedule(writer: &mut Writer, nest: &Nest, target: &Target) -> Result<bool, String> {
    let reduction = nest.reduction.unwrap_or(nest.stage);
    let s = &writer.tree.stages[nest.stage];
    let rank = s.rank();
    if !is_window(&writer.tree, reduction) || rank < 2 || writer.tree.stages[reduction].rank() != rank {
        return Ok(false);
    }
    let extents: Vec<u64> = s.axes[..rank].iter().map(|axis| axis.extent).collect();
    let Some((rows, columns)) = tile(&extents, target) else { return Ok(false) };
    let host = nest.stage;
    let sums = match nest.reduction {
        Some(reduction) => reduction,
        None => {
            let name = format!("windows_of_{}", writer.tree.stages[host].name);
            writer.cache_write(host, &name)?
        }
    };
    let (ho, hi) = writer.split_guarded(host, rank - 2, rows)?;
    let (wo, wi) = writer.split_guarded(host, rank - 1, columns)?;
    let outer: Vec<AxisId> = (0..rank - 2).chain([ho, wo]).collect();
    writer.reorder(host, &[outer.as_slice(), &[hi, wi]].concat())?;
    writer.unroll(host, hi)?;
    writer.unroll(host, wi)?;
    let [others @ .., height, width] = &extents[..] else { return Ok(false) };
    let threads = others.iter().product::<u64>() * height.div_ceil(rows) * width.div_ceil(columns);
    if let Some(all) = writer.fuse_all(host, &outer)? {
        let thread = block_and_thread(writer, host, all, threads, target)?;
        writer.compute_at(sums, host, thread)?;
    }
    unroll_window(writer, sums, (rows, columns))
}

/// The window outside, a thread's results inside of it.
fn unroll_window(writer: &mut Writer, sums: StageId, (rows, columns): (u64, u64)) -> Result<bool, String> {
    let s = &writer.tree.stages[sums];
    let (rank, own) = (s.rank(), s.op_axes());
    let window: Vec<AxisId> = (rank..own).collect();
    let mut products = rows * columns;
    let mut unrolled = Vec::new();
    for &axis in window.iter().rev() {
        products *= s.axes[axis].extent;
        if products <= MOST_UNROLLED {
            unrolled.push(axis);
        }
    }
    // One block of each: what a thread computes of the sums are its own rows and columns.
    let (ro, ri) = writer.split(sums, rank - 2, rows)?;
    let (co, ci) = writer.split(sums, rank - 1, columns)?;
    let order: Vec<AxisId> = (0..rank - 2).chain([ro, co]).chain(window).chain([ri, ci]).collect();
    writer.reorder(sums, &order)?;
    for axis in unrolled.into_iter().chain([ri, ci]) {
        writer.unroll(sums, axis)?;
    }
    Ok(true)
}

/// Results of a thread: of the tiles that go little beyond the end, if at all, and of which there are enough for all cores.
fn tile(extents: &[u64], target: &Target) -> Option<(u64, u64)> {
    let elements: u64 = extents.iter().product();
    let busy = target.cores * target.gpu.core_threads / 2;
    let [.., height, width] = extents else { return None };
    let fits = |&(rows, columns): &(u64, u64)| {
        let covered = height.next_multiple_of(rows) * width.next_multiple_of(columns);
        let little = (covered - height * width) * MOST_BEYOND <= height * width;
        little && elements / (rows * columns) >= busy
    };
    TILES.into_iter().find(fits)
}

/// True for a small reduction of which one operand has another element for each result and goes on along an axis with the window: none
/// has its elements read again and again by results that differ in another axis, as those of products are.
fn is_window(tree: &Schedule, stage: StageId) -> bool {
    let s = &tree.stages[stage];
    let (rank, own) = (s.rank(), s.op_axes());
    let points: u64 = s.axes[rank..own].iter().map(|axis| axis.extent).product();
    if !s.is_reduction() || !(2..=MOST_POINTS).contains(&points) {
        return false;
    }
    let axes = |range: std::ops::Range<usize>| range.filter(|a| s.axes[*a].extent > 1);
    let slides = |e: &Expr| axes(0..rank).any(|a| e.mentions(a)) && axes(rank..own).any(|a| e.mentions(a));
    accesses(s.op).into_iter().any(|access| {
        let known: Option<Vec<Expr>> = access.indices.into_iter().collect();
        known.is_some_and(|indices| {
            let all = axes(0..rank).all(|a| indices.iter().any(|e| e.mentions(a)));
            all && indices.iter().any(slides)
        })
    })
}
