//! The numbers of a target, a row each.

use super::Target;

/// A number of a target.
pub struct Field {
    /// What it is called in files and attributes.
    pub key: &'static str,
    /// Its unit; empty for plain numbers.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The least and the largest it may be. One that may be 0 may be left out.
    pub range: (f64, f64),
    /// Whether it must be an integer.
    pub whole: bool,
    /// Whether only GPUs have it.
    pub gpu: bool,
    /// Whether a GPU without it cannot be scheduled for.
    pub needed: bool,
    /// Reads it.
    pub get: fn(&Target) -> f64,
    /// Writes it.
    pub set: fn(&mut Target, f64),
}

impl Field {
    /// Whether it is 0 where nothing is said of it.
    pub fn is_optional(&self) -> bool {
        self.range.0 == 0.0
    }

    /// Whether it may be that number.
    pub fn allows(&self, number: f64) -> bool {
        (self.range.0..=self.range.1).contains(&number) && (!self.whole || number.fract() == 0.0)
    }
}

macro_rules! fields {
    (@row whole $($rest:tt)*) => { fields!(@all u64 true false false $($rest)*) };
    (@row real $($rest:tt)*) => { fields!(@all f64 false false false $($rest)*) };
    (@row gpu_whole $($rest:tt)*) => { fields!(@all u64 true true true $($rest)*) };
    (@row gpu_more $($rest:tt)*) => { fields!(@all u64 true true false $($rest)*) };
    (@row gpu_real $($rest:tt)*) => { fields!(@all f64 false true false $($rest)*) };
    (@all $ty:ident $whole:literal $gpu:literal $needed:literal $key:ident ($($at:tt)+) $least:literal $most:literal $unit:literal $about:literal) => {
        Field {
            key: stringify!($key), unit: $unit, about: $about, range: ($least, $most), whole: $whole, gpu: $gpu,
            needed: $needed,
            get: |t| t.$($at)+ as f64, set: |t, number| t.$($at)+ = number as $ty,
        }
    };
    ($($sort:ident $key:ident $at:tt $least:literal..$most:literal $unit:literal $about:literal;)*) => {
        &[$(fields!(@row $sort $key $at $least $most $unit $about)),*]
    };
}

/// All of them, in the order they are written.
#[rustfmt::skip]
pub const FIELDS: &[Field] = fields! {
    whole cores            (cores)            1.0..4096.0 "" "cores that a program may use";
    whole vector_bytes     (vector_bytes)     8.0..256.0  "B" "size of a vector register";
    whole vector_registers (vector_registers) 8.0..256.0  "" "vector registers";
    whole multiply_adds    (multiply_adds)    1.0..16.0   "" "vector multiply-adds that begin in a cycle";
    whole additions        (additions)        0.0..16.0   "" "vector additions that begin in a cycle beside the multiply-adds";
    whole latency          (latency)          1.0..64.0   "cycles" "from the operands of a multiply-add to its result";
    whole loads            (loads)            1.0..16.0   "" "vector loads in a cycle";
    real  peak_flops       (peak_flops)       1e6..1e15   "FLOP/s" "of one core on f32, a multiply-add counting as two";
    real  transcendental   (transcendental)   1.0..1e4    "" "multiply-adds that an exponential takes as long as";
    real  kernel_call      (kernel_call)      1e-12..1.0  "s" "for calling a kernel that does nothing";
    real  parallel_region  (parallel_region)  1e-12..1.0  "s" "for a parallel loop that does nothing";
    whole line_bytes       (line_bytes)       16.0..1024.0 "B" "size of a line of the caches";
    whole l1_bytes         (l1.bytes)         1024.0..1e12 "B" "size of a core's first data cache";
    whole l1_ways          (l1_ways)          1.0..256.0  "" "lines of each of its sets";
    real  l1_bandwidth     (l1.bandwidth)     1e6..1e15   "B/s" "that one core reads and writes in its first cache";
    real  l1_bandwidth_all (l1.bandwidth_all) 1e6..1e15   "B/s" "of all cores in theirs";
    whole l2_bytes         (l2.bytes)         1024.0..1e12 "B" "size of a core's second cache";
    real  l2_bandwidth     (l2.bandwidth)     1e6..1e15   "B/s" "that one core reads and writes in its second cache";
    real  l2_bandwidth_all (l2.bandwidth_all) 1e6..1e15   "B/s" "of all cores in theirs";
    whole l3_bytes         (l3.bytes)         0.0..1e12   "B" "size of the third cache, which all cores share";
    real  l3_bandwidth     (l3.bandwidth)     0.0..1e15   "B/s" "that one core reads and writes in it";
    real  l3_bandwidth_all (l3.bandwidth_all) 0.0..1e15   "B/s" "of all cores";
    real  memory_bandwidth     (memory.bandwidth)     1e6..1e15 "B/s" "that one core reads and writes beyond the caches";
    real  memory_bandwidth_all (memory.bandwidth_all) 1e6..1e15 "B/s" "of all cores";
    gpu_whole warp             (gpu.warp)          0.0..128.0  "" "threads that run in step, where this is a GPU; the other lines are too";
    gpu_whole block_threads    (gpu.block_threads) 0.0..4096.0 "" "the most threads of a block";
    gpu_whole core_threads     (gpu.core_threads)  0.0..8192.0 "" "the most threads that a core has at a time";
    gpu_whole shared_bytes     (gpu.shared_bytes)  0.0..1e7    "B" "size of the memory that a block can share";
    gpu_whole most_shared_bytes (gpu.most_shared_bytes) 0.0..1e7 "B" "size of the memory that a block can share when the launch asks for it";
    gpu_more  copy_bytes       (gpu.copy_bytes)    0.0..16.0   "B" "size of the largest asynchronous copy to shared memory; 0 where there are none";
    gpu_more  bulk_bytes       (gpu.bulk_bytes)    0.0..128.0  "B" "of a line of boxes of tensors that one thread has copied to shared memory (TMA); 0 where there are none";
    gpu_whole registers        (gpu.registers)     0.0..1e7    "" "registers of a core, of four bytes";
    gpu_real  matrix_flops     (gpu.matrix_flops)  0.0..1e16   "FLOP/s" "of one core's matrix instructions on f16";
    gpu_real  matrix_flops_tf32 (gpu.matrix_flops_tf32) 0.0..1e16 "FLOP/s" "of those on f32 that is rounded to tf32";
    gpu_real  matrix_flops_f32 (gpu.matrix_flops_f32) 0.0..1e16 "FLOP/s" "of those on f32";
};
