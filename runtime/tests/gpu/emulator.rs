//! Threads of blocks, barriers and shared memory, and what a kernel must not do.

use crate::kernel::{Kernel, random, tensors};
use fusion_runtime::{Device, Module, RunError};

#[test]
fn each_thread_has_its_place() {
    let code = "static void kernel(void *const *a) {
        float *y = a[0]; int64_t i[6];
        for (int w = 0; w < 6; w++) i[w] = fusion_emulated_id(w);
        int64_t at = (((i[2] * 2 + i[1]) * 3 + i[0]) * 2 + i[5]) * 15 + i[4] * 5 + i[3];
        y[at] = i[0] + 10 * i[1] + 100 * i[2] + 1000 * i[3] + 10000 * i[4] + 100000 * i[5];
    }";
    let kernel = Kernel { grid: [3, 2, 2], block: [5, 3, 2], ..Kernel::new(code, 1, 12 * 30) };
    let y = kernel.run(&[]).unwrap().remove(0);
    for (at, found) in y.into_iter().enumerate() {
        let (block, thread) = (at / 30, at % 30);
        let place = [block % 3, block / 3 % 2, block / 6, thread % 5, thread / 5 % 3, thread / 15];
        let expected: usize = place.iter().rev().fold(0, |sum, i| sum * 10 + i);
        assert_eq!(found, expected as f32, "{place:?}");
    }
}

/// Sums of 256 by halves: eight barriers between them.
const SUMS: &str = "static void kernel(void *const *a) {
    const float *x = a[0]; float *y = a[1]; int64_t t = thread();
    put(t, x[256 * block() + t]);
    fusion_emulated_barrier();
    for (int half = 128; half; half /= 2) {
        if (t < half) put(t, get(t) + get(t + half));
        fusion_emulated_barrier();
    }
    if (t == 0) y[block()] = get(0);
}";

#[test]
fn blocks_sum_up_in_shared_memory() {
    let x = random(256 * 40, 1);
    let kernel = Kernel { grid: [40, 1, 1], ..Kernel::new(SUMS, 256, 40) };
    let y = kernel.run(&[&x]).unwrap().remove(0);
    for (found, part) in y.iter().zip(x.chunks(256)) {
        assert!((found - part.iter().sum::<f32>()).abs() < 1e-4);
    }
}

#[test]
fn blocks_run_on_threads() {
    let directory = tempfile::tempdir().unwrap();
    let x: Vec<u8> = random(256 * 40, 1).iter().flat_map(|x| x.to_ne_bytes()).collect();
    let kernel = Kernel { grid: [40, 1, 1], ..Kernel::new(SUMS, 256, 40) };
    let module = Module::load(&kernel.library(directory.path(), &[x.len()])).unwrap();
    assert_eq!(module.description().device, Some(Device::Emulated));
    let inputs = tensors(&[x]);
    let expected = module.run(&inputs).unwrap();
    for threads in [2, 4, 1] {
        module.set_threads(threads);
        assert_eq!(module.run(&inputs).unwrap(), expected);
    }
}

/// The last block of the grid and of the host's threads may be the first one to fail.
#[test]
fn the_error_is_that_of_the_first_block() {
    let code = "static void kernel(void *const *a) {
        (void)a;
        if (block() >= 37) fusion_emulated_shared(1025);
    }";
    let directory = tempfile::tempdir().unwrap();
    let kernel = Kernel { grid: [8, 8, 1], ..Kernel::new(code, 4, 1) };
    let module = Module::load(&Kernel { grid: [64, 1, 1], ..kernel }.library(directory.path(), &[])).unwrap();
    for threads in [1, 2, 4, 3] {
        module.set_threads(threads);
        let why = module.run::<fusion_operators::Tensor>(&[]).unwrap_err().to_string();
        assert_eq!(
            why,
            "kernel \"kernel\", block (37, 0, 0), thread (0, 0, 0): byte 1025 of shared memory is asked for, of which a \
             block has 1024"
        );
    }
}

#[test]
fn threads_keep_their_own_state_across_barriers() {
    // Floats in registers, locals on the stack, and loops of a thread's own.
    let code = "static void kernel(void *const *a) {
        float *y = a[0], own[64]; double sum = thread();
        for (int i = 0; i < 64; i++) {
            own[i] = thread() * 64 + i;
            fusion_emulated_barrier();
            sum += own[i / 2];
        }
        y[thread()] = sum;
    }";
    for (t, found) in Kernel::new(code, 96, 96).run(&[]).unwrap()[0].iter().enumerate() {
        let expected: usize = t + (0..64).map(|i| t * 64 + i / 2).sum::<usize>();
        assert_eq!(*found, expected as f32);
    }
}

