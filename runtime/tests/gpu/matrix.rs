//! Matrix instructions against three loops, with the fragments laid out by what their makers say.

use crate::kernel::{Kernel, floats, random};
use fusion_runtime::RunError;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    F16,
    Bf16,
    Tf32,
    F32,
}

/// Row and column of a register's element in a lane.
type Layout = fn(usize, usize) -> (usize, usize);

struct Instruction {
    name: &'static str,
    /// m, n and k.
    extents: (usize, usize, usize),
    lanes: usize,
    ty: Type,
    /// Elements a lane has of A, B and C, and where they are.
    a: (usize, Layout),
    b: (usize, Layout),
    c: (usize, Layout),
}

/// PTX ISA, mma.m16n8k16 for 16 bits: the group is lane / 4, the thread in the group lane % 4.
fn mma_a(lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane & 3);
    let row = if [0, 1, 4, 5].contains(&i) { group } else { group + 8 };
    (row, if i < 4 { thread * 2 + (i & 1) } else { thread * 2 + (i & 1) + 8 })
}

fn mma_b(lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane & 3);
    (if i < 2 { thread * 2 + (i & 1) } else { thread * 2 + (i & 1) + 8 }, group)
}

fn mma_c(lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane & 3);
    (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))
}

/// PTX ISA, mma.m16n8k8 for tf32.
fn tf32_a(lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane & 3);
    [(group, thread), (group + 8, thread), (group, thread + 4), (group + 8, thread + 4)][i]
}

fn tf32_b(lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane >> 2, lane & 3);
    (if i == 0 { thread } else { thread + 4 }, group)
}

/// CDNA: lanes go along the rows of A (columns of B and C) first, then four elements of k (rows of C) at a time.
fn fours_16(lane: usize, i: usize) -> (usize, usize) {
    (lane & 15, 4 * (lane >> 4) + i)
}

fn ones_16(lane: usize, _: usize) -> (usize, usize) {
    (lane & 15, lane >> 4)
}

fn fours_32(lane: usize, i: usize) -> (usize, usize) {
    (lane & 31, 4 * (lane >> 5) + i)
}

fn eights_16(lane: usize, i: usize) -> (usize, usize) {
    (lane & 15, 8 * (lane >> 4) + i)
}

fn eights_32(lane: usize, i: usize) -> (usize, usize) {
    (lane & 31, 8 * (lane >> 5) + i)
}

fn ones_32(lane: usize, _: usize) -> (usize, usize) {
    (lane & 31, lane >> 5)
}

fn rows_32(lane: usize, i: usize) -> (usize, usize) {
    (8 * (i >> 2) + 4 * (lane >> 5) + (i & 3), lane & 31)
}

/// RDNA 3: a lane has a whole row, lanes 16 to 31 those of lanes 0 to 15 again.
fn wmma_a(lane: usize, i: usize) -> (usize, usize) {
    (lane & 15, i)
}

fn wmma_c(lane: usize, i: usize) -> (usize, usize) {
    (2 * i + (lane >> 4), lane & 15)
}

/// Rows for columns.
macro_rules! turned {
    ($layout:ident) => {
        |lane, i| {
            let (row, column) = $layout(lane, i);
            (column, row)
        }
    };
}

