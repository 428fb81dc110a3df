//! Normalisations and softmax: values worked out by hand, and ONNX's examples of `Softmax`.

mod known;

use fusion_operators::ops::normalization::*;
use fusion_operators::{Attrs, DType, Dim, TensorType};
use known::{assert_close, f32s, infer, range, result, violated};

/// No epsilon, so that results are round numbers.
fn exact() -> Attrs {
    Attrs::new().with("epsilon", 0.)
}

#[test]
fn batch_norm_uses_the_statistics_of_each_channel() {
    let x = f32s(&[1, 2, 1, 3], [-1., 0., 1., 2., 3., 4.]);
    let by_channel = [[1., 1.5], [0., 1.], [0., 3.], [1., 4.]].map(|v| f32s(&[2], v));
    let y = result(&BATCH_NORM, &exact(), &[&[x], &by_channel[..]].concat());
    assert_close(&y, &[-1., 0., 1., 0.25, 1., 1.75]);
}

#[test]
fn epsilon_is_1e_5_when_absent() {
    let one = |v| f32s(&[1], [v]);
    let y = result(&BATCH_NORM, &Attrs::new(), &[range(&[2, 1]), one(1.), one(0.), one(0.), one(0.)]);
    assert_close(&y, &[0., 1e-5f64.sqrt().recip()]);
}

#[test]
fn instance_norm_is_over_the_spatial_axes() {
    let x = f32s(&[1, 2, 2], [1., 3., 10., 30.]);
    let y = result(&INSTANCE_NORM, &exact(), &[x, f32s(&[2], [1., 2.]), f32s(&[2], [0., 5.])]);
    assert_close(&y, &[-1., 1., 3., 7.]);
}

#[test]
fn group_norm_is_over_the_channels_of_a_group() {
    let x = f32s(&[1, 4, 1], [1., 3., 10., 30.]);
    let (gamma, beta) = (f32s(&[4], [1., 2., 1., 1.]), f32s(&[4], [0., 0., 0., 9.]));
    let y = result(&GROUP_NORM, &exact().with("num_groups", 2), &[x, gamma, beta]);
    assert_close(&y, &[-1., 2., -1., 10.]);
}

#[test]
fn layer_norm_is_over_the_last_axis_by_default() {
    let x = f32s(&[2, 2], [1., 3., 10., 30.]);
    let y = result(&LAYER_NORM, &exact(), &[x, f32s(&[2], [1., 2.]), f32s(&[1], [1.])]);
    assert_close(&y, &[0., 3., 0., 3.]);
}

#[test]
fn layer_norm_from_an_axis_on() {
    let x = f32s(&[1, 2, 2], [1., 3., 1., 3.]);
    let y = result(&LAYER_NORM, &exact().with("axis", 1), &[x, f32s(&[2, 1], [1., 2.]), f32s(&[], [0.])]);
    assert_close(&y, &[-1., 1., -2., 2.]);
}

#[test]
fn lrn_reaches_further_on_than_back() {
    let attrs = Attrs::new().with("size", 2).with("alpha", 2.).with("beta", 1.).with("bias", 0.);
    let y = result(&LRN, &attrs, &[f32s(&[1, 3, 1], [1., 2., 4.])]);
    assert_close(&y, &[1. / 5., 2. / 20., 4. / 16.]);
}

#[test]
fn an_lrn_window_may_exceed_the_channels() {
    let attrs = Attrs::new().with("size", i64::MAX).with("alpha", 0.);
    assert_close(&result(&LRN, &attrs, &[range(&[1, 3])]), &[0., 1., 2.]);
}

#[test]
fn softmax_is_along_the_last_axis_by_default() {
    let y = result(&SOFTMAX, &Attrs::new(), &[f32s(&[1, 3], [-1., 0., 1.])]);
    assert_close(&y, &[0.09003058, 0.24472848, 0.66524094]);
}

#[test]
fn softmax_along_another_axis() {
    let y = result(&SOFTMAX, &Attrs::new().with("axis", 0), &[f32s(&[2, 2], [0., 0., 0., 3f64.ln()])]);
    assert_close(&y, &[0.5, 0.25, 0.5, 0.75]);
}

