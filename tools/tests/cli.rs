//! The `fusion` program on a compiled model and on bad input.

#[path = "../../runtime/tests/common/mod.rs"]
mod common;

use fusion_operators::Tensor;
use fusion_runtime::npz;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a directory.
fn fusion(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fusion")).args(args).current_dir(directory).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The one line an unsuccessful run says.
fn complaint(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

fn write_inputs(directory: &Path) {
    let x = Tensor::from_slice(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let n = Tensor::from_slice(&[], &[10i64]).unwrap();
    npz::write(&directory.join("x.npz"), [("n", &n), ("x", &x)]).unwrap();
}

#[test]
fn run_writes_the_outputs() {
    let directory = tempfile::tempdir().unwrap();
    common::library(directory.path());
    write_inputs(directory.path());
    let output = fusion(directory.path(), &["run", "model.so", "--inputs", "x.npz", "--outputs", "y.npz"]);
    assert_eq!(printed(&output), "");
    let outputs = npz::read(&directory.path().join("y.npz")).unwrap();
    assert_eq!(outputs["y"].to_f64s(), [1.0, 4.0, 9.0, 4.0, 10.0, 18.0]);
    assert_eq!(outputs["z"].to_f64s(), [210.0]);
    let output = fusion(directory.path(), &["run", "model.so", "--inputs", "x.npz"]);
    assert_eq!(
        printed(&output),
        "y: tensor<2x3xf32> [1.0, 4.0, 9.0, 4.0, 10.0, 18.0]\nz: tensor<f64> [210.0]\n"
    );
}

#[test]
fn bench_reports_times_and_rates() {
    let directory = tempfile::tempdir().unwrap();
    common::library(directory.path());
    let output = fusion(directory.path(), &["bench", "model.so", "--runs", "20", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(report["runs"], 20);
    assert_eq!(report["target"], "cpu");
    assert!(report["median_s"].as_f64().unwrap() >= report["min_s"].as_f64().unwrap());
    assert!(report["gflops"].is_number() && report["gbytes_per_s"].is_number());
    let text = printed(&fusion(directory.path(), &["bench", "model.so", "--runs", "20"]));
    for word in ["20 runs after 3", "median", "min", "p95", "GFLOP/s", "GB/s"] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn a_value_the_model_relies_on_is_checked_and_timed() {
    let directory = tempfile::tempdir().unwrap();
    let mut description = common::description();
    description.inputs[1].value = Some(11i64.to_ne_bytes().to_vec());
    common::library_of(directory.path(), &description);
    write_inputs(directory.path());
    let said = complaint(&fusion(directory.path(), &["run", "model.so", "--inputs", "x.npz"]));
    assert!(said.contains("compiled for the value tensor<i64> [11.0] of input 1 (\"n\")"), "{said}");
    printed(&fusion(directory.path(), &["bench", "model.so", "--runs", "2"]));
}

#[test]
fn explain_shows_the_kernels() {
    let directory = tempfile::tempdir().unwrap();
    common::library(directory.path());
    let text = printed(&fusion(directory.path(), &["explain", "model.so"]));
    assert!(text.contains("scale_sum   64 B  18 FLOP  relay.multiply + relay.sum"), "{text}");
    assert!(text.contains("input x: tensor<2x3xf32>"), "{text}");
}

#[test]
fn targets_lists_the_processor() {
    let text = printed(&fusion(Path::new("."), &["targets"]));
    assert!(text.starts_with("cpu "), "{text}");
    for facts in [
        "cpu:x86-64-v3       any x86-64 with AVX2\n                    4 cores of 102.0 GFLOP/s, 16 vectors of 32 bytes",
        "L1 32 KiB at 256 (1020) GB/s, L2 256 KiB at 110 (440) GB/s, L3 8 MiB at 25 (80) GB/s, memory at 15 (30) GB/s",
        "cpu:PROCESSOR       aarch64: ",
    ] {
        assert!(text.contains(facts), "{text}");
    }
}

#[test]
fn descriptions_of_the_user_are_found_by_name_and_by_file() {
    let directory = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fusion"));
        command.env("FUSION_TARGETS", "mine").args(args).current_dir(directory.path()).output().unwrap()
    };
    let text = printed(&run(&["targets", "cpu:x86-64-v3"]));
    assert!(text.contains("\nvector_bytes = 32 "), "{text}");
    fs::create_dir(directory.path().join("mine")).unwrap();
    let file = directory.path().join("mine/lab.toml");
    fs::write(&file, text.replace("\"any x86-64 with AVX2\"", "\"that of the lab\"")).unwrap();
    assert!(
        printed(&run(&["targets"])).contains("cpu:lab             that of the lab, from mine/lab.toml\n")
    );
    let described = printed(&run(&["targets", "cpu:lab"]));
    fs::write(&file, &described).unwrap();
    assert_eq!(printed(&run(&["targets", "cpu:lab"])), described);

    fs::write(&file, described.replace("cores = 4", "cores = many")).unwrap();
    let said = "error: mine/lab.toml:5: the value of `cores`, \"many\", is not a number";
    assert_eq!(complaint(&run(&["targets", "cpu:lab"])), said);
    fs::write(directory.path().join("model.onnx"), "").unwrap();
    assert_eq!(complaint(&run(&["compile", "model.onnx", "--target", "cpu:lab"])), said);
    assert_eq!(complaint(&run(&["compile", "model.onnx", "--target-file", "mine/lab.toml"])), said);
    assert_eq!(
        complaint(&run(&["compile", "model.onnx", "--target-file", "no.toml"])),
        "error: cannot read no.toml: No such file or directory (os error 2)"
    );
}

#[test]
fn calibration_is_kept_for_this_machine() {
    let directory = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fusion"));
        command.env("FUSION_TARGETS", directory.path()).args(args).output().unwrap()
    };
    let text = printed(&run(&["targets", "--calibrate"]));
    let file = text.lines().next().unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), printed(&run(&["targets", "cpu:host"])));
    assert!(printed(&run(&["targets"])).contains(&format!(", from {file}\n")));
}

#[test]
fn bad_input_gives_one_sentence_and_no_output() {
    let directory = tempfile::tempdir().unwrap();
    common::library(directory.path());
    write_inputs(directory.path());
    fs::write(directory.path().join("bad.npz"), "no archive").unwrap();
    fs::write(directory.path().join("model.onnx"), "").unwrap();
    let before = fs::read_dir(directory.path()).unwrap().count();
    let said = |args: &[&str]| complaint(&fusion(directory.path(), args));
    assert_eq!(
        said(&["run", "absent.so", "--outputs", "y.npz"]),
        "error: cannot read absent.so: No such file or directory (os error 2)"
    );
    assert_eq!(
        said(&["run", "model.so", "--outputs", "y.npz"]),
        "error: the model's input \"x\", a tensor<2x3xf32>, was not given; given were none"
    );
    assert_eq!(
        said(&["run", "model.so", "--inputs", "bad.npz", "--outputs", "y.npz"]),
        "error: bad.npz: this is not a .npy file: the first six bytes are not \\x93NUMPY"
    );
    assert_eq!(
        said(&["compile", "model.onnx", "--target", "abacus", "-o", "y.so"]),
        "error: there is no target \"abacus\"; the targets are cpu, cpu:PROCESSOR, nvidia:GPU and amd:GPU, see `fusion targets`"
    );
    assert!(said(&["run", "model.so", "--inputs", "x.npz", "--outputs", "no/y.npz"]).contains("no/y.npz"));
    assert!(said(&["onnx-test", "no-such-directory"]).contains("cannot read no-such-directory"));
    assert!(said(&["compile", "model.onnx", "-o", "y.so", "--bind", "x=x.npz"]).contains("holds 2 tensors"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), before);
    assert_eq!(fusion(directory.path(), &["compile"]).status.code(), Some(2));
}

#[test]
fn onnx_test_counts_verdicts() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["test_a", "test_b", "other"] {
        let case = directory.path().join("node").join(name);
        fs::create_dir_all(&case).unwrap();
        fs::write(case.join("model.onnx"), "").unwrap();
    }
    let none = fusion(directory.path(), &["onnx-test", "node", "--filter", "zzzz"]);
    assert!(
        complaint(&none)
            .contains("cases has a name with \"zzzz\" in it; give --filter a part of one, such as ")
    );
    let output = fusion(directory.path(), &["onnx-test", "node", "--filter", "test_", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0], "FAIL test_a: it has no test_data_set_N directory");
    assert_eq!(lines[2], "0 passed, 2 failed, 0 unsupported");
}

/// A model of operators, as text.
fn write_model(directory: &Path) {
    let text = "#[version = \"0.0.5\"]\n\
                def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {\n  tanh(%x)\n}\n";
    fs::write(directory.join("m.relay"), text).unwrap();
}

#[test]
fn options_that_would_change_nothing_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    common::library(here);
    write_model(here);
    let cases: [(&[&str], &str); 5] = [
        (&["run", "model.so", "--emulate"], "--emulate is for compiling, and model.so is compiled already"),
        (
            &["compile", "m.relay", "--shape", "x=1"],
            "--shape is for what ONNX models leave dynamic, and m.relay says the shapes of its inputs itself",
        ),
        (
            &["compile", "m.relay", "--fp-math=strict", "--max-error=1e-4"],
            "--max-error is a budget for forms that --fp-math=strict does not use",
        ),
        (
            &["compile", "m.relay", "--rules-off", "loops,algebra", "--strategy", "none"],
            "--rules-off algebra is for --strategy egraph, the only one that has rules; the strategy is none",
        ),
        (&["ablate", "model.so"], "model.so is compiled already; give the model it was made of"),
    ];
    for (args, wanted) in cases {
        let said = complaint(&fusion(here, args));
        assert!(said.starts_with(&format!("error: {wanted}")), "{said}");
    }
    // Loops are kernels with any strategy, so that these can be switched off.
    printed(&fusion(here, &["compile", "m.relay", "--rules-off", "loops", "--strategy", "relay"]));
}

