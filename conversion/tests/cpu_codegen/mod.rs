//! Loop nests through the CPU pipeline and into memory, against the same nests run serially and against plain Rust.

use fusion_conversion::pipelines::{LLVM, LOOP};
use fusion_conversion::runner::Runner;
use fusion_dialects::{
    Emit, Jit, Module, Target, emit, load_context, parse_module, register_upstream_passes,
};
use fusion_targets::stage::Stage;

/// The loops as they stand: no vectors, no copies.
const SERIAL: &[Stage] =
    &[Stage { name: "convert-loop-to-scf", pipeline: "builtin.module(func.func(convert-loop-to-scf))" }];

fn load(source: &str, loops: &'static [Stage]) -> Jit {
    register_upstream_passes();
    fusion_transforms::register();
    fusion_conversion::register();
    let context = load_context();
    let module: Module = parse_module(&context, source).unwrap_or_else(|why| panic!("{}", why.join("\n")));
    let mut runner = Runner::default();
    for stages in [loops, LLVM] {
        runner.run(&module, stages).unwrap_or_else(|why| panic!("{}", why.join("\n")));
    }
    let object = emit(&module, &Target::default(), Emit::Object).unwrap_or_else(|why| panic!("{why}"));
    Jit::new(&[object], &[crate::common::threads::threads()]).unwrap_or_else(|why| panic!("{why}"))
}

/// Numbers between -1 and 1 that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 40) as f64) / f64::from(1 << 23) - 1.0
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Element {
    F32,
    F64,
    F16,
    BF16,
    Bool,
    /// i32 below 16
    Place,
}

fn bytes(element: Element, count: usize, numbers: &mut Numbers) -> Vec<u8> {
    let each = |x: f64| -> Vec<u8> {
        match element {
            Element::F32 => (x as f32).to_le_bytes().to_vec(),
            Element::F64 => x.to_le_bytes().to_vec(),
            Element::BF16 => ((x as f32).to_bits() >> 16).to_le_bytes()[..2].to_vec(),
            // 1.mantissa in [1, 2), with the sign of x.
            Element::F16 => {
                let sign = if x < 0.0 { 0x8000u16 } else { 0 };
                (sign | 0x3c00 | ((x.abs() * 1023.0) as u16)).to_le_bytes().to_vec()
            }
            Element::Bool => vec![u8::from(x > 0.0)],
            Element::Place => (((x + 1.0) * 8.0) as i32).clamp(0, 15).to_le_bytes().to_vec(),
        }
    };
    (0..count).flat_map(|_| each(numbers.next())).collect()
}

fn read(element: Element, bytes: &[u8]) -> Vec<f64> {
    match element {
        Element::F32 => {
            bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect()
        }
        Element::F64 => bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
        Element::BF16 => bytes
            .chunks_exact(2)
            .map(|b| f64::from(f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16)))
            .collect(),
        other => panic!("{other:?} is not an output here"),
    }
}

fn assert_close(name: &str, element: Element, got: &[u8], wanted: &[u8]) {
    let tolerance = match element {
        Element::F64 => 1e-12,
        Element::BF16 => 1e-2,
        _ => 2e-6,
    };
    for (i, (a, b)) in read(element, got).into_iter().zip(read(element, wanted)).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{name}[{i}]: {a}, wanted {b}");
    }
}

#[test]
fn vector_code_gives_what_serial_loops_give() {
    use Element::{BF16, Bool, F16, F32, F64, Place};
    let source = include_str!("kernels.mlir");
    let (fast, plain) = (load(source, LOOP), load(source, SERIAL));
    let kernels: &[(&str, &[(Element, usize)])] = &[
        ("dense_erf", &[(F32, 35), (F32, 77), (F32, 35)]),
        ("padded", &[(F32, 32), (F32, 3), (F32, 32)]),
        ("tail", &[(F32, 21), (F32, 21)]),
        ("scattered", &[(F32, 64), (Place, 16), (F32, 64)]),
        ("halves", &[(F16, 48), (BF16, 48), (BF16, 48)]),
        ("bytes", &[(Bool, 40), (F64, 40), (F64, 40)]),
        ("buffers", &[(F32, 64), (F32, 64)]),
        ("private", &[(F32, 64), (F32, 64)]),
        ("divided", &[(F32, 96), (F32, 96)]),
    ];
    let mut numbers = Numbers(7);
    for (name, buffers) in kernels {
        let data: Vec<Vec<u8>> = buffers.iter().map(|(e, n)| bytes(*e, *n, &mut numbers)).collect();
        let run = |jit: &Jit| {
            let mut data = data.clone();
            let mut views: Vec<&mut [u8]> = data.iter_mut().map(Vec::as_mut_slice).collect();
            jit.call(name, &mut views).unwrap_or_else(|why| panic!("{name}: {why}"));
            data.pop().unwrap_or_default()
        };
        let (got, wanted) = (run(&fast), run(&plain));
        assert_ne!(wanted, data[data.len() - 1], "{name} writes its output");
        assert_close(name, buffers[buffers.len() - 1].0, &got, &wanted);
    }
}

