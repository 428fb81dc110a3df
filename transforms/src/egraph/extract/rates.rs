//! The rates that kernels are costed with: those of one core, or of a whole GPU.

use super::occupancy::Occupancy;
use crate::target::Target;

/// Rates of a target.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Floating-point operations a second of a contraction.
    pub flops: f64,
    /// Operations a second of elementwise code; a transcendental function counts as ten.
    pub operations: f64,
    /// The memories, the nearest first: their bytes, and the bytes a second that come from each.
    memories: Vec<(f64, f64)>,
    /// Seconds that calling a kernel takes.
    pub call: f64,
    /// How much of them kernels reach.
    pub occupancy: Occupancy,
}

/// The share of the peak that contractions reach.
const CONTRACTION: f64 = 0.85;

impl Rates {
    /// The rates of a target.
    pub fn of(target: &Target) -> Self {
        if target.is_gpu() {
            return Rates::of_gpu(target);
        }
        let levels = [&target.l1, &target.l2, &target.l3].into_iter().filter(|l| l.bytes > 0);
        let mut memories: Vec<(f64, f64)> = levels.map(|l| (l.bytes as f64, l.bandwidth)).collect();
        memories.push((f64::INFINITY, target.memory.bandwidth));
        Rates {
            flops: CONTRACTION * target.peak_flops,
            // A vector operation each other cycle, where a multiply-add counts as two and several begin in a cycle.
            operations: target.peak_flops / (4 * target.multiply_adds.max(1)) as f64,
            memories,
            call: target.kernel_call,
            occupancy: Occupancy::default(),
        }
    }

    /// The rates of all cores together: no kernel of a GPU runs on one. What one kernel leaves for the next is in the cache that
    /// all share, or in memory.
    fn of_gpu(target: &Target) -> Self {
        let peak = target.flops_of(target.cores);
        let memories = vec![
            (target.l3.bytes as f64, target.l3.bandwidth_all),
            (f64::INFINITY, target.memory.bandwidth_all),
        ];
        Rates {
            flops: CONTRACTION * peak,
            operations: peak / 2.0,
            memories,
            call: target.kernel_call,
            occupancy: Occupancy::of(target),
        }
    }

    /// Seconds that reading or writing a tensor takes: at the rate of the memory that holds twice as much.
    pub fn moving(&self, bytes: f64) -> f64 {
        let memory = self.memories.iter().find(|(size, _)| 2.0 * bytes <= *size);
        memory.map_or(0.0, |(_, rate)| bytes / rate)
    }
}
