//! Code for AArch64, run by qemu's emulator of user programs: kernels of every kind, a network, and node tests of ONNX.
//!
//! ```text
//!     model --fusion compile --target cpu:cortex-a53--> library --qemu-aarch64 run library < inputs--> outputs
//! ```
//!
//! The processors are one without dot products (Cortex-A53), one with them (Neoverse N1), and one with SVE (Neoverse V1), whose kernels
//! have vectors of NEON: their width is known when compiling. `scripts/install-deps.sh` installs the emulator and the linker (Debian's
//! `qemu-user` and `gcc-aarch64-linux-gnu`); where they cannot be had, the tests say so and pass.

use crate::common::processor::results;
use crate::common::{GPUS, Numbers, command, complained};
use crate::gpu_kernels::KINDS;
use crate::gpu_kernels::program::{Program, Value};
use crate::gpu_networks::images;
use fusion_importers::onnx::model::read_tensor;
use fusion_operators::Tensor;
use fusion_runtime::npz;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

const PROCESSORS: [&str; 3] = ["cpu:cortex-a53", "cpu:neoverse-n1", "cpu:neoverse-v1"];

/// The program that runs a library, or why there is none.
static RUNNER: LazyLock<Result<(PathBuf, tempfile::TempDir), String>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let runner = folder.path().join("run");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/aarch64/run.c");
    let compiler =
        Command::new("aarch64-linux-gnu-gcc").arg("-O1").arg(source).arg("-o").arg(&runner).status();
    let emulator = Command::new("qemu-aarch64").arg("--version").output();
    match (compiler, emulator) {
        (Ok(status), Ok(_)) if status.success() => Ok((runner, folder)),
        (Err(error), _) => Err(format!("aarch64-linux-gnu-gcc does not run: {error}")),
        (_, Err(error)) => Err(format!("qemu-aarch64 does not run: {error}")),
        (Ok(status), _) => Err(format!("aarch64-linux-gnu-gcc ends with {status}")),
    }
});

/// Whether code for AArch64 can be run here; says so where it cannot.
fn is_there() -> bool {
    match &*RUNNER {
        Ok(_) => true,
        Err(why) => {
            println!("code for AArch64 is not tested: {why}");
            false
        }
    }
}

/// What a model gives on a processor; `like` has the types of its results.
fn run(model: &Path, options: &[&str], inputs: &[&Tensor], like: &[&Tensor]) -> Result<Vec<Tensor>, String> {
    let folder = tempfile::tempdir().unwrap();
    let args = [&["compile", model.to_str().unwrap(), "-o", "m.so"], options].concat();
    let compiled = command(folder.path(), &args).output().unwrap();
    if !compiled.status.success() {
        return Err(complained(&args, compiled));
    }
    let runner = &RUNNER.as_ref().unwrap().0;
    let sizes = |letter: char, tensors: &[&Tensor]| -> Vec<String> {
        tensors.iter().map(|t| format!("{letter}{}", t.bytes().len())).collect()
    };
    let mut child = Command::new("qemu-aarch64")
        .args(["-L", "/usr/aarch64-linux-gnu"])
        .arg(runner)
        .arg(folder.path().join("m.so"))
        .args(sizes('i', inputs))
        .args(sizes('o', like))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let all: Vec<u8> = inputs.iter().flat_map(|t| t.bytes()).copied().collect();
    let writer = std::thread::spawn(move || stdin.write_all(&all));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let mut rest = &output.stdout[..];
    let mut results = Vec::new();
    for like in like {
        let (own, behind) = rest.split_at_checked(like.bytes().len()).ok_or("a result ends early")?;
        results.push(Tensor::from_bytes(like.dtype(), like.shape(), own).unwrap());
        rest = behind;
    }
    Ok(results)
}

/// The greatest difference, relative to the largest element; infinite where a number is not finite in one of them alone.
fn apart(got: &Tensor, wanted: &Tensor) -> f64 {
    let (got, wanted) = (got.to_f64s(), wanted.to_f64s());
    let most = wanted.iter().filter(|v| v.is_finite()).fold(1e-3, |most: f64, v| most.max(v.abs()));
    let off = |(a, b): (&f64, &f64)| match a == b || a.is_nan() && b.is_nan() {
        true => 0.0,
        false if a.is_finite() && b.is_finite() => (a - b).abs() / most,
        false => f64::INFINITY,
    };
    got.iter().zip(&wanted).map(off).fold(0.0, f64::max)
}

