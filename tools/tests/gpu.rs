//! Kernels for GPUs, emulated: on every GPU that is described they compute what the processor does; and what cannot be is told.

use crate::common::{GPUS, Numbers, complaint, succeed};
use fusion_operators::Tensor;
use fusion_operators::random::seed;
use fusion_runtime::npz;
use std::fs;
use std::path::{Path, PathBuf};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
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
    for seed in [1, 2].map(seed) {
        agrees(model(&mut Numbers(seed)), &format!("seed {seed}"));
    }
}

/// Runs a model on the processor and on all GPUs.
fn agrees((text, inputs): (String, Vec<(String, Tensor)>), of: &str) {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), &text).unwrap();
    npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
    let outcome = |more: &[&str]| {
        let args = ["run", "m.mlir", "--inputs", "x.npz", "--outputs", "y.npz"];
        succeed(here, &[&args, more].concat());
        npz::read(&here.join("y.npz")).unwrap()
    };
    let wanted = outcome(&[]);
    for gpu in GPUS.iter() {
        let got = outcome(&["--target", gpu, "--emulate"]);
        for (name, wanted) in &wanted {
            let (got, wanted) = (got[name].to_f64s(), wanted.to_f64s());
            let most = wanted.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
            let off = got.iter().zip(&wanted).map(|(a, b)| (a - b).abs() / most).fold(0.0, f64::max);
            // Not a number is not below.
            assert!(
                got.len() == wanted.len() && got.iter().all(|v| v.is_finite()) && off < 1e-5,
                "{name} on {gpu} is off by {off:e} ({of})\n{text}"
            );
        }
    }
}

/// Kernels whose tiles and reductions are long: several steps of a reduction, which is cut into parts as well, operands in either
/// order, sums of whole tensors, transposes. Extents are odd, prime, and multiples of vectors.
fn long_model(numbers: &mut Numbers) -> (String, Vec<(String, Tensor)>) {
    let mut among = |choices: &[u64]| numbers.among(choices);
    let (m, n) = (among(&[33, 64, 67, 96]), among(&[32, 65, 68, 130]));
    let (k, long) = (among(&[64, 75, 100, 131, 147]), among(&[1024, 1536]));
    let (c, h) = (among(&[16, 24]), among(&[17, 20]));
    let shapes = [
        vec![m, k],
        vec![n, k],
        vec![k, n],
        vec![32, long],
        vec![long, 48],
        vec![3, m, n],
        vec![200, 333],
        vec![1, c, h, h],
        vec![32, c, 3, 3],
    ];
    let ty = |shape: &[u64]| {
        let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
        format!("tensor<{}xf32>", extents.join("x"))
    };
    let arguments: Vec<String> =
        shapes.iter().enumerate().map(|(i, s)| format!("%a{i}: {}", ty(s))).collect();
    let [x, w, q, p, r, cube, all, image, filter] = shapes.each_ref().map(|s| ty(s));
    let (mn, small, turned) = (ty(&[m, n]), ty(&[32, 48]), ty(&[3, n, m]));
    let map = ty(&[1, 32, h, h]);
    let text = format!(
        "func.func @main({}) -> ({mn}, {mn}, {small}, {turned}, tensor<1xf32>, {map}) {{
           %0 = relay.dense %a0, %a1 : ({x}, {w}) -> {mn}
           %1 = relay.matmul %a0, %a2 : ({x}, {q}) -> {mn}
           %2 = relay.matmul %a3, %a4 : ({p}, {r}) -> {small}
           %3 = relay.relu %2 : ({small}) -> {small}
           %4 = relay.transpose %a5 {{axes = array<i64: 0, 2, 1>}} : ({cube}) -> {turned}
           %5 = relay.exp %4 : ({turned}) -> {turned}
           %6 = relay.reshape %a6 {{shape = array<i64: 1, 66600>}} : ({all}) -> tensor<1x66600xf32>
           %7 = relay.reduce_sum %6 {{axes = array<i64: 1>}} : (tensor<1x66600xf32>) -> tensor<1xf32>
           %8 = relay.conv2d %a7, %a8 {{padding = array<i64: 1, 1, 1, 1>}} : ({image}, {filter}) -> {map}
           return %0, %1, %3, %5, %7, %8 : {mn}, {mn}, {small}, {turned}, tensor<1xf32>, {map}
         }}",
        arguments.join(", ")
    );
    let inputs = shapes.iter().enumerate();
    (text, inputs.map(|(i, shape)| (format!("input_{i}"), numbers.tensor(shape))).collect())
}

