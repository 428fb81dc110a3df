//! What the closed-form models of default schedules calculate with: a target's core, in cycles.

use crate::{Dot4, Target};

/// A processor core.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Cores of that kind, which share what takes long.
    pub cores: u64,
    /// Bytes of a vector register.
    pub vector_bytes: u64,
    /// True when loads and stores can leave lanes out at no cost.
    pub masks: bool,
    /// Number of vector registers.
    pub registers: u64,
    /// Vector multiply-adds that begin in a cycle.
    pub multiply_adds: u64,
    /// The instruction that adds four products of integers of 8 bits to each lane, where there is one.
    pub dot4: Option<Dot4>,
    /// Vector additions that begin in a cycle beside these.
    pub additions: u64,
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
    /// Bytes of the last cache before memory.
    pub last_cache: u64,
    /// Bytes that the second-level cache gives in a cycle, over a while.
    pub near_bytes: u64,
    /// Bytes of a constant that come in a cycle when a kernel first reads it; none where those of all kernels together stay in the
    /// second-level cache.
    pub constant_bytes: Option<f64>,
    /// True where those of all kernels together take so much of the last cache, which other programs use as well, that memory may have to give
    /// them again.
    pub constants_leave: bool,
    /// True where reductions keep the order of the source.
    pub in_order: bool,
    /// Cycles a second.
    pub clock: f64,
    /// The memories, the nearest first: the bytes that one program has of each, and the bytes a second that come from it.
    pub memories: [(f64, f64); 4],
}

/// The share of arithmetic or memory that the other does not hide.
const NOT_HIDDEN: f64 = 0.25;

/// The share of the last cache that one program has: other cores use it, and others' programs. Where a core of Zen 4 says 32 MB, it reads
/// 100 GB/s of 8 MB, 77 of 16 MB and 43 of 32 MB.
const OF_LAST_CACHE: f64 = 0.5;

/// Seconds of arithmetic and memory together. (Williams, Waterman and Patterson, "Roofline", 2009.)
pub fn roof(arithmetic: f64, memory: f64) -> f64 {
    f64::max(arithmetic, memory) + NOT_HIDDEN * f64::min(arithmetic, memory)
}

impl Machine {
    /// The core of a target that runs kernels with so many bytes of constants, one after the other: each finds of its own only
    /// what is left of all.
    pub fn of(target: &Target, constants: u64) -> Self {
        // What contractions were seen to get of a cache that streams twice as fast: tiles of six vectors, which want 32, were slower than of four.
        const MOST_NEAR: u64 = 24;
        // A model with 14 MB of constants waited for memory where the last cache has 32 MB (`inner_product_trick/prefetch.rs`).
        const STAYING_SHARE: u64 = 4;
        let per_cycle = (target.l2.bandwidth / target.clock()).max(1.0) as u64;
        let constants_from = match constants {
            n if n <= target.l2.bytes => None,
            n if n <= target.l3.bytes => Some(target.l3.bandwidth),
            _ => Some(target.memory.bandwidth),
        };
        Machine {
            cores: target.cores,
            vector_bytes: target.vector_bytes,
            // AVX-512 has registers of masks.
            masks: target.vector_bytes >= 64,
            registers: target.vector_registers,
            multiply_adds: target.multiply_adds,
            dot4: Dot4::named(&target.dot4),
            additions: target.additions,
            latency: target.latency,
            loads: target.loads,
            first_cache: target.l1.bytes,
            first_sets: (target.l1.bytes / (target.l1_ways * target.line_bytes)).max(1),
            first_ways: target.l1_ways,
            line: target.line_bytes,
            second_cache: target.l2.bytes,
            last_cache: target.l3.bytes.max(target.l2.bytes),
            // Rounded down to a power of two, so that another measurement gives no other schedules.
            near_bytes: (1 << per_cycle.ilog2()).min(MOST_NEAR),
            in_order: false,
            constants_leave: constants > target.l3.bytes.max(target.l2.bytes) / STAYING_SHARE,
            constant_bytes: constants_from.map(|bandwidth| (bandwidth / target.clock()).max(1.0)),
            clock: target.clock(),
            memories: [
                (target.l1.bytes as f64, target.l1.bandwidth),
                (target.l2.bytes as f64, target.l2.bandwidth),
                (target.l3.bytes as f64 * OF_LAST_CACHE, target.l3.bandwidth),
                (f64::INFINITY, target.memory.bandwidth),
            ],
        }
    }

    /// Seconds that reading or writing a tensor takes: at the rate of the memory that holds twice as much.
    pub fn moving(&self, bytes: f64) -> f64 {
        let memory = self.memories.iter().find(|(size, _)| 2.0 * bytes <= *size);
        memory.map_or(0.0, |(_, rate)| bytes / rate)
    }

    /// Elements of a register.
    pub fn lanes(&self, element_bytes: u64) -> u64 {
        (self.vector_bytes / element_bytes.max(4)).max(1)
    }
}
