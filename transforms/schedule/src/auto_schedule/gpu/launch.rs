//! What a launch takes, as the kinds of GPUs estimate it.
//!
//! ```text
//!   seconds    = launch + latency + the most of roof(arithmetic, memory) and waiting
//!   arithmetic = operations of the busiest core / (peak of a core x share)       share: results under way / results that hide its latency
//!   memory     = the most of  bytes / bandwidth of the level that holds them     each tensor once
//!                             fetched / bandwidth of the cache of all cores      with what is fetched again, or for nothing
//!                             loaded / bandwidth of the first caches
//!                            fetched x latency / bytes under way
//!   waiting    = waves x steps of a thread of which each waits for the cache of all cores
//! ```
//!
//! The last line of memory is Little's law ("A Proof for the Queuing Formula L = lambda W", 1961); for the rest see Volkov, "Understanding Latency Hiding on
//! GPUs" (2016).

use crate::auto_schedule::accesses::{LANE_BYTES, offsets};
use crate::auto_schedule::fusion::along_fused;
use crate::auto_schedule::kind::{Kernel, Seconds};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::schedule::{Schedule, StageId};
use fusion_machine::{Target, roof};

/// Seconds from asking memory to its answer, of GPUs of all vendors about (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
/// Microbenchmarking", 2018).
pub const LATENCY: f64 = 6e-7;
/// The same of the cache of all cores.
const OF_CACHE: f64 = 1.5e-7;
/// Steps of a thread whose reads are under way together.
pub const UNDER_WAY: u64 = 4;
/// What a core can get from the cache of all cores, as a share of what its own cache gives: 64 of 128 bytes a cycle on NVIDIA's. It is more
/// than its share of what all get, so that fewer blocks than cores may be enough.
pub const OF_NEAR: f64 = 0.5;
/// The share of a line that memory gives at least is one of so many, of NVIDIA's sectors ("CUDA C++ Best Practices Guide", coalesced access).
const SECTORS: u64 = 4;
/// One of so many threads that a core may have keeps its arithmetic busy, where each waits for what it has computed: four cycles of 128 lanes
/// are 512 of 2048 on sm_90a.
const BUSY: f64 = 4.0;

/// A launch, or several that are as one.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks of threads.
    pub blocks: f64,
    /// Threads of each that have something to do.
    pub threads: f64,
    /// Results that a thread works at together.
    pub together: f64,
    /// Operations, where a multiply-add counts as two.
    pub operations: f64,
    /// Seconds that tensors take to be read and written, each once, by all cores.
    pub moving: f64,
    /// Bytes that come from the cache of all cores, those that come again among them.
    pub fetched: f64,
    /// Bytes that threads load from their core's first cache or shared memory.
    pub loaded: f64,
    /// Bytes of an access.
    pub access: f64,
    /// Steps of a thread that wait for what they read from the cache of all cores, one after the other.
    pub steps: f64,
}

impl Launch {
    /// Some stages of a kernel as one launch, in so many blocks of so many threads: their operations, and the tensors that they read and write.
    pub fn of(tree: &Schedule, kernel: &Kernel, stages: &[StageId], (blocks, threads): (u64, u64)) -> Launch {
        let tensors = traffic::moved(tree, stages);
        let operations = |&stage: &StageId| {
            traffic::points(tree, stage) * traffic::operations_of_a_point(tree, stage).max(1.0)
        };
        let bytes: f64 = tensors.iter().sum();
        Launch {
            blocks: blocks.max(1) as f64,
            threads: threads.max(1) as f64,
            together: 1.0,
            operations: stages.iter().map(operations).sum(),
            moving: tensors.into_iter().map(|bytes| moving(bytes, kernel.target)).sum(),
            fetched: bytes,
            loaded: bytes,
            access: LANE_BYTES as f64,
            steps: 1.0,
        }
    }

    /// The same, whose threads take so many elements at once.
    pub fn in_lanes(self, lanes: u64) -> Launch {
        Launch { access: self.access * lanes as f64, together: self.together * lanes as f64, ..self }
    }

    /// The same, whose threads go through so many elements one after the other.
    pub fn in_steps(self, elements: f64) -> Launch {
        Launch { steps: (elements / (UNDER_WAY as f64 * self.together)).max(1.0), ..self }
    }

    /// The same, of which so much is read across lines, a part of a line for each element of so many bytes.
    pub fn apart(self, bytes: f64, target: &Target) -> Launch {
        let times = ((target.line_bytes / SECTORS) as f64 / bytes.max(1.0)).max(1.0);
        Launch { fetched: times * self.fetched, loaded: times * self.loaded, ..self }
    }

