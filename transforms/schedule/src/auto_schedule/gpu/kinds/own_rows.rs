//! A thread for each row whose elements lie apart in memory, or are few: softmax along another axis than the last.
//!
//!     for i, k, j  m[i, j] max= x[i, k, j]                    for (i, j) / 64 (block_x)  for 64 (thread_x)
//!     for i, k, j  e[i, k, j] = exp(x[i, k, j] - m[i, j])       for k  m max= x[i, k, j]                in a register
//!     for i, k, j  s[i, j] += e[i, k, j]                =>      for k  s += exp(x[i, k, j] - m)
//!     for i, k, j  y[i, k, j] = e[i, k, j] / s[i, j]            for k  y[i, k, j] = exp(x[i, k, j] - m) / s
//!
//! Neighbouring threads read neighbouring elements where rows lie side by side. What is an element of a row is computed where it is read,
//! again where it is read again: that takes less than memory does (the recomputation of Chen et al., "Training Deep Nets with Sublinear
//! Memory Cost", 2016, within a kernel). So it is one launch, where each stage would be one.

use super::elements;
use crate::auto_schedule::gpu::launch::Launch;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::row_groups::{self, Rows, length};
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::OpExt;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows;
use fusion_dialects::te::Op as Te;

/// A thread goes through so many elements in less time than launches take.
const SHORT: u64 = 64;
/// Threads of a block, of which there are fewer where rows are few, so that all cores have some.
const MOST_THREADS: u64 = 256;
/// Stages of a row that are computed where they are read, at most: each may read those before it several times.
const MOST_INLINE: usize = 4;

fn longest(tree: &Schedule, rows: &Rows) -> u64 {
    rows.members.iter().map(|(stage, fixed)| length(tree, *stage, fixed)).max().unwrap_or(1)
}

/// The members of a group.
pub(super) struct Kinds {
    /// Those that are combined.
    pub reductions: Vec<StageId>,
    /// Those that are computed where they are read.
    pub elements: Vec<StageId>,
}

/// The members by kind, where those that are elements may be computed where they are read.
pub(super) fn kinds(tree: &Schedule, rows: &Rows) -> Option<Kinds> {
    let (reductions, elements): (Vec<StageId>, Vec<StageId>) =
        rows.members.iter().map(|(stage, _)| *stage).partition(|s| tree.stages[*s].is_reduction());
    let computes = |s: &StageId| matches!(tree.stages[*s].op.kind(), Some(rows::Kind::Te(Te::Compute)));
    let may_be_inline = elements.len() <= MOST_INLINE && elements.iter().chain([&rows.host]).all(computes);
    may_be_inline.then_some(Kinds { reductions, elements })
}

/// The kind.
pub struct OwnRows;

impl Kind for OwnRows {
    fn about(&self) -> About {
        About {
            name: "own-rows",
            matches: "nests that go over the same rows, whose elements lie apart or are few",
            knobs: &[("threads", "threads of a block, a row each")],
            formula: "what is computed where it is read, again for each reduction; a thread reads its row as often",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = |rows: Rows| {
            // Where rows are long and few, threads had better share each.
            let fills_cores = rows.count(tree) >= kernel.target.cores * kernel.target.gpu.warp;
            let fits = longest(tree, &rows) <= SHORT || fills_cores;
            let kinds = kinds(tree, &rows).filter(|_| fits)?;
            Some(ByThread { rows, kinds })
        };
        all(row_groups::apart(tree, kernel.nests).into_iter().filter_map(found))
    }
}

struct ByThread {
    rows: Rows,
    kinds: Kinds,
}

impl Match for ByThread {
    fn nests(&self) -> Vec<StageId> {
        self.rows.stages()
    }

    fn space(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        vec![Knob { name: "threads", values: elements::threads(kernel.target) }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let &[threads] = config else { return None };
        let threads = threads.max(1) as u64;
        let blocks = self.rows.count(tree).div_ceil(threads);
        let launch = Launch::of(tree, kernel, &self.nests(), (blocks, threads));
        // The elements are computed anew for each reduction and for the host.
        let again = self.kinds.reductions.len() as f64 + 1.0;
        let Launch { operations, loaded, .. } = launch;
        let launch = Launch { operations: operations * again, loaded: loaded * again, ..launch };
        Some(launch.in_steps(again * longest(tree, &self.rows) as f64).seconds(kernel.target))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let target = kernel.target;
        let of_core = self.rows.count(tree) / target.cores.max(1);
        let threads = of_core.next_power_of_two().max(target.gpu.warp);
        let config = vec![threads.min(MOST_THREADS).min(target.gpu.block_threads) as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, _kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let threads = config.first().map_or(MOST_THREADS, |n| (*n).max(1) as u64);
        schedule(writer, &self.rows, &self.kinds, threads)
    }
}

/// Writes the primitives of a group.
fn schedule(writer: &mut Writer, rows: &Rows, kinds: &Kinds, threads: u64) -> Result<(), String> {
    for stage in kinds.elements.iter().rev() {
        writer.inline(*stage)?;
    }
    let leaves = writer.tree.stages[rows.host].leaves.clone();
    let (outer, inner): (Vec<AxisId>, Vec<AxisId>) = leaves.iter().partition(|a| rows.shared.contains(a));
    let order = [outer.as_slice(), &inner].concat();
    if order != leaves {
        writer.reorder(rows.host, &order)?;
    }
    let Some(row) = writer.fuse_all(rows.host, &outer)? else { return Ok(()) };
    let (block, thread) = writer.split_guarded(rows.host, row, threads)?;
    writer.bind(rows.host, block, LoopKind::BlockX)?;
    writer.bind(rows.host, thread, LoopKind::ThreadX)?;
    for stage in kinds.reductions.iter().rev() {
        writer.compute_at(*stage, rows.host, thread)?;
    }
    Ok(())
}
