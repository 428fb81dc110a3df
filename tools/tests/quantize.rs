//! `fusion quantize`: a small network of fixed weights is quantized, and what is written loses little.

use crate::common::{complaint, succeed};
use crate::onnx_programs::common::{f32s, graph, input, int, ints, model, node};
use fusion_importers::onnx::proto::ModelProto;
use fusion_operators::{DType, Tensor};
use fusion_runtime::npz;
use fusion_runtime::random::Random;
use prost::Message;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Two convolutions and a product, of any number of images.
fn network() -> ModelProto {
    let mut random = Random::new(7);
    let mut weight = |name: &str, dims: &[i64]| {
        let shape: Vec<usize> = dims.iter().map(|&n| n as usize).collect();
        let values = random.tensor(DType::F32, &shape).unwrap().to_vec::<f32>().unwrap();
        // Filters of very different sizes, so that scales of their own are worth something.
        let each = values.len() / shape[0];
        let values: Vec<f32> =
            values.iter().enumerate().map(|(i, v)| v * 0.6f32.powi((i / each % 8) as i32)).collect();
        f32s(name, dims, &values)
    };
    let initializer = vec![
        weight("w0", &[8, 1, 3, 3]),
        weight("b0", &[8]),
        weight("w1", &[16, 8, 3, 3]),
        weight("w2", &[256, 10]),
    ];
    let nodes = vec![
        node("Conv", &["x", "w0", "b0"], &["c0"], vec![ints("pads", &[1, 1, 1, 1])]),
        node("Relu", &["c0"], &["r0"], vec![]),
        node("Conv", &["r0", "w1"], &["c1"], vec![ints("pads", &[1, 1, 1, 1]), ints("strides", &[2, 2])]),
        node("Relu", &["c1"], &["r1"], vec![]),
        node("Flatten", &["r1"], &["f"], vec![int("axis", 1)]),
        node("MatMul", &["f", "w2"], &["y"], vec![]),
    ];
    let mut graph = graph(nodes, vec![input("x", 1, &["n", "1", "8", "8"])], &["y"]);
    graph.initializer = initializer;
    model(graph)
}

fn images(count: usize, seed: u64) -> Tensor {
    Random::new(seed).tensor(DType::F32, &[count, 1, 8, 8]).unwrap()
}

/// A folder with the network, samples and images to judge by.
fn folder() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.onnx"), network().encode_to_vec()).unwrap();
    npz::write(&here.join("data.npz"), [("x", &images(24, 1))]).unwrap();
    npz::write(&here.join("test.npz"), [("x", &images(24, 2))]).unwrap();
    directory
}

fn outputs(here: &Path, model: &str) -> Vec<f64> {
    let shape = if model.ends_with(".mlir") { &[][..] } else { &["--shape", "x=24,1,8,8"][..] };
    let run = ["run", model, "--inputs", "test.npz", "--outputs", "out.npz"];
    succeed(here, &[&run[..], shape].concat());
    npz::read(&here.join("out.npz")).unwrap().into_values().next().unwrap().to_f64s()
}

/// The square of the difference as a part of the square.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let off: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    off / a.iter().map(|a| a * a).sum::<f64>()
}

#[test]
fn both_forms_are_near_to_the_floats_and_nearer_to_each_other() {
    let directory = folder();
    let here = directory.path();
    let said =
        succeed(here, &["quantize", "m.onnx", "--data", "data.npz", "-o", "q.onnx", "--html", "q.html"]);
    assert!(said.contains("n_c0") && said.contains("layers: 3 int8"), "{said}");
    assert!(fs::read_to_string(here.join("q.html")).unwrap().contains("n_c1"));
    succeed(here, &["quantize", "m.onnx", "--data", "data.npz", "-o", "q.mlir"]);
    let file = ModelProto::decode(&fs::read(here.join("q.onnx")).unwrap()[..]).unwrap();
    let count = |name: &str| file.graph.as_ref().unwrap().node.iter().filter(|n| n.op_type == name).count();
    // Data thrice, weights thrice, and a bias.
    assert_eq!((count("QuantizeLinear"), count("DequantizeLinear"), count("Conv")), (3, 7, 2));
    let (floats, onnx, mlir) = (outputs(here, "m.onnx"), outputs(here, "q.onnx"), outputs(here, "q.mlir"));
    assert!(apart(&floats, &onnx) > 0.0 && apart(&floats, &onnx) < 3e-4, "{}", apart(&floats, &onnx));
    assert!(apart(&onnx, &mlir) < 1e-5, "{}", apart(&onnx, &mlir));
}

#[test]
fn scales_of_channels_and_more_bits_lose_less() {
    let directory = folder();
    let here = directory.path();
    let floats = outputs(here, "m.onnx");
    let loss = |options: &[&str]| {
        succeed(here, &[&["quantize", "m.onnx", "--data", "data.npz", "-o", "q.onnx"], options].concat());
        apart(&floats, &outputs(here, "q.onnx"))
    };
    let int4 = loss(&["--dtype", "int4-weights", "--method", "mse"]);
    let (tensor, channel) = (loss(&["--scheme", "per-tensor"]), loss(&[]));
    assert!(channel < tensor && tensor < int4, "{channel} {tensor} {int4}");
}

