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

/// The instructions of an object or library, as binutils or LLVM print them.
fn disassembly(path: &Path) -> String {
    let llvm = Path::new(env!("MLIR_SYS_220_PREFIX")).join("bin/llvm-objdump");
    let output = Command::new(llvm).arg("-d").arg(path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn code_keeps_to_the_registers_of_its_processor() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = model("wide.mlir");
    let code = |target: &str| {
        succeed(here, &["compile", model.to_str().unwrap(), "--target", target, "-o", "m.so"]);
        disassembly(&here.join("m.so"))
    };
    let baseline = code("cpu:x86-64");
    assert!(baseline.contains("%xmm") && !baseline.contains("%ymm"));
    let avx2 = code("cpu:x86-64-v3");
    assert!(avx2.contains("%ymm") && !avx2.contains("%zmm"));
    assert!(code("cpu:x86-64-v4").contains("%zmm"));
}

#[test]
fn another_machine_gets_a_library_or_an_object() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = model("wide.mlir");
    let args = ["compile", model.to_str().unwrap(), "--target", "cpu:neoverse-v1", "-o", "m.so"];
    let output = fusion(here, &args);
    assert!(output.status.success(), "{output:?}");
    let note = String::from_utf8(output.stderr).unwrap();
    let object = note.contains("note: there is no aarch64-linux-gnu-gcc here, so this is an object");
    let path = here.join(if object { "m.o" } else { "m.so" });
    let bytes = fs::read(&path).unwrap();
    // e_type and e_machine of the ELF header: relocatable or shared; AArch64.
    assert_eq!((bytes[16], bytes[18]), (if object { 1 } else { 3 }, 183));
    assert!(here.join("m.h").exists());
    let code = disassembly(&path);
    assert!(code.contains("<fusion_run>") && code.contains("fadd\tv"), "{code}");
}

#[test]
fn a_schedule_written_by_hand_takes_the_place_of_the_default_one() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = model("../../../examples/offline/mlp.mlir");
    let compile = |schedule: &str| {
        fs::write(here.join("my.mlir"), schedule).unwrap();
        // Whose names of kernels do not depend on costs.
        let args = ["-o", "m.so", "--schedule", "my.mlir", "--strategy", "relay"];
        fusion(here, &[&["compile", model.to_str().unwrap()], &args[..]].concat())
    };
    let output = compile(
        "te.schedule for @fused_dense_add_0 {
           %s = te.stage \"dense\"
           %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
           te.parallel %i
         }",
    );
    assert!(output.status.success(), "{output:?}");
    let parts = Command::new("nm").arg(here.join("m.so")).output().unwrap();
    let symbols = String::from_utf8(parts.stdout).unwrap();
    assert!(symbols.lines().any(|l| l.contains("fused_dense_add_") && l.contains("_part_0")), "{symbols}");

    let said = |schedule: &str| {
        let output = compile(schedule);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        said("\n  te.schedule for @nope {\n}"),
        "error: my.mlir:2:3: 'te.schedule' op is for @nope, which is no kernel of this model; its kernels are \
         @fused_dense_add_relu_0, @fused_dense_add_0, @fused_softmax_0\n"
    );
    let twice = "te.schedule for @fused_softmax_0 {\n}\n".repeat(2);
    assert_eq!(said(&twice), "error: my.mlir:3:1: 'te.schedule' op is the second one for @fused_softmax_0\n");
    assert!(
        said("func.func private @f()").starts_with("error: my.mlir:1:1: 'func.func' op is no te.schedule")
    );
    assert!(said("te.schedule of").starts_with("error: my.mlir:1:13: "));
    let absent = "te.schedule for @fused_dense_add_0 {\n  %s = te.stage \"conv\"\n}";
    assert!(said(absent).starts_with("error: my.mlir:2:8: 'te.stage' op "), "{}", said(absent));
    // What shows when loops are made of it is told there as well, with the loop, the stage and the kernel.
    let peeled = "te.schedule for @fused_dense_add_0 {\n  %s = te.stage \"dense\"\n  \
                  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis\n  \
                  %o, %n = te.split %k by 3 tail peel\n  te.reorder %n, %o\n}";
    let why = said(peeled);
    assert!(why.starts_with("error: my.mlir:4:12: 'te.split' op splits a loop of "), "{why}");
    assert!(why.contains("(loop 2 of stage \"dense\", "), "{why}");
    assert!(why.contains("; in the schedule for @fused_dense_add_0)"), "{why}");
}

#[test]
fn the_time_of_stages_passes_and_kernels_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = model("parallel.mlir");
    let args = ["compile", model.to_str().unwrap(), "-o", "m.so", "--time-trace", "t.json", "--mlir-timing"];
    let output = fusion(here, &args);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    let trace: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(here.join("t.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |name: &str| events.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
    // A stage and a pass of one name; a pass of ours, one of MLIR's, LLVM, and what is outside of passes.
    for name in ["import", "relay-optimize", "loop-vectorize", "convert-scf-to-cf", "llvm", "link"] {
        assert!(!of(name).is_empty(), "no event is {name}: {trace}");
        assert!(said.contains(&format!("  {name}")), "{name} is not reported:\n{said}");
    }
    // Passes of a kernel run while it is compiled.
    let kernels = of("kernel");
    assert!(kernels.iter().all(|kernel| kernel["args"]["detail"] != ""), "{trace}");
    let interval = |event: &serde_json::Value| {
        let start = event["ts"].as_u64().unwrap();
        (event["tid"].as_u64(), start, start + event["dur"].as_u64().unwrap() + 1)
    };
    for pass in of("loop-overlap") {
        let (thread, start, end) = interval(pass);
        let within = |kernel: &&serde_json::Value| {
            let (of, from, to) = interval(kernel);
            of == thread && from <= start && end <= to + 1
        };
        // The program around the kernels has the same passes.
        let kernels = kernels.iter().copied().filter(within).count();
        assert!(kernels <= 1, "{kernels} kernels at a time: {trace}");
    }
    assert!(of("loop-overlap").len() > kernels.len(), "{trace}");
}
