//! Tensors from attributes and types: known values and each constraint.

use fusion_operators::reference::{EvalError, evaluate};
use fusion_operators::{Attrs, DType, Tensor, ops::creation::*};

fn arange(size: i64, dtype: DType) -> Attrs {
    Attrs::new().with("size", size).with("dtype", dtype)
}

fn run(attrs: Attrs) -> Tensor {
    evaluate(&ARANGE, &attrs, &[]).unwrap().remove(0)
}

#[test]
fn arange_counts_from_zero() {
    assert_eq!(run(arange(3, DType::I32)), Tensor::from_slice(&[3], &[0i32, 1, 2]).unwrap());
}

#[test]
fn arange_by_a_negative_step() {
    let attrs = arange(2, DType::F32).with("start", 1.0).with("step", -2.5);
    assert_eq!(run(attrs), Tensor::from_slice(&[2], &[1f32, -1.5]).unwrap());
}

#[test]
fn arange_of_integers_is_exact() {
    let attrs = arange(2, DType::I64).with("start", 2f64.powi(53));
    assert_eq!(run(attrs), Tensor::from_slice(&[2], &[1i64 << 53, (1 << 53) + 1]).unwrap());
}

#[test]
fn arange_of_extreme_numbers_does_not_overflow() {
    let attrs = arange(3, DType::I8).with("start", f64::MAX).with("step", f64::MIN);
    assert_eq!(run(attrs).len(), 3);
}

#[test]
fn arange_of_more_than_memory_is_an_error() {
    assert!(matches!(evaluate(&ARANGE, &arange(i64::MAX, DType::F32), &[]), Err(EvalError::Value(_))));
}

#[test]
fn arange_constraints() {
    let violated = |attrs: Attrs| ARANGE.infer(&[], &attrs).unwrap_err().number;
    assert_eq!(violated(Attrs::new().with("size", 3)), 1);
    assert_eq!(violated(arange(-1, DType::F32)), 2);
    assert_eq!(violated(Attrs::new().with("dtype", DType::F32)), 2);
}

#[test]
fn shape_of_gives_the_extents() {
    let x = Tensor::zeros(DType::F16, &[2, 0, 3]).unwrap();
    let got = evaluate(&SHAPE_OF, &Attrs::new(), &[x]).unwrap();
    assert_eq!(got, [Tensor::from_slice(&[3], &[2i64, 0, 3]).unwrap()]);
}

#[test]
fn shape_of_takes_one_operand() {
    assert_eq!(SHAPE_OF.infer(&[], &Attrs::new()).unwrap_err().number, 0);
}

#[test]
fn dynamic_iota_counts_below_its_operand() {
    let of = |n: i64| evaluate(&DYNAMIC_IOTA, &Attrs::new(), &[Tensor::from_slice(&[], &[n]).unwrap()]);
    assert_eq!(of(3).unwrap()[0], Tensor::from_slice(&[3], &[0i64, 1, 2]).unwrap());
    assert_eq!(of(0).unwrap()[0].shape(), [0]);
    assert!(matches!(of(-1), Err(EvalError::Value(why)) if why.ends_with("found -1")));
    assert!(matches!(of(i64::MAX), Err(EvalError::Value(_))));
}
