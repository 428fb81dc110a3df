//! TMA copies of tensors, the mbarriers that tell of them, and what they order.

use crate::kernel::{Kernel, random};

/// A tensor of 10 x 12 floats, of which boxes of 4 x 8 are copied; and as lines of 128 bytes, swizzled, one of 40 x 8.
const MAPS: &str = "static const struct fusion_gpu_map map[] = {
    {.argument = 0, .element_bytes = 4, .rank = 2, .extents = {12, 10}, .strides = {4, 48}, .box = {8, 4}},
    {.argument = 0, .element_bytes = 4, .rank = 2, .swizzled = 1, .extents = {40, 3}, .strides = {4, 160}, .box = {32, 8}}};
static char *mbarrier(int64_t i) { return (char *)fusion_emulated_shared(4096 + 8 * i); }
static void begin(int64_t mbarriers, int64_t count) {
    if (!thread()) fusion_emulated_mbarrier_init(mbarrier(0), mbarriers, count);
    fusion_emulated_barrier();
}
static void copy(int32_t map, int64_t to, int64_t of, int64_t column, int64_t row) {
    fusion_emulated_copy_tensor(map, shared(to), mbarrier(of), column, row, 0, 0, 0);
}
";

fn run(body: &str, threads: u32) -> Result<Vec<f32>, String> {
    let code = format!(
        "{MAPS} static void kernel(void *const *p) {{ float *y = p[1]; int64_t t = thread(); {body} }}"
    );
    let mut kernel = Kernel::new(&code, threads, 256);
    (kernel.shared_bytes, kernel.maps) = (8192, 2);
    kernel.run(&[&random(120, 5)]).map(|mut outputs| outputs.remove(0)).map_err(|why| why.to_string())
}

fn complaint(body: &str, threads: u32) -> String {
    run(body, threads).unwrap_err()
}

#[test]
fn a_box_is_zeros_beyond_the_tensor() {
    for (column, row) in [(0, 0), (8, 3), (-3, 8), (4, -2), (12, 0)] {
        let body = format!(
            "begin(1, 1);
             if (!t) {{ fusion_emulated_mbarrier_expect(mbarrier(0), 128); copy(0, 0, 0, {column}, {row}); }}
             fusion_emulated_mbarrier_wait(mbarrier(0), 0);
             y[t] = get(t);"
        );
        let (y, x) = (run(&body, 32).unwrap(), random(120, 5));
        for (at, found) in y[..32].iter().enumerate() {
            let (i, j) = (row + at as i64 / 8, column + at as i64 % 8);
            let inside = (0..10).contains(&i) && (0..12).contains(&j);
            let expected = if inside { x[(12 * i + j) as usize] } else { 0.0 };
            assert_eq!(*found, expected, "row {i}, column {j}");
        }
    }
}

#[test]
fn lines_are_swizzled_as_matrix_instructions_read_them() {
    let body = "begin(1, 1);
        if (!t) { fusion_emulated_mbarrier_expect(mbarrier(0), 1024); copy(1, 256, 0, 16, 1); }
        fusion_emulated_mbarrier_wait(mbarrier(0), 0);
        for (int i = 0; i < 8; i++) y[32 * i + t] = get(256 + 32 * i + (t ^ i % 8 * 4));";
    let (y, x) = (run(body, 32).unwrap(), random(120, 5));
    for (at, found) in y.iter().enumerate() {
        let (i, j) = (1 + at / 32, 16 + at % 32);
        let expected = if i < 3 && j < 40 { x[40 * i + j] } else { 0.0 };
        assert_eq!(*found, expected, "row {i}, column {j}");
    }
}

/// One thread copies eight steps to two slots, another warp reads them.
fn pipeline(leave: &str, before: &str, after: &str) -> String {
    format!(
        "if (!t) {{ fusion_emulated_mbarrier_init(mbarrier(0), 2, 1); fusion_emulated_mbarrier_init(mbarrier(2), 2, 32); }}
         fusion_emulated_barrier();
         float sum = 0;
         if (t == 32)
           for (int64_t k = 0; k < 8; k++) {{
             {leave}
             fusion_emulated_mbarrier_expect(mbarrier(k % 2), 128);
             copy(0, 32 * (k % 2), k % 2, 0, k);
           }}
         else if (t < 32)
           for (int64_t k = 0; k < 8; k++) {{
             {before}
             sum += get(32 * (k % 2) + t);
             {after}
           }}
         if (t < 32) y[t] = sum;"
    )
}

const LEAVE: &str = "fusion_emulated_mbarrier_wait(mbarrier(2 + k % 2), k / 2 - 1);";
const WAIT: &str = "fusion_emulated_mbarrier_wait(mbarrier(k % 2), k / 2);";
const ARRIVE: &str = "fusion_emulated_mbarrier_arrive(mbarrier(2 + k % 2));";

