//! Quantized operators on values where one more or one less rounding, or another order of them, gives another integer.

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, TensorProto};
use fusion_operators::{DType, Tensor};

const F32: i32 = 1;
const U8: i32 = 2;
const I8: i32 = 3;
const F16: i32 = 10;

fn constant(name: &str, element: i32, dims: &[i64], values: &[f64]) -> TensorProto {
    let mut tensor =
        TensorProto { name: name.into(), dims: dims.to_vec(), data_type: element, ..Default::default() };
    match element {
        F32 => tensor.float_data = values.iter().map(|&v| v as f32).collect(),
        F16 => {
            let bits = Tensor::from_f64s(DType::F16, &[values.len()], values).unwrap();
            tensor.raw_data = Some(bits.bytes().to_vec().into());
        }
        _ => tensor.int32_data = values.iter().map(|&v| v as i32).collect(),
    }
    tensor
}

/// The first result of one node of operator set 23, over x and constants.
fn apply(
    op: &str,
    x: (i32, &Tensor),
    constants: Vec<TensorProto>,
    attributes: Vec<AttributeProto>,
) -> Result<Vec<f64>, String> {
    let names: Vec<String> = constants.iter().map(|c| c.name.clone()).collect();
    let operands: Vec<&str> = ["x"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let dims: Vec<String> = x.1.shape().iter().map(usize::to_string).collect();
    let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
    let node = node(op, &operands, &["y"], attributes);
    let mut graph = graph(vec![node], vec![input("x", x.0, &dims)], &["y"]);
    graph.initializer = constants;
    let model = ModelProto { opset_import: vec![opset("", 23)], ..model(graph) };
    let results = run(model, &Options::default(), std::slice::from_ref(x.1)).map_err(|e| e.to_string())?;
    Ok(results[0].to_f64s())
}

fn f32s(values: &[f32]) -> Tensor {
    Tensor::from_slice(&[values.len()], values).unwrap()
}

#[test]
fn ties_go_to_the_even_integer_before_the_zero_point_is_added() {
    let x = f32s(&[0.5, 1.5, 2.5, -0.5, -1.5, 1e9, -1e9]);
    let given = vec![constant("s", F32, &[], &[1.0]), constant("z", U8, &[], &[3.0])];
    let found = apply("QuantizeLinear", (F32, &x), given, vec![]);
    assert_eq!(found.unwrap(), [3.0, 5.0, 5.0, 3.0, 1.0, 255.0, 0.0]);
}

#[test]
fn quotients_are_of_the_numbers_not_of_a_reciprocal() {
    let scale = 0.0123f32;
    let x: Vec<f32> = (0..120).map(|n| (n as f32 + 0.5) * scale).collect();
    let expected: Vec<f64> = x.iter().map(|&x| (x / scale).round_ties_even().into()).collect();
    let otherwise: Vec<f64> = x.iter().map(|&x| (x * (1.0 / scale)).round_ties_even().into()).collect();
    assert_ne!(expected, otherwise);
    let given = vec![constant("s", F32, &[], &[scale.into()]), constant("z", U8, &[], &[0.0])];
    assert_eq!(apply("QuantizeLinear", (F32, &f32s(&x)), given, vec![]).unwrap(), expected);
}

#[test]
fn the_quotient_has_the_type_of_the_scale_or_that_of_the_precision() {
    // 2049 is between two numbers of f16, 2048 and 2050.
    let x = f32s(&[2049.0 / 16.0]);
    let given = || vec![constant("s", F16, &[], &[1.0 / 16.0]), constant("z", 4, &[], &[0.0])];
    assert_eq!(apply("QuantizeLinear", (F32, &x), given(), vec![]).unwrap(), [2048.0]);
    let precise = vec![int("precision", F32.into())];
    assert_eq!(apply("QuantizeLinear", (F32, &x), given(), precise).unwrap(), [2049.0]);
    let said = apply("QuantizeLinear", (F32, &x), given(), vec![int("precision", 6)]).unwrap_err();
    assert!(said.contains("give a scale, or an attribute precision, that is one"), "{said}");
}

#[test]
fn scales_are_put_together_before_the_sum_is_scaled() {
    let (a_scale, b_scale, y_scale) = (0.05f32, 0.01f32, 0.1f32);
    let sums: Vec<i32> = (-127..128).map(|b| 100 * b).collect();
    let scaled = |sum: i32| (sum as f32 * (a_scale * b_scale / y_scale)).round_ties_even();
    let apart = |sum: i32| (sum as f32 * (a_scale * b_scale) / y_scale).round_ties_even();
    assert!(sums.iter().any(|&sum| scaled(sum) != apart(sum)));
    let expected: Vec<f64> = sums.iter().map(|&sum| (scaled(sum) + 128.0).clamp(0.0, 255.0).into()).collect();
    let x = Tensor::from_slice(&[1, 1], &[100u8]).unwrap();
    let weights: Vec<f64> = (-127..128).map(f64::from).collect();
    let number = |name: &str, element: i32, value: f64| constant(name, element, &[], &[value]);
    let given = |weight: TensorProto| {
        vec![
            number("as", F32, a_scale.into()),
            number("az", U8, 0.0),
            weight,
            number("bs", F32, b_scale.into()),
            number("bz", I8, 0.0),
            number("ys", F32, y_scale.into()),
            number("yz", U8, 128.0),
        ]
    };
    let found = apply("QLinearMatMul", (U8, &x), given(constant("b", I8, &[1, 255], &weights)), vec![]);
    assert_eq!(found.unwrap(), expected);
    let image = Tensor::from_slice(&[1, 1, 1, 1], &[100u8]).unwrap();
    let filters = constant("b", I8, &[255, 1, 1, 1], &weights);
    assert_eq!(apply("QLinearConv", (U8, &image), given(filters), vec![]).unwrap(), expected);
}

#[test]
fn zeros_alone_have_a_scale_that_can_be_divided_by() {
    assert_eq!(apply("DynamicQuantizeLinear", (F32, &f32s(&[0.0; 3])), vec![], vec![]).unwrap(), [0.0; 3]);
}
