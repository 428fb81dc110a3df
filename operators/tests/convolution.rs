//! Convolutions with values from the examples of ONNX's `Conv` and `ConvTranspose`.

mod known;

use fusion_operators::ops::convolution::*;
use fusion_operators::ops::window::Window;
use fusion_operators::{Attrs, Call, DType, Dim, Tensor, TensorType};
use known::{assert_close, f32s, infer, range, result, violated};

fn ones(shape: &[usize]) -> Tensor {
    f32s(shape, vec![1.; shape.iter().product()])
}

#[test]
fn conv2d_without_padding() {
    let y = result(&CONV2D, &Attrs::new(), &[range(&[1, 1, 5, 5]), ones(&[1, 1, 3, 3])]);
    assert_eq!(y.shape(), [1, 1, 3, 3]);
    assert_close(&y, &[54., 63., 72., 99., 108., 117., 144., 153., 162.]);
}

#[test]
fn conv2d_with_strides_and_padding() {
    let attrs = Attrs::new().with("strides", [2, 2]).with("padding", [1, 1, 1, 1]);
    let y = result(&CONV2D, &attrs, &[range(&[1, 1, 7, 5]), ones(&[1, 1, 3, 3])]);
    assert_close(&y, &[12., 27., 24., 63., 108., 81., 123., 198., 141., 112., 177., 124.]);
}

#[test]
fn padding_may_differ_at_the_ends() {
    let attrs = Attrs::new().with("strides", [2, 2]).with("padding", [1, 0, 1, 0]);
    let y = result(&CONV2D, &attrs, &[range(&[1, 1, 7, 5]), ones(&[1, 1, 3, 3])]);
    assert_close(&y, &[21., 33., 99., 117., 189., 207., 171., 183.]);
}

#[test]
fn conv1d_with_dilation() {
    let attrs = Attrs::new().with("dilation", [2]);
    let y = result(&CONV1D, &attrs, &[range(&[1, 1, 5]), f32s(&[1, 1, 2], [1., 10.])]);
    assert_close(&y, &[20., 31., 42.]);
}

#[test]
fn groups_see_their_own_channels() {
    let attrs = Attrs::new().with("groups", 2);
    let y = result(&CONV1D, &attrs, &[range(&[1, 4, 1]), f32s(&[2, 2, 1], [1., 1., 1., 10.])]);
    assert_close(&y, &[1., 32.]);
}

#[test]
fn conv3d_sums_over_a_box() {
    let y = result(&CONV3D, &Attrs::new(), &[range(&[1, 1, 2, 2, 2]), ones(&[1, 1, 2, 2, 2])]);
    assert_close(&y, &[28.]);
}

#[test]
fn integer_convolutions_wrap() {
    let x = Tensor::from_slice::<u8>(&[1, 1, 2], &[200, 100]).unwrap();
    let w = Tensor::from_slice::<u8>(&[1, 1, 2], &[1, 1]).unwrap();
    assert_eq!(result(&CONV1D, &Attrs::new(), &[x, w]).to_vec::<u8>(), Some(vec![44]));
}

#[test]
fn transpose1d_spreads_each_element() {
    let y = result(&CONV1D_TRANSPOSE, &Attrs::new(), &[range(&[1, 1, 3]), ones(&[1, 2, 3])]);
    assert_eq!(y.shape(), [1, 2, 5]);
    assert_close(&y, &[0., 1., 3., 3., 2., 0., 1., 3., 3., 2.]);
}

#[test]
fn transpose2d_with_dilation() {
    let x = f32s(&[1, 1, 3, 3], [3., 8., 1., 9., 5., 7., 3., 2., 6.]);
    let w = f32s(&[1, 1, 2, 2], [7., 2., 1., 9.]);
    let y = result(&CONV2D_TRANSPOSE, &Attrs::new().with("dilation", [2, 2]), &[x, w]);
    let expected = [
        [21., 56., 13., 16., 2.],
        [63., 35., 67., 10., 14.],
        [24., 22., 76., 76., 21.],
        [9., 5., 88., 45., 63.],
        [3., 2., 33., 18., 54.],
    ];
    assert_close(&y, expected.as_flattened());
}

#[test]
fn transpose_with_strides_padding_and_output_padding() {
    let attrs = Attrs::new().with("strides", [2]).with("padding", [1, 1]).with("output_padding", [1]);
    let y = result(&CONV1D_TRANSPOSE, &attrs, &[range(&[1, 1, 3]), ones(&[1, 1, 3])]);
    assert_close(&y, &[0., 1., 1., 3., 2., 2.]);
}

#[test]
fn transpose_is_the_adjoint_of_convolution() {
    let attrs = Attrs::new().with("strides", [2, 1]).with("padding", [1, 0, 0, 2]).with("groups", 2);
    let (x, w) = (range(&[2, 4, 6, 4]), f32s(&[6, 2, 3, 2], (0..72).map(|i| f64::from(i % 7) - 3.)));
    let y = result(&CONV2D, &attrs, &[x.clone(), w.clone()]);
    let dy = f32s(y.shape(), (0..y.len()).map(|i| (i % 5) as f64 - 2.));
    let dx = result(&CONV2D_TRANSPOSE, &attrs, &[dy.clone(), w]);
    assert_eq!(dx.shape(), x.shape());
    let dot = |a: &Tensor, b: &Tensor| a.to_f64s().iter().zip(b.to_f64s()).map(|(a, b)| a * b).sum::<f64>();
    assert_eq!(dot(&y, &dy), dot(&x, &dx));
}

