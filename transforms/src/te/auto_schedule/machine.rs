//! What the closed-form models of default schedules calculate with: a target's core, in cycles.

use crate::target::Target;

/// A processor core.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Bytes of a vector register.
    pub vector_bytes: u64,
    /// Number of vector registers.
    pub registers: u64,
    /// Vector multiply-adds that begin in a cycle.
    pub multiply_adds: u64,
    /// Cycles from the operands of a multiply-add to its result.
    pub latency: u64,
    /// Vector loads in a cycle.
    pub loads: u64,
    /// Bytes of the first-level cache.
    pub first_cache: u64,
    /// Its sets, and the lines of each.
    pub first_sets: u64,
    #[allow(missing_docs)]
    pub first_ways: u64,
    /// Bytes of a line of the caches.
    pub line: u64,
    /// Bytes of the second-level cache.
    pub second_cache: u64,
    /// Bytes that the second-level cache gives in a cycle, over a while.
    pub near_bytes: u64,
    /// Bytes that come from beyond it in a cycle.
    pub far_bytes: u64,
}

impl Machine {
    /// The core of a target.
    pub fn of(target: &Target) -> Self {
        // What contractions were seen to get of a cache that streams twice as fast: tiles of six vectors, which want 32, were slower than of four.
        const MOST_NEAR: u64 = 24;
        let per_cycle = (target.l2.bandwidth / target.clock()).max(1.0) as u64;
        Machine {
            vector_bytes: target.vector_bytes,
            registers: target.vector_registers,
            multiply_adds: target.multiply_adds,
            latency: target.latency,
            loads: target.loads,
            first_cache: target.l1.bytes,
            first_sets: (target.l1.bytes / (target.l1_ways * target.line_bytes)).max(1),
            first_ways: target.l1_ways,
            line: target.line_bytes,
            second_cache: target.l2.bytes,
            // Rounded down to a power of two, so that another measurement gives no other schedules.
            near_bytes: (1 << per_cycle.ilog2()).min(MOST_NEAR),
            far_bytes: ((target.l3.bandwidth / target.clock()).max(1.0) as u64).next_power_of_two(),
        }
    }

    /// Elements of a register.
    pub fn lanes(&self, element_bytes: u64) -> u64 {
        (self.vector_bytes / element_bytes.max(4)).max(1)
    }
}