fn instructions() -> Vec<Instruction> {
    let row = |name, extents, lanes, ty, a, b, c| Instruction { name, extents, lanes, ty, a, b, c };
    let mma = |name, ty| row(name, (16, 8, 16), 32, ty, (8, mma_a), (4, mma_b), (4, mma_c));
    let tf32 = ((4, tf32_a as Layout), (2, tf32_b as Layout), (4, mma_c as Layout));
    let mfma_16 = |name, ty| {
        row(name, (16, 16, 16), 64, ty, (4, fours_16), (4, turned!(fours_16)), (4, turned!(fours_16)))
    };
    let mfma_32 =
        |name, ty| row(name, (32, 32, 8), 64, ty, (4, fours_32), (4, turned!(fours_32)), (16, rows_32));
    let wmma = |name, ty| row(name, (16, 16, 16), 32, ty, (16, wmma_a), (16, turned!(wmma_a)), (8, wmma_c));
    let (eights, turned_eights) = ((8, eights_16 as Layout), (8, turned!(eights_16) as Layout));
    let halves = |name, ty| row(name, (16, 16, 16), 32, ty, eights, turned_eights, turned_eights);
    let deep_16 = |name, ty| row(name, (16, 16, 32), 64, ty, eights, turned_eights, (4, turned!(fours_16)));
    let deep_32 =
        |name, ty| row(name, (32, 32, 16), 64, ty, (8, eights_32), (8, turned!(eights_32)), (16, rows_32));
    let f32_16 = ((1, ones_16 as Layout), (1, turned!(ones_16) as Layout), (4, turned!(fours_16) as Layout));
    let f32_32 = ((1, ones_32 as Layout), (1, turned!(ones_32) as Layout), (16, rows_32 as Layout));
    vec![
        mma("FUSION_MMA_M16N8K16_F16", Type::F16),
        mma("FUSION_MMA_M16N8K16_BF16", Type::Bf16),
        row("FUSION_MMA_M16N8K8_TF32", (16, 8, 8), 32, Type::Tf32, tf32.0, tf32.1, tf32.2),
        mfma_16("FUSION_MFMA_16X16X16_F16", Type::F16),
        mfma_16("FUSION_MFMA_16X16X16_BF16", Type::Bf16),
        mfma_32("FUSION_MFMA_32X32X8_F16", Type::F16),
        mfma_32("FUSION_MFMA_32X32X8_BF16", Type::Bf16),
        row("FUSION_MFMA_16X16X4_F32", (16, 16, 4), 64, Type::F32, f32_16.0, f32_16.1, f32_16.2),
        row("FUSION_MFMA_32X32X2_F32", (32, 32, 2), 64, Type::F32, f32_32.0, f32_32.1, f32_32.2),
        wmma("FUSION_WMMA_16X16X16_F16", Type::F16),
        wmma("FUSION_WMMA_16X16X16_BF16", Type::Bf16),
        halves("FUSION_WMMA_16X16X16_HALVES_F16", Type::F16),
        halves("FUSION_WMMA_16X16X16_HALVES_BF16", Type::Bf16),
        deep_16("FUSION_MFMA_16X16X32_F16", Type::F16),
        deep_16("FUSION_MFMA_16X16X32_BF16", Type::Bf16),
        deep_32("FUSION_MFMA_32X32X16_F16", Type::F16),
        deep_32("FUSION_MFMA_32X32X16_BF16", Type::Bf16),
    ]
}

/// The value as the instruction sees it.
fn seen(ty: Type, x: f32) -> f32 {
    let digits = match ty {
        Type::F16 | Type::Tf32 => 10,
        Type::Bf16 => 7,
        Type::F32 => return x,
    };
    // The unit of the last digit that is kept. No value here is small enough for f16 to have fewer.
    let unit = f64::from(x).abs().log2().floor().exp2() / f64::from(1 << digits);
    let seen = ((f64::from(x) / unit).round_ties_even() * unit) as f32;
    if ty == Type::F16 && x.abs() < 1.0 / 1024.0 { 0.0 } else { seen }
}

/// The bytes of a value that is one of the type's; tf32 comes with all digits.
fn bytes(ty: Type, x: f32) -> Vec<u8> {
    let bits = x.to_bits();
    match ty {
        Type::F16 if x == 0.0 => vec![0, 0],
        Type::F16 => {
            let (sign, exponent, mantissa) = ((bits >> 16) & 0x8000, (bits >> 23) & 255, (bits >> 13) & 1023);
            ((sign | ((exponent - 112) << 10) | mantissa) as u16).to_ne_bytes().to_vec()
        }
        Type::Bf16 => ((bits >> 16) as u16).to_ne_bytes().to_vec(),
        Type::Tf32 | Type::F32 => x.to_ne_bytes().to_vec(),
    }
}

fn fragments(
    lanes: usize,
    ty: Type,
    (count, layout): (usize, Layout),
    columns: usize,
    matrix: &[f32],
) -> Vec<u8> {
    let places = (0..lanes).flat_map(|lane| (0..count).map(move |i| layout(lane, i)));
    places.flat_map(|(row, column)| bytes(ty, matrix[row * columns + column])).collect()
}

fn code(instruction: &Instruction) -> String {
    let size = if matches!(instruction.ty, Type::F16 | Type::Bf16) { 2 } else { 4 };
    let (a, b, c) = (instruction.a.0 * size, instruction.b.0 * size, instruction.c.0 * 4);
    format!(
        "static void kernel(void *const *p) {{
            int64_t t = thread();
            fusion_emulated_matrix({}, (char *)p[0] + t * {a}, (char *)p[1] + t * {b}, (char *)p[2] + t * {c},
                                   (char *)p[3] + t * {c});
        }}",
        instruction.name
    )
}

