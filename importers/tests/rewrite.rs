//! Files are rewritten in place: what is quantized is, and all else stays byte for byte.

use crate::common::*;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, NodeProto, StringStringEntryProto};
use fusion_importers::onnx::rewrite::quantize::{QuantizedInput, quantize};
use fusion_importers::onnx::rewrite::wire::{fields, put};
use fusion_importers::onnx::{Model, Options};
use fusion_operators::{DType, Tensor};
use prost::Message;

/// y = x w + b, z = x w.
fn products() -> ModelProto {
    let nodes = vec![
        node("Gemm", &["x", "w", "b"], &["y"], vec![int("transB", 1)]),
        node("Gemm", &["x", "w"], &["z"], vec![int("transB", 1)]),
    ];
    let mut graph = graph(nodes, vec![input("x", 1, &["2", "3"])], &["y", "z"]);
    graph.initializer =
        vec![f32s("w", &[2, 3], &[1.0, 0.5, -1.27, 0.0, 2.0, 0.1]), f32s("b", &[2], &[0.3, -7.0])];
    let mut proto = model(graph);
    proto.metadata_props = vec![StringStringEntryProto { key: "author".into(), value: "somebody".into() }];
    proto
}

fn data(node: usize) -> QuantizedInput {
    QuantizedInput {
        node,
        input: 0,
        dtype: DType::F32,
        scales: vec![0.02],
        zeros: vec![100.0],
        axis: None,
        bits: 8,
        integers: DType::U8,
        constant: None,
    }
}

fn weights(node: usize, bits: u32) -> QuantizedInput {
    let integers = Tensor::from_f64s(DType::I8, &[2, 3], &[7.0, 5.0, -7.0, 0.0, 7.0, 1.0]).unwrap();
    let scales = vec![0.01, 0.02];
    QuantizedInput {
        node,
        input: 1,
        zeros: vec![0.0, 0.0],
        axis: Some(0),
        bits,
        integers: DType::I8,
        constant: Some(integers),
        scales,
        ..data(node)
    }
}

fn rewritten(proto: &ModelProto, bytes: &[u8], inputs: &[QuantizedInput]) -> ModelProto {
    let model = Model::from_bytes(proto.encode_to_vec()).unwrap();
    ModelProto::decode(&quantize(&model, bytes, inputs).unwrap()[..]).unwrap()
}

fn kinds(model: &ModelProto) -> Vec<&str> {
    model.graph.as_ref().unwrap().node.iter().map(|n| n.op_type.as_str()).collect()
}

fn named<'a>(model: &'a ModelProto, operator: &str) -> Vec<&'a NodeProto> {
    model.graph.as_ref().unwrap().node.iter().filter(|n| n.op_type == operator).collect()
}

#[test]
fn values_that_two_nodes_read_are_quantized_once() {
    let proto = products();
    let inputs = [data(0), weights(0, 8), data(1), weights(1, 8)];
    let new = rewritten(&proto, &proto.encode_to_vec(), &inputs);
    let dequantize = "DequantizeLinear";
    assert_eq!(kinds(&new), ["QuantizeLinear", dequantize, dequantize, dequantize, "Gemm", "Gemm"]);
    let graph = new.graph.as_ref().unwrap();
    assert!(graph.initializer.iter().all(|t| t.name != "w" && t.name != "b"));
    assert_eq!(graph.node[4].input, ["x_dequantized", "w_dequantized", "b_dequantized"]);
    assert_eq!(graph.node[5].input, ["x_dequantized", "w_dequantized"]);
    assert_eq!(new.metadata_props, proto.metadata_props);
    // The bias in steps of the product of both scales.
    let bias = graph.initializer.iter().find(|t| t.name == "b_quantized").unwrap();
    let bytes: Vec<u8> = [1500i32, -17500].iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!((bias.data_type, bias.raw_data.as_deref()), (6, Some(&bytes[..])));
}

#[test]
fn a_value_that_others_read_stays() {
    let proto = products();
    let new = rewritten(&proto, &proto.encode_to_vec(), &[weights(1, 8)]);
    let graph = new.graph.as_ref().unwrap();
    assert!(graph.initializer.iter().any(|t| t.name == "w"));
    assert_eq!(graph.node.iter().find(|n| n.output[0] == "y").unwrap().input, ["x", "w", "b"]);
}

