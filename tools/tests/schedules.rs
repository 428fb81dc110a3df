//! The schedules of `examples/schedules` compute what the default ones do.

use crate::common::succeed;
use fusion_operators::{Tensor, TensorType};
use fusion_runtime::npz;
use std::path::Path;

/// Compares a model under its schedule with the same model under the default one.
fn check(name: &str, inputs: &[&[u64]]) {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/schedules");
    let model = examples.join(format!("{name}.mlir"));
    let schedule = examples.join(format!("{name}.schedule.mlir"));
    let (model, schedule) = (model.to_str().unwrap(), schedule.to_str().unwrap());
    let tensors: Vec<(String, Tensor)> = inputs
        .iter()
        .enumerate()
        .map(|(i, shape)| {
            let n = TensorType::fixed(shape, fusion_operators::DType::F32).elements().unwrap();
            let values: Vec<f32> = (0..n).map(|k| ((k * (i as u64 + 3)) as f32 * 0.37).sin()).collect();
            let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
            (format!("input_{i}"), Tensor::from_slice(&shape, &values).unwrap())
        })
        .collect();
    npz::write(&here.join("x.npz"), tensors.iter().map(|(n, t)| (n.as_str(), t))).unwrap();
    succeed(here, &["compile", model, "-o", "default.so"]);
    succeed(here, &["compile", model, "-o", "mine.so", "--schedule", schedule]);
    let outcome = |library: &str| {
        succeed(here, &["run", library, "--inputs", "x.npz", "--outputs", "y.npz"]);
        npz::read(&here.join("y.npz")).unwrap()["output_0"].to_f64s()
    };
    let (wanted, found) = (outcome("default.so"), outcome("mine.so"));
    assert_eq!(wanted.len(), found.len());
    for (i, (a, b)) in found.iter().zip(&wanted).enumerate() {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{name}[{i}] is {a}, wanted {b}");
    }
}

#[test]
fn a_product_of_matrices() {
    check("gemm", &[&[61, 96], &[130, 96]]);
}

#[test]
fn a_convolution() {
    check("convolution", &[&[1, 8, 15, 17], &[12, 8, 3, 3]]);
}

#[test]
fn a_softmax() {
    check("softmax", &[&[37, 100]]);
}
