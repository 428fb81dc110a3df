//! Images in other orders than NCHW: the plain operator's values, moved.

mod known;

use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::layout::*;
use fusion_operators::ops::pooling::{AVG_POOL2D, MAX_POOL2D};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType, reference::evaluate};
use known::{assert_close, infer, range, result, violated};

fn to(x: &Tensor, src: &str, dst: &str) -> Tensor {
    let attrs = Attrs::new().with("src_layout", src).with("dst_layout", dst);
    result(&LAYOUT_TRANSFORM, &attrs, std::slice::from_ref(x))
}

/// That a row computes what the plain operator does, with data and result in an order.
fn agrees(
    row: &'static Operator,
    plain: &'static Operator,
    attrs: Attrs,
    x: &[Tensor],
    (data, kernel, out): (&str, &str, &str),
) {
    let expected = evaluate(plain, &attrs, x).unwrap();
    let mut operands = vec![to(&x[0], "NCHW", data)];
    let mut laid_out = attrs.with("data_layout", data).with("out_layout", out);
    if let Some(weight) = x.get(1) {
        operands.push(to(weight, "OIHW", kernel));
        laid_out.set("kernel_layout", kernel);
    }
    let y = result(row, &laid_out, &operands);
    let back = to(&y, out, "NCHW");
    assert_eq!(back.shape(), expected[0].shape());
    assert_close(&back, &expected[0].to_f64s());
}

#[test]
fn channels_last_move_elements() {
    let y = to(&range(&[1, 2, 1, 3]), "NCHW", "NHWC");
    assert_eq!(y.shape(), [1, 1, 3, 2]);
    assert_close(&y, &[0., 3., 1., 4., 2., 5.]);
}

#[test]
fn blocks_of_channels_come_back() {
    let x = range(&[2, 6, 2, 3]);
    let blocked = to(&x, "NCHW", "NCHW3c");
    assert_eq!(blocked.shape(), [2, 2, 2, 3, 3]);
    assert_close(&to(&blocked, "NCHW3c", "NCHW"), &x.to_f64s());
    assert_close(&to(&blocked, "NCHW3c", "NHWC"), &to(&x, "NCHW", "NHWC").to_f64s());
}

#[test]
fn convolutions_agree_with_the_plain_one() {
    let attrs = || Attrs::new().with("strides", [2, 1]).with("padding", [1, 0, 1, 2]);
    let x = [range(&[2, 4, 5, 6]), range(&[6, 4, 3, 2])];
    agrees(&LAYOUT_CONV2D, &CONV2D, attrs(), &x, ("NHWC", "OIHW", "NHWC"));
    agrees(&LAYOUT_CONV2D, &CONV2D, attrs(), &x, ("NCHW2c", "OIHW2i3o", "NCHW3c"));
    agrees(&LAYOUT_CONV2D, &CONV2D, attrs(), &x, ("NCHW", "HWIO", "NHWC"));
}

#[test]
fn a_depthwise_convolution_agrees_with_the_plain_one() {
    let x = [range(&[1, 4, 5, 6]), range(&[4, 1, 3, 3])];
    agrees(&LAYOUT_CONV2D, &CONV2D, Attrs::new().with("groups", 4), &x, ("NCHW2c", "OIHW2o", "NCHW2c"));
}

#[test]
fn pools_agree_with_the_plain_ones() {
    let attrs = || Attrs::new().with("kernel", [3, 2]).with("padding", [1, 0, 1, 1]);
    for layout in ["NHWC", "NCHW2c"] {
        agrees(&LAYOUT_MAX_POOL2D, &MAX_POOL2D, attrs(), &[range(&[2, 4, 5, 6])], (layout, "", layout));
        agrees(&LAYOUT_AVG_POOL2D, &AVG_POOL2D, attrs(), &[range(&[2, 4, 5, 6])], (layout, "", layout));
    }
}

#[test]
fn extents_that_are_not_known_stay_so() {
    let images = |dims: Vec<Dim>| TensorType::new(dims, DType::F32);
    let open = |channels: u64| images(vec![Dim::Any, Dim::Static(channels), Dim::Any, Dim::Static(5)]);
    let orders = Attrs::new().with("src_layout", "NCHW").with("dst_layout", "NCHW4c");
    let blocked = [Dim::Any, Dim::Static(2), Dim::Any, Dim::Static(5), Dim::Static(4)];
    assert_eq!(infer(&LAYOUT_TRANSFORM, &orders, &[open(8)]), images(blocked.to_vec()));
}

#[test]
fn constraints_are_cited() {
    let orders = |src: &str, dst: &str| Attrs::new().with("src_layout", src).with("dst_layout", dst);
    assert_eq!(violated(&LAYOUT_TRANSFORM, &Attrs::new(), &[&[1, 4, 2, 2]]).0, 1);
    assert_eq!(violated(&LAYOUT_TRANSFORM, &orders("NCHW", "NCH"), &[&[1, 4, 2, 2]]).0, 1);
    assert_eq!(violated(&LAYOUT_TRANSFORM, &orders("NCHW2c", "NCHW"), &[&[1, 4, 2, 2]]).0, 2);
    assert_eq!(violated(&LAYOUT_TRANSFORM, &orders("NCHW", "NCHW3c"), &[&[1, 4, 2, 2]]).0, 3);
    let data = Attrs::new().with("data_layout", "NHWC");
    assert_eq!(violated(&LAYOUT_CONV2D, &data, &[&[1, 5, 5, 4], &[6, 3, 1, 1]]).0, 4);
    let blocks = Attrs::new().with("out_layout", "NCHW4c");
    assert_eq!(violated(&LAYOUT_CONV2D, &blocks, &[&[1, 4, 5, 5], &[6, 4, 1, 1]]).0, 6);
    let (number, message) =
        violated(&LAYOUT_CONV2D, &Attrs::new().with("data_layout", "NCHWX"), &[&[1, 4, 5, 5], &[6, 4, 1, 1]]);
    assert_eq!(number, 6);
    assert_eq!(message, "data_layout \"NCHWX\" is no order of the axes NCHW: it has 'X'");
}
