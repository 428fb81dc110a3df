//! Accesses of the device's memory: outside of tensors, of what nobody wrote, and by several blocks of one launch.

use crate::kernel::{Kernel, random};
use std::env;
use std::process::Command;

/// An output of five floats is argument 0, the workspace of 64 argument 2.
const START: &str = "
static inline void tell(int a, int64_t i, int64_t n, int w) { fusion_emulated_global(a, i, n, 4, a ? 64 : 5, w); }
static inline void write(void *const *a, int n, int64_t i) { tell(n, i, 1, 1); ((float *)a[n])[i] = 1; }
static inline void read(void *const *a, int n, int64_t i) { (void)a; tell(n, i, 1, 0); }
";

fn code(body: &str) -> String {
    format!("{START} static void kernel(void *const *a) {{ (void)a; int64_t b = block(); (void)b; {body} }}")
}

fn error(body: &str) -> String {
    let code = code(body);
    Kernel { grid: [3, 2, 1], ..Kernel::new(&code, 1, 5) }.error()
}

fn passes(body: &str) {
    let code = code(body);
    Kernel { grid: [5, 1, 1], ..Kernel::new(&code, 1, 5) }.run(&[]).unwrap();
}

#[test]
fn accesses_stay_in_their_tensor() {
    assert_eq!(
        error("if (b == 2) write(a, 0, 5);"),
        "kernel \"kernel\", block (2, 0, 0), thread (0, 0, 0): it writes element 5 of argument 0 (the model's output from \
         byte 0 on), which has 5; a condition around the access is missing, or the index is wrong"
    );
    assert!(error("read(a, 2, -1);").contains("it reads element -1 of argument 2 (the model's workspace"));
    // Of several elements the first one outside is told.
    assert!(error("tell(2, 62, 4, 1);").contains("it writes element 64 of argument 2"));
    assert!(error("tell(2, INT64_MAX, 4, 1);").contains("which has 64"));
    passes("write(a, 0, b); tell(2, 60, 0, 0); tell(2, -7, 0, 1);");
}

#[test]
fn what_a_kernel_says_it_has_is_there() {
    let why = error("fusion_emulated_global(0, 8, 1, 4, 9, 1);");
    assert!(why.ends_with("which is beyond the 20 bytes there are"), "{why}");
}

#[test]
fn reads_of_what_nobody_wrote() {
    assert_eq!(
        error("if (b == 1) read(a, 2, 7);"),
        "kernel \"kernel\", block (1, 0, 0), thread (0, 0, 0): it reads element 7 of argument 2 (the model's workspace from \
         byte 0 on), which nobody wrote; a kernel before has to, or the index is wrong"
    );
    passes("write(a, 0, b); read(a, 0, b); write(a, 2, 7 + b); read(a, 2, 7 + b);");
}

#[test]
fn blocks_write_elements_of_their_own() {
    assert_eq!(
        error("write(a, 2, b / 4);"),
        "kernel \"kernel\", block (1, 0, 0), thread (0, 0, 0): it writes element 0 of argument 2 (the model's workspace from \
         byte 0 on), a race: block (0, 0, 0) of the same launch wrote it; a block must not use what others write"
    );
    // Bytes of one word are apart.
    passes("write(a, 0, b); fusion_emulated_global(2, b, 1, 1, 256, 1);");
}

#[test]
fn blocks_do_not_read_what_others_write() {
    let why = error("write(a, 2, b); if (b) read(a, 2, b - 1);");
    assert!(why.contains("block (1, 0, 0), thread (0, 0, 0): it reads element 0"), "{why}");
    assert!(why.contains("block (0, 0, 0) of the same launch wrote it"), "{why}");
}

#[test]
fn inputs_are_only_read() {
    let code = code("fusion_emulated_global(0, 0, 1, 4, 6, block() == 1);");
    let kernel = Kernel { grid: [2, 1, 1], ..Kernel::new(&code, 1, 6) };
    let why = kernel.run(&[&random(6, 1)]).unwrap_err().to_string();
    assert!(why.contains("it writes element 0 of argument 0 (the model's input from byte 0 on)"), "{why}");
    assert!(why.ends_with("which kernels only read"), "{why}");
}

#[test]
fn all_of_an_output_is_written() {
    let code = code("if (b != 3) write(a, 0, b);");
    let kernel = Kernel { grid: [5, 1, 1], ..Kernel::new(&code, 1, 5) };
    assert_eq!(kernel.error(), "no kernel wrote byte 12 of the model's output, of which the run gives 20");
}

#[test]
fn a_seed_is_another_order_of_blocks() {
    let code = code("static int next; ((float *)a[0])[next++] = b;");
    let kernel = Kernel { grid: [40, 1, 1], ..Kernel::new(&code, 1, 40) };
    let mut order = kernel.run(&[]).unwrap().remove(0);
    let numbers: Vec<f32> = (0..40).map(|n| n as f32).collect();
    let seeded = env::var_os("FUSION_EMULATE_SEED").is_some();
    assert_eq!(order == numbers, !seeded, "{order:?}");
    order.sort_by(f32::total_cmp);
    assert_eq!(order, numbers);
    if !seeded {
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", "memory::a_seed_is_another_order_of_blocks"]).env("FUSION_EMULATE_SEED", "7");
        assert!(again.output().unwrap().status.success());
    }
}
