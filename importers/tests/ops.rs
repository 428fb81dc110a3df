//! Conversions whose meaning depends on the version, and decompositions with edges of their own.
//! (ONNX's backend test data, run by `examples/onnx_backend`, covers each operator.)

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto};
use fusion_operators::{DType, Tensor};

/// One node over operands that are graph inputs, by an operator set.
fn apply(
    version: i64,
    op_type: &str,
    attributes: Vec<AttributeProto>,
    operands: &[Tensor],
) -> Result<Vec<Tensor>, String> {
    apply_as(version, op_type, attributes, operands, 1)
}

fn apply_as(
    version: i64,
    op_type: &str,
    attributes: Vec<AttributeProto>,
    operands: &[Tensor],
    results: usize,
) -> Result<Vec<Tensor>, String> {
    let names: Vec<String> = (0..operands.len()).map(|i| format!("x{i}")).collect();
    let outputs: Vec<String> = (0..results).map(|i| format!("y{i}")).collect();
    let (reads, gives): (Vec<&str>, Vec<&str>) =
        (names.iter().map(String::as_str).collect(), outputs.iter().map(String::as_str).collect());
    let inputs = operands.iter().zip(&names).map(|(t, name)| {
        let dims: Vec<String> = t.shape().iter().map(usize::to_string).collect();
        let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
        let element = match t.dtype() {
            DType::F32 => 1,
            DType::U8 => 2,
            DType::I64 => 7,
            DType::Bool => 9,
            other => panic!("{other} is not used here"),
        };
        input(name, element, &dims)
    });
    let whole = graph(vec![node(op_type, &reads, &gives, attributes)], inputs.collect(), &gives);
    let proto = ModelProto { opset_import: vec![opset("", version)], ..model(whole) };
    let bound = names.iter().cloned().zip(operands.iter().cloned()).collect();
    run(proto, &Options { bound, ..Options::default() }, operands).map_err(|e| e.to_string())
}

fn f(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).expect("the values fill the shape")
}

fn i(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_slice(shape, values).expect("the values fill the shape")
}

fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: name.into(),
        r#type: 3,
        s: Some(value.to_owned().into_bytes().into()),
        ..Default::default()
    }
}

fn values(result: Result<Vec<Tensor>, String>) -> Vec<f64> {
    result.expect("the node is right")[0].to_f64s()
}

#[test]
fn softmax_flattens_before_version_13() {
    let x = f(&[1, 2, 2], &[0.0; 4]);
    assert_eq!(values(apply(11, "Softmax", vec![int("axis", 1)], std::slice::from_ref(&x))), [0.25; 4]);
    assert_eq!(values(apply(13, "Softmax", vec![int("axis", 1)], &[x])), [0.5; 4]);
}

#[test]
fn clip_takes_attributes_then_operands() {
    let x = f(&[3], &[-5.0, 0.5, 5.0]);
    let attributes = vec![float("min", -1.0), float("max", 1.0)];
    assert_eq!(values(apply(6, "Clip", attributes, std::slice::from_ref(&x))), [-1.0, 0.5, 1.0]);
    let bounds = [x, f(&[], &[-1.0]), f(&[], &[1.0])];
    assert_eq!(values(apply(13, "Clip", vec![], &bounds)), [-1.0, 0.5, 1.0]);
}

#[test]
fn operands_were_aligned_with_an_axis_before_version_7() {
    let (x, y) = (f(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), f(&[2], &[10.0, 20.0]));
    let aligned = apply(6, "Add", vec![int("broadcast", 1), int("axis", 0)], &[x.clone(), y.clone()]);
    assert_eq!(values(aligned), [11.0, 12.0, 23.0, 24.0]);
    assert_eq!(values(apply(7, "Add", vec![], &[x, y])), [11.0, 22.0, 13.0, 24.0]);
}

#[test]
fn slice_takes_attributes_then_operands() {
    let x = f(&[4], &[0.0, 1.0, 2.0, 3.0]);
    let attributes = vec![ints("starts", &[1]), ints("ends", &[9]), ints("axes", &[0])];
    assert_eq!(values(apply(9, "Slice", attributes, std::slice::from_ref(&x))), [1.0, 2.0, 3.0]);
    let operands = [x, i(&[1], &[-1]), i(&[1], &[i64::MIN]), i(&[1], &[0]), i(&[1], &[-2])];
    assert_eq!(values(apply(13, "Slice", vec![], &operands)), [3.0, 1.0]);
}

