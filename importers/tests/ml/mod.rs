//! Operators of `ai.onnx.ml` beside numbers worked out by hand.

mod features;
mod maps;
mod models;
mod trees;

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, TensorProto};
use fusion_operators::{DType, Tensor};

pub fn tensor(name: &str, values: &[f32]) -> AttributeProto {
    let t = f32s("", &[values.len() as i64], values);
    AttributeProto { name: name.into(), r#type: 4, t: Some(t), ..Default::default() }
}

pub fn bytes(name: &str, values: &[i32]) -> AttributeProto {
    let dims = vec![values.len() as i64];
    let t = TensorProto { dims, data_type: 2, int32_data: values.to_vec(), ..Default::default() };
    AttributeProto { name: name.into(), r#type: 4, t: Some(t), ..Default::default() }
}

pub fn strings(name: &str, values: &[&str]) -> AttributeProto {
    let strings = values.iter().map(|s| s.as_bytes().to_vec().into()).collect();
    AttributeProto { name: name.into(), r#type: 8, strings, ..Default::default() }
}

pub fn floats(name: &str, values: &[f32]) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: 6, floats: values.to_vec(), ..Default::default() }
}

/// The first results of one operator of x.
pub fn results(
    op: &str,
    attributes: Vec<AttributeProto>,
    count: usize,
    x: &Tensor,
) -> Result<Vec<Tensor>, String> {
    let names = ["y", "z"];
    let mut call = node(op, &["x"], &names[..count], attributes);
    call.domain = "ai.onnx.ml".into();
    let dims: Vec<String> = x.shape().iter().map(usize::to_string).collect();
    let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
    let element = if x.dtype() == DType::I64 { 7 } else { 1 };
    let whole = graph(vec![call], vec![input("x", element, &dims)], &names[..count]);
    let opset_import = vec![opset("", 21), opset("ai.onnx.ml", 5)];
    let model = ModelProto { opset_import, ..model(whole) };
    run(model, &Options::default(), std::slice::from_ref(x)).map_err(|error| error.to_string())
}

/// Whether numbers are those, to six digits.
pub fn close(found: &Tensor, expected: &[f64]) {
    let found = found.to_f64s();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
    assert!(found.iter().zip(expected).all(near), "{found:?}, expected {expected:?}");
}
