//! `fusion compile` on programs of its own: what the libraries are and compute.

use fusion_runtime::npz;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
}

/// Runs the program in a directory, with the cache of kernels that is in it if any.
fn fusion(directory: &Path, args: &[&str]) -> Output {
    let cache = if directory.join("cache").exists() { "cache" } else { "0" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusion"));
    command.args(args).current_dir(directory).env("FUSION_CACHE", cache).env("FUSION_TIMING", "1");
    command.output().unwrap()
}

fn succeed(directory: &Path, args: &[&str]) -> String {
    let output = fusion(directory, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn any_number_of_threads_computes_the_same_bits() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let x: Vec<f32> = (0..3700).map(|i| (i as f32 * 0.37).sin()).collect();
    let x = fusion_operators::Tensor::from_slice(&[37, 100], &x).unwrap();
    npz::write(&here.join("x.npz"), [("input_0", &x)]).unwrap();
    let model = model("parallel.mlir");
    succeed(here, &["compile", model.to_str().unwrap(), "-o", "m.so"]);
    let outcome = |threads: &str| {
        succeed(here, &["run", "m.so", "--inputs", "x.npz", "--outputs", "y.npz", "--threads", threads]);
        fs::read(here.join("y.npz")).unwrap()
    };
    let one = outcome("1");
    assert!(["2", "3", "8", "0"].iter().all(|threads| outcome(threads) == one));
    let sums = npz::read(&here.join("y.npz")).unwrap()["output_0"].to_f64s();
    let wanted: f64 = x.to_f64s()[100..200].iter().sum();
    assert!((sums[1] - wanted).abs() < 1e-4, "{sums:?}");
}

#[test]
fn libraries_are_the_same_bytes_with_any_jobs_and_cache() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = model("../../../examples/offline/mlp.mlir");
    let made = |jobs: &str| {
        let output = fusion(here, &["compile", model.to_str().unwrap(), "-o", "m.so", "-j", jobs]);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let cached = said.lines().find(|l| l.starts_with("kernels: ")).unwrap().to_owned();
        (fs::read(here.join("m.so")).unwrap(), cached)
    };
    let (wanted, _) = made("1");
    assert_eq!(made("4").0, wanted);
    fs::create_dir(here.join("cache")).unwrap();
    let (cold, said) = made("2");
    assert!(cold == wanted && said.contains("3 that differ, 0 from the cache"), "{said}");
    let (warm, said) = made("2");
    assert!(warm == wanted && said.contains("3 that differ, 3 from the cache"), "{said}");
}
