//! Short ways to write operands and expectations.

use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorType};

/// A float tensor.
pub fn f32s(shape: &[usize], values: impl IntoIterator<Item = f64>) -> Tensor {
    Tensor::from_f64s(DType::F32, shape, &values.into_iter().collect::<Vec<_>>()).unwrap()
}

/// 0, 1, 2, ... as floats.
pub fn range(shape: &[usize]) -> Tensor {
    f32s(shape, (0..shape.iter().product()).map(|i| i as f64))
}

/// The only result of a call.
pub fn result(op: &'static Operator, attrs: &Attrs, operands: &[Tensor]) -> Tensor {
    evaluate(op, attrs, operands).unwrap().remove(0)
}

/// The only result's type.
pub fn infer(op: &'static Operator, attrs: &Attrs, operands: &[TensorType]) -> TensorType {
    op.infer(operands, attrs).unwrap().remove(0)
}

/// The constraint that float operands of these shapes violate, and the message.
pub fn violated(op: &'static Operator, attrs: &Attrs, shapes: &[&[u64]]) -> (u32, String) {
    let operands: Vec<_> = shapes.iter().map(|s| TensorType::fixed(s, DType::F32)).collect();
    let violation = op.infer(&operands, attrs).unwrap_err();
    (violation.number, violation.message)
}

/// Fails unless each element is within 1e-5 of the expected one.
pub fn assert_close(found: &Tensor, expected: &[f64]) {
    let found = found.to_f64s();
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(close),
        "found {found:?}, expected {expected:?}"
    );
}
