//! A thread for each element, or for a few that lie together in memory.
//!
//!     for i, j  y[i, j] = f(x[i, j])     =>     for f / 1024 (block_x)  for 256 (thread_x)  for 4 (vectorized)  y[f] = f(x[f])
//!
//! All axes become one. Where every access goes on along it, a thread takes 16 bytes at once, which neighbouring threads
//! continue (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"). Where that is so along the last axis only, and this has
//! whole accesses, it is of the last axis that a thread has several: the rows of a gather, what is added to each row.
//!
//!     for i, j  y[i, j] = x[p[i], j]     =>      for f / 256 (block_x)  for 256 (thread_x)  for 4 (vectorized)  f = (i, j / 4)
//!
//! A reduction in a nest is computed by the thread that needs its result.

use crate::auto_schedule::accesses::{go_on_along, offsets, shape_of};
use crate::auto_schedule::fusion::along_fused;
use crate::auto_schedule::gpu::lanes::{self, ACCESS_BYTES, MOST_LANES};
use crate::auto_schedule::gpu::launch::{self, Launch};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_machine::Target;

/// The kind.
pub struct Elements;

impl Kind for Elements {
    fn about(&self) -> About {
        About {
            name: "elements",
            matches: "any nest",
            knobs: &[("lanes", "elements that a thread takes at once"), ("threads", "threads of a block")],
            formula: "points x operations; what neighbours do not read together costs a part of a line each",
            keeps_order: true,
        }
    }

    fn matches(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().map(|nest| ByElements { nest: *nest }))
    }
}

struct ByElements {
    nest: Nest,
}

