//! Pools with values from the examples of ONNX's `MaxPool` and `AveragePool`.

mod known;

use fusion_operators::ops::pooling::*;
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType};
use known::{assert_close, f32s, infer, range, result, violated};

/// 1, 2, 3, ... as one image of one channel.
fn image(height: usize, width: usize) -> Tensor {
    f32s(&[1, 1, height, width], (1..=height * width).map(|i| i as f64))
}

fn kernel(extent: i64) -> Attrs {
    Attrs::new().with("kernel", [extent, extent])
}

#[test]
fn max_pool2d_with_strides() {
    let y = result(&MAX_POOL2D, &kernel(2).with("strides", [2, 2]), &[image(5, 5)]);
    assert_close(&y, &[7., 9., 17., 19.]);
}

#[test]
fn max_pool2d_with_dilation() {
    let y = result(&MAX_POOL2D, &kernel(2).with("dilation", [2, 2]), &[image(4, 4)]);
    assert_close(&y, &[11., 12., 15., 16.]);
}

#[test]
fn max_pool2d_rounding_up() {
    let attrs = kernel(3).with("strides", [2, 2]).with("ceil_mode", true);
    assert_close(&result(&MAX_POOL2D, &attrs, &[image(4, 4)]), &[11., 12., 15., 16.]);
}

#[test]
fn rounding_up_leaves_out_a_window_that_starts_in_the_padding() {
    let attrs = kernel(1).with("strides", [2, 2]).with("ceil_mode", true);
    assert_close(&result(&MAX_POOL2D, &attrs, &[image(2, 2)]), &[1.]);
}

#[test]
fn rounding_up_lets_the_only_window_hang_over() {
    let attrs = kernel(3).with("strides", [2, 2]).with("ceil_mode", true);
    assert_close(&result(&MAX_POOL2D, &attrs, &[image(2, 2)]), &[4.]);
    assert_close(&result(&AVG_POOL2D, &attrs, &[image(2, 2)]), &[2.5]);
    let narrow = kernel(3).with("strides", [1, 1]).with("ceil_mode", true);
    assert!(MAX_POOL2D.infer(&[image(2, 2).tensor_type()], &narrow).is_err());
}

#[test]
fn padding_is_never_the_maximum() {
    let attrs = Attrs::new().with("kernel", [2]).with("padding", [1, 1]);
    let y = result(&MAX_POOL1D, &attrs, &[f32s(&[1, 1, 2], [-3., -5.])]);
    assert_close(&y, &[-3., -3., -5.]);
}

#[test]
fn max_pool_of_integers() {
    let attrs = Attrs::new().with("kernel", [2]).with("padding", [1, 0]);
    let signed = Tensor::from_slice::<i8>(&[1, 1, 3], &[-128, -127, 5]).unwrap();
    assert_eq!(result(&MAX_POOL1D, &attrs, &[signed]).to_vec::<i8>(), Some(vec![-128, -127, 5]));
    let unsigned = Tensor::from_slice(&[1, 1, 2], &[u64::MAX, 1]).unwrap();
    assert_eq!(result(&MAX_POOL1D, &attrs, &[unsigned]).to_vec(), Some(vec![u64::MAX, u64::MAX]));
}

#[test]
fn a_maximum_with_nan_is_nan() {
    let x = f32s(&[1, 1, 3], [f64::NAN, 1., 2.]);
    let y = result(&MAX_POOL1D, &Attrs::new().with("kernel", [2]), &[x]).to_f64s();
    assert!(y[0].is_nan() && y[1] == 2.);
}

#[test]
fn max_pool3d_covers_a_box() {
    let attrs = Attrs::new().with("kernel", [2, 2, 2]);
    let y = result(&MAX_POOL3D, &attrs, &[range(&[1, 1, 2, 2, 3])]);
    assert_close(&y, &[10., 11.]);
}

#[test]
fn avg_pool2d_leaves_padding_out() {
    let y = result(&AVG_POOL2D, &kernel(5).with("padding", [2, 2, 2, 2]), &[image(5, 5)]);
    assert_close(&y.clone().reshaped(&[25]).unwrap(), &(0..25).map(average_at).collect::<Vec<_>>());

    fn average_at(i: usize) -> f64 {
        7. + 0.5 * (i % 5) as f64 + 2.5 * (i / 5) as f64
    }
}

