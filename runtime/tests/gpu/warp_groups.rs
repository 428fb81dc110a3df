//! Instructions of four warps against three loops, with factors in shared memory where the PTX ISA says: lines of 128 bytes, the eight groups
//! of 16 bytes of each exchanged by the number of the line.

use crate::kernel::{Kernel, floats, random};

/// Elements of two bytes that are summed up, which are a line of 128 bytes.
const DEPTH: usize = 64;
const ROWS: usize = 64;
const THREADS: usize = 128;

/// Numbers of which bf16 has all digits.
fn halves(n: usize, seed: u32) -> Vec<f32> {
    random(n, seed).into_iter().map(|x| f32::from_bits(x.to_bits() & 0xffff_0000)).collect()
}

/// Shared memory with an element of so many bytes for each line and place in it, the upper ones of an f32.
fn image(lines: usize, size: usize, element: impl Fn(usize, usize) -> f32) -> Vec<u8> {
    let mut bytes = vec![0; 128 * lines];
    for line in 0..lines {
        for place in 0..128 / size {
            let at = 128 * line + size * place;
            let at = at ^ ((at & 0x380) >> 3);
            let all = element(line, place).to_le_bytes();
            bytes[at..at + size].copy_from_slice(&all[4 - size..]);
        }
    }
    bytes
}

fn code(columns: usize, (element, transposed): (&str, bool), before: &str) -> String {
    let sums = columns / 2;
    format!(
        "static void kernel(void *const *p) {{
            int64_t t = thread(), bytes = 8192 + 128 * {columns};
            char *s = fusion_emulated_shared(0);
            for (int64_t i = t; i < bytes; i += {THREADS}) {{
                fusion_emulated_access(s + i, 1, 1);
                s[i] = ((const char *)p[i < 8192 ? 0 : 1])[i < 8192 ? i : i - 8192];
            }}
            {before}
            fusion_emulated_multiply_shared(FUSION_WGMMA_M64N{columns}{element}, s, s + 8192, {}, 8192,
                                            (const float *)p[2] + t * {sums}, (float *)p[3] + t * {sums});
        }}",
        i32::from(transposed)
    )
}

#[test]
fn products_are_those_of_three_loops() {
    let of_bf16 = [(64, false), (64, true), (128, false), (128, true), (256, false), (256, true)]
        .map(|(columns, transposed)| (columns, "K64_BF16", transposed));
    let of_tf32 = [64, 128, 256].map(|columns| (columns, "K32_TF32", false));
    for (columns, element, transposed) in of_bf16.into_iter().chain(of_tf32) {
        let (size, depth) = if element == "K32_TF32" { (4, DEPTH / 2) } else { (2, DEPTH) };
        let (a, b) = (halves(ROWS * depth, 1), halves(depth * columns, 2));
        let c = random(ROWS * columns, 3);
        // Where thread 32 w + 4 g + q has its element number i.
        let place = |thread: usize, i: usize| {
            let (warp, lane) = (thread / 32, thread % 32);
            (16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2)
        };
        let sums = columns / 2;
        let left = image(ROWS, size, |row, k| a[row * depth + k]);
        let right = match transposed {
            false => image(columns, size, |column, k| b[k * columns + column]),
            true => image(columns, size, |line, place| b[line % DEPTH * columns + line / DEPTH * 64 + place]),
        };
        let old = (0..THREADS * sums).flat_map(|at| {
            let (row, column) = place(at / sums, at % sums);
            c[row * columns + column].to_ne_bytes()
        });
        let code = code(columns, (element, transposed), "fusion_emulated_barrier();");
        let mut kernel = Kernel::new(&code, THREADS as u32, THREADS * sums);
        kernel.shared_bytes = 8192 + 128 * columns as u32;
        let d = floats(&kernel.run_bytes(&[left, right, old.collect()]).unwrap()[0]);
        for (at, found) in d.into_iter().enumerate() {
            let (row, column) = place(at / sums, at % sums);
            let product = |k: usize| f64::from(a[row * depth + k]) * f64::from(b[k * columns + column]);
            let expected = f64::from(c[row * columns + column]) + (0..depth).map(product).sum::<f64>();
            assert!(
                (f64::from(found) - expected).abs() < 1e-5,
                "{columns} columns {element}, transposed {transposed}: row {row}, column {column}: {found} instead of {expected}"
            );
        }
    }
}

#[test]
fn what_it_reads_must_be_there() {
    let error = |code: &str, threads: u32| {
        let mut kernel = Kernel::new(code, threads, THREADS * 32);
        kernel.shared_bytes = 16384;
        let inputs = [vec![0; 8192], vec![0; 8192], vec![0; THREADS * 128]];
        kernel.run_bytes(&inputs).unwrap_err().to_string()
    };
    assert!(error(&code(64, ("K64_BF16", false), ""), 128).contains("a race"));
    let three = error(&code(64, ("K64_BF16", false), "fusion_emulated_barrier();"), 96);
    assert!(three.contains("wgmma m64n64 bf16 is of four warps, but the block has 96 threads"), "{three}");
    let turned = error(&code(64, ("K32_TF32", true), "fusion_emulated_barrier();"), 128);
    assert!(turned.contains("wgmma m64n64 tf32 reads columns of its right factor only"), "{turned}");
    let other =
        error(&code(64, ("K64_BF16", false), "fusion_emulated_barrier(); if (t == 5) s += 1024;"), 128);
    assert!(other.contains("with other factors than the first thread of its warp"), "{other}");
}
