//! Reductions, scans and topk: known values, identities, and each constraint.

use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType, ops::reduction::*};

const NAN: f32 = f32::NAN;

fn f32s(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn i32s(shape: &[usize], values: &[i32]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn i64s(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn run(op: &'static Operator, attrs: Attrs, x: Tensor) -> Tensor {
    evaluate(op, &attrs, &[x]).unwrap().remove(0)
}

fn none() -> Attrs {
    Attrs::new()
}

fn axes(axes: &[i64]) -> Attrs {
    none().with("axes", axes)
}

fn axis(axis: i64) -> Attrs {
    none().with("axis", axis)
}

fn flag(name: &str) -> Attrs {
    none().with(name, fusion_operators::Attr::Bool(true))
}

fn violated(op: &'static Operator, attrs: Attrs, ty: TensorType) -> u32 {
    op.infer(&[ty], &attrs).unwrap_err().number
}

fn floats(shape: &[u64]) -> TensorType {
    TensorType::fixed(shape, DType::F32)
}

#[test]
fn sum_of_all_axes_when_absent() {
    assert_eq!(run(&REDUCE_SUM, none(), f32s(&[2, 2], &[1., 2., 3., 4.])), f32s(&[], &[10.]));
}

#[test]
fn sum_over_no_axes_changes_nothing() {
    let x = f32s(&[2], &[1., 2.]);
    assert_eq!(run(&REDUCE_SUM, axes(&[]), x.clone()), x);
}

#[test]
fn sum_and_mean_of_one_element_are_that_element() {
    for op in [&REDUCE_SUM, &REDUCE_MEAN] {
        let y = run(op, axes(&[1]), f32s(&[2, 1], &[-0., 1.]));
        assert_eq!((y.f64_at(0).is_sign_negative(), y.f64_at(1)), (true, 1.));
    }
}

#[test]
fn sum_over_outer_and_inner_axes() {
    let x = f32s(&[2, 2, 2], &[1., 2., 3., 4., 5., 6., 7., 8.]);
    assert_eq!(run(&REDUCE_SUM, axes(&[-1, 0]), x), f32s(&[2], &[14., 22.]));
}

#[test]
fn sum_keeps_dims_when_asked() {
    let attrs = axes(&[1]).with("keepdims", fusion_operators::Attr::Bool(true));
    assert_eq!(run(&REDUCE_SUM, attrs, f32s(&[2, 2], &[1., 2., 3., 4.])), f32s(&[2, 1], &[3., 7.]));
}

#[test]
fn sum_of_floats_is_rounded_once() {
    let x = f32s(&[4], &[1e8, 1., 1., -1e8]);
    assert_eq!(run(&REDUCE_SUM, none(), x), f32s(&[], &[2.]));
}

#[test]
fn sum_of_integers_wraps_at_the_end() {
    assert_eq!(run(&REDUCE_SUM, none(), i32s(&[3], &[i32::MAX, 2, -1])), i32s(&[], &[i32::MIN]));
}

#[test]
fn product_of_many_integers_does_not_overflow() {
    let x = i64s(&[40], &[i64::MAX; 40]);
    assert_eq!(run(&REDUCE_PROD, none(), x), i64s(&[], &[1]));
}

#[test]
fn mean_of_rows() {
    assert_eq!(run(&REDUCE_MEAN, axes(&[1]), f32s(&[2, 2], &[1., 2., 3., 4.])), f32s(&[2], &[1.5, 3.5]));
}

#[test]
fn max_and_min_pass_nan_on() {
    for op in [&REDUCE_MAX, &REDUCE_MIN] {
        let got: Vec<f32> = run(op, none(), f32s(&[3], &[1., NAN, 2.])).to_vec().unwrap();
        assert!(got[0].is_nan());
    }
}

#[test]
fn reductions_of_nothing_are_identities() {
    let empty = f32s(&[1, 0], &[]);
    let of = |op| run(op, axes(&[1]), empty.clone()).f64_at(0);
    assert_eq!(of(&REDUCE_SUM), 0.0);
    assert_eq!(of(&REDUCE_PROD), 1.0);
    assert_eq!(of(&REDUCE_MAX), f64::NEG_INFINITY);
    assert_eq!(of(&REDUCE_MIN), f64::INFINITY);
    assert!(of(&REDUCE_MEAN).is_nan());
}

#[test]
fn extremes_of_no_integers_are_the_limits_of_the_type() {
    let of = |op, dtype| run(op, none(), Tensor::zeros(dtype, &[0]).unwrap()).int_at(0);
    assert_eq!(of(&REDUCE_MAX, DType::I64), i64::MIN.into());
    assert_eq!(of(&REDUCE_MIN, DType::I8), i8::MAX.into());
    assert_eq!(of(&REDUCE_MAX, DType::U32), 0);
    assert_eq!(of(&REDUCE_MIN, DType::U64), u64::MAX.into());
    assert_eq!(of(&REDUCE_ALL, DType::Bool), 1);
    assert_eq!(of(&REDUCE_ANY, DType::Bool), 0);
}

#[test]
fn all_and_any_of_booleans() {
    let x = Tensor::from_ints(DType::Bool, &[2, 2], &[1, 0, 1, 1]).unwrap();
    assert_eq!(run(&REDUCE_ALL, axes(&[1]), x.clone()).to_ints(), [0, 1]);
    assert_eq!(run(&REDUCE_ANY, axes(&[1]), x).to_ints(), [1, 1]);
}

#[test]
fn reduction_of_unknown_extents() {
    let ty = TensorType::new(vec![Dim::Symbol("n".into()), Dim::Any], DType::F32);
    let got = REDUCE_SUM.infer(&[ty], &axes(&[1])).unwrap();
    assert_eq!(got[0].dims, [Dim::Symbol("n".into())]);
}

#[test]
fn reduction_constraints() {
    assert_eq!(violated(&REDUCE_SUM, axes(&[1]), floats(&[3])), 1);
    assert_eq!(violated(&REDUCE_SUM, axes(&[0, -1]), floats(&[3])), 1);
    assert_eq!(violated(&REDUCE_MEAN, none(), TensorType::fixed(&[3], DType::I32)), 2);
    assert_eq!(violated(&REDUCE_ALL, none(), floats(&[3])), 2);
    assert_eq!(violated(&REDUCE_ANY, none(), floats(&[3])), 2);
}

#[test]
fn argmax_takes_the_first_among_equals() {
    assert_eq!(run(&ARGMAX, axis(1), f32s(&[2, 2], &[2., 2., 3., 10.])), i64s(&[2], &[0, 1]));
}

#[test]
fn argmax_takes_the_last_when_asked() {
    let attrs = flag("select_last").with("axis", 1).with("keepdims", fusion_operators::Attr::Bool(true));
    assert_eq!(run(&ARGMAX, attrs, f32s(&[2, 2], &[2., 2., 3., 10.])), i64s(&[2, 1], &[1, 1]));
}

#[test]
fn argmin_along_the_first_axis_when_absent() {
    assert_eq!(run(&ARGMIN, none(), f32s(&[2, 2], &[2., 1., 3., 0.])), i64s(&[2], &[0, 1]));
}

#[test]
fn arg_reductions_find_nan() {
    for op in [&ARGMAX, &ARGMIN] {
        assert_eq!(run(op, none(), f32s(&[4], &[1., NAN, 5., NAN])), i64s(&[], &[1]));
    }
}

#[test]
fn argmax_tells_large_integers_apart() {
    assert_eq!(run(&ARGMAX, none(), i64s(&[2], &[i64::MAX - 1, i64::MAX])), i64s(&[], &[1]));
}

#[test]
fn arg_constraints() {
    assert_eq!(violated(&ARGMAX, axis(1), floats(&[3])), 1);
    assert_eq!(violated(&ARGMIN, none(), floats(&[])), 1);
    assert_eq!(violated(&ARGMAX, axis(0), floats(&[0, 3])), 2);
}

#[test]
fn cumsum_variants() {
    let x = || f32s(&[3], &[1., 2., 3.]);
    assert_eq!(run(&CUMSUM, none(), x()), f32s(&[3], &[1., 3., 6.]));
    assert_eq!(run(&CUMSUM, flag("exclusive"), x()), f32s(&[3], &[0., 1., 3.]));
    assert_eq!(run(&CUMSUM, flag("reverse"), x()), f32s(&[3], &[6., 5., 3.]));
    let both = flag("reverse").with("exclusive", fusion_operators::Attr::Bool(true));
    assert_eq!(run(&CUMSUM, both, x()), f32s(&[3], &[5., 3., 0.]));
}

#[test]
fn cumprod_along_the_last_axis() {
    assert_eq!(run(&CUMPROD, axis(-1), i32s(&[2, 2], &[2, 3, 4, 5])), i32s(&[2, 2], &[2, 6, 4, 20]));
}

#[test]
fn scan_constraints() {
    assert_eq!(violated(&CUMSUM, axis(1), floats(&[3])), 1);
    assert_eq!(violated(&CUMPROD, axis(0), TensorType::fixed(&[3], DType::Bool)), 2);
}

#[test]
fn topk_takes_the_greatest_in_order() {
    let x = f32s(&[2, 4], &[0., 1., 2., 3., 7., 6., 5., 4.]);
    let got = evaluate(&TOPK, &none().with("k", 2), &[x]).unwrap();
    assert_eq!(got, [f32s(&[2, 2], &[3., 2., 7., 6.]), i64s(&[2, 2], &[3, 2, 0, 1])]);
}

#[test]
fn topk_takes_the_least_along_another_axis() {
    let x = f32s(&[3, 2], &[0., 5., 1., 4., 2., 3.]);
    let attrs = flag("smallest").with("k", 1).with("axis", 0);
    assert_eq!(evaluate(&TOPK, &attrs, &[x]).unwrap(), [f32s(&[1, 2], &[0., 3.]), i64s(&[1, 2], &[0, 2])]);
}

#[test]
fn topk_keeps_the_order_of_equals() {
    for attrs in [none(), flag("smallest")] {
        let got = evaluate(&TOPK, &attrs.with("k", 3), &[f32s(&[3], &[0., -0., 0.])]).unwrap();
        assert_eq!(got[1], i64s(&[3], &[0, 1, 2]));
    }
}

#[test]
fn topk_counts_nan_as_greatest() {
    let got = evaluate(&TOPK, &none().with("k", 2), &[f32s(&[3], &[1., NAN, 2.])]).unwrap();
    assert_eq!(got[1], i64s(&[2], &[1, 2]));
}

#[test]
fn topk_of_an_unknown_extent() {
    let ty = TensorType::new(vec![Dim::Any], DType::F32);
    assert_eq!(
        TOPK.infer(&[ty], &none().with("k", 5)).unwrap(),
        [floats(&[5]), TensorType::fixed(&[5], DType::I64)]
    );
}

#[test]
fn topk_constraints() {
    assert_eq!(violated(&TOPK, axis(1).with("k", 1), floats(&[3])), 1);
    assert_eq!(violated(&TOPK, none().with("k", 4), floats(&[3])), 2);
    assert_eq!(violated(&TOPK, none().with("k", -1), floats(&[3])), 2);
    assert_eq!(violated(&TOPK, none(), floats(&[3])), 2);
}
