//! How much of a GPU a kernel keeps busy, which its rates are multiplied with.
//!
//!     occupancy = min(1, threads of the kernel / (cores * threads that hide a core's latency))
//!
//! A core that waits for memory or for a result goes on with another warp, so that it reaches its rates when it has enough of them (Little,
//! "A Proof for the Queuing Formula L = lambda W", 1961; Volkov, "Better Performance at Lower Occupancy", 2010): a quarter of those it has
//! room for, since a thread has several accesses and operations under way at once. The threads of a kernel are what schedules make of it
//! (`auto_schedule/gpu`): one for each element of the largest tensor it stores, or for each four of the largest one it reads, as rows that
//! are reduced are shared by threads. A processor has no such thing: a core hides its latency by itself.

use fusion_machine::Target;

/// The share of a core's threads that hides its latency.
const HIDING: f64 = 0.25;
/// Elements of what is read that a thread combines, at least.
const READ_BY_A_THREAD: f64 = 4.0;

/// Threads that keep all of a GPU busy; none on a processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    enough: Option<(f64, f64)>,
}

impl Occupancy {
    /// That of a target.
    pub fn of(target: &Target) -> Self {
        let threads = HIDING * (target.cores * target.gpu.core_threads) as f64;
        let least = target.gpu.warp as f64 / threads.max(1.0);
        Occupancy { enough: target.is_gpu().then_some((threads, least)) }
    }

    /// The share of its rates that a kernel reaches which stores and reads tensors of so many elements, at most.
    pub fn share(&self, stored: f64, read: f64) -> f64 {
        let Some((enough, least)) = self.enough else { return 1.0 };
        (stored.max(read / READ_BY_A_THREAD) / enough).clamp(least.min(1.0), 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_machine::Gpu;

    #[test]
    fn few_threads_leave_a_gpu_idle() {
        let mut target = Target::default();
        assert_eq!(Occupancy::of(&target).share(1.0, 1.0), 1.0);
        target.cores = 100;
        target.gpu = Gpu { warp: 32, core_threads: 2048, ..target.gpu };
        let occupancy = Occupancy::of(&target);
        assert_eq!(occupancy.share(51_200.0, 0.0), 1.0);
        assert_eq!(occupancy.share(25_600.0, 0.0), 0.5);
        // Rows of what is read are shared by threads.
        assert_eq!(occupancy.share(1.0, 102_400.0), 0.5);
        assert_eq!(occupancy.share(1.0, 1.0), 32.0 / 51_200.0);
    }
}