#[test]
fn products_are_those_of_three_loops() {
    for (seed, instruction) in instructions().iter().enumerate() {
        let (m, n, k) = instruction.extents;
        let (lanes, ty) = (instruction.lanes, instruction.ty);
        let of_type = |x: Vec<f32>| match ty {
            Type::Tf32 => x,
            ty => x.into_iter().map(|x| seen(ty, x)).collect(),
        };
        let seed = 3 * seed as u32;
        let (a, b) = (of_type(random(m * k, seed)), of_type(random(k * n, seed + 1)));
        let c = random(m * n, seed + 2);
        let inputs = [
            fragments(lanes, ty, instruction.a, k, &a),
            fragments(lanes, ty, instruction.b, n, &b),
            fragments(lanes, Type::F32, instruction.c, n, &c),
        ];
        let code = code(instruction);
        let mut kernel = Kernel::new(&code, lanes as u32, lanes * instruction.c.0);
        kernel.warp = lanes as u32;
        let d = floats(&kernel.run_bytes(&inputs).unwrap()[0]);
        let mut met = vec![false; m * n];
        for lane in 0..lanes {
            for i in 0..instruction.c.0 {
                let (row, column) = instruction.c.1(lane, i);
                met[row * n + column] = true;
                let product =
                    |l: usize| f64::from(seen(ty, a[row * k + l])) * f64::from(seen(ty, b[l * n + column]));
                let expected = f64::from(c[row * n + column]) + (0..k).map(product).sum::<f64>();
                let found = d[lane * instruction.c.0 + i];
                assert!(
                    (f64::from(found) - expected).abs() < 2e-6,
                    "{}: row {row}, column {column}: {found} instead of {expected}",
                    instruction.name
                );
            }
        }
        assert!(met.iter().all(|&met| met), "{}", instruction.name);
    }
}

#[test]
fn halves_may_be_of_any_kind() {
    // 0, the least one, the largest subnormal one, one, minus two, the largest one, infinity, and no number.
    let halves = [0u16, 1, 0x3ff, 0x3c00, 0xc000, 0x7bff, 0x7c00, 0x7e00];
    let values = [0.0, 5.960_464_5e-8, 6.097_555e-5, 1.0, -2.0, 65504.0, f32::INFINITY, f32::NAN];
    let instruction = &instructions()[0];
    for (half, value) in halves.into_iter().zip(values) {
        // Row 0 of A has it in column 0, row 0 of B is all ones.
        let (mut a, mut b) = (vec![0u8; 32 * 8 * 2], vec![0u8; 32 * 4 * 2]);
        a[..2].copy_from_slice(&half.to_ne_bytes());
        for lane in (0..32).step_by(4) {
            b[lane * 8..lane * 8 + 2].copy_from_slice(&0x3c00u16.to_ne_bytes());
        }
        let code = code(instruction);
        let kernel = Kernel::new(&code, 32, 128);
        let d = floats(&kernel.run_bytes(&[a, b, vec![0; 32 * 16]]).unwrap()[0]);
        assert!(d[0] == value || (d[0].is_nan() && value.is_nan()), "{half:x}: {}", d[0]);
    }
}

#[test]
fn lanes_that_repeat_others_must_agree() {
    let instruction = &instructions()[9];
    let (mut a, b) = (vec![0u8; 32 * 32], vec![0u8; 32 * 32]);
    a[20 * 32 + 6] = 1;
    let code = code(instruction);
    let why = Kernel::new(&code, 32, 256).run_bytes(&[a, b, vec![0; 32 * 32]]).unwrap_err();
    assert_eq!(
        why.to_string(),
        "kernel \"kernel\", block (0, 0, 0), thread (20, 0, 0): wmma 16x16x16 f16 wants the same element 3 of A from threads 4 \
         and 20 of the warp, but they are different"
    );
}

#[test]
fn all_threads_of_a_warp_come() {
    let run = |body: &str, threads: u32| -> Result<_, RunError> {
        let code = format!("static void kernel(void *const *p) {{ float x[32] = {{0}}; (void)p; {body} }}");
        Kernel::new(&code, threads, 1).run(&[])
    };
    let error = |body: &str, threads: u32| run(body, threads).unwrap_err().to_string();
    let mma = "fusion_emulated_matrix(FUSION_MMA_M16N8K16_F16, x, x, x, x);";
    assert!(run(mma, 32).is_ok());
    assert!(error(mma, 16).contains("mma.m16n8k16 f16 is of 32 threads, but this warp has 16"));
    assert!(error(&format!("if (thread() > 3) {mma}"), 32).contains(
        "thread (0, 0, 0): it ended without coming to a matrix instruction with the other threads of its warp"
    ));
    assert!(
        error("fusion_emulated_matrix(FUSION_MFMA_16X16X4_F32, x, x, x, x);", 32)
            .contains("mfma 16x16x4 f32 is of 64 threads, but this warp has 32")
    );
    assert!(
        error("fusion_emulated_matrix(thread() / 16, x, x, x, x);", 32).contains(
            "thread (16, 0, 0): it came to matrix instruction 1, the first thread of its warp to 0"
        )
    );
    let why = error(&format!("if (thread() < 16) fusion_emulated_shuffle(0, 0, 1, 32); else {mma}"), 32);
    assert!(
        why.contains("it came to a matrix instruction while thread (0, 0, 0) of its warp came to a shuffle"),
        "{why}"
    );
}

