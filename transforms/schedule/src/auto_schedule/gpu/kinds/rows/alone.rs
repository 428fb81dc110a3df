//! The kind of a reduction along memory by itself: the threads of a block or of a warp for each row, or several blocks for parts of it.

use super::super::elements;
use super::{bind_rows, lanes_of, rows_of_block, share_reduction, threads};
use crate::auto_schedule::gpu::launch::{self, Launch};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::parts;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions::{fits_lanes, reads_once};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::primitives::rfactor;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_machine::Target;

/// Elements that a block reduces at least where several share a row.
const FEWEST_OF_A_PART: u64 = 16_384;

/// The kind of a reduction by itself.
pub struct Alone;

impl Kind for Alone {
    fn about(&self) -> About {
        About {
            name: "row-sums",
            matches: "a reduction along memory, with what goes on with its results",
            knobs: &[
                ("threads", "threads of a row"),
                ("parts", "parts of a row, each by a block of its own"),
            ],
            formula: "points x operations, by as many threads as share rows; a launch that combines parts",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let is_one = |nest: &&Nest| is_along_memory(tree, nest.reduction.unwrap_or(nest.stage));
        all(kernel.nests.iter().filter(is_one).map(|nest| Sums { nest: *nest }))
    }
}

struct Sums {
    nest: Nest,
}

impl Match for Sums {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let parts = match Extents::of(tree, &self.nest).longest.filter(|_| self.may_be_cut(tree)) {
            Some((_, extent)) => (1..=parts::MOST_PARTS.min(2 * kernel.target.cores))
                .filter(|n| extent.is_multiple_of(*n))
                .map(|n| n as i64)
                .collect(),
            None => vec![1],
        };
        vec![
            Knob { name: "threads", values: elements::threads(kernel.target) },
            Knob { name: "parts", values: parts },
        ]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let &[threads, parts] = config else { return None };
        let (threads, parts) = (threads.max(1) as u64, parts.max(1) as u64);
        let Extents { rows, length, .. } = Extents::of(tree, &self.nest);
        let of_block = rows_of_block(threads);
        let stages: Vec<StageId> = traffic::stages_of(&self.nest).collect();
        let blocks = (rows * parts).div_ceil(of_block);
        let busy = threads.min((length / parts).div_ceil(self.lanes(tree))) * of_block;
        let launch = Launch::of(tree, kernel, &stages, (blocks, busy));
        let adding_up = if parts > 1 { launch::adding_up(rows, parts, kernel.target) } else { 0.0 };
        let of_thread = length as f64 / (parts * threads) as f64;
        Some(launch.in_lanes(self.lanes(tree)).in_steps(of_thread).seconds(kernel.target) + adding_up)
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let Extents { length, rows, longest } = Extents::of(tree, &self.nest);
        let cut = longest.filter(|_| self.may_be_cut(tree)).and_then(|(_, extent)| {
            let fewest = FEWEST_OF_A_PART.div_ceil((length / extent.max(1)).max(1));
            parts::number(extent, rows, kernel.target.cores, (fewest, 1))
        });
        let threads = threads((length / cut.unwrap_or(1), self.lanes(tree)), true, kernel.target);
        let config = vec![threads as i64, cut.unwrap_or(1) as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let &[threads, parts] = config else { return Err("has a reduction without a config".to_owned()) };
        let (threads, parts) = (threads.max(1) as u64, parts.max(1) as u64);
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        if parts > 1
            && let Some((axis, _)) = Extents::of(&writer.tree, &self.nest).longest
            && let Some(partial) = parts::of(writer, reduction, axis, parts)?
        {
            let own = Nest { stage: partial, reduction: None };
            match is_along_memory(&writer.tree, partial) {
                true => write(writer, &own, threads)?,
                false => elements::schedule(writer, &own, kernel.target)?,
            }
            return combine(writer, &self.nest, kernel.target);
        }
        write(writer, &self.nest, threads)
    }
}

impl Sums {
    /// Elements of a row that are read at once.
    fn lanes(&self, tree: &Schedule) -> u64 {
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        lanes_of(tree, reduction, &(0..tree.stages[reduction].rank()).collect())
    }

    fn may_be_cut(&self, tree: &Schedule) -> bool {
        rfactor::may_be_factored(&tree.stages[self.nest.reduction.unwrap_or(self.nest.stage)])
    }
}

/// The extents of a reduction.
struct Extents {
    /// Elements of a row.
    length: u64,
    rows: u64,
    /// The first axis that is combined of more than one element, and its extent.
    longest: Option<(AxisId, u64)>,
}

impl Extents {
    fn of(tree: &Schedule, nest: &Nest) -> Extents {
        let s = &tree.stages[nest.reduction.unwrap_or(nest.stage)];
        let (rank, own) = (s.rank(), s.op_axes());
        let product = |axes: std::ops::Range<usize>| s.axes[axes].iter().map(|a| a.extent).product();
        let longest = (rank..own).map(|a| (a, s.axes[a].extent)).find(|(_, extent)| *extent > 1);
        Extents { length: product(rank..own), rows: product(0..rank), longest }
    }
}

/// True for a reduction that reads memory once, along itself.
fn is_along_memory(tree: &Schedule, stage: StageId) -> bool {
    tree.stages[stage].is_reduction() && fits_lanes(tree, stage) && reads_once(tree, stage)
}

/// Combines parts of rows, which are a row each once more where they lie together.
fn combine(writer: &mut Writer, nest: &Nest, target: &Target) -> Result<(), String> {
    let tree = &writer.tree;
    let reduction = nest.reduction.unwrap_or(nest.stage);
    if !is_along_memory(tree, reduction) {
        return elements::schedule(writer, nest, target);
    }
    let lanes = lanes_of(tree, reduction, &(0..tree.stages[reduction].rank()).collect());
    let threads = threads((Extents::of(tree, nest).length, lanes), true, target);
    write(writer, nest, threads)
}

/// Writes the primitives of a reduction by itself.
fn write(writer: &mut Writer, nest: &Nest, threads: u64) -> Result<(), String> {
    let outer: Vec<AxisId> = (0..writer.tree.stages[nest.stage].rank()).collect();
    if !outer.is_empty() {
        let at = bind_rows(writer, nest.stage, &outer, rows_of_block(threads))?;
        if let Some(reduction) = nest.reduction {
            writer.compute_at(reduction, nest.stage, at)?;
        }
    }
    // What goes on with a single number is computed behind it, on one thread.
    share_reduction(writer, nest.reduction.unwrap_or(nest.stage), threads)
}
