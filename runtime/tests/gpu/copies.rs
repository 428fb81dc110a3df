//! Asynchronous copies to shared memory.

use crate::kernel::{Kernel, random};

/// Each thread copies four floats; `wait` stands between that and reading what its neighbour copied.
fn kernel(wait: &str) -> String {
    format!(
        "static void kernel(void *const *a) {{
            const float *x = a[0]; float *y = a[1]; int64_t t = thread();
            fusion_emulated_copy_async(shared(4 * t), x + 4 * t, 16, t == 31 ? 8 : 16);
            fusion_emulated_commit();
            {wait}
            int64_t from = (t + 1) % 32;
            for (int i = 0; i < 4; i++) y[4 * t + i] = *shared(4 * from + i);
        }}"
    )
}

#[test]
fn what_is_waited_for_has_come() {
    let x = random(128, 3);
    let code = kernel("fusion_emulated_wait(0); fusion_emulated_barrier();");
    let y = Kernel::new(&code, 32, 128).run(&[&x]).unwrap().remove(0);
    let mut expected = [&x[4..], &x[..4]].concat();
    expected[122..124].fill(0.0);
    assert_eq!(y, expected);
}

#[test]
fn what_is_not_waited_for_has_not_come() {
    let x = random(128, 3);
    for wait in ["fusion_emulated_barrier();", "fusion_emulated_wait(1); fusion_emulated_barrier();"] {
        let y = Kernel::new(&kernel(wait), 32, 128).run(&[&x]).unwrap().remove(0);
        assert!(y.iter().all(|y| y.is_nan()));
    }
    let code = kernel("fusion_emulated_barrier(); get(4 * ((t + 1) % 32));");
    let why = Kernel::new(&code, 32, 128).run(&[&x]).unwrap_err().to_string();
    assert!(
        why.contains(
            "it reads byte 0 of shared memory while an asynchronous copy of thread (0, 0, 0) to it is under way; wait for the \
             copy first"
        ),
        "{why}"
    );
}

#[test]
fn waiting_is_for_ones_own_copies_only() {
    let why = Kernel::new(
        &kernel("fusion_emulated_barrier(); fusion_emulated_wait(0); get(4 * ((t + 1) % 32));"),
        32,
        128,
    )
    .run(&[&random(128, 3)])
    .unwrap_err()
    .to_string();
    assert!(
        why.contains("it reads byte 0 of shared memory while an asynchronous copy of thread (0, 0, 0)"),
        "{why}"
    );
    let code = kernel("fusion_emulated_wait(0); if (t) get(4 * (t - 1));");
    let why = Kernel::new(&code, 32, 128).run(&[&random(128, 3)]).unwrap_err().to_string();
    assert!(
        why.contains(
            "thread (1, 0, 0): a race: it reads byte 0 of shared memory, which thread (0, 0, 0) wrote"
        ),
        "{why}"
    );
}

#[test]
fn groups_come_in_order() {
    // Two stages: the first group has come when one is left.
    let code = "static void kernel(void *const *a) {
        const float *x = a[0]; float *y = a[1];
        for (int stage = 0; stage < 2; stage++) {
            fusion_emulated_copy_async(shared(stage), x + stage, 4, 4);
            fusion_emulated_commit();
        }
        fusion_emulated_wait(1);
        y[0] = get(0); y[1] = *shared(1);
        fusion_emulated_wait(0);
        y[2] = get(1);
    }";
    let y = Kernel::new(code, 1, 3).run(&[&[5.0, 6.0]]).unwrap().remove(0);
    assert!(y[0] == 5.0 && y[1].is_nan() && y[2] == 6.0, "{y:?}");
}

#[test]
fn copies_are_of_whole_words() {
    let error = |copy: &str| {
        let code = format!("static void kernel(void *const *a) {{ {copy}; }}");
        Kernel::new(&code, 1, 4).error()
    };
    assert!(
        error("fusion_emulated_copy_async(shared(0), a[0], 12, 12)")
            .contains("an asynchronous copy of 12 of 12 bytes")
    );
    assert!(
        error("fusion_emulated_copy_async(shared(0), a[0], 4, 8)")
            .contains("an asynchronous copy of 8 of 4 bytes")
    );
    assert!(
        error("fusion_emulated_copy_async(shared(1), a[0], 16, 16)").contains("that is not a multiple of it")
    );
    assert!(
        error("fusion_emulated_copy_async(shared(256), a[0], 4, 4)")
            .contains("it writes 4 bytes from byte 1024")
    );
}
