//! Movement by computed indices: known values (from the ONNX operators' documentation), unknown
//! extents, and each constraint.

use fusion_operators::reference::{EvalError, evaluate};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType, ops::indexing::*};

fn f32s(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn i64s(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn run(op: &'static Operator, attrs: Attrs, operands: &[Tensor]) -> Tensor {
    evaluate(op, &attrs, operands).unwrap().remove(0)
}

fn out_of_range(op: &'static Operator, attrs: Attrs, operands: &[Tensor]) -> bool {
    matches!(evaluate(op, &attrs, operands), Err(EvalError::Value(_)))
}

fn axis(axis: i64) -> Attrs {
    Attrs::new().with("axis", axis)
}

fn reduction(how: &str) -> Attrs {
    Attrs::new().with("reduction", how)
}

fn data(shape: &[u64]) -> TensorType {
    TensorType::fixed(shape, DType::F32)
}

fn indices(shape: &[u64]) -> TensorType {
    TensorType::fixed(shape, DType::I64)
}

fn violated(op: &'static Operator, attrs: Attrs, operands: &[TensorType]) -> u32 {
    op.infer(operands, &attrs).unwrap_err().number
}

#[test]
fn gather_rows() {
    let x = f32s(&[3, 2], &[1.0, 1.2, 2.3, 3.4, 4.5, 5.7]);
    let got = run(&GATHER, Attrs::new(), &[x, i64s(&[2, 2], &[0, 1, 1, 2])]);
    assert_eq!(got, f32s(&[2, 2, 2], &[1.0, 1.2, 2.3, 3.4, 2.3, 3.4, 4.5, 5.7]));
}

#[test]
fn gather_columns() {
    let x = f32s(&[3, 3], &[1.0, 1.2, 1.9, 2.3, 3.4, 3.9, 4.5, 5.7, 5.9]);
    let got = run(&GATHER, axis(1), &[x, i64s(&[1, 2], &[0, -1])]);
    assert_eq!(got, f32s(&[3, 1, 2], &[1.0, 1.9, 2.3, 3.9, 4.5, 5.9]));
}

#[test]
fn gather_keeps_unknown_extents() {
    let x = TensorType::new(vec![3.into(), Dim::Symbol("n".into())], DType::F32);
    let got = GATHER.infer(&[x, TensorType::new(vec![Dim::Any], DType::I32)], &Attrs::new()).unwrap();
    assert_eq!(got[0].dims, [Dim::Any, Dim::Symbol("n".into())]);
}

#[test]
fn gather_out_of_range_is_an_error() {
    let x = f32s(&[2], &[1., 2.]);
    assert!(out_of_range(&GATHER, Attrs::new(), &[x.clone(), i64s(&[1], &[2])]));
    assert!(out_of_range(&GATHER, Attrs::new(), &[x, i64s(&[1], &[i64::MIN])]));
}

#[test]
fn gather_constraints() {
    assert_eq!(violated(&GATHER, axis(0), &[data(&[3]), data(&[1])]), 1);
    assert_eq!(violated(&GATHER, axis(1), &[data(&[3]), indices(&[1])]), 2);
    assert_eq!(violated(&GATHER, axis(0), &[data(&[]), indices(&[1])]), 2);
}

#[test]
fn gather_elements_along_an_axis() {
    let x = f32s(&[2, 2], &[1., 2., 3., 4.]);
    let got = run(&GATHER_ELEMENTS, axis(1), &[x, i64s(&[2, 2], &[0, 0, 1, 0])]);
    assert_eq!(got, f32s(&[2, 2], &[1., 1., 4., 3.]));
}

#[test]
fn gather_elements_of_fewer_columns() {
    let x = f32s(&[3, 3], &[1., 2., 3., 4., 5., 6., 7., 8., 9.]);
    let got = run(&GATHER_ELEMENTS, Attrs::new(), &[x, i64s(&[2, 2], &[-1, -2, 0, 1])]);
    assert_eq!(got, f32s(&[2, 2], &[7., 5., 1., 5.]));
}

#[test]
fn gather_elements_constraints() {
    assert_eq!(violated(&GATHER_ELEMENTS, axis(0), &[data(&[3]), data(&[1])]), 1);
    assert_eq!(violated(&GATHER_ELEMENTS, axis(-2), &[data(&[3]), indices(&[1])]), 2);
    assert_eq!(violated(&GATHER_ELEMENTS, axis(0), &[data(&[3]), indices(&[1, 1])]), 3);
    assert_eq!(violated(&GATHER_ELEMENTS, axis(0), &[data(&[3, 2]), indices(&[3, 3])]), 3);
}

#[test]
fn gather_nd_elements() {
    let x = f32s(&[2, 2], &[0., 1., 2., 3.]);
    let got = run(&GATHER_ND, Attrs::new(), &[x, i64s(&[2, 2], &[0, 0, 1, 1])]);
    assert_eq!(got, f32s(&[2], &[0., 3.]));
}

#[test]
fn gather_nd_rows() {
    let x = f32s(&[2, 2], &[0., 1., 2., 3.]);
    let got = run(&GATHER_ND, Attrs::new(), &[x, i64s(&[2, 1], &[1, 0])]);
    assert_eq!(got, f32s(&[2, 2], &[2., 3., 0., 1.]));
}

#[test]
fn gather_nd_in_batches() {
    let x = f32s(&[2, 2, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
    let got = run(&GATHER_ND, Attrs::new().with("batch_dims", 1), &[x, i64s(&[2, 1], &[1, 0])]);
    assert_eq!(got, f32s(&[2, 2], &[2., 3., 4., 5.]));
}

#[test]
fn gather_nd_constraints() {
    let batch = |n: i64| Attrs::new().with("batch_dims", n);
    let unknown = TensorType::new(vec![2.into(), Dim::Any], DType::I64);
    assert_eq!(violated(&GATHER_ND, batch(0), &[data(&[3]), data(&[1])]), 1);
    assert_eq!(violated(&GATHER_ND, batch(-1), &[data(&[3]), indices(&[1])]), 2);
    assert_eq!(violated(&GATHER_ND, batch(1), &[data(&[3]), indices(&[1])]), 2);
    assert_eq!(violated(&GATHER_ND, batch(1), &[data(&[3, 3]), indices(&[2, 1])]), 2);
    assert_eq!(violated(&GATHER_ND, batch(0), &[data(&[3]), indices(&[2])]), 3);
    assert_eq!(violated(&GATHER_ND, batch(0), &[data(&[3]), indices(&[])]), 3);
    assert_eq!(violated(&GATHER_ND, batch(0), &[data(&[3, 3]), unknown]), 3);
}

#[test]
fn scatter_elements_overwrites() {
    let operands =
        [f32s(&[1, 5], &[1., 2., 3., 4., 5.]), i64s(&[1, 2], &[1, -2]), f32s(&[1, 2], &[1.1, 2.1])];
    assert_eq!(run(&SCATTER_ELEMENTS, axis(1), &operands), f32s(&[1, 5], &[1., 1.1, 3., 2.1, 5.]));
}

#[test]
fn scatter_elements_adds_each_update() {
    let operands = [f32s(&[1, 5], &[1., 2., 3., 4., 5.]), i64s(&[1, 2], &[1, 1]), f32s(&[1, 2], &[1.1, 2.1])];
    let got = run(&SCATTER_ELEMENTS, axis(1).with("reduction", "add"), &operands);
    assert_eq!(got, f32s(&[1, 5], &[1., 5.2, 3., 4., 5.]));
}

#[test]
fn scatter_elements_on_other_rows() {
    let operands = [
        f32s(&[3, 3], &[0.; 9]),
        i64s(&[2, 3], &[1, 0, 2, 0, 2, 1]),
        f32s(&[2, 3], &[1., 2., 3., 4., 5., 6.]),
    ];
    let got = run(&SCATTER_ELEMENTS, Attrs::new(), &operands);
    assert_eq!(got, f32s(&[3, 3], &[4., 2., 0., 1., 0., 6., 0., 5., 3.]));
}

#[test]
fn scatter_out_of_range_is_an_error() {
    let operands = [f32s(&[2], &[1., 2.]), i64s(&[1], &[2]), f32s(&[1], &[9.])];
    assert!(out_of_range(&SCATTER_ELEMENTS, Attrs::new(), &operands));
}

#[test]
fn scatter_elements_constraints() {
    let of = |d: &[u64], i: &[u64], u: &[u64]| [data(d), indices(i), data(u)];
    let ints = [data(&[3]), indices(&[1]), indices(&[1])];
    assert_eq!(violated(&SCATTER_ELEMENTS, axis(0), &[data(&[3]), data(&[1]), data(&[1])]), 1);
    assert_eq!(violated(&SCATTER_ELEMENTS, axis(1), &of(&[3], &[1], &[1])), 2);
    assert_eq!(violated(&SCATTER_ELEMENTS, axis(0), &of(&[3], &[1], &[2])), 3);
    assert_eq!(violated(&SCATTER_ELEMENTS, axis(0), &of(&[3], &[1, 1], &[1, 1])), 3);
    assert_eq!(violated(&SCATTER_ELEMENTS, axis(0), &of(&[3, 1], &[1, 2], &[1, 2])), 3);
    assert_eq!(violated(&SCATTER_ELEMENTS, axis(0), &ints), 4);
    assert_eq!(violated(&SCATTER_ELEMENTS, reduction("avg"), &of(&[3], &[1], &[1])), 5);
}

#[test]
fn scatter_nd_elements() {
    let x = f32s(&[8], &[1., 2., 3., 4., 5., 6., 7., 8.]);
    let operands = [x, i64s(&[4, 1], &[4, 3, 1, 7]), f32s(&[4], &[9., 10., 11., 12.])];
    assert_eq!(run(&SCATTER_ND, Attrs::new(), &operands), f32s(&[8], &[1., 11., 3., 10., 9., 6., 7., 12.]));
}

#[test]
fn scatter_nd_rows_with_maximum() {
    let operands =
        [f32s(&[2, 2], &[0., 5., 0., 0.]), i64s(&[2, 1], &[0, 0]), f32s(&[2, 2], &[1., 2., 3., 4.])];
    assert_eq!(run(&SCATTER_ND, reduction("max"), &operands), f32s(&[2, 2], &[3., 5., 0., 0.]));
}

#[test]
fn scatter_nd_multiplies_exactly_and_wraps() {
    let operands = [i64s(&[1], &[i64::MAX]), i64s(&[2, 1], &[0, 0]), i64s(&[2], &[2, 3])];
    assert_eq!(run(&SCATTER_ND, reduction("mul"), &operands), i64s(&[1], &[-6]));
}

#[test]
fn scatter_nd_constraints() {
    let of = |d: &[u64], i: &[u64], u: &[u64]| [data(d), indices(i), data(u)];
    assert_eq!(violated(&SCATTER_ND, Attrs::new(), &[data(&[3]), data(&[1]), data(&[])]), 1);
    assert_eq!(violated(&SCATTER_ND, Attrs::new(), &of(&[3], &[1, 2], &[1])), 3);
    assert_eq!(violated(&SCATTER_ND, Attrs::new(), &of(&[3, 2], &[1, 1], &[1, 3])), 3);
    assert_eq!(violated(&SCATTER_ND, Attrs::new(), &[data(&[3]), indices(&[1, 1]), indices(&[1])]), 4);
    assert_eq!(violated(&SCATTER_ND, reduction("xor"), &of(&[3], &[1, 1], &[1])), 5);
}

#[test]
fn one_hot_on_the_last_axis() {
    let operands = [i64s(&[2], &[0, -1]), f32s(&[], &[3.]), f32s(&[], &[1.])];
    let got = run(&ONE_HOT, Attrs::new().with("depth", 3), &operands);
    assert_eq!(got, f32s(&[2, 3], &[3., 1., 1., 1., 1., 3.]));
}

#[test]
fn one_hot_on_the_first_axis() {
    let operands = [i64s(&[2], &[0, 1]), f32s(&[], &[1.]), f32s(&[], &[0.])];
    let got = run(&ONE_HOT, axis(0).with("depth", 3), &operands);
    assert_eq!(got, f32s(&[3, 2], &[1., 0., 0., 1., 0., 0.]));
}

#[test]
fn one_hot_out_of_range_is_off() {
    let operands = [i64s(&[2], &[3, -4]), f32s(&[], &[1.]), f32s(&[], &[0.])];
    assert_eq!(run(&ONE_HOT, Attrs::new().with("depth", 3), &operands), f32s(&[2, 3], &[0.; 6]));
}

#[test]
fn one_hot_constraints() {
    let depth = |n: i64| Attrs::new().with("depth", n);
    let of = |i: TensorType| [i, data(&[]), data(&[])];
    assert_eq!(violated(&ONE_HOT, depth(3), &of(data(&[2]))), 1);
    assert_eq!(violated(&ONE_HOT, depth(3), &[indices(&[2]), data(&[]), indices(&[])]), 2);
    assert_eq!(violated(&ONE_HOT, depth(3), &[indices(&[2]), data(&[1]), data(&[])]), 2);
    assert_eq!(violated(&ONE_HOT, depth(3).with("axis", 2), &of(indices(&[2]))), 3);
    assert_eq!(violated(&ONE_HOT, depth(-1), &of(indices(&[2]))), 4);
    assert_eq!(violated(&ONE_HOT, Attrs::new(), &of(indices(&[2]))), 4);
}
