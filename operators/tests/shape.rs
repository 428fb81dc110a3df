//! Movement by position: known values, unknown extents, and each constraint.

use fusion_operators::reference::{EvalError, evaluate};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType, ops::shape::*};

fn f32s(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn counting(shape: &[usize]) -> Tensor {
    let values: Vec<f32> = (0..shape.iter().product::<usize>()).map(|v| v as f32).collect();
    f32s(shape, &values)
}

fn run(op: &'static Operator, attrs: Attrs, operands: &[Tensor]) -> Vec<f32> {
    evaluate(op, &attrs, operands).unwrap()[0].to_vec().unwrap()
}

fn symbol(name: &str) -> Dim {
    Dim::Symbol(name.into())
}

fn ty(dims: &[Dim]) -> TensorType {
    TensorType::new(dims.to_vec(), DType::F32)
}

fn fixed(shape: &[u64]) -> TensorType {
    TensorType::fixed(shape, DType::F32)
}

fn dims(op: &'static Operator, attrs: Attrs, operand: TensorType) -> Vec<Dim> {
    op.infer(&[operand], &attrs).unwrap()[0].dims.clone()
}

fn violated(op: &'static Operator, attrs: Attrs, operands: &[TensorType]) -> u32 {
    op.infer(operands, &attrs).unwrap_err().number
}

fn shape(extents: &[i64]) -> Attrs {
    Attrs::new().with("shape", extents)
}

fn axes(axes: &[i64]) -> Attrs {
    Attrs::new().with("axes", axes)
}

fn slice(begin: &[i64], end: &[i64], strides: &[i64]) -> Attrs {
    Attrs::new().with("begin", begin).with("end", end).with("strides", strides)
}

fn pad(padding: &[i64], mode: &str) -> Attrs {
    Attrs::new().with("padding", padding).with("mode", mode)
}

fn resize(size: &[i64], scales: &[f64]) -> Attrs {
    Attrs::new().with("size", size).with("scales", scales.to_vec())
}

#[test]
fn reshape_fills_in_the_dynamic_extent() {
    assert_eq!(dims(&RESHAPE, shape(&[4, -1]), fixed(&[2, 6])), fixed(&[4, 3]).dims);
}

#[test]
fn reshape_keeps_the_only_symbol() {
    let got = dims(&RESHAPE, shape(&[-1, 16]), ty(&[symbol("n"), 4.into(), 4.into()]));
    assert_eq!(got, [symbol("n"), 16.into()]);
}

#[test]
fn reshape_of_several_unknown_extents_is_unknown() {
    let got = dims(&RESHAPE, shape(&[-1, 4]), ty(&[symbol("n"), Dim::Any, 4.into()]));
    assert_eq!(got, [Dim::Any, 4.into()]);
}

#[test]
fn reshape_constraints() {
    assert_eq!(violated(&RESHAPE, Attrs::new(), &[fixed(&[4])]), 1);
    assert_eq!(violated(&RESHAPE, shape(&[-1, -1]), &[fixed(&[4])]), 1);
    assert_eq!(violated(&RESHAPE, shape(&[-2, 2]), &[fixed(&[4])]), 1);
    assert_eq!(violated(&RESHAPE, shape(&[5]), &[fixed(&[4])]), 2);
    assert_eq!(violated(&RESHAPE, shape(&[3, -1]), &[fixed(&[4])]), 2);
    assert_eq!(violated(&RESHAPE, shape(&[0, -1]), &[fixed(&[0])]), 2);
    assert_eq!(violated(&RESHAPE, shape(&[4]), &[ty(&[Dim::Any, 3.into()])]), 2);
    assert_eq!(violated(&RESHAPE, shape(&[i64::MAX, i64::MAX]), &[fixed(&[4])]), 2);
}

#[test]
fn transpose_reverses_without_axes() {
    assert_eq!(run(&TRANSPOSE, Attrs::new(), &[counting(&[2, 3])]), [0., 3., 1., 4., 2., 5.]);
}

#[test]
fn transpose_moves_axes() {
    let got = evaluate(&TRANSPOSE, &axes(&[1, 2, 0]), &[counting(&[2, 1, 3])]).unwrap();
    assert_eq!(got[0], f32s(&[1, 3, 2], &[0., 3., 1., 4., 2., 5.]));
}

#[test]
fn transpose_constraints() {
    assert_eq!(violated(&TRANSPOSE, axes(&[0]), &[fixed(&[2, 3])]), 1);
    assert_eq!(violated(&TRANSPOSE, axes(&[0, 0]), &[fixed(&[2, 3])]), 1);
    assert_eq!(violated(&TRANSPOSE, axes(&[0, i64::MIN]), &[fixed(&[2, 3])]), 1);
}

#[test]
fn squeeze_removes_all_ones_without_axes() {
    assert_eq!(dims(&SQUEEZE, Attrs::new(), fixed(&[1, 3, 1])), fixed(&[3]).dims);
}

#[test]
fn squeeze_takes_an_unknown_extent_as_one_when_named() {
    assert_eq!(dims(&SQUEEZE, axes(&[-2]), ty(&[Dim::Any, 3.into()])), fixed(&[3]).dims);
}

#[test]
fn squeeze_constraints() {
    assert_eq!(violated(&SQUEEZE, axes(&[2]), &[fixed(&[1, 3])]), 1);
    assert_eq!(violated(&SQUEEZE, axes(&[1]), &[fixed(&[1, 3])]), 2);
    assert_eq!(violated(&SQUEEZE, Attrs::new(), &[ty(&[Dim::Any])]), 2);
}

#[test]
fn expand_dims_counts_in_the_result() {
    assert_eq!(dims(&EXPAND_DIMS, axes(&[0, -1]), ty(&[symbol("n")])), [1.into(), symbol("n"), 1.into()]);
}

#[test]
fn expand_dims_constraints() {
    assert_eq!(violated(&EXPAND_DIMS, axes(&[2]), &[fixed(&[3])]), 1);
    assert_eq!(violated(&EXPAND_DIMS, axes(&[0, -3]), &[fixed(&[3])]), 1);
}

#[test]
fn broadcast_to_repeats() {
    let got = run(&BROADCAST_TO, shape(&[2, 2, 2]), &[f32s(&[2, 1], &[1., 2.])]);
    assert_eq!(got, [1., 1., 2., 2., 1., 1., 2., 2.]);
}

#[test]
fn broadcast_to_takes_unknown_extents() {
    assert_eq!(dims(&BROADCAST_TO, shape(&[1, 3]), ty(&[Dim::Any, 1.into()])), fixed(&[1, 3]).dims);
}

#[test]
fn broadcast_to_constraints() {
    assert_eq!(violated(&BROADCAST_TO, shape(&[1]), &[fixed(&[3])]), 1);
    assert_eq!(violated(&BROADCAST_TO, shape(&[3]), &[fixed(&[1, 3])]), 1);
    assert_eq!(violated(&BROADCAST_TO, shape(&[-1]), &[fixed(&[1])]), 1);
}

#[test]
fn broadcast_to_more_than_memory_is_an_error() {
    let huge = evaluate(&BROADCAST_TO, &shape(&[i64::MAX, i64::MAX]), &[counting(&[1])]);
    assert!(matches!(huge, Err(EvalError::Value(_))));
}

#[test]
fn concat_joins_along_the_axis() {
    let parts = [counting(&[2, 1]), counting(&[2, 2]), counting(&[2, 0])];
    assert_eq!(run(&CONCAT, Attrs::new().with("axis", -1), &parts), [0., 0., 1., 1., 2., 3.]);
}

#[test]
fn concat_meets_unknown_extents() {
    let (a, b) = (ty(&[symbol("n"), 2.into()]), ty(&[5.into(), 3.into()]));
    let got = CONCAT.infer(&[a, b], &Attrs::new().with("axis", 1)).unwrap();
    assert_eq!(got, [fixed(&[5, 5])]);
}

#[test]
fn concat_constraints() {
    let axis = |a: i64| Attrs::new().with("axis", a);
    assert_eq!(violated(&CONCAT, axis(0), &[fixed(&[2]), fixed(&[2]).with_dtype(DType::I8)]), 1);
    assert_eq!(violated(&CONCAT, axis(0), &[fixed(&[2]), fixed(&[2, 1])]), 1);
    assert_eq!(violated(&CONCAT, axis(1), &[fixed(&[2]), fixed(&[2])]), 2);
    assert_eq!(violated(&CONCAT, Attrs::new(), &[fixed(&[2])]), 2);
    assert_eq!(violated(&CONCAT, axis(0), &[fixed(&[2, 3]), fixed(&[2, 4])]), 3);
    assert_eq!(violated(&CONCAT, axis(0), &[fixed(&[u64::MAX]), fixed(&[1])]), 3);
    assert_eq!(violated(&CONCAT, axis(0), &[]), 0);
}

#[test]
fn split_cuts_pieces() {
    let attrs = Attrs::new().with("axis", 1).with("sections", [1, 2]);
    let got = evaluate(&SPLIT, &attrs, &[counting(&[2, 3])]).unwrap();
    assert_eq!(got, [f32s(&[2, 1], &[0., 3.]), f32s(&[2, 2], &[1., 2., 4., 5.])]);
}

#[test]
fn split_constraints() {
    let attrs = |axis: i64, sections: &[i64]| Attrs::new().with("axis", axis).with("sections", sections);
    assert_eq!(violated(&SPLIT, attrs(1, &[3]), &[fixed(&[3])]), 1);
    assert_eq!(violated(&SPLIT, attrs(0, &[1, 1]), &[fixed(&[3])]), 2);
    assert_eq!(violated(&SPLIT, attrs(0, &[4, -1]), &[fixed(&[3])]), 2);
    assert_eq!(violated(&SPLIT, attrs(0, &[i64::MAX, i64::MAX, 5]), &[fixed(&[3])]), 2);
}

#[test]
fn slice_clamps_and_strides() {
    assert_eq!(run(&SLICE, slice(&[1], &[1000], &[2]), &[counting(&[6])]), [1., 3., 5.]);
}

#[test]
fn slice_runs_backwards_through_the_first_element() {
    assert_eq!(run(&SLICE, slice(&[-1], &[i64::MIN], &[-2]), &[counting(&[5])]), [4., 2., 0.]);
}

#[test]
fn slice_of_an_inner_axis() {
    let attrs = Attrs::new().with("begin", [1]).with("end", [-1]).with("axes", [-1]);
    assert_eq!(run(&SLICE, attrs, &[counting(&[2, 4])]), [1., 2., 5., 6.]);
}

#[test]
fn slice_may_be_empty() {
    assert!(run(&SLICE, slice(&[4], &[2], &[1]), &[counting(&[5])]).is_empty());
}

#[test]
fn slice_stride_longer_than_memory_keeps_one() {
    assert_eq!(run(&SLICE, slice(&[3], &[i64::MIN], &[i64::MIN]), &[counting(&[5])]), [3.]);
}

#[test]
fn slice_of_a_whole_unknown_axis_keeps_it() {
    let n = ty(&[symbol("n")]);
    assert_eq!(dims(&SLICE, slice(&[0], &[i64::MAX], &[1]), n.clone()), [symbol("n")]);
    assert_eq!(dims(&SLICE, slice(&[-1], &[i64::MIN], &[-1]), n.clone()), [symbol("n")]);
    assert_eq!(dims(&SLICE, slice(&[1], &[i64::MAX], &[1]), n), [Dim::of_text("max(n-1, 0)")]);
}

#[test]
fn slice_constraints() {
    assert_eq!(violated(&SLICE, slice(&[0], &[1, 2], &[1]), &[fixed(&[5])]), 1);
    assert_eq!(violated(&SLICE, slice(&[0, 0], &[1, 2], &[1, 1]), &[fixed(&[5])]), 2);
    assert_eq!(violated(&SLICE, slice(&[0], &[1], &[0]), &[fixed(&[5])]), 3);
}

#[test]
fn pad_with_a_value() {
    let attrs = pad(&[0, 1, 0, 0], "constant").with("value", 9.0);
    assert_eq!(run(&PAD, attrs, &[counting(&[2, 2])]), [9., 0., 1., 9., 2., 3.]);
}

#[test]
fn pad_repeats_the_edge() {
    assert_eq!(run(&PAD, pad(&[2, 1], "edge"), &[counting(&[3])]), [0., 0., 0., 1., 2., 2.]);
}

#[test]
fn pad_reflects_without_the_edge() {
    assert_eq!(run(&PAD, pad(&[2, 2], "reflect"), &[counting(&[3])]), [2., 1., 0., 1., 2., 1., 0.]);
}

#[test]
fn pad_wraps_around_more_than_once() {
    assert_eq!(run(&PAD, pad(&[1, 3], "wrap"), &[counting(&[2])]), [1., 0., 1., 0., 1., 0.]);
}

#[test]
fn pad_removes_before_it_adds() {
    assert_eq!(run(&PAD, pad(&[-1, 2], "edge"), &[counting(&[3])]), [1., 2., 2., 2.]);
}

#[test]
fn pad_of_an_unknown_extent() {
    let n = ty(&[symbol("n"), symbol("m")]);
    assert_eq!(dims(&PAD, pad(&[0, 1, 0, 0], "edge"), n), [symbol("n"), Dim::of_text("m+1")]);
}

#[test]
fn pad_constraints() {
    assert_eq!(violated(&PAD, pad(&[1], "constant"), &[fixed(&[3])]), 1);
    assert_eq!(violated(&PAD, pad(&[1, 1], "mirror"), &[fixed(&[3])]), 2);
    assert_eq!(violated(&PAD, pad(&[-2, -2], "constant"), &[fixed(&[3])]), 3);
    assert_eq!(violated(&PAD, pad(&[i64::MIN, i64::MIN], "constant"), &[fixed(&[3])]), 3);
    assert_eq!(violated(&PAD, pad(&[3, 0], "reflect"), &[fixed(&[3])]), 3);
    assert_eq!(violated(&PAD, pad(&[0, 1], "edge"), &[fixed(&[0])]), 3);
    assert_eq!(violated(&PAD, pad(&[0, 1], "wrap"), &[fixed(&[0])]), 3);
}

#[test]
fn tile_repeats() {
    let attrs = Attrs::new().with("reps", [2, 2]);
    assert_eq!(run(&TILE, attrs, &[counting(&[1, 2])]), [0., 1., 0., 1., 0., 1., 0., 1.]);
}

#[test]
fn tile_constraints() {
    let reps = |n: &[i64]| Attrs::new().with("reps", n);
    assert_eq!(violated(&TILE, reps(&[1, 1]), &[fixed(&[3])]), 1);
    assert_eq!(violated(&TILE, reps(&[-1]), &[fixed(&[3])]), 1);
    assert_eq!(violated(&TILE, reps(&[i64::MAX]), &[fixed(&[3])]), 1);
}

#[test]
fn reverse_runs_backwards() {
    assert_eq!(run(&REVERSE, axes(&[1]), &[counting(&[2, 3])]), [2., 1., 0., 5., 4., 3.]);
}

#[test]
fn reverse_constraints() {
    assert_eq!(violated(&REVERSE, axes(&[1]), &[fixed(&[3])]), 1);
    assert_eq!(violated(&REVERSE, axes(&[0, -1]), &[fixed(&[3])]), 1);
    assert_eq!(violated(&REVERSE, Attrs::new(), &[fixed(&[3])]), 1);
}

#[test]
fn resize_nearest_doubles() {
    let attrs = resize(&[4], &[2.0]);
    assert_eq!(run(&RESIZE, attrs, &[f32s(&[2], &[1., 2.])]), [1., 1., 2., 2.]);
}

#[test]
fn resize_linear_between_pixel_centres() {
    let attrs = resize(&[4], &[2.0]).with("method", "linear");
    assert_eq!(run(&RESIZE, attrs, &[f32s(&[2], &[1., 2.])]), [1., 1.25, 1.75, 2.]);
}

#[test]
fn resize_linear_with_corners_aligned() {
    let attrs = resize(&[2, 3], &[1.0, 1.5]).with("method", "linear").with("coordinates", "align_corners");
    assert_eq!(run(&RESIZE, attrs, &[counting(&[2, 2])]), [0., 0.5, 1., 2., 2.5, 3.]);
}

#[test]
fn resize_with_corners_aligned_by_a_scale_that_cuts() {
    // ONNX node test resize_downsample_scales_linear_align_corners
    let attrs = resize(&[1, 2], &[0.6, 0.6]).with("method", "linear").with("coordinates", "align_corners");
    let x = f32s(&[2, 4], &[1., 2., 3., 4., 5., 6., 7., 8.]);
    assert_eq!(run(&RESIZE, attrs, &[x]), [1., 22. / 7.]);
}

#[test]
fn resize_rounds_halves_as_asked() {
    let x = [counting(&[4])];
    let attrs = |how: &str| resize(&[2], &[0.5]).with("rounding", how);
    assert_eq!(run(&RESIZE, attrs("round_prefer_floor"), &x), [0., 2.]);
    assert_eq!(run(&RESIZE, attrs("round_prefer_ceil"), &x), [1., 3.]);
    assert_eq!(run(&RESIZE, attrs("floor"), &x), [0., 2.]);
    assert_eq!(run(&RESIZE, attrs("ceil"), &x), [1., 3.]);
}

#[test]
fn resize_linear_does_not_read_beyond_an_exact_place() {
    let attrs = resize(&[2], &[1.0]).with("method", "linear");
    assert_eq!(run(&RESIZE, attrs, &[f32s(&[2], &[1., f32::INFINITY])]), [1., f32::INFINITY]);
}

#[test]
fn resize_constraints() {
    assert_eq!(violated(&RESIZE, resize(&[4], &[]), &[fixed(&[2])]), 1);
    assert_eq!(violated(&RESIZE, resize(&[0], &[1.0]), &[fixed(&[2])]), 1);
    assert_eq!(violated(&RESIZE, resize(&[4], &[f64::NAN]), &[fixed(&[2])]), 1);
    assert_eq!(violated(&RESIZE, resize(&[4], &[2.0]), &[fixed(&[0])]), 1);
    assert_eq!(violated(&RESIZE, resize(&[4], &[2.0]).with("method", "cubic"), &[fixed(&[2])]), 2);
    assert_eq!(violated(&RESIZE, resize(&[4], &[2.0]).with("coordinates", "x"), &[fixed(&[2])]), 2);
    assert_eq!(violated(&RESIZE, resize(&[4], &[2.0]).with("rounding", "x"), &[fixed(&[2])]), 2);
    let ints = fixed(&[2]).with_dtype(DType::I32);
    assert_eq!(violated(&RESIZE, resize(&[4], &[2.0]).with("method", "linear"), &[ints]), 3);
}

#[test]
fn an_empty_tensor_of_huge_extents_does_not_overflow() {
    let huge = Tensor::zeros(DType::F32, &[0, 1 << 62, 8]).unwrap();
    assert!(evaluate(&TRANSPOSE, &Attrs::new(), &[huge]).is_err());
}

#[test]
fn elements_of_several_tensors_are_added() {
    let pieces = vec![TensorType::fixed(&[1, 256], DType::F32); 4];
    assert_eq!(fusion_operators::operator::cost::elements(&pieces), 1024.0);
}