impl Match for ByElements {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let lanes = Lanes::of(tree, &self.nest);
        let lanes = lanes.possible().map(|n| n as i64).collect();
        vec![Knob { name: "lanes", values: lanes }, Knob { name: "threads", values: threads(kernel.target) }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let &[lanes, threads] = config else { return None };
        let (lanes, threads) = (lanes.max(1) as u64, threads.max(1) as u64);
        let elements: u64 = shape_of(tree, self.nest.stage).iter().product();
        let blocks = (elements / lanes).div_ceil(threads);
        let stages: Vec<StageId> = traffic::stages_of(&self.nest).collect();
        let (loaded, fetched) = launch::by_elements(tree, &self.nest, kernel.target);
        let launch = Launch { loaded, fetched, ..Launch::of(tree, kernel, &stages, (blocks, threads)) };
        let depth =
            traffic::points(tree, self.nest.reduction.unwrap_or(self.nest.stage)) / elements.max(1) as f64;
        Some(launch.in_steps(depth).in_lanes(lanes).seconds(kernel.target))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let (lanes, _) = Lanes::of(tree, &self.nest).chosen(kernel.target);
        let config = vec![lanes as i64, most_threads(kernel.target) as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let &[lanes, threads] = config else { return schedule(writer, &self.nest, kernel.target) };
        let found = Lanes::of(&writer.tree, &self.nest);
        write(writer, &self.nest, found.with(lanes.max(1) as u64), (threads.max(1) as u64, kernel.target))
    }
}

/// Threads that a block may have, as the values of a knob: powers of two from those on that combine what they have by shuffles alone.
pub fn threads(target: &Target) -> Vec<i64> {
    let most = target.gpu.block_threads;
    let all = std::iter::successors(Some(WARP), |n| Some(2 * n));
    all.take_while(|n| *n <= most).map(|n| n as i64).collect()
}

/// Threads that combine what they have by shuffles alone, on all GPUs.
pub const WARP: u64 = 32;

fn most_threads(target: &Target) -> u64 {
    THREADS.min(target.gpu.block_threads)
}

/// Writes the primitives of a nest, whatever it is.
pub fn schedule(writer: &mut Writer, nest: &Nest, target: &Target) -> Result<(), String> {
    let chosen = Lanes::of(&writer.tree, nest).chosen(target);
    write(writer, nest, chosen, (most_threads(target), target))
}

fn write(
    writer: &mut Writer,
    nest: &Nest,
    (lanes, whole): (u64, bool),
    (threads, target): (u64, &Target),
) -> Result<(), String> {
    let stage = nest.stage;
    let rank = writer.tree.stages[stage].rank();
    if rank == 0 {
        return Ok(());
    }
    let elements: u64 = writer.tree.stages[stage].axes[..rank].iter().map(|a| a.extent).product();
    let mut inner: Vec<AxisId> = Vec::new();
    let mut axes: Vec<AxisId> = (0..rank).collect();
    if !whole {
        let (outer, vector) = writer.split(stage, rank - 1, lanes)?;
        writer.vectorize(stage, vector)?;
        axes[rank - 1] = outer;
        inner.push(vector);
    }
    let mut axis = axes[0];
    for next in &axes[1..] {
        axis = writer.fuse(stage, axis, *next)?;
    }
    if whole {
        let (outer, vector) = lanes::take(writer, stage, axis, lanes)?;
        axis = outer;
        inner.extend(vector);
    }
    let thread = block_and_thread(writer, stage, axis, elements / lanes, (threads, target))?;
    let innermost = inner.last().copied().unwrap_or(thread);
    match nest.reduction {
        Some(reduction) => writer.compute_at(reduction, stage, innermost),
        None => Ok(()),
    }
}

/// Binds a loop of so many iterations, a thread for each, in blocks of up to so many; gives the loop over threads.
pub(super) fn block_and_thread(
    writer: &mut Writer,
    stage: StageId,
    axis: AxisId,
    iterations: u64,
    (threads, target): (u64, &Target),
) -> Result<AxisId, String> {
    let threads = threads.min(iterations.max(1).next_multiple_of(target.gpu.warp));
    let (block, thread) = writer.split_guarded(stage, axis, threads)?;
    writer.bind(stage, block, LoopKind::BlockX)?;
    writer.bind(stage, thread, LoopKind::ThreadX)?;
    Ok(thread)
}

/// Threads of a block that nothing else is said of: enough warps for a core to switch between, and several blocks fit into a core.
pub(super) const THREADS: u64 = 256;

/// How many elements of a nest a thread may take at once.
struct Lanes {
    /// Elements of an access.
    most: u64,
    /// Elements that they divide: all, or those of a row.
    along: u64,
    elements: u64,
    /// Whether they may go on from one row to the next.
    whole: bool,
}

impl Lanes {
    fn of(tree: &Schedule, nest: &Nest) -> Lanes {
        let stage = nest.stage;
        let extents = shape_of(tree, stage);
        let elements: u64 = extents.iter().product();
        let one = Lanes { most: 1, along: elements, elements, whole: true };
        if extents.is_empty() || nest.reduction.is_some() || tree.stages[stage].is_reduction() {
            return one;
        }
        let most = (ACCESS_BYTES / traffic::element_bytes(tree, stage) as u64).clamp(1, MOST_LANES);
        let accesses = offsets(tree, stage, None);
        let contiguous =
            along_fused(&accesses, &extents, extents.len()).iter().all(|c| matches!(c, Some(0 | 1)));
        let last = extents.len() - 1;
        match contiguous {
            true => Lanes { most, ..one },
            false if go_on_along(tree, stage, last) => {
                Lanes { most, along: extents[last], elements, whole: false }
            }
            false => one,
        }
    }

    /// Those that leave nothing over, the most first.
    fn possible(&self) -> impl Iterator<Item = u64> {
        let (most, along) = (self.most, self.along);
        [8, 4, 2, 1].into_iter().filter(move |n| *n <= most && along.is_multiple_of(*n))
    }

    /// As many as 16 bytes have, while the threads stay busy.
    fn chosen(&self, target: &Target) -> (u64, bool) {
        let busy = target.cores * target.gpu.core_threads / 2;
        let found = self.possible().find(|n| *n == 1 || self.elements / n >= busy);
        self.with(found.unwrap_or(1))
    }

    /// So many, and whether they go on from one row to the next.
    fn with(&self, lanes: u64) -> (u64, bool) {
        (lanes, self.whole || lanes == 1)
    }
}