#[test]
fn steps_run_ahead_and_compute_what_the_processor_does() {
    for seed in [3, 4].map(seed) {
        agrees(long_model(&mut Numbers(seed)), &format!("seed {seed}"));
    }
}

#[test]
fn functions_of_a_vendor_are_linked_where_a_library_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = "func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
         %y = relay.tanh %x : (tensor<1000xf32>) -> tensor<1000xf32>
         return %y : tensor<1000xf32>
       }";
    fs::write(here.join("m.mlir"), model).unwrap();
    // A library as the vendors' are, of one function, which multiplies by a number that is found again.
    let library = |name: &str| {
        let text = format!(
            "define float @{name}(float %x) {{
               %y = fmul float %x, 12345.0
               ret float %y
             }}"
        );
        fs::write(here.join(format!("{name}.ll")), text).unwrap();
        format!("{name}.ll")
    };
    let (nvidia, amd) = (library("__nv_tanhf"), library("__ocml_tanh_f32"));
    for gpu in GPUS.iter() {
        let (own, other) = if gpu.starts_with("amd") { (&amd, &nvidia) } else { (&nvidia, &amd) };
        let with =
            |library| ["compile", "m.mlir", "--target", gpu, "--device-library", library, "-o", "m.so"];
        succeed(here, &with(own));
        let code = fs::read(here.join("m.so")).unwrap();
        // 12345 as PTX and as an instruction have it.
        let has = |bytes: &[u8]| code.windows(bytes.len()).any(|window| window == bytes);
        assert!(has(b"4640E400") || has(&12345.0_f32.to_le_bytes()), "{gpu}");
        let said = complaint(here, &with(other));
        assert!(said.contains("nobody defines __"), "{gpu}: {said}");
    }
    let said = complaint(here, &["compile", "m.mlir", "--device-library", &nvidia, "-o", "m.so"]);
    assert!(said.contains("cpu is no GPU, for which alone --device-library names a library"), "{said}");
    let missing =
        ["compile", "m.mlir", "--target", "nvidia:sm_80", "--device-library", "none.bc", "-o", "m.so"];
    assert!(
        complaint(here, &missing).contains("none.bc is no library to link: it must be a file of bitcode")
    );
}

#[test]
fn what_cannot_be_is_said_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let model = example("offline/mlp.mlir");
    let (model, program) = (model.to_str().unwrap(), example("relay/tree_lstm.relay"));
    let said = complaint(here, &["run", model, "--target", "nvidia:sm_30", "--emulate"]);
    let known: Vec<&str> = GPUS.iter().copied().filter(|gpu| gpu.starts_with("nvidia:")).collect();
    let known = format!("there is no GPU nvidia:sm_30; those described are {}", known.join(", "));
    assert!(said.contains(&known), "{said}");
    let said = complaint(here, &["run", model, "--target", "nvidia:none.toml", "--emulate"]);
    assert!(said.contains("cannot read none.toml, which is to describe a GPU of nvidia"), "{said}");
    fs::write(here.join("cpu.toml"), succeed(here, &["targets", "cpu"])).unwrap();
    let said = complaint(here, &["run", model, "--target", "nvidia:cpu.toml", "--emulate"]);
    assert!(said.contains("cpu.toml describes no GPU"), "{said}");
    for (gpu, near) in [("nvidia:sm_80", "names like it are sm_1"), ("amd:gfx942", "names like it are gfx")] {
        let vendor = gpu.split(':').next().unwrap();
        let text = succeed(here, &["targets", gpu]);
        let wrong = |line: &str| {
            if line.starts_with("processor") { "processor = \"xm_1234\"" } else { line }.to_owned()
        };
        fs::write(here.join("xm.toml"), text.lines().map(wrong).collect::<Vec<_>>().join("\n")).unwrap();
        let said = complaint(here, &["compile", model, "--target", &format!("{vendor}:xm.toml")]);
        let names = format!("the code generator for {vendor} knows nothing; names like it are ");
        assert!(said.contains("xm.toml names the processor \"xm_1234\"") && said.contains(&names), "{said}");
        assert!(said.contains(near), "{said}");
    }
    let said = complaint(here, &["run", model, "--emulate"]);
    assert!(said.contains("--emulate is for GPUs, and cpu is a processor"), "{said}");
    let said = complaint(here, &["compile", program.to_str().unwrap(), "--target", "amd:gfx942"]);
    assert!(said.contains("runs on a processor, and amd:gfx942 is a GPU"), "{said}");
    let inputs = example("offline/x.npy");
    let said =
        complaint(here, &["run", model, "--target", "amd:gfx942", "--inputs", inputs.to_str().unwrap()]);
    assert!(said.contains("There is no AMD driver") && said.contains("--emulate"), "{said}");
}
