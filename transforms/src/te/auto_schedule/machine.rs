//! What default schedules know of the processor: the numbers that their closed-form models are made of.

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
    /// Bytes that the second-level cache gives in a cycle, over a while.
    pub near_bytes: u64,
}

impl Machine {
    /// A core with vectors of that many bytes: AVX-512 and NEON have 32 registers, AVX2 has 16.
    pub fn with_vectors(vector_bytes: u64) -> Self {
        Machine {
            vector_bytes,
            registers: if vector_bytes == 32 { 16 } else { 32 },
            multiply_adds: 2,
            latency: 4,
            loads: 2,
            first_cache: 32 << 10,
            first_sets: 64,
            first_ways: 8,
            line: 64,
            near_bytes: 32,
        }
    }

    /// Elements of a register.
    pub fn lanes(&self, element_bytes: u64) -> u64 {
        (self.vector_bytes / element_bytes.max(4)).max(1)
    }
}