    /// Seconds, the launch itself among them.
    pub fn seconds(&self, target: &Target) -> Seconds {
        let cores = target.cores.max(1) as f64;
        let resident = (target.gpu.core_threads as f64 / self.threads).floor().max(1.0);
        // Of the core that has most.
        let of_core = (self.blocks / cores).ceil();
        let in_flight = self.threads * of_core.min(resident);
        let needed = target.gpu.core_threads as f64 / BUSY;
        let share = (in_flight * self.together / needed).min(1.0);
        let arithmetic = self.operations / self.blocks * of_core / (target.peak_flops * share).max(1.0);
        let active = self.blocks.min(cores);
        let under_way = self.threads * self.blocks.min(cores * resident) * self.access * UNDER_WAY as f64;
        let near = target.l1.bandwidth * active;
        let far = (OF_NEAR * near).min(target.l3.bandwidth_all);
        let memory = self.moving.max(self.fetched / far.max(1.0)).max(self.loaded / near.max(1.0));
        let answers = self.fetched * LATENCY / under_way.max(1.0);
        let waves = (self.blocks / (cores * resident)).ceil();
        let waiting = waves * self.steps * OF_CACHE;
        target.kernel_call + LATENCY + roof(arithmetic, memory.max(answers)).max(waiting)
    }
}

/// Seconds that all cores take to read or write a tensor: at the rate of the level that holds it beside another one.
pub fn moving(bytes: f64, target: &Target) -> Seconds {
    let memory = if 2.0 * bytes <= target.l3.bytes as f64 { &target.l3 } else { &target.memory };
    bytes / memory.bandwidth_all.max(1.0)
}

/// Seconds of a launch that adds up parts of so many results, each written once and read once, in f32.
pub fn adding_up(results: u64, parts: u64, target: &Target) -> Seconds {
    let bytes = LANE_BYTES as f64 * (results * parts) as f64;
    target.kernel_call + 2.0 * moving(bytes, target)
}

/// Bytes that threads load, and those of them that come from the cache of all cores, where each computes an element of a nest and neighbours elements
/// that lie together: where these do not go on along a tensor, each loads a part of a line. What a reduction loads again stays near.
pub fn by_elements(tree: &Schedule, nest: &Nest, target: &Target) -> (f64, f64) {
    let inside = nest.reduction.unwrap_or(nest.stage);
    let s = &tree.stages[nest.stage];
    let extents: Vec<u64> = s.axes[..s.rank()].iter().map(|axis| axis.extent).collect();
    let Some(last) = (0..extents.len()).rev().find(|a| extents[*a] > 1) else { return (0.0, 0.0) };
    let accesses = offsets(tree, nest.stage, nest.reduction);
    let along = along_fused(&accesses, &extents[..=last], 1);
    let bytes = traffic::element_bytes(tree, nest.stage) as f64;
    let (results, points) =
        (extents.iter().map(|n| *n as f64).product::<f64>(), traffic::points(tree, inside));
    let sector = (target.line_bytes / SECTORS) as f64;
    let of_thread = |step: &Option<i64>| match step {
        Some(0) => bytes / target.gpu.warp.max(1) as f64,
        Some(apart) => (apart.unsigned_abs() as f64 * bytes).min(sector),
        None => sector,
    };
    let Some((stored, loads)) = along.split_first() else { return (0.0, 0.0) };
    let loaded = points * loads.iter().map(of_thread).sum::<f64>();
    let stored = results * of_thread(stored);
    if tree.stages[inside].is_reduction() {
        return (
            loaded + stored,
            traffic::moved(tree, &traffic::stages_of(nest).collect::<Vec<_>>()).into_iter().sum(),
        );
    }
    (loaded + stored, loaded + stored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_machine::Gpu;

    fn target() -> Target {
        let mut target =
            Target { cores: 100, kernel_call: 2e-6, line_bytes: 128, peak_flops: 5e11, ..Target::default() };
        target.gpu = Gpu { warp: 32, block_threads: 1024, core_threads: 2048, ..target.gpu };
        (target.l3.bytes, target.l3.bandwidth_all) = (50 << 20, 5e12);
        (target.l1.bandwidth, target.memory.bandwidth_all) = (2.5e11, 4e12);
        target
    }

    fn launch(blocks: f64) -> Launch {
        Launch {
            blocks,
            threads: 256.0,
            together: 1.0,
            operations: 1e9,
            moving: 0.0,
            fetched: 0.0,
            loaded: 0.0,
            access: LANE_BYTES as f64,
            steps: 1.0,
        }
    }

    #[test]
    fn a_core_more_than_blocks_waits() {
        let seconds = |blocks| launch(blocks).seconds(&target());
        assert!(seconds(100.0) < 0.53 * seconds(50.0), "half of the cores");
        assert!(seconds(101.0) > seconds(100.0) * 0.99, "a second wave is as long, but hides more");
        assert!(seconds(1600.0) < seconds(100.0), "a core with a single block waits for its results");
    }

    #[test]
    fn few_threads_wait_for_memory() {
        let of = |blocks, access| {
            Launch { fetched: 1e8, operations: 0.0, access, ..launch(blocks) }.seconds(&target())
        };
        assert!(of(8.0, 4.0) > 4.0 * of(800.0, 4.0));
        assert!(of(8.0, 16.0) < 0.5 * of(8.0, 4.0), "more bytes a thread are under way");
    }
}