#[test]
fn slots_are_filled_and_left_in_turn() {
    let (y, x) = (run(&pipeline(LEAVE, WAIT, ARRIVE), 64).unwrap(), random(120, 5));
    for (at, found) in y[..32].iter().enumerate() {
        let of_step = |k: usize| {
            let row = k + at / 8;
            if row < 10 { x[12 * row + at % 8] } else { 0.0 }
        };
        assert_eq!(*found, (0..8).map(of_step).sum::<f32>());
    }
}

#[test]
fn a_slot_that_is_not_left_must_not_be_filled() {
    // They say that they have read before they do.
    let why = complaint(&pipeline(LEAVE, &format!("{WAIT} {ARRIVE}"), ""), 64);
    assert!(
        why.contains("a race: it writes byte 0 of shared memory, which thread (") && why.contains("read"),
        "{why}"
    );
    // Nobody waits for them, so that they come too late.
    let why = complaint(
        &pipeline("if (k > 1) fusion_emulated_mbarrier_wait(mbarrier(k % 2), k / 2 - 1);", WAIT, ARRIVE),
        64,
    );
    assert!(why.contains("what runs knows phases by whether they are even"), "{why}");
}

#[test]
fn who_did_not_wait_finds_no_copy() {
    let why = complaint(&pipeline(LEAVE, "", ARRIVE), 64);
    assert!(why.contains("while an asynchronous copy of thread (32, 0, 0) to it is under way"), "{why}");
    // The last thread that comes to a barrier goes on first: its copy is done when the other one reads.
    let body = "begin(1, 1);
        if (t == 63) { fusion_emulated_mbarrier_expect(mbarrier(0), 128); copy(0, 0, 0, 0, 0); fusion_emulated_mbarrier_wait(mbarrier(0), 0); }
        if (t == 0) get(0);";
    let why = complaint(body, 64);
    assert!(
        why.contains("which a copy of a tensor wrote; it has not waited for the mbarrier of the copy"),
        "{why}"
    );
}

#[test]
fn what_is_waited_for_in_vain_is_told() {
    let never = complaint("begin(1, 2); fusion_emulated_mbarrier_wait(mbarrier(0), 0);", 32);
    assert!(
        never.contains(
            "it waits for phase 0 of the mbarrier at byte 4096, to which 2 threads and 0 bytes never come"
        ),
        "{never}"
    );
    let bytes = complaint(
        "begin(1, 1); if (!t) fusion_emulated_mbarrier_expect(mbarrier(0), 64); fusion_emulated_mbarrier_wait(mbarrier(0), 0);",
        32,
    );
    assert!(bytes.contains("to which 0 threads and 64 bytes never come"), "{bytes}");
    let phase = complaint("begin(1, 1); fusion_emulated_mbarrier_wait(mbarrier(0), 1);", 32);
    assert!(
        phase.contains("it waits for phase 1 of the mbarrier at byte 4096, which is in phase 0"),
        "{phase}"
    );
    let left = complaint(
        "begin(1, 1); if (!t) { fusion_emulated_mbarrier_expect(mbarrier(0), 128); copy(0, 0, 0, 0, 0); }",
        32,
    );
    assert!(left.contains("the block ended while copies of a tensor were under way"), "{left}");
    let none = complaint("if (!t) fusion_emulated_mbarrier_arrive(mbarrier(0));", 32);
    assert!(
        none.contains("it comes to a mbarrier at byte 4096 of shared memory, where none was made"),
        "{none}"
    );
    let early = complaint(
        "if (!t) fusion_emulated_mbarrier_init(mbarrier(0), 1, 32); if (t == 31) fusion_emulated_mbarrier_arrive(mbarrier(0));",
        32,
    );
    assert!(early.contains("a race: it reads byte 4096 of shared memory"), "{early}");
}

#[test]
fn maps_that_the_device_would_refuse_are_refused() {
    let code = format!(
        "{} static void kernel(void *const *p) {{ (void)p; begin(1, 1); if (!thread()) copy(0, 0, 0, 0, 0); }}",
        MAPS.replace(".strides = {4, 48}", ".strides = {4, 40}")
    );
    let mut kernel = Kernel::new(&code, 32, 1);
    (kernel.shared_bytes, kernel.maps) = (8192, 2);
    let why = kernel.run(&[&random(120, 5)]).unwrap_err().to_string();
    assert!(
        why.contains("the tensor of map 0 has lines that do not lie a multiple of 16 bytes apart"),
        "{why}"
    );
}
