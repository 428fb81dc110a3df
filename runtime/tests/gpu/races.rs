//! Accesses of shared memory that no barrier orders.

use crate::kernel::Kernel;

fn error(body: &str) -> String {
    let code = format!("static void kernel(void *const *a) {{ (void)a; int64_t t = thread(); {body} }}");
    Kernel::new(&code, 64, 1).error()
}

fn passes(body: &str) {
    let code = format!("static void kernel(void *const *a) {{ (void)a; int64_t t = thread(); {body} }}");
    Kernel::new(&code, 64, 1).run(&[]).unwrap();
}

#[test]
fn two_writes() {
    assert_eq!(
        error("put(t / 2 + 3, 1);"),
        "kernel \"kernel\", block (0, 0, 0), thread (1, 0, 0): a race: it writes byte 12 of shared memory, which thread \
         (0, 0, 0) wrote since the last barrier; a barrier is missing between the two"
    );
    passes("put(t / 2 + 3 * (t % 2) * 30, 1);");
}

#[test]
fn a_read_of_what_another_wrote() {
    assert_eq!(
        error("put(t, 1); if (t == 50) get(49);"),
        "kernel \"kernel\", block (0, 0, 0), thread (50, 0, 0): a race: it reads byte 196 of shared memory, which thread \
         (49, 0, 0) wrote since the last barrier; a barrier is missing between the two"
    );
    passes("put(t, 1); get(t); fusion_emulated_barrier(); get((t + 1) % 64);");
}

#[test]
fn a_write_of_what_another_read() {
    assert_eq!(
        error("get(7); if (t == 60) put(7, 1);"),
        "kernel \"kernel\", block (0, 0, 0), thread (60, 0, 0): a race: it writes byte 28 of shared memory, which thread \
         (0, 0, 0) read since the last barrier; a barrier is missing between the two"
    );
    // Also where the writer is the first one that read.
    let why = error(
        "if (t == 0 || t == 1) get(7); fusion_emulated_shuffle(FUSION_XOR, 0, 1, 32); if (t == 0) put(7, 1);",
    );
    assert!(
        why.contains(
            "thread (0, 0, 0): a race: it writes byte 28 of shared memory, which thread (1, 0, 0) read"
        ),
        "{why}"
    );
    passes("get(7); fusion_emulated_barrier(); if (t == 60) put(7, 1);");
    passes("if (t == 60) { get(7); put(7, 1); get(7); }");
}

#[test]
fn bytes_of_one_word_are_apart() {
    passes(
        "fusion_emulated_access((char *)shared(0) + t, 1, 1); fusion_emulated_access((char *)shared(0) + t, 1, 0);",
    );
    let why = error("fusion_emulated_access((char *)shared(0) + 2 * t, 3, 1);");
    assert!(why.contains("thread (1, 0, 0): a race: it writes byte 2 of shared memory"), "{why}");
}

#[test]
fn blocks_do_not_share() {
    let code = "static void kernel(void *const *a) { (void)a; put(0, block()); }";
    Kernel { grid: [50, 1, 1], ..Kernel::new(code, 1, 1) }.run(&[]).unwrap();
}

#[test]
fn accesses_stay_in_the_blocks_memory() {
    assert_eq!(
        error("fusion_emulated_access(shared(254) , 16, 0);"),
        "kernel \"kernel\", block (0, 0, 0), thread (0, 0, 0): it reads 16 bytes from byte 1016 of shared memory on, of which \
         a block has 1024"
    );
    assert!(
        error("fusion_emulated_access((char *)shared(0) - 4, 4, 1);")
            .contains("it writes 4 bytes from byte -4")
    );
}
