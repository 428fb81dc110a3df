//! `fusion tune`: a model is tuned, its log compiled with, replayed and merged.

use crate::common::{command, complaint, succeed};
use std::fs;
use std::process::Command;
use std::time::Duration;

const MODEL: &str = "func.func @main(%x: tensor<33x47xf32>, %w: tensor<47x50xf32>) -> tensor<33x50xf32> {
  %0 = relay.matmul %x, %w : (tensor<33x47xf32>, tensor<47x50xf32>) -> tensor<33x50xf32>
  %1 = relay.tanh %0 : (tensor<33x50xf32>) -> tensor<33x50xf32>
  return %1 : tensor<33x50xf32>
}";

#[test]
fn a_model_is_tuned_compiled_and_the_search_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), MODEL).unwrap();
    let said = succeed(here, &["tune", "m.mlir", "-o", "log.jsonl", "--trials", "12", "--seed", "5"]);
    assert!(said.contains("fused_matmul_tanh_0") && said.contains("ratio"), "{said}");
    let log = fs::read_to_string(here.join("log.jsonl")).unwrap();
    assert!(log.lines().count() >= 14 && !log.contains("\"error\""), "{log}");
    let again =
        ["tune", "m.mlir", "-o", "again.jsonl", "--trials", "12", "--seed", "5", "--replay", "log.jsonl"];
    succeed(here, &again);
    assert_eq!(log, fs::read_to_string(here.join("again.jsonl")).unwrap());
    for library in ["a.so", "b.so"] {
        succeed(here, &["compile", "m.mlir", "-o", library, "--tuning-log", "log.jsonl"]);
    }
    assert_eq!(fs::read(here.join("a.so")).unwrap(), fs::read(here.join("b.so")).unwrap());
    assert_eq!(said, succeed(here, &["tune", "best", "log.jsonl"]));
    succeed(here, &["tune", "stats", "log.jsonl", "--html", "page.html"]);
    let page = fs::read_to_string(here.join("page.html")).unwrap();
    for part in ["fused_matmul_tanh_0", "predicted against measured", "of the roof", "the gain of all splits"]
    {
        assert!(page.contains(part), "{part}");
    }
    // The log starts another search, which leaves a kernel at once that is as near to its roof as that.
    let more = ["tune", "m.mlir", "-o", "more.jsonl", "--trials", "9", "--until", "0.0001", "--warm-start"];
    succeed(here, &[&more[..], &["log.jsonl"]].concat());
    assert_eq!(fs::read_to_string(here.join("more.jsonl")).unwrap().lines().count(), 1);
    succeed(here, &["tune", "merge", "log.jsonl", "again.jsonl", "-o", "both.jsonl"]);
    assert_eq!(fs::read_to_string(here.join("both.jsonl")).unwrap(), log.clone() + &log);
    // A log that breaks off is read up to there by each command, and may be the output too.
    let whole = log.lines().count();
    fs::write(here.join("cut.jsonl"), &log[..log.len() - 9]).unwrap();
    let stats = succeed(here, &["tune", "stats", "cut.jsonl"]);
    assert!(stats.contains("fused_matmul_tanh_0") && stats.contains(env!("CARGO_PKG_VERSION")), "{stats}");
    succeed(here, &["tune", "best", "cut.jsonl"]);
    succeed(here, &["tune", "merge", "cut.jsonl", "log.jsonl", "-o", "cut.jsonl"]);
    assert_eq!(fs::read_to_string(here.join("cut.jsonl")).unwrap().lines().count(), 2 * whole - 1);
    // What is for another processor or another model is noted.
    let other = ["compile", "m.mlir", "-o", "c.so", "--tuning-log", "other.jsonl"];
    fs::write(here.join("other.jsonl"), log.replace("\"target\":\"", "\"target\":\"not-")).unwrap();
    let said = String::from_utf8(command(here, &other).output().unwrap().stderr).unwrap();
    assert!(said.contains("the tuning log other.jsonl is for the processor not-"), "{said}");
    let gpu = ["compile", "m.mlir", "-o", "c.so", "--tuning-log", "log.jsonl", "--target", "nvidia:sm_80"];
    let said = String::from_utf8(command(here, &gpu).output().unwrap().stderr).unwrap();
    assert!(said.contains("tuning logs are for processors, and nvidia:sm_80 is a GPU"), "{said}");
}

