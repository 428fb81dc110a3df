//! `fusion tune`: a model is tuned, its log compiled with, replayed and merged.

use crate::common::{command, complaint, succeed};
use std::fs;

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
