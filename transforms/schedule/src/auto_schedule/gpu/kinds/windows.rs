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

use super::elements::{THREADS, block_and_thread};
use crate::auto_schedule::accesses::shape_of;
use crate::auto_schedule::gpu::launch::{self, Launch};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::placement::{Nest, is_cheap};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
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

/// The kind.
pub struct InWindows;

impl Kind for InWindows {
    fn about(&self) -> About {
        About {
            name: "windows",
            matches: "a reduction of a few neighbours in one tensor: pools and depthwise convolutions",
            knobs: &[("rows", "rows of a thread's results"), ("columns", "columns of a thread's results")],
            formula: "points x operations, those beyond the end among them; elements that rows of results share are loaded once",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let is_one = |nest: &&Nest| {
            let reduction = nest.reduction.unwrap_or(nest.stage);
            let rank = tree.stages[nest.stage].rank();
            is_window(tree, reduction) && rank >= 2 && tree.stages[reduction].rank() == rank
        };
        all(kernel.nests.iter().filter(is_one).map(|nest| OverWindows { nest: *nest }))
    }
}

struct OverWindows {
    nest: Nest,
}

impl Match for OverWindows {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, _tree: &Schedule, _kernel: &Kernel) -> Vec<Knob> {
        vec![Knob { name: "rows", values: vec![2, 1, 4] }, Knob { name: "columns", values: vec![4, 2, 1] }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let tile = self.tile(config)?;
        let extents = shape_of(tree, self.nest.stage);
        let (threads, beyond) = (threads(&extents, tile)?, beyond(&extents, tile)?);
        let stages: Vec<StageId> = traffic::stages_of(&self.nest).collect();
        let blocks = threads.div_ceil(THREADS);
        let launch = Launch::of(tree, kernel, &stages, (blocks, THREADS));
        let inside = self.nest.reduction.unwrap_or(self.nest.stage);
        let (loaded, fetched) = launch::by_elements(tree, &self.nest, kernel.target);
        // Of a row of results neighbours share all but one of the elements that each reads.
        let window: f64 = window(tree, inside).map(|extent| extent as f64).product();
        let across = window.sqrt().max(1.0);
        let columns = tile.1 as f64;
        let loaded = loaded * (columns + across - 1.0) / (columns * across);
        let launch = Launch { loaded, fetched, operations: launch.operations * beyond, ..launch };
        Some(launch.in_lanes(tile.0 * tile.1).seconds(kernel.target))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let (rows, columns) = tile(&shape_of(tree, self.nest.stage), kernel.target)?;
        let config = vec![rows as i64, columns as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let tile = self.tile(config).ok_or("has windows without a tile")?;
        write(writer, &self.nest, tile, kernel.target)
    }
}

impl OverWindows {
    /// Rows and columns of a config; several results, as a single one is what `elements` does.
    fn tile(&self, config: &[i64]) -> Option<(u64, u64)> {
        let &[rows, columns] = config else { return None };
        (rows * columns > 1).then_some((rows as u64, columns as u64))
    }
}

fn write(
    writer: &mut Writer,
    nest: &Nest,
    (rows, columns): (u64, u64),
    target: &Target,
) -> Result<(), String> {
    let host = nest.stage;
    let extents = shape_of(&writer.tree, host);
    let rank = extents.len();
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
    let threads = threads(&extents, (rows, columns)).unwrap_or(1);
    if let Some(all) = writer.fuse_all(host, &outer)? {
        let most = THREADS.min(target.gpu.block_threads);
        let thread = block_and_thread(writer, host, all, threads, (most, target))?;
        writer.compute_at(sums, host, thread)?;
    }
    unroll_window(writer, sums, (rows, columns))
}

/// Threads for results of that shape, each of so many rows and columns.
fn threads(extents: &[u64], (rows, columns): (u64, u64)) -> Option<u64> {
    let [others @ .., height, width] = extents else { return None };
    Some(others.iter().product::<u64>() * height.div_ceil(rows) * width.div_ceil(columns))
}

/// How many times as many results there are with those beyond the end.
fn beyond(extents: &[u64], (rows, columns): (u64, u64)) -> Option<f64> {
    let [.., height, width] = extents else { return None };
    let covered = height.next_multiple_of(rows) * width.next_multiple_of(columns);
    Some(covered as f64 / (height * width).max(1) as f64)
}

/// The extents of a reduction.
fn window(tree: &Schedule, stage: StageId) -> impl Iterator<Item = u64> {
    let s = &tree.stages[stage];
    s.axes[s.rank()..s.op_axes()].iter().map(|axis| axis.extent)
}

/// The window outside, a thread's results inside of it.
fn unroll_window(writer: &mut Writer, sums: StageId, (rows, columns): (u64, u64)) -> Result<(), String> {
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
    Ok(())
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
    let points: u64 = window(tree, stage).product();
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