#[test]
fn reductions_take_axes_by_version_and_may_do_nothing() {
    let x = f(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let with = |version, attributes| apply(version, "ReduceMax", attributes, std::slice::from_ref(&x));
    assert_eq!(values(with(13, vec![ints("axes", &[0])])), [3.0, 4.0]);
    assert_eq!(values(with(18, vec![])), [4.0]);
    let nothing = apply(18, "ReduceMax", vec![int("noop_with_empty_axes", 1)], &[x.clone(), i(&[0], &[])]);
    assert_eq!(values(nothing), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values(apply(18, "ReduceMax", vec![], &[x, i(&[1], &[-1])])), [2.0, 4.0]);
}

#[test]
fn uneven_split_has_a_smaller_last_piece() {
    let pieces = apply_as(18, "Split", vec![int("num_outputs", 2)], &[f(&[5], &[0.0; 5])], 2);
    let shapes: Vec<usize> = pieces.expect("the node is right").iter().map(Tensor::len).collect();
    assert_eq!(shapes, [3, 2]);
}

#[test]
fn dropout_is_the_identity_with_a_full_mask() {
    let x = f(&[2], &[1.0, 2.0]);
    let results = apply_as(13, "Dropout", vec![], std::slice::from_ref(&x), 2).expect("the node is right");
    assert_eq!((&results[0], results[1].dtype()), (&x, DType::Bool));
    assert_eq!(results[1].to_f64s(), [1.0, 1.0]);
}

#[test]
fn einsum_takes_diagonals_sums_and_ellipses() {
    let x = f(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    for (equation, expected) in [
        ("ii->i", vec![1.0, 4.0]),
        ("ii", vec![5.0]),
        ("ij->ji", vec![1.0, 3.0, 2.0, 4.0]),
        ("i...->...", vec![4.0, 6.0]),
    ] {
        let found = apply(13, "Einsum", vec![text("equation", equation)], std::slice::from_ref(&x));
        assert_eq!(values(found), expected, "{equation}");
    }
    let product = apply(13, "Einsum", vec![text("equation", "ij, kj -> ik")], &[x.clone(), x.clone()]);
    assert_eq!(values(product), [5.0, 11.0, 11.0, 25.0]);
    assert!(apply(13, "Einsum", vec![text("equation", "ij,jk->iz")], &[x.clone(), x]).is_err());
}

#[test]
fn log_sum_exp_does_not_overflow() {
    let x = f(&[3], &[1000.0, 1000.0, f32::NEG_INFINITY]);
    let found = values(apply(18, "ReduceLogSumExp", vec![], &[x]));
    assert!((found[0] - 1000.6931).abs() < 1e-3, "{found:?}");
    let least = values(apply(18, "ReduceLogSumExp", vec![], &[f(&[1], &[f32::NEG_INFINITY])]));
    assert_eq!(least, [f64::NEG_INFINITY]);
}

#[test]
fn quantised_numbers_saturate() {
    let zero = Tensor::from_slice(&[], &[128u8]).expect("one number");
    let operands = [f(&[4], &[-1e6, 0.5, 1.5, 1e6]), f(&[], &[1.0]), zero];
    assert_eq!(values(apply(13, "QuantizeLinear", vec![], &operands)), [0.0, 128.0, 130.0, 255.0]);
}

#[test]
fn hardmax_takes_the_first_of_equals() {
    let found = apply(13, "Hardmax", vec![], &[f(&[1, 3], &[2.0, 5.0, 5.0])]);
    assert_eq!(values(found), [0.0, 1.0, 0.0]);
}

#[test]
fn integer_mean_is_the_sum_by_the_count() {
    assert_eq!(values(apply(18, "ReduceMean", vec![], &[i(&[3], &[1, 2, 5])])), [2.0]);
}

#[test]
fn errors_name_node_operator_and_value() {
    let error = apply(13, "Softmax", vec![int("axis", 7)], &[f(&[2], &[0.0; 2])]).expect_err("out of range");
    assert_eq!(
        error,
        "Softmax (operator set 13), node 'n_y0': axis 7 is out of range for a tensor of rank 1"
    );
    let error = apply(13, "MatMul", vec![], &[f(&[2, 3], &[0.0; 6]), f(&[2, 3], &[0.0; 6])]);
    assert!(error.expect_err("the extents differ").contains("relay.matmul"));
}

#[test]
fn shifts_by_less_than_nothing_leave_the_sign() {
    let operands = [i(&[3], &[-8, 4, -1]), i(&[3], &[-1, -1, -1])];
    assert_eq!(values(apply(28, "BitShift", vec![text("direction", "LEFT")], &operands)), [0.0, 0.0, 0.0]);
    assert_eq!(values(apply(28, "BitShift", vec![text("direction", "RIGHT")], &operands)), [-1.0, 0.0, -1.0]);
}

#[test]
fn one_hot_is_off_where_an_index_is_out_of_range() {
    let operands = [i(&[4], &[1, 2, -3, -1]), i(&[], &[2]), f(&[2], &[0.0, 1.0])];
    assert_eq!(values(apply(28, "OneHot", vec![], &operands)), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn space_to_depth_orders_channels_by_its_mode() {
    let x = [f(&[1, 2, 1, 2], &[0.0, 1.0, 2.0, 3.0])];
    let wide = [f(&[1, 2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])];
    let mode = |mode| vec![int("blocksize", 2), text("mode", mode)];
    assert_eq!(
        values(apply(28, "SpaceToDepth", mode("DCR"), &wide)),
        [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]
    );
    assert_eq!(
        values(apply(28, "SpaceToDepth", mode("CRD"), &wide)),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    );
    let error = apply(28, "SpaceToDepth", vec![int("blocksize", 1), text("mode", "RCD")], &x);
    assert!(error.expect_err("no such mode").ends_with("attribute mode must be DCR or CRD"));
}

#[test]
fn a_row_of_zeros_has_no_direction() {
    let x = [f(&[2, 2], &[0.0, 0.0, 3.0, 4.0])];
    assert_eq!(values(apply(22, "LpNormalization", vec![], &x)), [0.0, 0.0, 0.6f32.into(), 0.8f32.into()]);
}

#[test]
fn bits_are_taken_for_another_type() {
    let found = apply(26, "BitCast", vec![int("to", 7)], &[i(&[2], &[-1, 3])]);
    assert_eq!(values(found), [-1.0, 3.0]);
    let found = apply(26, "BitCast", vec![int("to", 6)], &[f(&[2], &[1.0, -0.0])]);
    assert_eq!(values(found), [f64::from(0x3f80_0000), f64::from(i32::MIN)]);
    let error = apply(26, "BitCast", vec![int("to", 7)], &[f(&[1], &[1.0])]).expect_err("another size");
    assert!(error.ends_with("elements of f32 have 4 bytes, those of i64 8"), "{error}");
}

#[test]
fn half_a_spectrum_gives_the_real_signal() {
    // The spectrum of 1, 2, 3, 4 is 10, -2 + 2i, -2.
    let spectrum = f(&[1, 3, 2], &[10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
    let attributes = vec![int("onesided", 1), int("inverse", 1), int("axis", 1)];
    let found = values(apply(17, "DFT", attributes, &[spectrum]));
    assert!(found.iter().zip([1.0, 2.0, 3.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
}

#[test]
fn a_causal_filter_keeps_its_past() {
    let operands = [f(&[1, 1, 3], &[1.0, 2.0, 3.0]), f(&[1, 1, 2], &[10.0, 1.0])];
    let found = apply_as(27, "CausalConvWithState", vec![], &operands, 2).expect("the node is right");
    assert_eq!(found[0].to_f64s(), [1.0, 12.0, 23.0]);
    assert_eq!(found[1].to_f64s(), [3.0]);
}

#[test]
fn linear_attention_writes_and_reads_a_state() {
    let row = |values: &[f32]| f(&[1, 2, 1], values);
    let operands = [row(&[1.0, 2.0]), row(&[1.0, 3.0]), row(&[5.0, 7.0])];
    let heads = || vec![int("q_num_heads", 1), int("kv_num_heads", 1)];
    let rule = |name| [heads(), vec![text("update_rule", name)]].concat();
    let found = apply_as(27, "LinearAttention", rule("linear"), &operands, 2).expect("the node is right");
    assert_eq!(found[0].to_f64s(), [5.0, 52.0]);
    assert_eq!(found[1].to_f64s(), [26.0]);
    let error = apply_as(27, "LinearAttention", rule("delta"), &operands, 2).expect_err("no beta");
    assert!(error.ends_with("this update_rule needs the operand beta"), "{error}");
}

#[test]
fn sequences_of_numbers_are_counted() {
    let attributes = |mode| {
        vec![
            text("mode", mode),
            int("min_gram_length", 1),
            int("max_gram_length", 2),
            int("max_skip_count", 1),
            ints("pool_int64s", &[5, 1, 2]),
            ints("ngram_counts", &[0, 1]),
            ints("ngram_indexes", &[2, 0]),
        ]
    };
    let x = [i(&[5], &[1, 5, 2, 1, 2])];
    // 5 once, and 1 2 once beside each other and once with one between; no sequence has the second column.
    assert_eq!(values(apply(9, "TfIdfVectorizer", attributes("TF"), &x)), [2.0, 0.0, 1.0]);
    assert_eq!(values(apply(9, "TfIdfVectorizer", attributes("IDF"), &x)), [1.0, 0.0, 1.0]);
    let error = apply(9, "TfIdfVectorizer", attributes("FT"), &x).expect_err("no such mode");
    assert!(error.ends_with("attribute mode must be TF, IDF or TFIDF"), "{error}");
}

#[test]
fn regions_are_means_of_samples() {
    let x = f(&[1, 1, 2, 2], &[0.0, 1.0, 2.0, 3.0]);
    let operands = [x, f(&[1, 4], &[0.0, 0.0, 1.0, 1.0]), i(&[1], &[0])];
    let attributes = |ratio| {
        vec![text("coordinate_transformation_mode", "output_half_pixel"), int("sampling_ratio", ratio)]
    };
    assert_eq!(values(apply(16, "RoiAlign", attributes(1), &operands)), [1.5]);
    assert!(apply(16, "RoiAlign", attributes(-1), &operands).is_err());
}

#[test]
fn the_first_versions_have_attributes_of_their_own() {
    let x = [f(&[2], &[-1.0, 1.5])];
    assert_eq!(values(apply(1, "Cast", vec![text("to", "INT64")], &x)), [-1.0, 1.0]);
    assert_eq!(values(apply(1, "Pad", vec![ints("paddings", &[1, 0])], &x)), [0.0, -1.0, 1.5]);
    let tile = [f(&[1, 2], &[1.0, 2.0]), i(&[], &[2]), i(&[], &[1])];
    assert_eq!(values(apply(5, "Tile", vec![], &tile)), [1.0, 2.0, 1.0, 2.0]);
    let error = apply(1, "Cast", vec![text("to", "COMPLEX64")], &x).expect_err("no complex numbers");
    assert!(error.ends_with("a cast to 'COMPLEX64' is not supported"), "{error}");
}

/// Of regions whose ends are rounded, larger than the image, and before it, as ONNX Runtime has them.
#[test]
fn cells_of_regions_may_be_empty() {
    let x: Vec<f32> = (0..60).map(|i| (i * 7 % 31 - 10) as f32).collect();
    let regions = [[0., 0., 0., 5., 4.], [1., 2., 2., 9., 7.], [0., 3., 1., 3., 1.], [1., -4., 1., 2., 6.6]];
    let attributes = vec![ints("pooled_shape", &[2, 3]), float("spatial_scale", 0.5)];
    let operands = [f(&[2, 1, 5, 6], &x), f(&[4, 5], regions.as_flattened())];
    let y = apply(18, "MaxRoiPool", attributes, &operands).unwrap().remove(0);
    let expected = [
        [8., 15., 15., 19., 19., 15.],
        [19., 19., 9., 10., 17., 20.],
        [15., 15., 15., 15., 15., 15.],
        [0., 5., 12., 0., 16., 16.],
    ];
    assert_eq!(y, f(&[4, 1, 2, 3], expected.as_flattened()));
}

/// As many samples as a cell is pixels long, of regions within, beyond, turned around and outside, as ONNX Runtime has them.
#[test]
fn cells_have_as_many_samples_as_pixels() {
    let x: Vec<f32> = (0..35).map(|i| (i * 11 % 17 - 8) as f32).collect();
    let regions = [[0., 0., 4., 6.], [-3., 2., 9., 8.], [4., 5., 1., 2.], [-9., -9., -5., -5.]];
    let attributes = vec![int("output_height", 2), int("output_width", 2)];
    let batches = Tensor::from_slice(&[4], &[0i64; 4]).unwrap();
    let operands = [f(&[1, 1, 7, 5], &x), f(&[4, 4], regions.as_flattened()), batches];
    let y = apply(16, "RoiAlign", attributes, &operands).unwrap().remove(0);
    let expected = [
        [-1.333333, 0.833333, 2.166667, -1.333333],
        [0.611111, -0.500000, -0.777778, -1.777778],
        [0.000000, 0.000000, 0.000000, 0.000000],
        [0.000000, 0.000000, 0.000000, 0.000000],
    ];
    for (found, expected) in y.to_f64s().into_iter().zip(expected.as_flattened()) {
        assert!((found - expected).abs() < 1e-5, "{found}, expected {expected}");
    }
}
