//! `fusion bench --profile`: on the emulator, on the processor, and by profilers that are scripts here.

use crate::common::{command, complained, printed};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The program, which finds the scripts of the directory before what may be installed.
fn fusion(directory: &Path, args: &[&str]) -> Output {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = [directory.to_owned()].into_iter().chain(std::env::split_paths(&path));
    command(directory, args).env("PATH", std::env::join_paths(paths).unwrap()).output().unwrap()
}

fn succeed(directory: &Path, args: &[&str]) -> String {
    printed(args, fusion(directory, args))
}

fn complaint(directory: &Path, args: &[&str]) -> String {
    complained(args, fusion(directory, args))
}

fn mlp() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/offline/mlp.mlir")
}

fn json(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// A program in the directory.
fn script(directory: &Path, name: &str, text: &str) {
    let file = directory.join(name);
    fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn kernels_of_gpus_are_told_with_rates_and_sources() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = mlp();
    for gpu in ["nvidia:sm_80", "amd:gfx942"] {
        let args = ["bench", model.to_str().unwrap(), "--target", gpu, "--emulate", "--runs", "3"];
        let files = ["--profile-json", "p.json", "--trace", "t.json"];
        let text = succeed(here, &[&args[..], &files].concat());
        assert!(text.contains("of roof") && text.contains("say nothing of the GPU"), "{text}");
        let profile = json(&here.join("p.json"));
        assert_eq!((&profile["emulated"], &profile["runs"]), (&Value::Bool(true), &Value::from(3)));
        let kernels = profile["kernels"].as_array().unwrap();
        for (number, kernel) in kernels.iter().enumerate() {
            assert_eq!(kernel["numbers"], Value::from(vec![number]), "{kernel}");
            for key in ["seconds", "gbytes_per_s", "gflops", "roof_s", "of_roof", "predicted_s"] {
                assert!(kernel[key].as_f64().unwrap() > 0.0, "{key}: {kernel}");
            }
            assert!(kernel["sources"][0].as_str().unwrap().contains("mlp.mlir:"), "{kernel}");
            let function = kernel["launches"][0]["function"].as_str().unwrap();
            assert!(
                function.starts_with(kernel["operators"][0].as_str().map_or("", |_| "fused_")),
                "{function}"
            );
        }
        let trace = json(&here.join("t.json"));
        let of = |category: &str| {
            trace["traceEvents"].as_array().unwrap().iter().filter(|e| e["cat"] == category).count()
        };
        assert_eq!((of("kernel"), of("copy")), (kernels.len(), 2));
        assert!(of("launch") >= kernels.len());
    }
}

#[test]
fn a_library_knows_its_kernels() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = mlp();
    succeed(
        here,
        &["compile", model.to_str().unwrap(), "--target", "amd:gfx1100", "--emulate", "-o", "m.so"],
    );
    let text = succeed(here, &["bench", "m.so", "--runs", "2", "--profile", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let kernels = report["profile"]["kernels"].as_array().unwrap();
    assert!(kernels.iter().all(|kernel| kernel["name"].as_str().unwrap().starts_with("fused_")), "{report}");
    assert!(kernels.iter().all(|kernel| kernel["roof_s"].as_f64().is_some()), "{report}");
    assert_eq!(report["runs"], 2);
}

#[test]
fn kernels_of_a_processor_are_measured_by_themselves() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = mlp();
    let model = model.to_str().unwrap();
    let text = succeed(here, &["bench", model, "--runs", "2", "--profile"]);
    assert!(
        text.contains("timed by runs of each kernel as a program of its own") && text.contains("#0  fused_"),
        "{text}"
    );
    succeed(here, &["compile", model, "-o", "m.so"]);
    let said = complaint(here, &["bench", "m.so", "--profile"]);
    assert!(said.contains("give --profile the model it was made of"), "{said}");
}

#[test]
fn a_profiler_watches_runs_of_the_library() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = mlp();
    let model = model.to_str().unwrap();
    // What the kernels' functions are called.
    succeed(
        here,
        &["bench", model, "--target", "nvidia:sm_80", "--emulate", "--runs", "1", "--profile-json", "e.json"],
    );
    let functions = json(&here.join("e.json"));
    let functions =
        functions["kernels"].as_array().unwrap().iter().flat_map(|k| k["launches"].as_array().unwrap());
    let functions: Vec<&str> = functions.map(|launch| launch["function"].as_str().unwrap()).collect();
    let (mut csv, mut id) = (
        String::from(
            "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n",
        ),
        0,
    );
    for _ in 0..4 {
        for function in &functions {
            csv += &format!(
                "\"{id}\",\"{function}\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"gpu__time_duration.sum\",\"ns\",\"2,000\"\n"
            );
            csv += &format!(
                "\"{id}\",\"{function}\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"launch__registers_per_thread\",\"\",\"40\"\n"
            );
            id += 1;
        }
    }
    fs::write(here.join("launches.csv"), csv).unwrap();
    let here_text = here.display();
    script(
        here,
        "ncu",
        &format!(
            "echo \"$@\" > {here_text}/arguments; env | grep FUSION_GPU > {here_text}/variables\n\
             while [ \"$1\" != --log-file ]; do shift; done; cp {here_text}/launches.csv \"$2\""
        ),
    );
    let args = [
        "bench",
        model,
        "--target",
        "nvidia:sm_80",
        "--profiler",
        "ncu",
        "--counters",
        "x.sum",
        "--profile-json",
        "p.json",
    ];
    let text = succeed(here, &args);
    assert!(text.contains("timed by ncu, the median of 3 runs") && text.contains("registers"), "{text}");
    let profile = json(&here.join("p.json"));
    for kernel in profile["kernels"].as_array().unwrap() {
        let launches = kernel["launches"].as_array().unwrap().len() as f64;
        assert!((kernel["seconds"].as_f64().unwrap() - 2e-6 * launches).abs() < 1e-12, "{kernel}");
        assert_eq!(kernel["launches"][0]["counters"]["registers"], 40.0);
    }
    let arguments = fs::read_to_string(here.join("arguments")).unwrap();
    assert!(
        arguments.contains(",x.sum ")
            && arguments.contains(" bench ")
            && arguments.contains("--runs 3 --warm-up 1 --inputs "),
        "{arguments}"
    );
    assert_eq!(fs::read_to_string(here.join("variables")).unwrap().trim(), "FUSION_GPU_GRAPH=0");
}

