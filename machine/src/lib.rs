//! What passes know of the machine that a program is compiled for: plain numbers, in units of bytes and seconds.
//!
//! ```text
//!   descriptions/znver5.toml --parse--> Target --attach--> module attributes {fusion.target = {cores = 2, ...}}
//!                                                                      |
//!   a pass:  target_of(op)    <------------------------------------------
//! ```
//!
//! A program carries its target, so that what a pass decides follows from the program alone. One without a target is for
//! [`Target::default`]. Each number is a row of `fields`: how it is called, its unit and what it may be. What the numbers are
//! for which machine is no business of this crate; files say it, see the targets of `fusion-conversion`. [`Machine`] is a processor's core in
//! cycles, which default schedules calculate with.

mod core;
pub mod dot4;
mod fields;
mod text;

pub use core::{Machine, roof};
pub use dot4::{DOT4, Dot4, Dot4Facts};
pub use fields::{FIELDS, Field};
pub use text::{TargetError, WORDS, Word};

/// A machine: a processor with its memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What it is called.
    pub name: String,
    /// What it is, in words.
    pub about: String,
    /// The processor to make code for, as LLVM calls it; `host` for the one this process runs on.
    pub processor: String,
    /// Cores that a program may use.
    pub cores: u64,
    /// Bytes of a vector register.
    pub vector_bytes: u64,
    /// Number of vector registers.
    pub vector_registers: u64,
    /// The instruction that adds four products of integers of 8 bits to each lane, as [`Dot4`] calls it; empty where it has none.
    pub dot4: String,
    /// Vector multiply-adds that begin in a cycle.
    pub multiply_adds: u64,
    /// Vector additions that begin in a cycle beside these.
    pub additions: u64,
    /// Cycles from the operands of a multiply-add to its result.
    pub latency: u64,
    /// Vector loads in a cycle.
    pub loads: u64,
    /// Operations a second of one core, on f32, where a multiply-add counts as two.
    pub peak_flops: f64,
    /// Multiply-adds that an exponential, a logarithm or the like takes as long as, element for element.
    pub transcendental: f64,
    /// Seconds of a call of a kernel that does nothing.
    pub kernel_call: f64,
    /// Seconds of a parallel loop that does nothing.
    pub parallel_region: f64,
    /// Bytes of a line of the caches.
    pub line_bytes: u64,
    /// Lines of each set of the first cache.
    pub l1_ways: u64,
    /// The first data cache, of each core.
    pub l1: Memory,
    /// The second cache, of each core.
    pub l2: Memory,
    /// The third cache, which the cores share. It has no bytes where there is none.
    pub l3: Memory,
    /// What is behind the caches; its bytes are not known here.
    pub memory: Memory,
    /// What a GPU has besides. A core is what runs a block of its threads, and its third cache the one all cores share.
    pub gpu: Gpu,
}

/// What a GPU has besides; nothing on a processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gpu {
    /// Threads that run in step; 0 on a processor.
    pub warp: u64,
    /// The most threads of a block.
    pub block_threads: u64,
    /// The most threads that a core has at a time.
    pub core_threads: u64,
    /// Bytes of memory that the threads of a block can share.
    pub shared_bytes: u64,
    /// The same where the launch asks for as many as there can be.
    pub most_shared_bytes: u64,
    /// Bytes of the largest copy to shared memory that a thread need not wait for; 0 where there are none.
    pub copy_bytes: u64,
    /// Bytes of a line of the boxes of tensors (TMA) that one thread has copied for all; 0 where there are no such copies.
    pub bulk_bytes: u64,
    /// Registers of a core, of four bytes.
    pub registers: u64,
    /// Operations a second of one core's matrix instructions, on f16 and bf16.
    pub matrix_flops: f64,
    /// The same on f32 whose factors are rounded to tf32; 0 where there are none.
    pub matrix_flops_tf32: f64,
    /// The same on f32; 0 where there are none.
    pub matrix_flops_f32: f64,
    /// Its matrix instructions, as `te/intrinsics` calls them, the best one first; empty where it has none.
    pub matrix: String,
    /// Those that round the factors they are given, which have to be asked for.
    pub matrix_rounded: String,
}

impl Target {
    /// The same, whose products of f32 may be of rounded factors where it has instructions for that.
    pub fn with_rounded_factors(mut self) -> Target {
        let rounded = std::mem::take(&mut self.gpu.matrix_rounded);
        self.gpu.matrix = format!("{} {rounded}", self.gpu.matrix).trim().to_owned();
        self
    }
}

/// What matrix instructions multiply, which says how fast they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// f16 and bf16.
    Half,
    /// f32 that is rounded to tf32.
    Tf32,
    /// f32.
    F32,
}

impl Gpu {
    /// Operations a second of one core's matrix instructions; 0 where nothing is said of them.
    pub fn matrix_flops_of(&self, factors: Factors) -> f64 {
        match factors {
            Factors::Half => self.matrix_flops,
            Factors::Tf32 => self.matrix_flops_tf32,
            Factors::F32 => self.matrix_flops_f32,
        }
    }
}

