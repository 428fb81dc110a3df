//! Libraries for CUDA and HIP on drivers that have no device, of which each function fails once (`fake_driver.c`).

use crate::common;
use crate::kernel::library;
use fusion_runtime::Device;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// y = 2 * 2 * x, in two launches.
pub const CODE: &str = r#"
#include "@DIRECTORY@/gpu/gpu.h"
static const char image[] = {'t', 'w', 'i', 'c', 'e'};
static struct fusion_gpu_kernel first = {.name = "twice", .image = image, .image_bytes = sizeof image, .grid = {2, 1, 1},
    .block = {4, 1, 1}, .arguments = 2, .dynamic_bytes = 65536}, second = {.name = "twice", .image = image,
    .image_bytes = sizeof image, .grid = {1, 2, 1}, .block = {2, 2, 1}, .arguments = 2};
static void all(void *const *p) {
  void *one[] = {p[0], p[3]}, *two[] = {p[3], p[1]};
  fusion_gpu_launch(&first, one);
  fusion_gpu_launch(&second, two);
}
static const uint64_t bytes[] = {32, 32};
static const float constants[3] = {1, 2, 3};
struct fusion_gpu_program fusion_gpu_program = {.kind = @KIND@, .inputs = 1, .outputs = 1, .input_bytes = bytes,
    .output_bytes = bytes, .constants = constants, .constants_bytes = sizeof constants, .workspace_bytes = 32, .main = all};
"#;

/// The same, where the host looks at what the first launch made and decides by it how to go on.
const DECIDES: &str = r#"
static void all(void *const *p) {
  float made = -1;
  void *one[] = {p[0], p[3]}, *two[] = {p[3], p[1]}, *again[] = {p[3], p[3]};
  fusion_gpu_launch(&first, one);
  fusion_gpu_read(&made, p[3], sizeof made);
  if (made < 5) {
    fusion_gpu_launch(&second, two);
  } else {
    fusion_gpu_launch(&second, again);
    fusion_gpu_copy(p[1], p[3], 32);
  }
}
"#;

/// Runs four times, then with memory that is the device's; says how each went.
const MAIN: &str = r#"
#include "kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void run(int32_t (*how)(const void *const *, void *const *, void *), int time) {
  float x[8], y[8];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  for (int i = 0; i < 8; i++) x[i] = i + time, y[i] = -1;
  if (how(inputs, outputs, NULL)) {
    puts(fusion_last_error());
    return;
  }
  for (int i = 0; i < 8; i++)
    if (y[i] != 4 * x[i]) { printf("wrong: %g instead of %g\n", y[i], 4 * x[i]); return; }
  puts("right");
}
static int32_t on_device(const void *const *inputs, void *const *outputs, void *unused) {
  (void)unused;
  return fusion_run_device(inputs, outputs);
}
int main(int count, char **arguments) {
  if (count > 1) fusion_set_device(atoi(arguments[1]));
  for (int time = 0; time < 4; time++) run(fusion_run, time);
  run(on_device, 5);
  return 0;
}
"#;

pub struct Bench {
    directory: tempfile::TempDir,
    variable: &'static str,
}

impl Bench {
    fn new(device: Device, flags: &[&str]) -> Bench {
        Bench::of(CODE, device, flags)
    }

    fn of(code: &str, device: Device, flags: &[&str]) -> Bench {
        Bench::with(code, MAIN, device, flags)
    }

