//! What threads of a warp give each other.

use crate::kernel::Kernel;

/// Each thread comes with ten times its number.
fn shuffled(mode: &str, offset: &str, width: u32, warp: u32, threads: u32) -> Vec<f32> {
    let code = format!(
        "static void kernel(void *const *a) {{
            int64_t t = thread();
            ((float *)a[0])[t] = fusion_emulated_shuffle({mode}, 10 * t, {offset}, {width});
        }}"
    );
    Kernel { warp, ..Kernel::new(&code, threads, threads as usize) }.run(&[]).unwrap().remove(0)
}

fn check(found: &[f32], expected: impl Fn(usize) -> usize) {
    for (t, &found) in found.iter().enumerate() {
        assert_eq!(found, 10.0 * expected(t) as f32, "thread {t}");
    }
}

#[test]
fn xor() {
    check(&shuffled("FUSION_XOR", "5", 32, 32, 64), |t| t ^ 5);
    check(&shuffled("FUSION_XOR", "33", 64, 64, 128), |t| t ^ 33);
    // A later part of the width is out of reach, an earlier one is not.
    check(&shuffled("FUSION_XOR", "8", 8, 32, 32), |t| if t % 16 < 8 { t } else { t - 8 });
}

#[test]
fn up_and_down() {
    check(&shuffled("FUSION_UP", "3", 16, 32, 96), |t| if t % 16 < 3 { t } else { t - 3 });
    check(&shuffled("FUSION_DOWN", "4", 32, 32, 64), |t| if t % 32 >= 28 { t } else { t + 4 });
}

#[test]
fn index() {
    check(&shuffled("FUSION_INDEX", "7", 32, 32, 64), |t| t / 32 * 32 + 7);
    check(&shuffled("FUSION_INDEX", "(int)(t * 3)", 8, 32, 32), |t| t / 8 * 8 + t * 3 % 8);
}

#[test]
fn all_bits_go_over() {
    let code = "static void kernel(void *const *a) {
        int64_t got = fusion_emulated_shuffle(FUSION_XOR, 0x0123456789abcdef - thread(), 1, 32);
        ((float *)a[0])[thread()] = got == 0x0123456789abcdef - (thread() ^ 1);
    }";
    assert_eq!(Kernel::new(code, 32, 32).run(&[]).unwrap()[0], [1.0; 32]);
}

#[test]
fn a_warp_reduces_between_barriers() {
    let code = "static void kernel(void *const *a) {
        int64_t t = thread(), sum = t;
        for (int i = 16; i; i /= 2) sum += fusion_emulated_shuffle(FUSION_XOR, sum, i, 32);
        if (t % 32 == 0) put(t / 32, sum);
        fusion_emulated_barrier();
        ((float *)a[0])[t] = get(0) + get(1) + get(2);
    }";
    assert_eq!(Kernel::new(code, 96, 96).run(&[]).unwrap()[0], [95.0 * 96.0 / 2.0; 96]);
}

#[test]
fn a_partner_must_be_there() {
    let shuffle = "fusion_emulated_shuffle(FUSION_XOR, 1, 16, 32)";
    let code = format!("static void kernel(void *const *a) {{ (void)a; {shuffle}; }}");
    assert_eq!(
        Kernel::new(&code, 16, 1).error(),
        "kernel \"kernel\", block (0, 0, 0), thread (0, 0, 0): a shuffle (xor 16) asks for thread 16 of its warp, which has 16 \
         in this block"
    );
    let code = format!("static void kernel(void *const *a) {{ (void)a; if (thread() < 20) {shuffle}; }}");
    assert_eq!(
        Kernel::new(&code, 32, 1).error(),
        "kernel \"kernel\", block (0, 0, 0), thread (4, 0, 0): a shuffle (xor 16) asks for what thread (20, 0, 0) has, which \
         has ended"
    );
    let code = format!(
        "static void kernel(void *const *a) {{
            (void)a;
            if (thread() < 20) {shuffle};
            fusion_emulated_barrier();
        }}"
    );
    assert_eq!(
        Kernel::new(&code, 32, 1).error(),
        "kernel \"kernel\", block (0, 0, 0), thread (0, 0, 0): a shuffle in divergent control flow: other threads of its warp \
         wait at a barrier instead; let all threads of a warp come to it"
    );
    let code =
        "static void kernel(void *const *a) { (void)a; fusion_emulated_shuffle(thread() % 2, 1, 1, 32); }";
    assert!(
        Kernel::new(code, 32, 1).error().contains("a shuffle (xor, width 32) meets another (up, width 32)")
    );
    let code = "static void kernel(void *const *a) { (void)a; fusion_emulated_shuffle(0, 1, 1, 24); }";
    assert!(Kernel::new(code, 32, 1).error().contains("a shuffle of mode 0 and width 24"));
}
