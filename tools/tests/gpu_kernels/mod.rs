//! Kernels of all kinds and of random extents, emulated on each of the GPUs, against the same program on the processor.
//!
//! Every case follows from its number: as many neighbouring ones as there are kinds are one of each, and as
//! many rounds of them as there are GPUs run each kind on each. `FUSION_SEED=FIRST FUSION_FUZZ_CASES=COUNT`
//! runs others than the first ones, or one that failed alone.

mod columns;
mod drawn;
mod kinds;
mod more;
mod orders;
pub mod program;
mod twice;

use crate::common::processor::{self, on_processor};
use crate::common::{GPUS, Numbers, succeed};
use fusion_operators::random::{cases, seeds};
use fusion_runtime::npz;
use program::{Program, Value};
use std::fs;
use std::path::Path;

/// Cases that are run by default: each kind twice.
const CASES: u64 = 2 * KINDS.len() as u64;

/// What is computed, with what is made for it.
pub type Kind = (&'static str, fn(&mut Program) -> Value);

pub const KINDS: &[Kind] = &[
    ("elements", kinds::elements),
    ("broadcast", kinds::broadcast),
    ("rows", kinds::rows),
    ("columns", kinds::columns),
    ("whole", kinds::whole),
    ("softmax", kinds::softmax),
    ("layer_norm", kinds::layer_norm),
    ("matmul", kinds::matmul),
    ("batch_matmul", kinds::batch_matmul),
    ("dense_bias_gelu", kinds::dense_bias_gelu),
    ("conv2d", kinds::conv2d),
    ("depthwise", kinds::depthwise),
    ("max_pool2d", kinds::max_pool2d),
    ("avg_pool2d", kinds::avg_pool2d),
    ("transpose", kinds::transpose),
    ("gather", kinds::gather),
    ("scatter", kinds::scatter),
    ("attention", kinds::attention),
    ("scatter_nd", kinds::scatter_nd),
    ("cumsum", kinds::cumsum),
    ("large_windows", kinds::large_windows),
    ("winograd", kinds::winograd),
    ("gather_nd", kinds::gather_nd),
    ("gather_elements", kinds::gather_elements),
    ("scatter_line", kinds::scatter_line),
    ("chain", more::chain),
    ("normalized", more::normalized),
    ("pieces", more::pieces),
    ("prologue", more::prologue),
    ("product_f16", more::product_f16),
    ("product_bf16", more::product_bf16),
    ("large_product", more::large_product),
    ("product_tf32", more::product_tf32),
    ("split_k", more::split_k),
    ("waves", more::waves),
    ("conv2d_f16", more::conv2d_f16),
    ("attention_masked", more::attention_masked),
    ("attention_f16", more::attention_f16),
    ("state_in_registers", more::state_in_registers),
    ("long_columns", columns::long_columns),
    ("channels_last", columns::channels_last),
    ("vector_by_matrix", columns::vector_by_matrix),
    ("vector_by_matrix_f16", columns::vector_by_matrix_f16),
    ("softmax_of_columns", columns::softmax_of_columns),
    ("layer_norm_f16", columns::layer_norm_f16),
    ("long_scan", columns::long_scan),
    ("long_rows", columns::long_rows),
    ("truths", columns::truths),
];

/// A description of a GPU with four cores, on which products of a few tiles take several waves, and which prefers large tiles, as operands
/// come slowly; gives the name of the target.
pub fn with_few_cores(gpu: &str, directory: &Path) -> String {
    let text = succeed(directory, &["targets", gpu]);
    let line = |line: &str| match line.split_once(" = ").map_or("", |(key, _)| key) {
        "cores" => "cores = 4".to_owned(),
        "kernel_call" => "kernel_call = 1e-9".to_owned(),
        "l1_bandwidth" => "l1_bandwidth = 1e10".to_owned(),
        "l3_bandwidth" => "l3_bandwidth = 5e9".to_owned(),
        "l3_bandwidth_all" => "l3_bandwidth_all = 1e12".to_owned(),
        _ => line.to_owned(),
    };
    let few: Vec<String> = text.lines().map(line).collect();
    let file = directory.join("few.toml");
    fs::write(&file, few.join("\n")).unwrap();
    let vendor = gpu.split_once(':').unwrap().0;
    format!("{vendor}:{}", file.display())
}

/// How far a program is off on its GPU from what it gives with these options, or what else is wrong.
pub fn difference(program: &Program, results: &[&Value], reference: &[&str]) -> Result<f64, String> {
    let text = program.text(results);
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), &text).unwrap();
    let inputs = program.inputs();
    npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (name.as_str(), *tensor))).unwrap();
    let gpu = match program.few_cores {
        true => with_few_cores(program.gpu, here),
        false => program.gpu.to_owned(),
    };
    let wanted = on_processor(here, reference).map_err(|why| format!("as it should be: {why}\n{text}"))?;
    let emulated = [&["--target", &gpu, "--emulate"], program.options.as_slice()].concat();
    let got = processor::results_of(here, &emulated, program.schedules)
        .map_err(|why| format!("on {gpu}: {why}\n{text}"))?;
    let off = got.values().zip(wanted.values()).map(|(got, wanted)| apart(got, wanted)).fold(0.0, f64::max);
    let right = got.len() == wanted.len() && off <= program.most_off;
    if right { Ok(off) } else { Err(format!("on {gpu}: is off by {off:e}\n{text}")) }
}

