//! Programs that repeat a constant, as quantized ones do: once compiled to wrong numbers, by rules that multiplied constants without end.

use crate::common::succeed;
use fusion_operators::{DType, Tensor};
use fusion_runtime::npz;
use std::path::{Path, PathBuf};

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

/// What a program gives for inputs in a file, under a strategy.
fn run(model: &Path, inputs: &Path, strategy: &str) -> Vec<Tensor> {
    let directory = tempfile::tempdir().unwrap();
    let [model, inputs] = [model, inputs].map(|path| path.to_str().unwrap());
    succeed(
        directory.path(),
        &["run", model, "--strategy", strategy, "--inputs", inputs, "--outputs", "outputs.npz"],
    );
    let outputs = npz::read(&directory.path().join("outputs.npz")).unwrap();
    outputs.into_iter().map(|(_, tensor)| tensor).collect()
}

/// The largest difference, in units of the largest element that is wanted.
fn difference(found: &Tensor, wanted: &Tensor) -> f64 {
    assert_eq!(found.tensor_type(), wanted.tensor_type());
    let (found, wanted) = (found.to_f64s(), wanted.to_f64s());
    let largest = wanted.iter().fold(1e-30f64, |most, v| most.max(v.abs()));
    found.iter().zip(&wanted).map(|(a, b)| (a - b).abs() / largest).fold(0.0, f64::max)
}

fn scaled(name: &str, shape: &[usize], wanted: fn(f64) -> f64) {
    let directory = tempfile::tempdir().unwrap();
    let count: usize = shape.iter().product();
    let numbers: Vec<f64> = (0..count).map(|i| i as f64 * 0.37 - 1.9).collect();
    let x = Tensor::from_f64s(DType::F32, shape, &numbers).unwrap();
    let wanted: Vec<f64> = x.to_f64s().into_iter().map(wanted).collect();
    let wanted = Tensor::from_f64s(DType::F32, shape, &wanted).unwrap();
    let inputs = directory.path().join("x.npz");
    npz::write(&inputs, [("x", &x)]).unwrap();
    for strategy in ["none", "egraph"] {
        let found = run(&models().join("repeated_scale").join(name), &inputs, strategy);
        let off = difference(&found[0], &wanted);
        assert!(off < 5e-7, "{name} with --strategy {strategy} is off by {off:e}");
    }
}

#[test]
fn a_quotient_and_products_by_one_number() {
    scaled("divided_and_multiplied.mlir", &[4], |x| f64::from(0.1f32) * x);
}

#[test]
fn twice_a_scale_by_the_scale() {
    scaled("twice_a_scale.mlir", &[2, 3, 4], |x| 2.0 * x);
}

#[test]
fn halves_and_a_shift() {
    scaled("halves_and_a_shift.mlir", &[2, 3, 4], |x| x / 2.0 + 1.0);
}

fn quantized(name: &str, most: f64) {
    let folder = models().join("quantized").join(name);
    let wanted = npz::read(&folder.join("expected.npz")).unwrap();
    for strategy in ["none", "egraph"] {
        let found = run(&folder.join("model.onnx"), &folder.join("x.npz"), strategy);
        for (found, (output, wanted)) in found.iter().zip(&wanted) {
            let off = difference(found, wanted);
            assert!(off <= most, "{output} of {name} with --strategy {strategy} is off by {off:e}");
        }
    }
}

#[test]
fn quantized_sums_with_one_scale() {
    for name in ["residual_add_concat", "resize_add_conv", "matmul_add"] {
        quantized(name, 1e-6);
    }
}

#[test]
fn ties_are_rounded_as_the_standard_says() {
    for name in ["ties_of_average_pool", "ties_of_max_pool", "ties_of_qlinear_matmul"] {
        quantized(name, 0.0);
    }
}