fn check(got: Result<Vec<Tensor>, String>, wanted: &[&Tensor], most: f64) -> Result<(), String> {
    let off = got?.iter().zip(wanted).map(|(got, wanted)| apart(got, wanted)).fold(0.0, f64::max);
    if off <= most { Ok(()) } else { Err(format!("is off by {off:e}")) }
}

/// Compares what a program gives on a processor with what it gives on this machine.
fn agrees(cpu: &str, build: impl FnOnce(&mut Program) -> Vec<Value>, seed: u64) -> Result<(), String> {
    // Some kinds have extents by what a GPU is.
    let mut program = Program::new(Numbers(seed), GPUS[0]);
    let given = build(&mut program);
    let text = program.text(&given.iter().collect::<Vec<_>>());
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("m.mlir"), &text).unwrap();
    let inputs = program.inputs();
    npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (name.as_str(), *tensor))).unwrap();
    results(here, &program.options)?;
    let wanted = npz::read(&here.join("y.npz")).unwrap();
    let (inputs, wanted): (Vec<&Tensor>, Vec<&Tensor>) =
        (inputs.iter().map(|(_, tensor)| *tensor).collect(), wanted.values().collect());
    let options = [&["--target", cpu], program.options.as_slice()].concat();
    let got = run(&here.join("m.mlir"), &options, &inputs, &wanted);
    check(got, &wanted, program.most_off).map_err(|why| format!("{why}\n{text}"))
}

fn report(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn kernels_of_every_kind_give_on_aarch64_what_they_give_here() {
    if !is_there() {
        return;
    }
    let wrong = KINDS.iter().enumerate().filter_map(|(number, (kind, build))| {
        let cpu = PROCESSORS[number % PROCESSORS.len()];
        let agreed = agrees(cpu, |program| vec![build(program)], 7 + number as u64);
        agreed.err().map(|why| format!("{kind} on {cpu}: {why}"))
    });
    report(wrong.collect());
}

#[test]
fn mobilenet_gives_on_aarch64_what_it_gives_here() {
    if !is_there() {
        return;
    }
    let wrong = PROCESSORS.iter().filter_map(|cpu| {
        let build = |program: &mut Program| {
            program.most_off = 2e-5;
            images::mobilenet_v2(program)
        };
        agrees(cpu, build, 41)
            .err()
            .map(|why| format!("on {cpu}: {}", why.lines().next().unwrap_or_default()))
    });
    report(wrong.collect());
}

/// The first node tests of ONNX whose names begin so, and how many.
const FAMILIES: [(&str, usize); 6] = [
    ("test_conv_", 6),
    ("test_gemm_", 6),
    ("test_softmax_", 6),
    ("test_averagepool_2d_", 6),
    ("test_layer_normalization_2d_", 6),
    ("test_qlinearmatmul_2D_uint8_", 2),
];

#[test]
fn node_tests_of_onnx_pass_on_aarch64() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/python/onnx/backend/test/data/node");
    let Some(folders) = fs::read_dir(&tests).ok().filter(|_| is_there()) else {
        return println!(
            "node tests are not run: the onnx package is not in data/python, or code for AArch64 is not tested"
        );
    };
    let mut folders: Vec<PathBuf> = folders.map(|folder| folder.unwrap().path()).collect();
    folders.sort();
    let mut wrong = Vec::new();
    for (family, count) in FAMILIES {
        let is_in = |folder: &&PathBuf| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(family))
        };
        let chosen: Vec<&PathBuf> = folders.iter().filter(is_in).take(count).collect();
        assert!(!chosen.is_empty(), "there are no tests {family}");
        for (number, folder) in chosen.into_iter().enumerate() {
            let tensors = |kind: &str| -> Vec<Tensor> {
                let file = |i: usize| folder.join(format!("test_data_set_0/{kind}_{i}.pb"));
                (0..)
                    .map(file)
                    .take_while(|file| file.exists())
                    .map(|file| read_tensor(&file).unwrap())
                    .collect()
            };
            let (inputs, wanted) = (tensors("input"), tensors("output"));
            let (inputs, wanted): (Vec<_>, Vec<_>) = (inputs.iter().collect(), wanted.iter().collect());
            let cpu = PROCESSORS[number % PROCESSORS.len()];
            let got = run(&folder.join("model.onnx"), &["--target", cpu], &inputs, &wanted);
            if let Err(why) = check(got, &wanted, 1e-3) {
                wrong.push(format!("{} on {cpu}: {why}", folder.display()));
            }
        }
    }
    report(wrong);
}
