//! Types of fewer than 8 bits, and floats of 8: conversions, and operators that would take bytes for numbers.

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, NodeProto, TensorProto};
use fusion_operators::Tensor;

const E4M3FN: i64 = 17;
const E5M2: i64 = 19;
const E5M2FNUZ: i64 = 20;
const INT4: i64 = 22;
const E2M1: i64 = 23;
const E8M0: i64 = 24;

fn applied(nodes: Vec<NodeProto>, given: Vec<TensorProto>, x: &[f32]) -> Result<Vec<f64>, String> {
    let mut whole = graph(nodes, vec![input("x", 1, &[&x.len().to_string()])], &["y"]);
    whole.initializer = given;
    let proto = ModelProto { opset_import: vec![opset("", 25)], ..model(whole) };
    let x = Tensor::from_slice(&[x.len()], x).expect("they fill it");
    run(proto, &Options::default(), &[x]).map(|found| found[0].to_f64s()).map_err(|error| error.to_string())
}

/// The codes of numbers.
fn codes(to: i64, more: Vec<AttributeProto>, x: &[f32]) -> Vec<f64> {
    let attributes = [vec![int("to", to)], more].concat();
    applied(vec![node("Cast", &["x"], &["y"], attributes)], vec![], x).expect("the node is right")
}

#[test]
fn floats_of_8_bits_round_to_even_and_saturate() {
    // Between 1 (0x38) and 1.125 (0x39), and between that and 1.25; the least positive number is 2^-9.
    let x = [1.0, 1.0625, 1.1875, 2f32.powi(-9), 2f32.powi(-10), 1.5 * 2f32.powi(-9), -1e6, f32::NAN];
    let expected = [0x38, 0x38, 0x3a, 0x01, 0x00, 0x02, 0xfe, 0x7f].map(f64::from);
    assert_eq!(codes(E4M3FN, vec![], &x), expected);
    assert_eq!(codes(E4M3FN, vec![int("saturate", 0)], &[1e6, f32::INFINITY, 448.0]), [127.0, 127.0, 126.0]);
    assert_eq!(codes(E5M2, vec![int("saturate", 0)], &[1e6, -1e6, -0.0]), [0x7c, 0xfc, 0x80].map(f64::from));
    assert_eq!(codes(E5M2FNUZ, vec![], &[-0.0, f32::NAN, 1e9]), [0x00, 0x80, 0x7f].map(f64::from));
    assert_eq!(codes(E2M1, vec![], &[0.25, 0.75, 2.5, -7.0]), [0.0, 2.0, 4.0, 15.0]);
}

#[test]
fn exponents_round_as_they_are_told() {
    let x = [1.0, 1.5, 1.4, 3.0];
    let mode = |mode: &str| {
        vec![AttributeProto {
            name: "round_mode".into(),
            r#type: 3,
            s: Some(mode.as_bytes().to_vec().into()),
            ..Default::default()
        }]
    };
    assert_eq!(codes(E8M0, mode("up"), &x), [127.0, 128.0, 128.0, 129.0]);
    assert_eq!(codes(E8M0, mode("down"), &x), [127.0, 127.0, 127.0, 128.0]);
    assert_eq!(codes(E8M0, mode("nearest"), &x), [127.0, 128.0, 127.0, 129.0]);
}

#[test]
fn integers_of_4_bits_wrap_in_casts_and_saturate_in_quantization() {
    assert_eq!(codes(INT4, vec![], &[-9.0, -8.0, 7.0, 8.0]), [7.0, -8.0, 7.0, -8.0]);
    let quantize = node("QuantizeLinear", &["x", "scale"], &["y"], vec![int("output_dtype", INT4)]);
    let found = applied(vec![quantize], vec![f32s("scale", &[], &[2.0])], &[-100.0, 3.0, 5.0, 100.0]);
    assert_eq!(found.expect("the node is right"), [-8.0, 2.0, 2.0, 7.0]);
}

#[test]
fn what_was_moved_is_read_as_what_it_is() {
    let nodes = vec![
        node("Cast", &["x"], &["code"], vec![int("to", E4M3FN)]),
        node("Unsqueeze", &["code", "axes"], &["moved"], vec![]),
        node("Cast", &["moved"], &["y"], vec![int("to", 1)]),
    ];
    let given = vec![i64s("axes", &[1], &[0])];
    assert_eq!(
        applied(nodes, given, &[1.0, -448.0, 0.3]).expect("the nodes are right"),
        [1.0, -448.0, 0.3125]
    );
}

#[test]
fn bytes_are_not_taken_for_numbers() {
    let nodes = vec![
        node("Cast", &["x"], &["code"], vec![int("to", E4M3FN)]),
        node("Add", &["code", "code"], &["y"], vec![]),
    ];
    let error = applied(nodes, vec![], &[1.0]).expect_err("they are bytes");
    assert!(
        error.ends_with("a tensor of float8e4m3fn, which is only converted and moved, is not supported"),
        "{error}"
    );
}
