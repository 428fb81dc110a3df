//! Kernels for GPUs, emulated: on every GPU that is described they compute what the processor does; and what cannot be is told.

use fusion_operators::Tensor;
use fusion_runtime::npz;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GPUS: [&str; 5] = ["nvidia:sm_80", "nvidia:sm_90a", "amd:gfx90a", "amd:gfx942", "amd:gfx1100"];

fn fusion(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusion"));
    command.args(args).current_dir(directory).env("FUSION_CACHE", "0").output().unwrap()
}

fn succeed(directory: &Path, args: &[&str]) -> String {
    let output = fusion(directory, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn complaint(directory: &Path, args: &[&str]) -> String {
    let output = fusion(directory, args);
    assert!(!output.status.success() && output.stdout.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// A sequence of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn among(&mut self, choices: &[u64]) -> u64 {
        choices[self.next() as usize % choices.len()]
    }

    fn tensor(&mut self, shape: &[u64]) -> Tensor {
        let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
        let one = |_| (self.next() % 2001) as f32 / 1000.0 - 1.0;
        let values: Vec<f32> = (0..shape.iter().product::<usize>()).map(one).collect();
        Tensor::from_slice(&shape, &values).unwrap()
    }
}

/// One kernel of each kind, of extents that are odd, prime, tiny, or powers of two.
fn model(numbers: &mut Numbers) -> (String, Vec<(String, Tensor)>) {
    let mut extent = || numbers.among(&[1, 2, 3, 7, 13, 16, 31, 32, 33, 61, 64, 67]);
    let (m, n, k, b) = (extent(), extent(), extent(), 1 + extent() % 3);
    let (c, o, h) = (1 + extent() % 5, 1 + extent() % 7, 5 + extent() % 11);
    let shapes = [
        ("x", vec![m, k]),
        ("w", vec![n, k]),
        ("bias", vec![n]),
        ("p", vec![b, m, k]),
        ("q", vec![b, k, n]),
        ("image", vec![b, c, h, h]),
        ("filter", vec![o, c, 3, 3]),
    ];
    let mn = format!("tensor<{m}x{n}xf32>");
    let (image, map) = (format!("tensor<{b}x{c}x{h}x{h}xf32>"), format!("tensor<{b}x{o}x{h}x{h}xf32>"));
    let text = format!(
        "func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{n}x{k}xf32>, %bias: tensor<{n}xf32>,
                         %p: tensor<{b}x{m}x{k}xf32>, %q: tensor<{b}x{k}x{n}xf32>,
                         %image: {image}, %filter: tensor<{o}x{c}x3x3xf32>)
             -> ({mn}, {mn}, tensor<{b}x{m}x{n}xf32>, {map}, tensor<{n}x{m}xf32>, {image}) {{
           %0 = relay.dense %x, %w : (tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) -> {mn}
           %1 = relay.add %0, %bias : ({mn}, tensor<{n}xf32>) -> {mn}
           %2 = relay.relu %1 : ({mn}) -> {mn}
           %3 = relay.softmax %2 : ({mn}) -> {mn}
           %4 = relay.batch_matmul %p, %q
               : (tensor<{b}x{m}x{k}xf32>, tensor<{b}x{k}x{n}xf32>) -> tensor<{b}x{m}x{n}xf32>
           %5 = relay.conv2d %image, %filter {{padding = array<i64: 1, 1, 1, 1>}}
               : ({image}, tensor<{o}x{c}x3x3xf32>) -> {map}
           %6 = relay.tanh %2 : ({mn}) -> {mn}
           %7 = relay.transpose %6 : ({mn}) -> tensor<{n}x{m}xf32>
           %8 = relay.max_pool2d %image {{kernel = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}} : ({image}) -> {image}
           %9 = relay.exp %8 : ({image}) -> {image}
           return %2, %3, %4, %5, %7, %9 : {mn}, {mn}, tensor<{b}x{m}x{n}xf32>, {map}, tensor<{n}x{m}xf32>, {image}
         }}"
    );
    let inputs = shapes.iter().enumerate();
    (text, inputs.map(|(i, (_, shape))| (format!("input_{i}"), numbers.tensor(shape))).collect())
}

#[test]
fn every_kind_of_kernel_computes_what_the_processor_does() {
    for seed in [1, 2] {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        let (text, inputs) = model(&mut Numbers(seed));
        fs::write(here.join("m.mlir"), &text).unwrap();
        npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
        let outcome = |more: &[&str]| {
            let args = ["run", "m.mlir", "--inputs", "x.npz", "--outputs", "y.npz"];
            succeed(here, &[&args, more].concat());
            npz::read(&here.join("y.npz")).unwrap()
        };
        let wanted = outcome(&[]);
        for gpu in GPUS {
            let got = outcome(&["--target", gpu, "--emulate"]);
            for (name, wanted) in &wanted {
                let (got, wanted) = (got[name].to_f64s(), wanted.to_f64s());
                let most = wanted.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
                let off = got.iter().zip(&wanted).map(|(a, b)| (a - b).abs() / most).fold(0.0, f64::max);
                // Not a number is not below.
                assert!(
                    got.len() == wanted.len() && got.iter().all(|v| v.is_finite()) && off < 1e-5,
                    "{name} on {gpu} is off by {off:e} (seed {seed})\n{text}"
                );
            }
        }
    }
}

#[test]
fn what_kernels_take_is_told_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    let model = example("offline/mlp.mlir");
    let model = model.to_str().unwrap();
    let json =
        succeed(directory.path(), &["explain", model, "--targets", "nvidia:sm_80,amd:gfx942", "--json"]);
    let reports: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (report, warp) in reports.as_array().unwrap().iter().zip([32, 64]) {
        let launches: Vec<&serde_json::Value> = report["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|kernel| kernel["launches"].as_array().unwrap())
            .collect();
        assert!(!launches.is_empty(), "{report}");
        for launch in launches {
            assert!(launch["grid"][0].as_u64().unwrap() >= 1 && launch["block"][0].as_u64().unwrap() >= 1);
            // Registers of AMD's are in a note; NVIDIA's are known where ptxas is.
            if warp == 64 {
                assert!(launch["registers"].as_u64().unwrap() > 0, "{launch}");
                assert_eq!(launch["spilled_bytes"], 0, "{launch}");
                assert!(launch["occupancy"].as_f64().unwrap() > 0.0, "{launch}");
            }
        }
    }
    let text = succeed(directory.path(), &["explain", model, "--targets", "amd:gfx90a,amd:gfx1100"]);
    assert!(text.contains("amd:gfx90a") && text.contains("amd:gfx1100: "), "{text}");
}

#[test]
fn times_of_the_emulator_are_called_that() {
    let directory = tempfile::tempdir().unwrap();
    let model = example("offline/mlp.mlir");
    let args = ["bench", model.to_str().unwrap(), "--target", "nvidia:sm_80", "--emulate", "--runs", "1"];
    let text = succeed(directory.path(), &args);
    assert!(text.contains("the times are those of the emulator"), "{text}");
    let json = succeed(directory.path(), &[&args[..], &["--json"]].concat());
    assert!(json.contains("\"emulated\": true"), "{json}");
}

#[test]
fn what_cannot_be_is_said_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = example("offline/mlp.mlir");
    let (model, program) = (model.to_str().unwrap(), example("relay/tree_lstm.relay"));
    let said = complaint(here, &["run", model, "--target", "nvidia:sm_30", "--emulate"]);
    assert!(
        said.contains("there is no GPU nvidia:sm_30; those described are nvidia:sm_80, nvidia:sm_90a"),
        "{said}"
    );
    let said = complaint(here, &["run", model, "--emulate"]);
    assert!(said.contains("--emulate is for GPUs, and cpu is a processor"), "{said}");
    let said = complaint(here, &["compile", program.to_str().unwrap(), "--target", "amd:gfx942"]);
    assert!(said.contains("runs on a processor, and amd:gfx942 is a GPU"), "{said}");
    let inputs = example("offline/x.npy");
    let said =
        complaint(here, &["run", model, "--target", "amd:gfx942", "--inputs", inputs.to_str().unwrap()]);
    assert!(said.contains("There is no AMD driver") && said.contains("--emulate"), "{said}");
}