#[test]
fn a_symbolic_batch_passes_through() {
    let symbol = Dim::Symbol("n".into());
    let dims = vec![symbol.clone(), Dim::Static(3), Dim::Static(224), Dim::Any];
    let operands = [TensorType::new(dims, DType::F32), TensorType::fixed(&[64, 3, 7, 7], DType::F32)];
    let attrs = Attrs::new().with("strides", [2, 2]).with("padding", [3, 3, 3, 3]);
    let found = infer(&CONV2D, &attrs, &operands);
    assert_eq!(found.dims, [symbol, Dim::Static(64), Dim::Static(112), Dim::Any]);
}

#[test]
fn cost_is_two_operations_a_multiply_add() {
    let operands =
        [TensorType::fixed(&[1, 3, 224, 224], DType::F32), TensorType::fixed(&[64, 3, 7, 7], DType::F32)];
    let attrs = Attrs::new().with("strides", [2, 2]).with("padding", [3, 3, 3, 3]);
    let results = CONV2D.infer(&operands, &attrs).unwrap();
    let call = Call { op: &CONV2D, operands: &operands, attrs: &attrs };
    assert_eq!((CONV2D.cost)(&call, &results), 2. * 64. * 112. * 112. * 3. * 49.);
}

#[test]
fn a_window_reads_its_attributes() {
    let attrs = Attrs::new().with("strides", [2, 1]).with("padding", [1, 2, 3, 4]).with("groups", 2);
    let window = Window::of_convolution(&attrs, &TensorType::fixed(&[4, 2, 3, 5], DType::F32)).unwrap();
    let found: Vec<_> = window.axes.iter().map(|a| (a.stride, a.dilation, a.begin, a.end)).collect();
    assert_eq!((found, window.groups), (vec![(2, 1, 1, 3), (1, 1, 2, 4)], 2));
    assert_eq!(window.kernel(), Some(vec![3, 5]));
}

const DATA: &[u64] = &[1, 4, 5, 5];
const WEIGHT: &[u64] = &[6, 4, 3, 3];

#[test]
fn element_types_must_agree() {
    let operands = [TensorType::fixed(DATA, DType::F32), TensorType::fixed(WEIGHT, DType::F64)];
    assert_eq!(CONV2D.infer(&operands, &Attrs::new()).unwrap_err().number, 1);
}

#[test]
fn the_rank_is_the_operators() {
    assert_eq!(violated(&CONV3D, &Attrs::new(), &[DATA, WEIGHT]).0, 2);
    assert_eq!(violated(&CONV1D_TRANSPOSE, &Attrs::new(), &[DATA, WEIGHT]).0, 2);
}

#[test]
fn bad_attributes_violate_c3() {
    for attrs in [
        Attrs::new().with("strides", [1]),
        Attrs::new().with("strides", [0, 1]),
        Attrs::new().with("strides", 2),
        Attrs::new().with("dilation", [1, -1]),
        Attrs::new().with("dilation", [i64::MAX, 1]),
        Attrs::new().with("padding", [1, 1]),
        Attrs::new().with("padding", [0, 0, 0, -1]),
        Attrs::new().with("groups", 0),
        Attrs::new().with("groups", i64::MIN),
    ] {
        assert_eq!(violated(&CONV2D, &attrs, &[DATA, WEIGHT]).0, 3, "{attrs:?}");
    }
}

#[test]
fn a_transposes_output_padding_violates_c3() {
    let attrs = Attrs::new().with("output_padding", [-1, 0]);
    let (number, message) = violated(&CONV2D_TRANSPOSE, &attrs, &[DATA, &[4, 2, 3, 3]]);
    assert_eq!(number, 3);
    assert_eq!(message, "output_padding must be 0 or more on every axis, found [-1, 0]");
}

#[test]
fn an_empty_kernel_violates_c3() {
    assert_eq!(violated(&CONV2D, &Attrs::new(), &[DATA, &[6, 4, 0, 3]]).0, 3);
}

#[test]
fn channels_must_fit_the_groups() {
    let (number, message) = violated(&CONV2D, &Attrs::new(), &[DATA, &[6, 3, 3, 3]]);
    assert_eq!(number, 4);
    assert_eq!(
        message,
        "the data's channels must be groups times the weight's, found 4 channels, 1 groups and 3 of the weight"
    );
    let groups = |n: i64| Attrs::new().with("groups", n);
    assert_eq!(violated(&CONV2D, &groups(4), &[DATA, &[6, 1, 3, 3]]).0, 4);
    assert_eq!(violated(&CONV2D, &groups(i64::MAX), &[DATA, &[0, 4, 3, 3]]).0, 4);
    assert_eq!(violated(&CONV2D_TRANSPOSE, &groups(3), &[DATA, &[4, 2, 3, 3]]).0, 4);
    assert_eq!(violated(&CONV2D_TRANSPOSE, &groups(1), &[DATA, &[5, 2, 3, 3]]).0, 4);
}

#[test]
fn the_kernel_must_fit() {
    let (number, message) =
        violated(&CONV1D, &Attrs::new().with("padding", [0, 1]), &[&[1, 1, 2], &[1, 1, 4]]);
    assert_eq!(number, 5);
    assert_eq!(
        message,
        "the dilated kernel must fit the padded data on spatial axis 0, found kernel 4 with dilation 1 over extent 2 with padding 0 and 1"
    );
}

#[test]
fn a_transposes_extent_must_be_above_zero() {
    let attrs = Attrs::new().with("padding", [2, 1]);
    assert_eq!(violated(&CONV1D_TRANSPOSE, &attrs, &[&[1, 1, 1], &[1, 1, 3]]).0, 5);
}

#[test]
fn a_result_too_large_is_an_error() {
    let attrs = Attrs::new().with("padding", [i64::MAX / 2, i64::MAX / 4]);
    let operands = [range(&[1, 1, 1]), range(&[1, 1, 1])];
    assert!(fusion_operators::reference::evaluate(&CONV1D, &attrs, &operands).is_err());
}