/// erf to 1e-13 by its series or, where that is 1, by 1.
fn erf(x: f64) -> f64 {
    if x.abs() > 5.0 {
        return x.signum();
    }
    let mut term = x;
    let mut sum = x;
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn polynomials_are_as_good_as_the_library() {
    let jit = load(include_str!("functions.mlir"), LOOP);
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 88.0, 89.5, -87.0];
    let special = special.into_iter().chain([-110.0, 1e-30, 1e-42, 3e38, 0.3, -2.5]);
    let mut inputs: Vec<f32> = special.collect();
    let mut numbers = Numbers(3);
    inputs.extend((0..16 * 64).map(|i| (numbers.next() * f64::from(1 + i / 16)) as f32));
    type Function = (&'static str, fn(f64) -> f64);
    let functions: [Function; 4] = [("exp", f64::exp), ("log", f64::ln), ("tanh", f64::tanh), ("erf", erf)];
    for block in inputs.chunks_exact(16) {
        let mut a: Vec<u8> = block.iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut out = vec![0; 4 * 64];
        jit.call("functions", &mut [&mut a, &mut out]).unwrap();
        let out = read(Element::F32, &out);
        for (f, (name, function)) in functions.iter().enumerate() {
            for (x, got) in block.iter().zip(&out[16 * f..]) {
                let wanted = f64::from(function(f64::from(*x)) as f32);
                let same = wanted == *got || (wanted.is_nan() && got.is_nan());
                // Denormal results may become 0; denormal operands may be taken for the least normal number.
                let error = (got - wanted).abs() / wanted.abs().max(1.2e-38);
                let denormal = (wanted.abs() < 1.2e-38 && *got == 0.0) || x.is_subnormal();
                assert!(same || denormal || error < 6e-7, "{name}({x:e}): {got:e}, wanted {wanted:e}");
            }
        }
    }
}

const N: usize = 512;

fn gemm_inputs() -> [Vec<u8>; 3] {
    let mut numbers = Numbers(1);
    let mut matrix = || bytes(Element::F32, N * N, &mut numbers);
    [matrix(), matrix(), vec![0; 4 * N * N]]
}

#[test]
fn register_tiled_gemm_with_remainder_rows_is_right() {
    let jit = load(include_str!("gemm.mlir"), LOOP);
    let [mut a, mut b, mut c] = gemm_inputs();
    jit.call("gemm", &mut [&mut a, &mut b, &mut c]).unwrap();
    let (a, b, c) = (read(Element::F32, &a), read(Element::F32, &b), read(Element::F32, &c));
    for i in [0, 5, 6, 300, 509, 510, 511] {
        for j in 0..N {
            let wanted = (0..N).map(|k| a[i * N + k] * b[k * N + j]).sum::<f64>().max(0.0);
            assert!((c[i * N + j] - wanted).abs() < 1e-4, "C[{i}, {j}]: {}, wanted {wanted}", c[i * N + j]);
        }
    }
}

/// `cargo test -p fusion-conversion --test conversion cpu_codegen -- --ignored --nocapture`
#[test]
#[ignore = "measures; says nothing on a busy machine"]
fn register_tiled_gemm_is_fast() {
    let jit = load(include_str!("gemm.mlir"), LOOP);
    let [mut a, mut b, mut c] = gemm_inputs();
    let mut best = f64::INFINITY;
    for _ in 0..50 {
        let start = std::time::Instant::now();
        jit.call("gemm", &mut [&mut a, &mut b, &mut c]).unwrap();
        best = best.min(start.elapsed().as_secs_f64());
    }
    let rate = 2.0 * (N * N * N) as f64 / best / 1e9;
    println!("gemm {N}^3 f32: {:.2} ms, {rate:.1} GFLOP/s", best * 1e3);
    assert!(rate > 40.0, "{rate:.1} GFLOP/s");
}

/// The assembly of a function of the LLVM dialect for a processor with AVX-512.
fn assembly(source: &str) -> String {
    assembly_for("znver4", source)
}

fn assembly_for(cpu: &str, source: &str) -> String {
    register_upstream_passes();
    let context = load_context();
    let module = parse_module(&context, source).unwrap_or_else(|why| panic!("{}", why.join("\n")));
    let target = Target { triple: "x86_64-unknown-linux-gnu".into(), cpu: cpu.into(), ..Target::default() };
    let bytes = emit(&module, &target, Emit::Assembly).unwrap_or_else(|why| panic!("{why}"));
    String::from_utf8(bytes).unwrap()
}

#[test]
fn floats_that_fill_a_register_are_read_as_integers() {
    let text = assembly(
        "llvm.func @f(%x: vector<16xf32>, %c: !llvm.ptr) -> vector<16xf32> {
           %n = llvm.load %c : !llvm.ptr -> f32
           %u = llvm.mlir.undef : vector<16xf32>
           %i = llvm.mlir.constant(0 : i32) : i32
           %one = llvm.insertelement %n, %u[%i : i32] : vector<16xf32>
           %all = llvm.shufflevector %one, %u [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] : vector<16xf32>
           %p = llvm.fmul %x, %all : vector<16xf32>
           %q = llvm.fadd %all, %p : vector<16xf32>
           llvm.return %q : vector<16xf32>
         }",
    );
    assert!(text.contains("vpbroadcastd") && !text.contains("vbroadcastss"), "{text}");
}

