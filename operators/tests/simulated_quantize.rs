//! What is left of elements where whole numbers stand for them.

use fusion_operators::ops::quantization::SIMULATED_QUANTIZE;
use fusion_operators::{Attrs, Call, DType, Tensor, TensorType};

fn floats(shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_f64s(DType::F32, shape, values).unwrap()
}

fn left(x: Tensor, scale: Tensor, zero: f64, (least, most): (f64, f64)) -> Vec<f64> {
    let operands = [x, scale, floats(&[], &[zero]), floats(&[], &[least]), floats(&[], &[most])];
    let types: Vec<TensorType> = operands.iter().map(Tensor::tensor_type).collect();
    let attrs = Attrs::new();
    let results = SIMULATED_QUANTIZE.infer(&types, &attrs).unwrap();
    let call = Call { op: &SIMULATED_QUANTIZE, operands: &types, attrs: &attrs };
    (SIMULATED_QUANTIZE.reference)(&call, &results, &operands).unwrap()[0].to_f64s()
}

#[test]
fn halves_round_to_even_and_ends_saturate() {
    let x = floats(&[6], &[0.25, 0.75, -0.25, 100.0, -100.0, f64::INFINITY]);
    assert_eq!(left(x, floats(&[], &[0.5]), 3.0, (0.0, 7.0)), [0.0, 1.0, 0.0, 2.0, -1.5, 2.0]);
}

#[test]
fn channels_have_scales_and_a_scale_of_zero_leaves_all() {
    let x = floats(&[2, 2], &[0.3, 1.3, 0.3, 1.3]);
    let y = left(x, floats(&[2, 1], &[0.5, 0.0]), 0.0, (-127.0, 127.0));
    assert_eq!(y, [0.5, 1.5, f64::from(0.3f32), f64::from(1.3f32)]);
}

#[test]
fn nan_stays() {
    assert!(left(floats(&[1], &[f64::NAN]), floats(&[], &[0.5]), 0.0, (-127.0, 127.0))[0].is_nan());
}

#[test]
fn constraints_are_named() {
    let ty = |shape: &[u64], dtype| TensorType::fixed(shape, dtype);
    let said = |x, scale| {
        let one = ty(&[], DType::F32);
        SIMULATED_QUANTIZE
            .infer(&[x, scale, one.clone(), one.clone(), one], &Attrs::new())
            .unwrap_err()
            .to_string()
    };
    assert!(said(ty(&[2], DType::I8), ty(&[], DType::F32)).contains("C1"));
    assert!(said(ty(&[2], DType::F32), ty(&[], DType::F16)).contains("C1"));
    assert!(said(ty(&[2], DType::F32), ty(&[3, 1], DType::F32)).contains("C2"));
}