/// A product as kernels compute it: tiles in shared memory, loaded by ldmatrix.
#[test]
fn ldmatrix_gives_what_mma_takes() {
    let code = "static void kernel(void *const *p) {
        const uint16_t *a = p[0], *b = p[1]; int64_t t = thread();
        uint16_t *tile_a = fusion_emulated_shared(0), *tile_b = tile_a + 256;
        for (int i = 0; i < 8; i++) { fusion_emulated_access(&tile_a[8 * t + i], 2, 1); tile_a[8 * t + i] = a[8 * t + i]; }
        for (int i = 0; i < 4; i++) { fusion_emulated_access(&tile_b[4 * t + i], 2, 1); tile_b[4 * t + i] = b[4 * t + i]; }
        fusion_emulated_barrier();
        uint32_t fragment_a[4], fragment_b[2];
        fusion_emulated_ldmatrix(&tile_a[t % 16 * 16 + t / 16 * 8], 4, 0, fragment_a);
        fusion_emulated_ldmatrix(&tile_b[t % 16 * 8], 2, 1, fragment_b);
        float d[4] = {0};
        fusion_emulated_matrix(FUSION_MMA_M16N8K16_F16, fragment_a, fragment_b, d, d);
        for (int i = 0; i < 4; i++) ((float *)p[2])[(t / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
    }";
    let of_type = |x: Vec<f32>| -> Vec<f32> { x.into_iter().map(|x| seen(Type::F16, x)).collect() };
    let (a, b) = (of_type(random(256, 1)), of_type(random(128, 2)));
    let inputs = [&a, &b].map(|matrix| matrix.iter().flat_map(|&x| bytes(Type::F16, x)).collect::<Vec<u8>>());
    let d = floats(&Kernel::new(code, 32, 128).run_bytes(&inputs).unwrap()[0]);
    for (at, found) in d.iter().enumerate() {
        let (row, column) = (at / 8, at % 8);
        let expected: f32 = (0..16).map(|k| a[row * 16 + k] * b[k * 8 + column]).sum();
        assert!((found - expected).abs() < 2e-6, "row {row}, column {column}: {found} instead of {expected}");
    }
}

#[test]
fn ldmatrix_is_checked() {
    let run = |row: &str, count: &str| {
        let code = format!(
            "static void kernel(void *const *p) {{
                uint32_t out[4]; int64_t t = thread(); (void)p;
                fusion_emulated_ldmatrix((char *)shared(0) + {row}, {count}, 0, out);
            }}"
        );
        Kernel::new(&code, 32, 1).run(&[])
    };
    let error = |row: &str, count: &str| run(row, count).unwrap_err().to_string();
    assert!(run("16 * t", "4").is_ok());
    // The addresses of threads that have no row do not matter.
    assert!(run("(t < 8 ? 16 * t : 3)", "1").is_ok());
    assert!(
        error("8 * t", "1")
            .contains("thread (1, 0, 0): ldmatrix reads a row from an address that is not a multiple of 16")
    );
    assert!(error("16 * t + 768", "4").contains("it reads 2 bytes from byte 1024 of shared memory on"));
    assert!(
        error("16 * t", "1 + t / 31")
            .contains("ldmatrix of 2 matrices, while the first thread of the warp came with 1")
    );
    let code = "static void kernel(void *const *p) {
        uint32_t out[1]; (void)p;
        put(thread(), 1);
        fusion_emulated_ldmatrix(shared(4 * (thread() % 8)), 1, 0, out);
    }";
    // Threads 4*r to 4*r + 3 get row r, which they themselves wrote; transposed they get what others wrote.
    Kernel::new(code, 32, 1).run(&[]).unwrap();
    let why = Kernel::new(&code.replace("1, 0, out", "1, 1, out"), 32, 1).error();
    assert!(why.contains("a race: it reads byte"), "{why}");
}