#[test]
fn outputs_that_cannot_be_written_are_said_before_anything_is_compiled() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let to = |output: &str| complaint(&fusion(here, &["compile", "there_is_no_model.relay", "-o", output]));
    assert_eq!(to("/"), "error: / is a directory; name a file in it, such as /model.so");
    assert_eq!(to("no/t.so"), "error: cannot write no/t.so: there is no directory no; make it first");
    write_model(here);
    let said = complaint(&fusion(here, &["compile", "m.relay", "--schedule", "no.mlir"]));
    assert!(said.starts_with("error: cannot read the schedules of no.mlir: No such file"), "{said}");
}

#[test]
fn variables_that_are_no_numbers_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let run = |name: &str, value: &str| {
        let program = env!("CARGO_BIN_EXE_fusion");
        Command::new(program).arg("targets").env(name, value).current_dir(directory.path()).output().unwrap()
    };
    for name in ["FUSION_THREADS", "FUSION_CACHE_MB"] {
        let said = complaint(&run(name, "abc"));
        assert!(said.starts_with(&format!("error: {name} is \"abc\", which is no whole number")), "{said}");
        printed(&run(name, "7"));
        printed(&run(name, ""));
    }
    assert!(complaint(&run("FUSION_THREADS", "70000")).contains("FUSION_THREADS"));
}

