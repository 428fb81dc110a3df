//! Columns added into an image, against transposed convolutions by a kernel that has a filter for each position.

mod known;

use fusion_operators::ops::columns::COL2IM;
use fusion_operators::ops::convolution::{CONV1D_TRANSPOSE, CONV2D_TRANSPOSE};
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType};
use known::{assert_close, f32s, infer, range, result, violated};

#[test]
fn what_overlaps_is_added() {
    let attrs = Attrs::new().with("kernel", [3]);
    let y = result(&COL2IM, &attrs, &[f32s(&[1, 3, 2], [1., 2., 10., 20., 100., 200.])]);
    assert_close(&y, &[1., 12., 120., 200.]);
}

#[test]
fn strides_leave_gaps_and_padding_is_cut_off() {
    let attrs = Attrs::new().with("kernel", [1]).with("strides", [2]).with("output_padding", [1]);
    assert_close(&result(&COL2IM, &attrs, &[f32s(&[1, 1, 2], [1., 2.])]), &[1., 0., 2., 0.]);
    let attrs = Attrs::new().with("kernel", [2]).with("padding", [1, 0]);
    assert_close(&result(&COL2IM, &attrs, &[f32s(&[1, 2, 2], [1., 2., 10., 20.])]), &[12., 20.]);
}

/// The filter of position k is 1 at k.
fn as_convolution(extents: &[usize]) -> Tensor {
    let count: usize = extents.iter().product();
    let shape = [&[count, 1][..], extents].concat();
    f32s(&shape, (0..count * count).map(|i| f64::from(u8::from(i / count == i % count))))
}

#[test]
fn it_is_a_transposed_convolution_of_unit_filters() {
    for (kernel, window) in [
        ([3, 2], Attrs::new()),
        ([4, 4], Attrs::new().with("strides", [2, 2]).with("padding", [1, 1, 1, 1])),
        ([2, 3], Attrs::new().with("strides", [3, 1]).with("dilation", [1, 2]).with("padding", [0, 1, 1, 2])),
    ] {
        let (count, extents) = (kernel[0] * kernel[1], kernel.map(|n| n as usize));
        let x = range(&[2, count as usize, 3, 4]);
        let wanted = result(&CONV2D_TRANSPOSE, &window, &[x.clone(), as_convolution(&extents)]);
        let got = result(&COL2IM, &window.with("kernel", kernel), &[x]);
        assert_eq!(got.shape(), wanted.shape());
        assert_close(&got, &wanted.to_f64s());
    }
    let x = range(&[1, 3, 5]);
    let wanted = result(&CONV1D_TRANSPOSE, &Attrs::new(), &[x.clone(), as_convolution(&[3])]);
    assert_close(&result(&COL2IM, &Attrs::new().with("kernel", [3]), &[x]), &wanted.to_f64s());
}

#[test]
fn integers_wrap_around() {
    let attrs = Attrs::new().with("kernel", [2]);
    let x = Tensor::from_ints(DType::U8, &[1, 2, 2], &[0, 200, 100, 0]).unwrap();
    assert_eq!(result(&COL2IM, &attrs, &[x]).to_ints(), [0, 44, 0]);
}

#[test]
fn extents_that_are_not_known_stay_unknown() {
    let ty = TensorType::new(vec![Dim::Any, Dim::Static(8), Dim::Static(3)], DType::F32);
    let attrs = Attrs::new().with("kernel", [4]).with("strides", [2]);
    assert_eq!(infer(&COL2IM, &attrs, &[ty]).to_string(), "tensor<?x2x8xf32>");
}

#[test]
fn the_data_must_be_images_of_numbers() {
    assert_eq!(violated(&COL2IM, &Attrs::new().with("kernel", [2]), &[&[4, 4]]).0, 1);
    let flags = TensorType::fixed(&[1, 2, 3], DType::Bool);
    assert_eq!(COL2IM.infer(&[flags], &Attrs::new().with("kernel", [2])).unwrap_err().number, 1);
}

#[test]
fn the_window_must_have_a_number_an_axis() {
    assert_eq!(violated(&COL2IM, &Attrs::new(), &[&[1, 4, 4]]).0, 2);
    let attrs = Attrs::new().with("kernel", [2]);
    assert_eq!(violated(&COL2IM, &attrs, &[&[1, 4, 4, 4]]).0, 2);
    assert_eq!(violated(&COL2IM, &attrs.with("output_padding", [-1]), &[&[1, 4, 4]]).0, 2);
}

#[test]
fn the_channels_must_be_positions_times_something() {
    let (number, message) = violated(&COL2IM, &Attrs::new().with("kernel", [2, 2]), &[&[1, 6, 4, 4]]);
    assert_eq!(number, 3);
    assert_eq!(
        message,
        "the positions of the kernel must divide the channels, found kernel [2, 2] and 6 channels"
    );
    let many = Attrs::new().with("kernel", [1i64 << 31, 1 << 33]);
    assert_eq!(violated(&COL2IM, &many, &[&[1, 6, 4, 4]]).0, 3);
}

#[test]
fn the_image_must_have_elements() {
    let attrs = Attrs::new().with("kernel", [1]).with("padding", [1, 0]);
    assert_eq!(violated(&COL2IM, &attrs, &[&[1, 1, 1]]).0, 4);
}