#[test]
fn what_a_profiler_cannot_do_is_said_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = mlp();
    let model = model.to_str().unwrap();
    let amd = ["bench", model, "--target", "amd:gfx942", "--trace", "t.json", "--profiler"];
    let said = complaint(here, &[&amd[..], &["ncu"]].concat());
    assert!(
        said.contains("--profiler ncu watches kernels of NVIDIA's GPUs, and this model is for amd:gfx942"),
        "{said}"
    );
    if !std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|path| path.join("rocprofv3").exists())
    {
        let said = complaint(here, &[&amd[..], &["rocprofv3"]].concat());
        assert!(said.contains("rocprofv3 is not in PATH; install AMD's rocprofiler-sdk"), "{said}");
    }
    script(here, "rocprofv3", "echo 'no permission' >&2; exit 3");
    let said = complaint(here, &[&amd[..], &["rocprofv3"]].concat());
    assert!(said.contains("rocprofv3 failed (exit status: 3): no permission"), "{said}");
    script(here, "rocprof-sys-run", "exit 0");
    let said = complaint(here, &[&amd[..], &["rocprof-sys"]].concat());
    assert!(
        said.contains("what rocprof-sys-run wrote cannot be used: there is no file wall_clock*.json"),
        "{said}"
    );
    // Nothing was written on the way.
    assert!(!here.join("t.json").exists());
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/relay/tree_lstm.relay");
    let said = complaint(here, &["bench", program.to_str().unwrap(), "--executor", "vm", "--profile"]);
    assert!(said.contains("leave --profile away"), "{said}");
}