    /// A program around a library.
    pub fn with(code: &str, main: &str, device: Device, flags: &[&str]) -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let (kind, variable) = match device {
            Device::Hip => ("FUSION_HIP", "FUSION_HIP_LIBRARY"),
            _ => ("FUSION_CUDA", "FUSION_CUDA_LIBRARY"),
        };
        let code = code.replace("@DIRECTORY@", env!("CARGO_MANIFEST_DIR")).replace("@KIND@", kind);
        let object = common::object(directory.path(), &code);
        let model = library(directory.path(), &object, device, &[32], &[32]);
        std::fs::write(at("main.c"), main).unwrap();
        let built = |command: &mut Command| assert!(command.status().unwrap().success());
        built(Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([at("main"), at("main.c"), model]));
        let fake = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu/fake_driver.c");
        built(
            Command::new("cc")
                .args(["-Wall", "-shared", "-fPIC", "-o"])
                .args([at("driver.so"), fake])
                .args(flags),
        );
        Bench { directory, variable }
    }

    fn cuda() -> Bench {
        Bench::new(Device::Cuda, &[])
    }

    fn hip() -> Bench {
        Bench::new(Device::Hip, &["-DHIP"])
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What each run says, after checking that nothing is left.
    pub fn runs(&self, environment: &[(&str, &str)]) -> Vec<String> {
        let output = self.output(environment, &[]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{environment:?}");
        lines(&output.stdout)
    }

    pub fn output(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
        let mut command = Command::new(self.at("main"));
        command.env(self.variable, self.at("driver.so")).args(arguments);
        for variable in ["FUSION_DEVICE", "FUSION_GPU_WAIT", "FUSION_GPU_GRAPH"] {
            command.env_remove(variable);
        }
        let output = command.envs(environment.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{environment:?}: {output:?}");
        output
    }

    /// The calls of the driver, in order.
    pub fn calls(&self, environment: &[(&str, &str)]) -> Vec<String> {
        let environment = [environment, &[("FAKE_CALLS", "1")]].concat();
        lines(&self.output(&environment, &[]).stderr)
    }
}

pub fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[test]
fn models_run_on_devices() {
    for bench in [Bench::cuda(), Bench::hip()] {
        assert_eq!(bench.runs(&[]), ["right"; 5]);
        assert_eq!(bench.runs(&[("FUSION_DEVICE", "1")]), ["right"; 5]);
        assert_eq!(bench.runs(&[("FUSION_GPU_WAIT", "1")]), ["right"; 5]);
        assert_eq!(lines(&bench.output(&[], &["1"]).stdout), ["right"; 5]);
    }
}

#[test]
fn later_runs_launch_a_graph() {
    let bench = Bench::cuda();
    let count = |calls: &[String], name: &str| calls.iter().filter(|call| *call == name).count();
    let calls = bench.calls(&[]);
    // The first run, the recording of the second, and the one on other memory launch both kernels.
    let found = ["launch", "replay", "make graph", "upload", "load", "allocate", "free", "create stream"]
        .map(|name| count(&calls, name));
    assert_eq!(found, [6, 3, 1, 5, 1, 4, 4, 1]);
    let calls = bench.calls(&[("FUSION_GPU_GRAPH", "0")]);
    assert_eq!(["launch", "replay"].map(|name| count(&calls, name)), [10, 0]);
    // A driver without graphs is used without.
    let bench = Bench::new(Device::Cuda, &["-DOLD"]);
    assert_eq!(bench.runs(&[]), ["right"; 5]);
    assert_eq!(["launch", "replay"].map(|name| count(&bench.calls(&[]), name)), [10, 0]);
}

#[test]
fn what_the_host_decides_by_is_read_in_every_run() {
    let begin = CODE.find("static void all").unwrap();
    let end = begin + CODE[begin..].find("\n}\n").unwrap() + 3;
    let code = [&CODE[..begin], DECIDES, &CODE[end..]].concat();
    for (device, flags) in [(Device::Cuda, &[][..]), (Device::Hip, &["-DHIP"][..])] {
        let bench = Bench::of(&code, device, flags);
        assert_eq!(bench.runs(&[]), ["right"; 5]);
        let calls = bench.calls(&[]);
        let count = |name: &str| calls.iter().filter(|call| *call == name).count();
        // Runs 3 and 5 make more than 5.
        assert_eq!(["launch", "copy", "begin", "replay"].map(count), [10, 2, 0, 0], "{calls:?}");
        // A loop of the host ends when reading fails.
        let read = calls.iter().position(|call| call == "download").unwrap() + 1;
        let said = bench.runs(&[("FAKE_FAIL", &format!("{read}:2"))]);
        assert!(said[0].contains("Copying from the device failed") && said[1..] == ["right"; 4], "{said:?}");
    }
}

#[test]
fn tensors_are_described_where_they_are() {
    let map = "static const struct fusion_gpu_map map = {.argument = 0, .element_bytes = 4, .rank = 2,
        .extents = {4, 2}, .strides = {4, 16}, .box = {4, 2}};
        static struct fusion_gpu_kernel first = {.name = \"mapped\", .map = &map, .maps = 1,";
    let code = CODE.replace("static struct fusion_gpu_kernel first = {.name = \"twice\",", map);
    let bench = Bench::of(&code, Device::Cuda, &[]);
    assert_eq!(bench.runs(&[]), ["right"; 5]);
    // It lies elsewhere in the last run.
    assert_eq!(bench.calls(&[]).iter().filter(|call| *call == "encode").count(), 2);
    let encode = bench.calls(&[]).iter().position(|call| call == "encode").unwrap() + 1;
    let said = bench.runs(&[("FAKE_FAIL", &format!("{encode}:1"))]);
    assert!(
        said[0].contains("Describing argument 0 of kernel \"mapped\" failed") && said[1..] == ["right"; 4],
        "{said:?}"
    );
    let old = Bench::of(&code, Device::Cuda, &["-DOLD"]).runs(&[]);
    assert!(
        old[0].contains("Kernel \"mapped\" copies boxes of tensors (TMA), which the NVIDIA driver"),
        "{old:?}"
    );
}

/// What each call does for a run when it fails: those whose failure is no matter, and those that end what was to be given back.
const NO_MATTER: &[&str] = &[
    "name",
    "set current",
    "pop",
    "free",
    "unload",
    "destroy stream",
    "release",
    "begin",
    "end",
    "make graph",
    "drop",
    "unmake graph",
];
const KEEPS: &[&str] = &["pop", "free", "unload", "destroy stream", "release", "drop", "unmake graph"];

#[test]
fn every_failure_has_its_sentence_and_leaves_nothing() {
    for (bench, maker) in [(Bench::cuda(), "NVIDIA"), (Bench::hip(), "AMD")] {
        let calls = bench.calls(&[]);
        let at = |name: &str| calls.iter().position(|call| call == name).unwrap();
        let recorded = at("begin")..at("end");
        let last = calls.iter().rposition(|call| call == "wait").unwrap();
        let mut failed = BTreeSet::new();
        for (i, call) in calls.iter().enumerate() {
            for code in ["2", "719", "12345"] {
                let fail = format!("{}:{code}", i + 1);
                let output = bench.output(&[("FAKE_FAIL", &fail)], &[]);
                let (said, left) = (lines(&output.stdout), lines(&output.stderr));
                assert!(
                    left.is_empty() || KEEPS.contains(&call.as_str()) || i > last,
                    "{call} {fail}: {left:?}"
                );
                assert_eq!(said.len(), 5);
                let errors: Vec<&String> = said.iter().filter(|line| *line != "right").collect();
                match errors.as_slice() {
                    // What cannot be recorded is launched one by one, and at the end of the process nobody is told.
                    [] => assert!(
                        NO_MATTER.contains(&call.as_str()) || recorded.contains(&i) || i > last,
                        "{call} {fail}"
                    ),
                    // One run fails; the next one is fine again.
                    [error] => {
                        assert!(
                            error.contains(maker) && error.ends_with('.') && error.contains("; "),
                            "{error}"
                        );
                        assert!(error.contains(code), "{call}: {error}");
                        failed.insert(call.as_str());
                    }
                    more => panic!("{call} {fail}: {more:?}"),
                }
            }
        }
        for call in [
            "initialize",
            "count",
            "get device",
            "allocate",
            "upload",
            "download",
            "wait",
            "load",
            "find",
            "launch",
        ] {
            assert!(failed.contains(call), "{call} never failed: {failed:?}");
        }
    }
}

#[test]
fn sentences_say_what_to_do() {
    let bench = Bench::cuda();
    let said = |environment: &[(&str, &str)]| bench.runs(environment).remove(0);
    let missing = bench.at("no.so").display().to_string();
    assert_eq!(
        said(&[("FUSION_CUDA_LIBRARY", &missing)]),
        format!(
            "There is no NVIDIA driver: {missing} cannot be loaded ({missing}: cannot open shared object file: No such file or \
             directory); install the driver, name its library in FUSION_CUDA_LIBRARY, or use --emulate."
        )
    );
    assert_eq!(
        said(&[("FAKE_DEVICES", "0")]),
        "There is an NVIDIA driver, but it finds no device; look whether the system shows one to this program, or use --emulate."
    );
    assert_eq!(said(&[("FAKE_FAIL", "1:100")]), said(&[("FAKE_DEVICES", "0")]));
    assert_eq!(
        said(&[("FUSION_DEVICE", "2")]),
        "There is no NVIDIA device 2: there are 2, and the first is 0; choose one with --device or FUSION_DEVICE."
    );
    assert_eq!(
        said(&[("FUSION_DEVICE", "first")]),
        "FUSION_DEVICE is \"first\", which is not the number of a device; the first one is 0."
    );
    let calls = bench.calls(&[]);
    let fail = |call: &str, code: &str| {
        let at = calls.iter().position(|name| name == call).unwrap();
        said(&[("FAKE_FAIL", &format!("{}:{code}", at + 1))])
    };
    assert_eq!(
        fail("allocate", "2"),
        "Getting memory for the 12 bytes of the model's constants failed on NVIDIA device 0 (Fake 0): \
         CUDA_ERROR_OUT_OF_MEMORY (2, out of memory); end other programs that use the device, run the model with a smaller \
         batch, or use --emulate."
    );
    assert_eq!(
        fail("load", "209"),
        "The code of kernel \"twice\" is not for NVIDIA device 0 (Fake 0, sm_90): CUDA_ERROR_OF_TEST (209, an error of the \
         test); compile the model for this device, or use --emulate."
    );
    assert_eq!(
        fail("launch", "701"),
        "Launching kernel \"twice\" (2 x 1 x 1 blocks of 4 x 1 x 1 threads with 65536 bytes of shared memory), which may be \
         more than the device has, failed on NVIDIA device 0 (Fake 0): CUDA_ERROR_OF_TEST (701, an error of the test); run \
         the model with --emulate if it stays so."
    );
    assert_eq!(
        fail("wait", "700"),
        "A kernel (FUSION_GPU_WAIT=1 in the environment tells which) failed on NVIDIA device 0 (Fake 0): CUDA_ERROR_OF_TEST \
         (700, an error of the test); what the model had on the device is lost, and the next run begins anew; if that fails \
         as well start the program again, and with --emulate a kernel that is wrong is found."
    );
    let wait = format!("{}:700", calls.iter().position(|name| name == "launch").unwrap() + 2);
    let why = said(&[("FUSION_GPU_WAIT", "1"), ("FAKE_FAIL", &wait)]);
    assert!(why.starts_with("Launching kernel \"twice\""), "{why}");
}

#[test]
fn the_log_of_the_drivers_compiler_is_told() {
    let bench = Bench::cuda();
    // The image's text ends without NUL in the library; one that is not what the driver takes has a log.
    let code = CODE.replace("@DIRECTORY@", env!("CARGO_MANIFEST_DIR")).replace("@KIND@", "FUSION_CUDA");
    let object = common::object(bench.directory.path(), &code.replace("'e'}", "'a'}"));
    library(bench.directory.path(), &object, Device::Cuda, &[32], &[32]);
    assert_eq!(
        bench.runs(&[])[0],
        "The code of kernel \"twice\" is not for NVIDIA device 0 (Fake 0, sm_90): CUDA_ERROR_OF_TEST (218, an error of the \
         test); ptxas: not the right image; compile the model for this device, or use --emulate."
    );
}

#[test]
fn a_driver_without_a_function_is_too_old() {
    let bench = Bench::cuda();
    // That of AMD has none of the names.
    let other = Bench::hip();
    let driver = other.at("driver.so").display().to_string();
    assert_eq!(
        bench.runs(&[("FUSION_CUDA_LIBRARY", &driver)])[0],
        format!(
            "The NVIDIA driver {driver} has no function cuInit; install a newer driver, or use --emulate."
        )
    );
}
