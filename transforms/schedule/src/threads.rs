//! Whether a kernel is worth several threads.
//!
//! A parallel loop costs its thread well under a microsecond when the others are awake, and some ten when they sleep
//! (`bench/results`). So a kernel whose work takes less than a few times that on one thread stays on one. How long it takes is
//! the larger of what its arithmetic and its memory take at rates that a good schedule reaches; which is enough to tell
//! microseconds from milliseconds, and that is all this decides.

/// Operations of one core in a microsecond: about what vectorised loops reach.
const OPERATIONS_A_MICROSECOND: f64 = 50_000.0;
/// Bytes from beyond the caches of one core in a microsecond.
const BYTES_A_MICROSECOND: f64 = 10_000.0;
/// Work below this is not shared.
const LEAST_MICROSECONDS: f64 = 25.0;

/// True when a loop of `extent` iterations, which together take `flops` operations and read and write `bytes`, should be
/// parallel. It decides nothing about which loop: the outermost that all stages of the kernel stand in costs one region.
pub fn worth_threads(flops: f64, bytes: f64, extent: u64) -> bool {
    let microseconds = (flops / OPERATIONS_A_MICROSECOND).max(bytes / BYTES_A_MICROSECOND);
    extent > 1 && microseconds >= LEAST_MICROSECONDS
}

#[cfg(test)]
mod tests {
    use super::worth_threads;

    #[test]
    fn large_kernels_are_shared_and_small_ones_are_not() {
        let matmul = |n: f64| worth_threads(2.0 * n * n * n, 12.0 * n * n, n as u64);
        assert!(matmul(512.0) && matmul(128.0) && !matmul(64.0));
        let add = |n: f64| worth_threads(n, 12.0 * n, 16);
        assert!(add(1e6) && !add(1e4));
        assert!(!worth_threads(1e9, 1e9, 1));
    }
}