#[test]
fn spilled_registers_lie_in_lines() {
    let many: Vec<usize> = (0..40).collect();
    let loads = many.iter().map(|i| {
        format!("%o{i} = llvm.getelementptr %p[{i}] : (!llvm.ptr) -> !llvm.ptr, vector<16xf32>\n%v{i} = llvm.load %o{i} : !llvm.ptr -> vector<16xf32>\n")
    });
    let stores = many.iter().map(|i| format!("llvm.store %v{i}, %o{} : vector<16xf32>, !llvm.ptr\n", 39 - i));
    let body: String = loads.chain(stores).collect();
    let text = assembly(&format!("llvm.func @f(%p: !llvm.ptr) {{ {body} llvm.return }}"));
    assert!(text.contains("andq\t$-64, %rsp"), "{text}");
}

/// y[i] = table[x[i] + more]
fn lookups(more: &str) -> String {
    assembly_for(
        "emeraldrapids",
        &format!(
            "llvm.func @f(%x: !llvm.ptr {{llvm.noalias}}, %table: !llvm.ptr {{llvm.noalias}}, %y: !llvm.ptr {{llvm.noalias}}) {{
               %zero = llvm.mlir.constant(0 : i64) : i64
               %one = llvm.mlir.constant(1 : i64) : i64
               %n = llvm.mlir.constant(1024 : i64) : i64
               llvm.br ^body(%zero : i64)
             ^body(%i: i64):
               %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
               %k = llvm.load %px : !llvm.ptr -> i8
               %at = llvm.zext %k : i8 to i64
               %pt = llvm.getelementptr %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
               %v0 = llvm.load %pt : !llvm.ptr -> i8
               {more}
               %py = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
               llvm.store %v, %py : i8, !llvm.ptr
               %next = llvm.add %i, %one : i64
               %ends = llvm.icmp \"eq\" %next, %n : i64
               llvm.cond_br %ends, ^end, ^body(%next : i64)
             ^end:
               llvm.return
             }}"
        ),
    )
}

#[test]
fn lookups_in_tables_of_bytes_are_no_vectors() {
    let text = lookups("%v = llvm.xor %v0, %k : i8");
    assert!(!text.contains("%xmm"), "{text}");
}

#[test]
fn lookups_beside_much_arithmetic_are_vectors() {
    let steps = (0..16)
        .map(|i| format!("%w{i} = llvm.mul %v{i}, %v{i} : i8\n%v{} = llvm.add %w{i}, %k : i8\n", i + 1));
    let text = lookups(&format!("{}%v = llvm.xor %v16, %k : i8", steps.collect::<String>()));
    assert!(text.contains("%xmm"), "{text}");
}
