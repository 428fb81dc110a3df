//! Instructions of four warps against three loops, with factors in shared memory where the PTX ISA says: lines of 128 bytes, the eight groups
//! of 16 bytes of each exchanged by the number of the line.

use crate::kernel::{Kernel, floats, random};

/// Elements that are summed up, which are a line of 128 bytes.
const DEPTH: usize = 64;
const ROWS: usize = 64;
const THREADS: usize = 128;

/// Numbers of which bf16 has all digits.
fn halves(n: usize, seed: u32) -> Vec<f32> {
    random(n, seed).into_iter().map(|x| f32::from_bits(x.to_bits() & 0xffff_0000)).collect()
}

/// Shared memory with an element for each line and place in it.
fn image(lines: usize, element: impl Fn(usize, usize) -> f32) -> Vec<u8> {
    let mut bytes = vec![0; 128 * lines];
    for line in 0..lines {
        for place in 0..DEPTH {
            let at = 128 * line + 2 * place;
            let at = at ^ ((at & 0x380) >> 3);
            let half = (element(line, place).to_bits() >> 16) as u16;
            bytes[at..at + 2].copy_from_slice(&half.to_ne_bytes());
        }
    }
    bytes
}

fn code(columns: usize, transposed: bool, before: &str) -> String {
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
            fusion_emulated_multiply_shared(FUSION_WGMMA_M64N{columns}K64_BF16, s, s + 8192, {}, 8192,
                                            (const float *)p[2] + t * {sums}, (float *)p[3] + t * {sums});
        }}",
        i32::from(transposed)
    )
}

#[test]
fn products_are_those_of_three_loops() {
    for (columns, transposed) in
        [(64, false), (64, true), (128, false), (128, true), (256, false), (256, true)]
    {
        let (a, b) = (halves(ROWS * DEPTH, 1), halves(DEPTH * columns, 2));
        let c = random(ROWS * columns, 3);
        // Where thread 32 w + 4 g + q has its element number i.
        let place = |thread: usize, i: usize| {
            let (warp, lane) = (thread / 32, thread % 32);
            (16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2)
        };
        let sums = columns / 2;
        let left = image(ROWS, |row, k| a[row * DEPTH + k]);
        let right = match transposed {
            false => image(columns, |column, k| b[k * columns + column]),
            true => image(columns, |line, place| b[line % DEPTH * columns + line / DEPTH * 64 + place]),
        };
        let old = (0..THREADS * sums).flat_map(|at| {
            let (row, column) = place(at / sums, at % sums);
            c[row * columns + column].to_ne_bytes()
        });
        let code = code(columns, transposed, "fusion_emulated_barrier();");
        let mut kernel = Kernel::new(&code, THREADS as u32, THREADS * sums);
        kernel.shared_bytes = 8192 + 128 * columns as u32;
        let d = floats(&kernel.run_bytes(&[left, right, old.collect()]).unwrap()[0]);
        for (at, found) in d.into_iter().enumerate() {
            let (row, column) = place(at / sums, at % sums);
            let product = |k: usize| f64::from(a[row * DEPTH + k]) * f64::from(b[k * columns + column]);
            let expected = f64::from(c[row * columns + column]) + (0..DEPTH).map(product).sum::<f64>();
            assert!(
                (f64::from(found) - expected).abs() < 1e-5,
                "{columns} columns, transposed {transposed}: row {row}, column {column}: {found} instead of {expected}"
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
    assert!(error(&code(64, false, ""), 128).contains("a race"));
    let three = error(&code(64, false, "fusion_emulated_barrier();"), 96);
    assert!(three.contains("wgmma m64n64 bf16 is of four warps, but the block has 96 threads"), "{three}");
    let other = error(&code(64, false, "fusion_emulated_barrier(); if (t == 5) s += 1024;"), 128);
    assert!(other.contains("with other factors than the first thread of its warp"), "{other}");
}