#[test]
fn a_budget_is_kept() {
    let directory = folder();
    let here = directory.path();
    let options = ["--dtype", "int4-weights", "--method", "mse", "--metric", "mse", "--max-loss", "0.1%"];
    let said = succeed(
        here,
        &[&["quantize", "m.onnx", "--data", "data.npz", "-o", "q.onnx"], &options[..]].concat(),
    );
    assert!(said.contains("fewest bits") && said.contains("int8"), "{said}");
    let apart = apart(&outputs(here, "m.onnx"), &outputs(here, "q.onnx"));
    assert!(apart < 1.3e-3, "{apart}");
    // Without any loss all layers stay in floats.
    let said =
        succeed(here, &["quantize", "m.onnx", "--data", "data.npz", "-o", "q.onnx", "--max-loss", "0"]);
    assert!(said.contains("layers: 3 float"), "{said}");
    assert_eq!(outputs(here, "m.onnx"), outputs(here, "q.onnx"));
}

#[test]
fn a_folder_of_runs_is_the_same_data() {
    let directory = folder();
    let here = directory.path();
    fs::create_dir(here.join("runs")).unwrap();
    let all = images(24, 1);
    for (i, bytes) in all.bytes().chunks(all.bytes().len() / 2).enumerate() {
        let half = Tensor::from_bytes(DType::F32, &[12, 1, 8, 8], bytes).unwrap();
        npz::write(&here.join(format!("runs/{i}.npy")), [("x", &half)]).unwrap();
    }
    succeed(here, &["quantize", "m.onnx", "--data", "runs", "-o", "a.onnx"]);
    succeed(here, &["quantize", "m.onnx", "--data", "data.npz", "-o", "b.onnx"]);
    assert!(fs::read(here.join("a.onnx")).unwrap() == fs::read(here.join("b.onnx")).unwrap());
}

#[test]
fn what_cannot_be_quantized_is_said() {
    let directory = folder();
    let here = directory.path();
    let refused = |data: &str, options: &[&str], why: &str| {
        let said =
            complaint(here, &[&["quantize", "m.onnx", "--data", data, "-o", "q.onnx"], options].concat());
        assert!(said.contains(why), "{said}");
        assert!(!here.join("q.onnx").exists());
    };
    let write = |name: &str, tensor: Tensor| npz::write(&here.join(name), [("x", &tensor)]).unwrap();
    write("wide.npz", Tensor::zeros(DType::F32, &[4, 1, 8, 9]).unwrap());
    refused("wide.npz", &[], "input \"x\" is a tensor<4x1x8x9xf32> in each run, and the model takes a");
    write("none.npz", Tensor::zeros(DType::F32, &[0, 1, 8, 8]).unwrap());
    refused("none.npz", &[], "input \"x\" has no samples; give at least one");
    write("nan.npz", Tensor::from_f64s(DType::F32, &[1, 1, 8, 8], &[f64::NAN; 64]).unwrap());
    refused("nan.npz", &[], "input \"x\" has elements that are NaN or infinite");
    npz::write(&here.join("other.npz"), [("z", &images(1, 1))]).unwrap();
    refused("other.npz", &[], "the model has no input \"z\"; its inputs are \"x\"");
    fs::create_dir(here.join("empty")).unwrap();
    refused("empty", &[], "there is nothing to calibrate on; give at least one sample");
    refused("missing.npz", &[], "missing.npz");
    refused("data.npz", &["--labels", "data.npz"], "--labels is for --metric top1, and the metric is cosine");
    refused(
        "data.npz",
        &["--percentile", "99"],
        "--percentile is for --method percentile, and the method is max",
    );
    refused(
        "data.npz",
        &["--target", "nvidia:sm_80"],
        "runs models on a processor, and nvidia:sm_80 is a GPU",
    );
    let labels = Tensor::from_ints(DType::I64, &[3], &[1, 2, 3]).unwrap();
    npz::write(&here.join("labels.npy"), [("labels", &labels)]).unwrap();
    let labels = ["--metric", "top1", "--labels", "labels.npy"];
    refused("data.npz", &labels, "there are 3 labels, and the first output has 24 rows over all samples");
    let form = complaint(here, &["quantize", "m.onnx", "--data", "data.npz", "-o", "q.so"]);
    assert!(form.contains("q.so is neither .onnx nor .mlir"), "{form}");
    let nowhere = complaint(here, &["quantize", "m.onnx", "--data", "data.npz", "-o", "no/q.onnx"]);
    assert!(nowhere.contains("cannot write no/q.onnx: there is no directory no; make it first"), "{nowhere}");
    fs::write(here.join("exp.mlir"), "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>\n  return %y : tensor<2xf32>\n}").unwrap();
    npz::write(&here.join("two.npz"), [("arr_0", &Tensor::zeros(DType::F32, &[2]).unwrap())]).unwrap();
    let nothing = complaint(here, &["quantize", "exp.mlir", "--data", "two.npz", "-o", "q.mlir"]);
    assert!(nothing.contains("the model has nothing to quantize"), "{nothing}");
    let other = complaint(here, &["quantize", "exp.mlir", "--data", "two.npz", "-o", "q.onnx"]);
    assert!(other.contains("exp.mlir is no ONNX file, which another is made of"), "{other}");
    assert!(!here.join("q.mlir").exists());
}
