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
    let name = format!("FUSION_WGMMA_M64N{columns}{element}");
    code_of(&name, [ROWS, columns], transposed, before)
}

fn code_of(name: &str, [rows, columns]: [usize; 2], transposed: bool, before: &str) -> String {
    let (sums, first) = (rows * columns / THREADS, 128 * rows);
    format!(
        "static void kernel(void *const *p) {{
            int64_t t = thread(), bytes = {first} + 128 * {columns};
            char *s = fusion_emulated_shared(0);
            for (int64_t i = t; i < bytes; i += {THREADS}) {{
                fusion_emulated_access(s + i, 1, 1);
                s[i] = ((const char *)p[i < {first} ? 0 : 1])[i < {first} ? i : i - {first}];
            }}
            {before}
            fusion_emulated_multiply_shared({name}, s, s + {first}, {}, 8192,
                                            (const float *)p[2] + t * {sums}, (float *)p[3] + t * {sums});
        }}",
        i32::from(transposed)
    )
}

/// An instruction: its name, rows, columns and the element of a thread by its number.
struct Multiplied {
    name: String,
    rows: usize,
    columns: usize,
    place: fn(usize, usize) -> (usize, usize),
}

/// Thread 32 w + 4 g + q of wgmma's.
fn in_eights(thread: usize, i: usize) -> (usize, usize) {
    let (warp, lane) = (thread / 32, thread % 32);
    (16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2)
}

/// Compares with three loops.
fn check(instruction: &Multiplied, transposed: bool) {
    let Multiplied { name, rows, columns, place } = instruction;
    let (rows, columns) = (*rows, *columns);
    let (size, depth) = if name.ends_with("TF32") { (4, DEPTH / 2) } else { (2, DEPTH) };
    let (a, b) = (halves(rows * depth, 1), halves(depth * columns, 2));
    let c = random(rows * columns, 3);
    let sums = rows * columns / THREADS;
    let left = image(rows, size, |row, k| a[row * depth + k]);
    let right = match transposed {
        false => image(columns, size, |column, k| b[k * columns + column]),
        true => image(columns, size, |line, place| b[line % DEPTH * columns + line / DEPTH * 64 + place]),
    };
    let old = (0..THREADS * sums).flat_map(|at| {
        let (row, column) = place(at / sums, at % sums);
        c[row * columns + column].to_ne_bytes()
    });
    let code = code_of(name, [rows, columns], transposed, "fusion_emulated_barrier();");
    let mut kernel = Kernel::new(&code, THREADS as u32, THREADS * sums);
    kernel.shared_bytes = 128 * (rows + columns) as u32;
    let d = floats(&kernel.run_bytes(&[left, right, old.collect()]).unwrap()[0]);
    for (at, found) in d.into_iter().enumerate() {
        let (row, column) = place(at / sums, at % sums);
        let product = |k: usize| f64::from(a[row * depth + k]) * f64::from(b[k * columns + column]);
        let expected = f64::from(c[row * columns + column]) + (0..depth).map(product).sum::<f64>();
        assert!(
            (f64::from(found) - expected).abs() < 1e-5,
            "{name}, transposed {transposed}: row {row}, column {column}: {found} instead of {expected}"
        );
    }
}

#[test]
fn products_are_those_of_three_loops() {
    for columns in [64, 128, 256] {
        for (element, turns) in [("K64_BF16", &[false, true][..]), ("K32_TF32", &[false])] {
            let name = format!("FUSION_WGMMA_M64N{columns}{element}");
            let instruction = Multiplied { name, rows: ROWS, columns, place: in_eights };
            turns.iter().for_each(|transposed| check(&instruction, *transposed));
        }
    }
}

#[test]
fn sums_in_tensor_memory_are_a_row_a_thread() {
    for columns in [64, 128] {
        let name = format!("FUSION_TCGEN05_M128N{columns}K64_BF16");
        let instruction = Multiplied { name, rows: 128, columns, place: |thread, i| (thread, i) };
        [false, true].into_iter().for_each(|transposed| check(&instruction, transposed));
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