#[test]
fn constants_may_be_nodes() {
    let mut proto = products();
    let graph = proto.graph.as_mut().unwrap();
    for tensor in std::mem::take(&mut graph.initializer) {
        let name = tensor.name.clone();
        let value = AttributeProto { name: "value".into(), r#type: 4, t: Some(tensor), ..Default::default() };
        graph.node.insert(0, node("Constant", &[], &[&name], vec![value]));
    }
    let inputs = [data(2), weights(2, 8), data(3), weights(3, 8)];
    let new = rewritten(&proto, &proto.encode_to_vec(), &inputs);
    assert!(named(&new, "Constant").is_empty());
    assert_eq!(named(&new, "Gemm")[0].input, ["x_dequantized", "w_dequantized", "b_dequantized"]);
    let new = rewritten(&proto, &proto.encode_to_vec(), &inputs[2..]);
    assert_eq!(named(&new, "Constant").len(), 2);
}

#[test]
fn what_is_not_known_stays() {
    let proto = products();
    let mut bytes = proto.encode_to_vec();
    put(&mut bytes, 4000, b"of a version to come");
    let model = Model::from_bytes(bytes.clone()).unwrap();
    let new = quantize(&model, &bytes, &[data(0)]).unwrap();
    let last = fields(&new).unwrap().into_iter().next_back().unwrap();
    assert_eq!((last.number, last.content), (4000, &b"of a version to come"[..]));
}

#[test]
fn names_that_are_taken_get_numbers() {
    let mut proto = products();
    proto.graph.as_mut().unwrap().node[1].output[0] = "x_scale".into();
    proto.graph.as_mut().unwrap().output[1].name = "x_scale".into();
    let new = rewritten(&proto, &proto.encode_to_vec(), &[data(0)]);
    assert_eq!(named(&new, "QuantizeLinear")[0].input, ["x", "x_scale_2", "x_zero_point"]);
}

#[test]
fn old_operator_sets_get_the_operators_of_another_domain() {
    let mut proto = products();
    for (version, bits, domain) in
        [(17, 8, ""), (21, 4, ""), (17, 4, "com.microsoft"), (11, 8, "com.microsoft")]
    {
        proto.opset_import[0].version = version;
        let new = rewritten(&proto, &proto.encode_to_vec(), &[weights(0, bits), weights(1, bits)]);
        assert_eq!(named(&new, "DequantizeLinear")[0].domain, domain, "{version}, {bits} bits");
        assert_eq!(new.opset_import.iter().any(|o| o.domain == "com.microsoft"), !domain.is_empty());
        assert_eq!(new.ir_version >= 10, bits == 4);
    }
}

#[test]
fn both_widths_compute_what_the_integers_say() {
    let mut proto = products();
    proto.opset_import[0].version = 21;
    let x = Tensor::from_slice(&[2, 3], &[1.0f32, 2.0, -1.0, 0.525, 100.0, 0.0]).unwrap();
    // x in steps of 0.02 from -2 to 3.1, w in steps of 0.01 and 0.02.
    for bits in [8, 4] {
        let new = rewritten(&proto, &proto.encode_to_vec(), &[data(1), weights(1, bits)]);
        let z = run(new, &Options::default(), std::slice::from_ref(&x)).unwrap()[1].to_f64s();
        let wanted = [0.07 + 0.1 + 0.07, 0.28 - 0.02, 0.07 * 0.52 + 0.05 * 3.1, 0.14 * 3.1];
        assert!(z.iter().zip(wanted).all(|(z, w)| (z - w).abs() < 1e-5), "{z:?}");
    }
}

#[test]
fn damaged_bytes_are_an_error() {
    let proto = products();
    let bytes = proto.encode_to_vec();
    let model = Model::from_bytes(bytes.clone()).unwrap();
    for length in (0..bytes.len()).step_by(7) {
        let _ = quantize(&model, &bytes[..length], &[data(0), weights(0, 8)]);
    }
    let none = quantize(&model, &bytes, &[data(5)]).unwrap_err().to_string();
    assert!(none.contains("node 5 is none of its graph"), "{none}");
}
