//! Complex numbers, which are moved in two parts.

use crate::common::*;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, NodeProto, TensorProto};
use fusion_importers::onnx::{Options, signature};
use fusion_operators::Tensor;

const COMPLEX64: i32 = 14;
const COMPLEX128: i32 = 15;

fn of(nodes: Vec<NodeProto>, element: i32, outputs: &[&str]) -> ModelProto {
    let mut whole = graph(nodes, vec![input("z", element, &["2", "2"])], outputs);
    whole.initializer =
        vec![TensorProto { float_data: vec![9.0, -9.0], ..constant("one", COMPLEX64, &[1, 1]) }];
    ModelProto { opset_import: vec![opset("", 17)], ..model(whole) }
}

fn constant(name: &str, element: i32, dims: &[i64]) -> TensorProto {
    TensorProto { name: name.into(), data_type: element, dims: dims.to_vec(), ..Default::default() }
}

fn parts() -> [Tensor; 2] {
    let part = |numbers: [f32; 4]| Tensor::from_slice(&[2, 2], &numbers).unwrap();
    [part([1.0, 2.0, 3.0, 4.0]), part([5.0, 6.0, 7.0, 8.0])]
}

fn moved(nodes: Vec<NodeProto>) -> Result<Vec<Vec<f64>>, String> {
    let found = run(of(nodes, COMPLEX64, &["y"]), &Options::default(), &parts());
    Ok(found.map_err(|error| error.to_string())?.iter().map(Tensor::to_f64s).collect())
}

fn constant_of(name: &str, value: TensorProto) -> NodeProto {
    let value = AttributeProto { name: "value".into(), r#type: 4, t: Some(value), ..Default::default() };
    node("Constant", &[], &[name], vec![value])
}

#[test]
fn an_input_is_its_real_and_imaginary_parts() {
    let model = loaded(of(vec![node("Identity", &["z"], &["y"], vec![])], COMPLEX128, &["y"]));
    let inputs = signature(&model, &Options::default()).unwrap();
    let written: Vec<String> = inputs.iter().map(|i| format!("{}: {}", i.name, i.ty)).collect();
    assert_eq!(written, ["z.real: tensor<2x2xf64>", "z.imag: tensor<2x2xf64>"]);
}

#[test]
fn both_parts_are_moved() {
    let found = moved(vec![node("Transpose", &["z"], &["y"], vec![ints("perm", &[1, 0])])]).unwrap();
    assert_eq!(found, [[1.0, 3.0, 2.0, 4.0], [5.0, 7.0, 6.0, 8.0]]);
}

#[test]
fn constants_are_padded_with_and_chosen() {
    let two = TensorProto { float_data: vec![2.0, -2.0], ..constant("", COMPLEX64, &[]) };
    let pads = TensorProto { int64_data: vec![0, 0, 1, 0], ..constant("", 7, &[4]) };
    let yes = TensorProto { int32_data: vec![1, 0, 0], ..constant("", 9, &[3, 1]) };
    let nodes = vec![
        constant_of("two", two),
        constant_of("pads", pads),
        constant_of("yes", yes),
        node("Pad", &["z", "pads", "two"], &["p"], vec![]),
        node("Where", &["yes", "one", "p"], &["y"], vec![]),
    ];
    assert_eq!(moved(nodes).unwrap(), [[9.0, 9.0, 3.0, 4.0, 2.0, 2.0], [-9.0, -9.0, 7.0, 8.0, -2.0, -2.0]]);
}

#[test]
fn shapes_are_given_once() {
    assert_eq!(moved(vec![node("Shape", &["z"], &["y"], vec![])]).unwrap(), [[2.0, 2.0]]);
}

#[test]
fn pieces_are_complex_too() {
    let nodes = vec![
        node("Split", &["z"], &["a", "b"], vec![int("axis", 1)]),
        node("Concat", &["b", "a"], &["y"], vec![int("axis", 0)]),
    ];
    assert_eq!(moved(nodes).unwrap(), [[2.0, 4.0, 1.0, 3.0], [6.0, 8.0, 5.0, 7.0]]);
}

#[test]
fn arithmetic_is_refused() {
    let error = moved(vec![node("Add", &["z", "z"], &["y"], vec![])]).unwrap_err();
    assert!(error.contains("a tensor of complex numbers, which is only moved, is not supported"), "{error}");
    let real = TensorProto { float_data: vec![1.0, 2.0], ..constant("", 1, &[1, 2]) };
    let nodes = vec![constant_of("r", real), node("Concat", &["z", "r"], &["y"], vec![int("axis", 0)])];
    let error = moved(nodes).unwrap_err();
    assert!(error.contains("some of its operands are of complex numbers, and others are not"), "{error}");
}