/// One description of the user's that is wrong takes no others out of the list.
#[test]
fn targets_are_listed_beside_a_description_that_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("broken.toml"), "nonsense").unwrap();
    let program = env!("CARGO_BIN_EXE_fusion");
    let output =
        Command::new(program).arg("targets").env("FUSION_TARGETS", directory.path()).output().unwrap();
    let text = printed(&output);
    assert!(text.contains("cpu:broken") && text.contains("cannot be used: "), "{text}");
    assert!(text.lines().any(|l| l.starts_with("cpu:sapphirerapids ")), "{text}");
    assert!(text.contains("nvidia:sm_80"), "{text}");
}

/// Nobody need read what is told beside the output.
#[test]
fn a_closed_stream_of_errors_is_no_failure() {
    let directory = tempfile::tempdir().unwrap();
    write_model(directory.path());
    let command = format!(
        "{} compile m.relay --validate 2>&1 >/dev/null | true; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_fusion")
    );
    let status = Command::new("bash").args(["-c", &command]).current_dir(directory.path()).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn outputs_have_the_same_names_whatever_a_model_is_run_by() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let relay = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) { nn.relu(%x) }";
    fs::write(here.join("m.relay"), relay).unwrap();
    let mlir = "func.func @main(%x: tensor<2xf32> {relay.name = \"x\"}) -> (tensor<2xf32> {relay.name = \"y\"}, tensor<2xf32>) {
  %0 = relay.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}";
    fs::write(here.join("m.mlir"), mlir).unwrap();
    npz::write(&here.join("x.npz"), [("x", &Tensor::from_slice(&[2], &[-1.0f32, 2.0]).unwrap())]).unwrap();
    for (model, names) in [("m.relay", &["output_0"][..]), ("m.mlir", &["y", "output_1"])] {
        for executor in ["graph", "interp", "vm", "aot"] {
            let given = ["run", model, "--inputs", "x.npz", "--outputs", "y.npz", "--executor", executor];
            printed(&fusion(here, &given));
            let outputs = npz::read(&here.join("y.npz")).unwrap();
            assert_eq!(outputs.keys().collect::<Vec<_>>(), names, "{model} by {executor}");
            assert_eq!(outputs[names[0]].to_f64s(), [0.0, 2.0], "{model} by {executor}");
        }
    }
}

#[test]
fn shorter_functions_are_near_those_of_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    write_model(here);
    let x: Vec<f32> = vec![-20.0, -0.3, 0.0, 0.001, 1.5, f32::NAN];
    npz::write(&here.join("x.npz"), [("x", &Tensor::from_slice(&[2, 3], &x).unwrap())]).unwrap();
    let of = |options: &[&str], to: &str| {
        printed(&fusion(
            here,
            &[&["run", "m.relay", "--inputs", "x.npz", "--outputs", to], options].concat(),
        ));
        npz::read(&here.join(to)).unwrap().into_values().next().unwrap().to_f64s()
    };
    let (fast, exact) = (of(&["--fp-math=fast"], "fast.npz"), of(&[], "exact.npz"));
    for ((fast, exact), x) in fast.into_iter().zip(exact).zip(x) {
        assert!(
            (fast - exact).abs() <= 1e-6 * exact.abs() || (fast.is_nan() && exact.is_nan()),
            "{x}: {fast} {exact}"
        );
    }
}