/// A level of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    /// How many bytes it holds.
    pub bytes: u64,
    /// Bytes a second that one core reads and writes.
    pub bandwidth: f64,
    /// Bytes a second of all cores together.
    pub bandwidth_all: f64,
}

/// What a program has that says nothing of its target: a core with AVX-512 and small caches.
impl Default for Target {
    fn default() -> Self {
        let memory = |bytes, bandwidth| Memory { bytes, bandwidth, bandwidth_all: bandwidth };
        Target {
            name: "default".to_owned(),
            about: "a core with vectors of 64 bytes".to_owned(),
            processor: "host".to_owned(),
            cores: 1,
            vector_bytes: 64,
            vector_registers: 32,
            dot4: String::new(),
            multiply_adds: 2,
            additions: 0,
            latency: 4,
            loads: 2,
            peak_flops: 192e9,
            transcendental: 15.0,
            kernel_call: 20e-9,
            parallel_region: 1e-6,
            line_bytes: 64,
            l1_ways: 8,
            l1: memory(32 << 10, 380e9),
            l2: memory(1 << 20, 120e9),
            l3: memory(16 << 20, 40e9),
            memory: memory(0, 15e9),
            gpu: Gpu::default(),
        }
    }
}

impl Target {
    /// The default target with vectors of another width, and the registers that come with it.
    pub fn with_vectors(self, vector_bytes: u64) -> Target {
        let vector_registers = if vector_bytes == 32 { 16 } else { 32 };
        let peak_flops = self.peak_flops * vector_bytes as f64 / self.vector_bytes as f64;
        Target { vector_bytes, vector_registers, peak_flops, ..self }
    }

    /// Elements of a vector register; narrow ones are widened to four bytes.
    pub fn lanes(&self, element_bytes: u64) -> u64 {
        (self.vector_bytes / element_bytes.max(4)).max(1)
    }

    /// Cycles a second, as the peak has it.
    pub fn clock(&self) -> f64 {
        self.peak_flops / (2 * self.lanes(4) * self.multiply_adds) as f64
    }

    /// True for GPUs.
    pub fn is_gpu(&self) -> bool {
        self.gpu.warp > 0
    }

    /// Operations a second of one core's matrix instructions, those of its multiply-adds where no more is said.
    pub fn matrix_flops_of(&self, factors: Factors) -> f64 {
        let said = self.gpu.matrix_flops_of(factors);
        if said > 0.0 { said } else { self.peak_flops }
    }

    /// Operations a second of so many cores.
    pub fn flops_of(&self, cores: u64) -> f64 {
        self.peak_flops * cores.clamp(1, self.cores) as f64
    }

    /// The caches there are, the nearest first, each with how many cores share it.
    pub fn caches(&self) -> impl Iterator<Item = (&Memory, u64)> {
        [(&self.l1, 1), (&self.l2, 1), (&self.l3, self.cores)]
            .into_iter()
            .filter(|(memory, _)| memory.bytes > 0)
    }

    /// Bytes a second that so many cores together read and write, of data of that many bytes that they go over again and
    /// again: the bandwidth of the nearest level that holds their parts of it.
    pub fn bandwidth_of(&self, bytes: u64, cores: u64) -> f64 {
        let cores = cores.clamp(1, self.cores);
        let part = bytes / cores;
        let holds = |(memory, sharers): &(&Memory, u64)| part <= memory.bytes / cores.min(*sharers);
        let level = self.caches().find(holds).map_or(&self.memory, |(memory, _)| memory);
        (level.bandwidth * cores as f64).min(level.bandwidth_all.max(level.bandwidth))
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn data_is_as_fast_as_the_level_that_holds_it() {
        let mut target = Target { cores: 4, ..Target::default() };
        target.l2.bandwidth_all = 4.0 * target.l2.bandwidth;
        assert_eq!(target.bandwidth_of(1 << 10, 1), target.l1.bandwidth);
        assert_eq!(target.bandwidth_of(1 << 20, 1), target.l2.bandwidth);
        // Four cores have four second caches, and share the third.
        assert_eq!(target.bandwidth_of(4 << 20, 4), 4.0 * target.l2.bandwidth);
        assert_eq!(target.bandwidth_of(4 << 20, 1), target.l3.bandwidth);
        assert_eq!(target.bandwidth_of(16 << 20, 4), target.l3.bandwidth_all);
        assert_eq!(target.bandwidth_of(1 << 30, 4), target.memory.bandwidth_all);
        target.l3.bytes = 0;
        assert_eq!(target.bandwidth_of(4 << 20, 1), target.memory.bandwidth);
    }

    #[test]
    fn the_clock_follows_from_the_peak() {
        assert_eq!(Target::default().clock(), 3e9);
        assert_eq!(Target::default().with_vectors(32).clock(), 3e9);
    }
}