#[test]
fn softmax_of_large_numbers_does_not_overflow() {
    let x = f32s(&[1, 4], [10000., 10001., 10002., 10003.]);
    let y = result(&SOFTMAX, &Attrs::new(), &[x]);
    assert_close(&y, &[0.032058604, 0.08714432, 0.23688284, 0.6439143]);
}

#[test]
fn log_softmax_is_its_logarithm() {
    let y = result(&LOG_SOFTMAX, &Attrs::new(), &[f32s(&[1, 3], [-1., 0., 1.])]);
    assert_close(&y, &[-2.4076061, -1.407606, -0.40760604]);
}

#[test]
fn tensors_without_elements_pass() {
    let empty = || f32s(&[0, 2, 3], []);
    let by_channel = || f32s(&[2], [1., 1.]);
    assert!(result(&SOFTMAX, &Attrs::new(), &[empty()]).is_empty());
    assert!(result(&LRN, &Attrs::new().with("size", 3), &[empty()]).is_empty());
    assert!(result(&INSTANCE_NORM, &exact(), &[empty(), by_channel(), by_channel()]).is_empty());
    assert!(result(&LAYER_NORM, &exact(), &[empty(), range(&[3]), range(&[3])]).is_empty());
}

#[test]
fn parameters_tell_an_unknown_channel_extent() {
    let n = Dim::Symbol("n".into());
    let data = TensorType::new(vec![n.clone(), Dim::Any, Dim::Any], DType::F16);
    let by_channel = TensorType::fixed(&[8], DType::F32);
    let found = infer(&INSTANCE_NORM, &exact(), &[data, by_channel.clone(), by_channel]);
    assert_eq!(found, TensorType::new(vec![n, Dim::Static(8), Dim::Any], DType::F16));
}

#[test]
fn the_data_is_of_floats() {
    let ints = [TensorType::fixed(&[2, 2], DType::I32)];
    assert_eq!(SOFTMAX.infer(&ints, &Attrs::new()).unwrap_err().number, 1);
    assert_eq!(LRN.infer(&ints, &Attrs::new().with("size", 1)).unwrap_err().number, 1);
}

#[test]
fn the_data_has_enough_axes() {
    assert_eq!(violated(&BATCH_NORM, &exact(), &[&[2], &[2], &[2], &[2], &[2]]).0, 1);
    assert_eq!(violated(&INSTANCE_NORM, &exact(), &[&[2, 2], &[2], &[2]]).0, 1);
}

#[test]
fn parameters_are_one_number_a_channel() {
    let (number, message) = violated(&INSTANCE_NORM, &exact(), &[&[1, 4, 2], &[4], &[5]]);
    assert_eq!(number, 2);
    assert_eq!(message, "beta must be a float tensor [4], one number a channel, found tensor<5xf32>");
}

#[test]
fn num_groups_must_divide_the_channels() {
    for attrs in [exact(), exact().with("num_groups", 0), exact().with("num_groups", 3)] {
        assert_eq!(violated(&GROUP_NORM, &attrs, &[&[1, 4], &[4], &[4]]).0, 3, "{attrs:?}");
    }
}

#[test]
fn the_axis_must_be_in_range() {
    for axis in [2, -3, i64::MIN] {
        assert_eq!(violated(&SOFTMAX, &Attrs::new().with("axis", axis), &[&[2, 2]]).0, 2);
    }
    assert_eq!(violated(&SOFTMAX, &Attrs::new(), &[&[]]).0, 2);
}

#[test]
fn layer_norms_scale_must_broadcast() {
    assert_eq!(violated(&LAYER_NORM, &exact(), &[&[2, 3], &[2], &[3]]).0, 3);
    assert_eq!(violated(&LAYER_NORM, &exact(), &[&[2, 3], &[3], &[2, 3]]).0, 3);
}

#[test]
fn lrns_size_must_be_above_zero() {
    assert_eq!(violated(&LRN, &Attrs::new(), &[&[1, 2]]).0, 2);
    assert_eq!(violated(&LRN, &Attrs::new().with("size", 0), &[&[1, 2]]).0, 2);
}
