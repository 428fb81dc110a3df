//! A pool of devices on this machine: a model is tuned, run and timed on one, by the programs that users call.

use crate::common::{command, complaint, succeed};
use fusion_operators::{DType, Tensor};
use fusion_runtime::{npz, object_file};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

const MODEL: &str = "func.func @main(%x: tensor<33x47xf32>, %w: tensor<47x50xf32>) -> tensor<33x50xf32> {
  %0 = relay.matmul %x, %w : (tensor<33x47xf32>, tensor<47x50xf32>) -> tensor<33x50xf32>
  %1 = relay.softmax %0 {axis = -1} : (tensor<33x50xf32>) -> tensor<33x50xf32>
  return %1 : tensor<33x50xf32>
}";

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(here: &Path, args: &[&str]) -> Running {
    Running(command(here, args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
}

/// A tracker with a device of key `box`; gives its address.
fn pool(here: &Path) -> (String, [Running; 2]) {
    let mut tracker = start(here, &["pool", "serve", "--listen", "127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(tracker.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("the pool is at ").unwrap().to_owned();
    let device = start(here, &["device", "serve", "--pool", &address, "--key", "box", "--name", "one"]);
    for _ in 0..3000 {
        if succeed(here, &["pool", "status", &address]).contains("idle") {
            return (address, [tracker, device]);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the device never came");
}

#[test]
fn a_model_is_tuned_run_and_timed_on_a_device() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    std::fs::write(here.join("m.mlir"), MODEL).unwrap();
    let (address, _running) = pool(here);
    let with = |args: &[&str]| -> Vec<String> {
        let more = ["--pool", &address, "--key", "box"];
        args.iter().chain(&more).map(|arg| (*arg).to_owned()).collect()
    };
    let on_device = |args: &[&str]| {
        let all = with(args);
        succeed(here, &all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let said = on_device(&["tune", "m.mlir", "-o", "log.jsonl", "--trials", "9", "--timeout", "30"]);
    assert!(said.contains("ratio"), "{said}");
    let log = std::fs::read_to_string(here.join("log.jsonl")).unwrap();
    assert!(log.lines().count() >= 10 && !log.contains("\"error\""), "{log}");
    let tuned =
        command(here, &["compile", "m.mlir", "-o", "m.so", "--tuning-log", "log.jsonl"]).output().unwrap();
    // It is for this machine's processor, as the device's is.
    assert!(tuned.status.success() && tuned.stderr.is_empty(), "{tuned:?}");
    // A device gives what this machine gives, bit for bit: it is one.
    let numbers = |n: usize| (0..n).map(|i| (i % 13) as f32 / 13.0).collect::<Vec<f32>>();
    let tensor = |shape: &[usize]| Tensor::from_slice(shape, &numbers(shape.iter().product())).unwrap();
    let inputs = [("input_0", tensor(&[33, 47])), ("input_1", tensor(&[47, 50]))];
    npz::write(&here.join("in.npz"), inputs.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
    let run = ["run", "m.so", "--inputs", "in.npz", "--outputs"];
    succeed(here, &[&run[..], &["own.npz"]].concat());
    on_device(&[&run[..], &["other.npz"]].concat());
    let read = |name: &str| npz::read(&here.join(name)).unwrap();
    assert_eq!(read("own.npz"), read("other.npz"));
    assert_eq!(read("own.npz")[0].dtype(), DType::F32);
    let json: serde_json::Value =
        serde_json::from_str(&on_device(&["bench", "m.mlir", "--runs", "20", "--json"])).unwrap();
    assert!(json["runs"] == 20 && json["median_s"].as_f64().unwrap() > 0.0, "{json}");
    let status = succeed(here, &["pool", "status", &address]);
    assert!(status.starts_with("box") && status.contains(" 0 wrong, lost with 0"), "{status}");
    assert!(
        complaint(here, &["pool", "readmit", "two", &address])
            .contains("no device \"two\" has been in the pool")
    );
    for (args, said) in [
        (&["run", "m.mlir", "--executor", "vm"][..], "how --executor runs is for this machine"),
        (
            &["tune", "m.mlir", "-o", "more.jsonl", "--threads", "0"],
            "how many processors a device of the pool has",
        ),
        (&["run", "m.mlir", "--target", "nvidia:sm_80"], "it is for a GPU"),
    ] {
        let all = with(args);
        let complained = complaint(here, &all.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(complained.contains(said), "{complained}");
    }
    let none = ["bench", "m.mlir", "--pool", &address, "--key", "rpi4"];
    let complained = complaint(here, &none);
    assert!(complained.contains("the pool has no device of key \"rpi4\"; its keys are box"), "{complained}");
}

#[test]
fn what_is_no_pool_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    for (args, said) in [
        (&["pool", "serve", "--listen", "0.0.0.0:0"][..], "what goes there has to be encrypted"),
        (&["pool", "status", "127.0.0.1:1"], "cannot reach the pool at 127.0.0.1:1"),
        (
            &["pool", "status", "192.0.2.1:9190"],
            "is not on this machine, and what goes there has to be encrypted",
        ),
        (&["pool", "status", "nowhere"], "\"nowhere\" is no address of a pool"),
        (&["device", "serve", "--pool", "192.0.2.1:9190", "--key", "k"], "is not on this machine"),
        (&["device", "serve", "--pool", "127.0.0.1:1", "--key", "a b"], "the key \"a b\" is not one of"),
    ] {
        let complained = complaint(here, args);
        assert!(complained.contains(said), "{complained}");
    }
}

#[test]
fn devices_know_the_interface_that_libraries_have() {
    assert_eq!(fusion_pool_device::child::ABI_VERSION, object_file::ABI_VERSION);
}