/// How far results are apart, relative to the largest element.
fn apart(got: &[f64], wanted: &[f64]) -> f64 {
    let most = wanted.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
    let comparable = got.len() == wanted.len() && got.iter().all(|v| v.is_finite());
    let off = got.iter().zip(wanted).map(|(a, b)| (a - b).abs() / most).fold(0.0, f64::max);
    if comparable { off } else { f64::INFINITY }
}

/// What is wrong with a case, if anything.
fn check(case: u64) -> Option<String> {
    let count = KINDS.len() as u64;
    let mut numbers = Numbers(case ^ 0x5DEE_CE66);
    // The first numbers of neighbouring seeds are alike.
    for _ in 0..5 {
        numbers.next();
    }
    let (kind, build) = KINDS[(case % count) as usize];
    let gpu = GPUS[((case % count + case / count) % GPUS.len() as u64) as usize];
    let wrong = match check_on(gpu, numbers, build) {
        Ok(off) => {
            println!("{case} {kind} {gpu} {off:.1e}");
            return None;
        }
        Err(wrong) => wrong,
    };
    Some(format!("case {case}, {kind}: {wrong}"))
}

/// How far a program is off on a GPU, or what is wrong with it.
fn check_on(gpu: &'static str, numbers: Numbers, build: fn(&mut Program) -> Value) -> Result<f64, String> {
    let mut program = Program::new(numbers, gpu);
    let result = build(&mut program);
    difference(&program, &[&result], &[])
}

#[test]
fn random_kernels_compute_what_the_processor_does() {
    let wrong: Vec<String> = seeds(CASES).filter_map(check).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases(CASES), wrong.join("\n"));
}

/// Kernels whose threads have several elements each, of which there have to be many.
const LARGE: [fn(&mut Program) -> Value; 4] = [
    // Rows of a table, and what is added to each of them.
    |p| {
        let (table, at, bias) = (p.input(&[50, 520]), p.indices(&[1100], 50), p.input(&[520]));
        let rows = p.op("gather", &[&table, &at], "axis = 0 : i64", &[1100, 520]);
        p.op("add", &[&rows, &bias], "", &[1100, 520])
    },
    // Elements that are each read elsewhere.
    |p| {
        let (table, at) = (p.input(&[1100, 90]), p.indices(&[1100, 520], 90));
        p.op("gather_elements", &[&table, &at], "axis = 1 : i64", &[1100, 520])
    },
    // Windows whose rows are no multiple of a thread's columns.
    |p| {
        let x = p.input(&[1, 64, 115, 115]);
        let attributes =
            "kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>";
        p.op("max_pool2d", &[&x], attributes, &[1, 64, 115, 115])
    },
    |p| {
        let (x, w) = (p.input(&[1, 66, 117, 117]), p.input(&[66, 1, 3, 3]));
        p.op("conv2d", &[&x, &w], "groups = 66 : i64", &[1, 66, 115, 115])
    },
];

#[test]
fn threads_with_several_elements_compute_what_the_processor_does() {
    for (number, build) in LARGE.into_iter().enumerate() {
        for gpu in ["nvidia:sm_80", "amd:gfx1100"] {
            let off = check_on(gpu, Numbers(number as u64), build);
            assert!(off.is_ok(), "{}", off.unwrap_err());
        }
    }
}
