//! Any bytes as an ONNX model: it is read, its signature found and it is run on zeros, or refused; it never panics.

#![no_main]

use fusion_importers::onnx::{Model, Options, eager, signature};
use fusion_operators::Tensor;
use libfuzzer_sys::fuzz_target;

/// Inputs above this many bytes say more about the machine than about the importer.
const MOST_BYTES: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let options = Options::default();
    let Ok(model) = Model::from_bytes(bytes) else { return };
    let _ = model.ports();
    let Ok(inputs) = signature(&model, &options) else { return };
    let zeros = inputs.iter().map(|input| {
        let small = input.ty.bytes().is_some_and(|n| n <= MOST_BYTES);
        let shape = input.ty.shape().filter(|_| small)?;
        let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
        Tensor::zeros(input.ty.dtype, &shape).ok()
    });
    if let Some(zeros) = zeros.collect::<Option<Vec<_>>>() {
        let _ = eager::run(&model, &options, &zeros);
    }
});