#[test]
fn avg_pool2d_counts_padding() {
    let attrs = kernel(5).with("padding", [2, 2, 2, 2]).with("count_include_pad", true);
    let expected = [
        [2.52, 3.6, 4.8, 4.08, 3.24],
        [4.56, 6.4, 8.4, 7.04, 5.52],
        [7.2, 10., 13., 10.8, 8.4],
        [6.96, 9.6, 12.4, 10.24, 7.92],
        [6.12, 8.4, 10.8, 8.88, 6.84],
    ];
    assert_close(&result(&AVG_POOL2D, &attrs, &[image(5, 5)]), expected.as_flattened());
}

#[test]
fn avg_pool2d_rounding_up() {
    let attrs = kernel(3).with("strides", [2, 2]).with("ceil_mode", true);
    assert_close(&result(&AVG_POOL2D, &attrs, &[image(4, 4)]), &[6., 7.5, 12., 13.5]);
}

#[test]
fn counted_padding_ends_with_the_padding() {
    let attrs = Attrs::new().with("kernel", [3]).with("strides", [2]).with("padding", [0, 1]);
    let attrs = attrs.with("ceil_mode", true).with("count_include_pad", true);
    let y = result(&AVG_POOL1D, &attrs, &[f32s(&[1, 1, 5], [1., 2., 3., 4., 5.])]);
    assert_close(&y, &[2., 4., 2.5]);
}

#[test]
fn a_window_of_nothing_but_padding() {
    let attrs = Attrs::new().with("kernel", [1]).with("padding", [1, 0]);
    let x = f32s(&[1, 1, 1], [7.]);
    assert_eq!(result(&MAX_POOL1D, &attrs, std::slice::from_ref(&x)).to_f64s(), [f64::NEG_INFINITY, 7.]);
    assert!(result(&AVG_POOL1D, &attrs, &[x]).f64_at(0).is_nan());
}

#[test]
fn global_pools_cover_all_spatial_axes() {
    let x = range(&[1, 2, 2, 2]);
    let max = result(&GLOBAL_MAX_POOL, &Attrs::new(), std::slice::from_ref(&x));
    assert_eq!(max.shape(), [1, 2, 1, 1]);
    assert_close(&max, &[3., 7.]);
    assert_close(&result(&GLOBAL_AVG_POOL, &Attrs::new(), &[x]), &[1.5, 5.5]);
}

#[test]
fn global_pools_of_no_elements() {
    let x = f32s(&[1, 1, 0], []);
    assert!(result(&GLOBAL_AVG_POOL, &Attrs::new(), std::slice::from_ref(&x)).f64_at(0).is_nan());
    assert_eq!(result(&GLOBAL_MAX_POOL, &Attrs::new(), &[x]).to_f64s(), [f64::NEG_INFINITY]);
}

#[test]
fn unknown_extents_stay_unknown() {
    let n = Dim::Symbol("n".into());
    let data = TensorType::new(vec![n.clone(), Dim::Any, Dim::Any], DType::F32);
    let found = infer(&MAX_POOL1D, &Attrs::new().with("kernel", [2]), &[data]);
    assert_eq!(found.dims, [n, Dim::Any, Dim::Any]);
}

#[test]
fn the_rank_is_the_operators() {
    assert_eq!(violated(&MAX_POOL2D, &kernel(2), &[&[1, 1, 4]]).0, 1);
    assert_eq!(violated(&GLOBAL_MAX_POOL, &Attrs::new(), &[&[1, 1]]).0, 1);
}

#[test]
fn bad_attributes_violate_c2() {
    for attrs in
        [Attrs::new(), kernel(0), kernel(2).with("strides", [1]), kernel(2).with("padding", [0, 0, -1, 0])]
    {
        assert_eq!(violated(&AVG_POOL2D, &attrs, &[&[1, 1, 4, 4]]).0, 2, "{attrs:?}");
    }
}

#[test]
fn the_kernel_must_fit() {
    assert_eq!(violated(&MAX_POOL2D, &kernel(5), &[&[1, 1, 4, 4]]).0, 3);
}

#[test]
fn means_are_of_floats() {
    let ints = [TensorType::fixed(&[1, 1, 4, 4], DType::I32)];
    assert_eq!(AVG_POOL2D.infer(&ints, &kernel(2)).unwrap_err().number, 4);
    assert_eq!(GLOBAL_AVG_POOL.infer(&ints, &Attrs::new()).unwrap_err().number, 2);
}