#[test]
fn logs_without_measurements_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("empty.jsonl"), "").unwrap();
    fs::write(here.join("bad.jsonl"), "hello\nworld\n").unwrap();
    for command in [&["best"][..], &["stats"], &["merge", "-o", "out.jsonl"]] {
        let said = |log: &str| complaint(here, &[&["tune"], command, &[log]].concat());
        assert!(
            said("empty.jsonl").contains("the tuning log empty.jsonl has no measurements"),
            "{command:?}"
        );
        assert!(said("none.jsonl").contains("cannot read the tuning log none.jsonl"), "{command:?}");
        assert!(
            said("bad.jsonl").contains("line 1 of the tuning log bad.jsonl is no measurement"),
            "{command:?}"
        );
    }
    assert!(!here.join("out.jsonl").exists());
}

#[test]
fn what_cannot_be_tuned_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), MODEL).unwrap();
    let gpu = complaint(here, &["tune", "m.mlir", "-o", "log.jsonl", "--target", "nvidia:sm_80"]);
    assert!(gpu.contains("measures kernels of processors, and nvidia:sm_80 is a GPU"), "{gpu}");
    fs::write(
        here.join("empty.mlir"),
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }",
    )
    .unwrap();
    let nothing = complaint(here, &["tune", "empty.mlir", "-o", "log.jsonl"]);
    assert!(nothing.contains("has no kernel that could be computed in another way"), "{nothing}");
    let missing = complaint(here, &["compile", "m.mlir", "-o", "m.so", "--tuning-log", "none.jsonl"]);
    assert!(missing.contains("cannot read the tuning log none.jsonl"), "{missing}");
    fs::write(here.join("bad.jsonl"), "hello\nworld\n").unwrap();
    let bad = complaint(here, &["compile", "m.mlir", "-o", "m.so", "--tuning-log", "bad.jsonl"]);
    assert!(bad.contains("line 1 of the tuning log bad.jsonl is no measurement"), "{bad}");
    assert!(!here.join("m.so").exists());
}

#[test]
fn what_was_measured_when_a_search_is_interrupted_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), MODEL).unwrap();
    let log = here.join("log.jsonl");
    let arguments = ["tune", "m.mlir", "-o", "log.jsonl", "--trials", "5000", "--patience", "0"];
    let mut search = command(here, &arguments).spawn().unwrap();
    let lines = || fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    // Far more than measurements take on any machine.
    for _ in 0..6000 {
        if lines() > 3 || search.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let process = search.id().to_string();
    assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    assert!(!search.wait().unwrap().success());
    let kept = lines();
    assert!(kept > 3);
    let best = succeed(here, &["tune", "best", "log.jsonl"]);
    assert!(best.contains("fused_matmul_tanh_0"), "{best}");
    succeed(here, &["compile", "m.mlir", "-o", "m.so", "--tuning-log", "log.jsonl"]);
}

#[test]
fn machines_stand_beside_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), MODEL).unwrap();
    let file = succeed(here, &["targets", "cpu:znver4"]).replace("name = \"znver4\"", "name = \"mine\"");
    fs::write(here.join("my.toml"), file).unwrap();
    let base = ["what-if", "m.mlir", "--base", "cpu:znver4"];
    let said = succeed(
        here,
        &[&base[..], &["--target-file", "my.toml", "--vary", "vector_bytes=32,peak_flops=1e9"]].concat(),
    );
    // The same description gives the same estimate, and a slow processor a longer one.
    for part in ["cpu:mine", "vector_bytes=32", "peak_flops=1000000000", "us (1.00)", "arithmetic"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let json = succeed(here, &[&base[..], &["--vary", "peak_flops=1e9", "--json"]].concat());
    let all: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(all[1]["seconds"].as_f64().unwrap() > 10.0 * all[0]["seconds"].as_f64().unwrap(), "{json}");
    for (vary, wanted) in [
        ("speed=3", "\"speed\" is no number of a description; they are cores"),
        ("vector_bytes=0", "vector_bytes is a whole number from"),
        ("l2_bytes=4096", "a cache is smaller than the one before it"),
    ] {
        let said = complaint(here, &[&base[..], &["--vary", vary]].concat());
        assert!(said.contains(wanted), "{said}");
    }
}