#[test]
fn what_was_not_written_is_not_a_number() {
    let code = "static void kernel(void *const *a) {
        float *y = a[0], *workspace = a[2];
        y[0] = *shared(0); y[1] = workspace[3]; workspace[3] = *shared(0) = 1;
    }";
    let directory = tempfile::tempdir().unwrap();
    let kernel = Kernel { grid: [1, 1, 1], ..Kernel::new(code, 1, 3) };
    let module = Module::load(&kernel.library(directory.path(), &[])).unwrap();
    for _ in 0..2 {
        assert!(
            module.run::<fusion_operators::Tensor>(&[]).unwrap()[0].bytes().iter().all(|&byte| byte == 0xff)
        );
    }
}

#[test]
fn a_barrier_that_not_all_come_to_is_an_error() {
    let code =
        "static void kernel(void *const *a) { (void)a; if (thread() < 40) fusion_emulated_barrier(); }";
    assert_eq!(
        Kernel::new(code, 64, 1).error(),
        "kernel \"kernel\", block (0, 0, 0), thread (0, 0, 0): barrier in divergent control flow: thread (40, 0, 0) ended \
         without coming to it; let all threads of a block come to it"
    );
    // And a run after it is fine again.
    let code = "static int failed;
        static void kernel(void *const *a) {
            *(float *)a[0] = 3;
            if (!failed && thread() == 0) { failed = 1; fusion_emulated_barrier(); }
            fusion_emulated_barrier();
        }";
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&Kernel::new(code, 64, 1).library(directory.path(), &[])).unwrap();
    assert!(matches!(module.run::<fusion_operators::Tensor>(&[]), Err(RunError::Device(_))));
    assert_eq!(module.run::<fusion_operators::Tensor>(&[]).unwrap()[0].bytes(), 3f32.to_ne_bytes());
}

#[test]
fn writes_beside_memory_are_found() {
    let code = "static void kernel(void *const *a) { ((float *)a[0])[5] = 1; }";
    assert_eq!(
        Kernel::new(code, 1, 5).error(),
        "kernel \"kernel\" wrote behind the 20 bytes of the model's output"
    );
    let code = "static void kernel(void *const *a) { ((float *)a[0])[-1] = 1; }";
    assert_eq!(
        Kernel::new(code, 1, 5).error(),
        "kernel \"kernel\" wrote before the 20 bytes of the model's output"
    );
    let code = "static void kernel(void *const *a) { (void)a; *shared(256) = 1; }";
    assert!(
        Kernel::new(code, 1, 5).error().contains("the block wrote behind its 1024 bytes of shared memory")
    );
}

#[test]
fn kernels_have_limits() {
    let code = "static void kernel(void *const *a) { (void)a; }";
    let kernel = Kernel::new(code, 1, 1);
    let why = Kernel { block: [32, 32, 2], ..kernel.clone() }.error();
    assert_eq!(
        why,
        "kernel \"kernel\" has blocks of 32 x 32 x 2 threads, but a block may have 1 to 1024 of them; choose smaller tiles in \
         its schedule"
    );
    let why = Kernel { shared_bytes: 300_000, ..kernel.clone() }.error();
    assert_eq!(
        why,
        "kernel \"kernel\" wants 300000 bytes of shared memory a block, but there are 262144; choose smaller tiles in its \
         schedule"
    );
    assert!(Kernel { grid: [0, 1, 1], ..kernel.clone() }.error().contains("a grid of 0 x 1 x 1 blocks"));
    assert!(Kernel { warp: 48, ..kernel.clone() }.error().contains("has warps of 48 threads"));
    Kernel { block: [1024, 1, 1], shared_bytes: 262_144, ..kernel }.run(&[]).unwrap();
}

#[test]
fn a_kernel_without_threads_waiting_needs_one_stack() {
    // 16 blocks of 1024 threads, whose locals would not fit in memory that each of them has for itself.
    let code = "static void kernel(void *const *a) {
        volatile char own[65536]; own[thread() * 64] = 1; ((float *)a[0])[1024 * block() + thread()] = own[thread() * 64];
    }";
    let kernel = Kernel { grid: [16, 1, 1], ..Kernel::new(code, 1024, 16 * 1024) };
    assert!(kernel.run(&[]).unwrap()[0].iter().all(|&y| y == 1.0));
}
