//! Sequences whose length or positions are known at run time only: lists of the language.

use crate::common::*;
use fusion_dialects::{OperationLike, load_context};
use fusion_importers::onnx::eager::{Computed, run_on};
use fusion_importers::onnx::proto::*;
use fusion_importers::onnx::{Options, import_module};
use fusion_operators::Tensor;

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(&[values.len()], values).expect("the values fill the shape")
}

fn scalar(value: i64) -> Computed {
    Computed::Tensor(Tensor::from_slice(&[], &[value]).expect("a scalar"))
}

/// An input that is a sequence of f32[?].
fn sequence(name: &str) -> ValueInfoProto {
    let ValueInfoProto { r#type: element, .. } = input("", 1, &["n"]);
    let kind = ElementTypeProto { elem_type: element.map(Box::new) };
    let value = Some(type_proto::Value::Sequence(kind));
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { value }) }
}

/// Nodes over q: sequence of f32[?], x: f32[1] and p: i64, which give y.
fn results(nodes: Vec<NodeProto>, list: &[&[f32]], position: i64) -> Result<Vec<Vec<f64>>, String> {
    let inputs = vec![sequence("q"), input("x", 1, &["1"]), input("p", 7, &[])];
    let proto = model(graph(nodes, inputs, &["y"]));
    let context = load_context();
    let program =
        import_module(&context, &loaded(proto.clone()), &Options::default()).map_err(|e| e.to_string())?;
    assert!(program.module.as_operation().verify(), "{}", program.module.as_operation());
    let list = Computed::List(list.iter().map(|values| floats(values)).collect());
    let values = [list, Computed::Tensor(floats(&[9.0])), scalar(position)];
    let found = run_on(&loaded(proto), &Options::default(), &values).map_err(|e| e.to_string())?;
    Ok(found.into_iter().flat_map(|(_, tensors)| tensors).map(|t| t.to_f64s()).collect())
}

#[test]
fn elements_are_found_from_both_ends() {
    let at = || vec![node("SequenceAt", &["q", "p"], &["y"], vec![])];
    assert_eq!(results(at(), &[&[1.0], &[2.0, 3.0]], 1), Ok(vec![vec![2.0, 3.0]]));
    assert_eq!(results(at(), &[&[1.0], &[2.0, 3.0]], -2), Ok(vec![vec![1.0]]));
    let error = results(at(), &[&[1.0]], 1).unwrap_err();
    assert!(error.contains("the position 1 is out of range for a sequence of 1"), "{error}");
}

#[test]
fn elements_come_and_go() {
    let insert = vec![node("SequenceInsert", &["q", "x", "p"], &["y"], vec![])];
    assert_eq!(results(insert, &[&[1.0], &[2.0]], 1), Ok(vec![vec![1.0], vec![9.0], vec![2.0]]));
    let push = vec![node("SequenceInsert", &["q", "x"], &["y"], vec![])];
    assert_eq!(results(push, &[&[1.0]], 0), Ok(vec![vec![1.0], vec![9.0]]));
    let erase = vec![node("SequenceErase", &["q", "p"], &["y"], vec![])];
    assert_eq!(results(erase, &[&[1.0], &[2.0]], 0), Ok(vec![vec![2.0]]));
    let length = vec![node("SequenceLength", &["q"], &["y"], vec![])];
    assert_eq!(results(length, &[&[1.0], &[2.0]], 0), Ok(vec![vec![2.0]]));
}

#[test]
fn elements_are_joined() {
    let concat = vec![node("ConcatFromSequence", &["q"], &["y"], vec![int("axis", 0)])];
    assert_eq!(results(concat, &[&[1.0], &[2.0, 3.0], &[4.0]], 0), Ok(vec![vec![1.0, 2.0, 3.0, 4.0]]));
    let stack = vec![node("ConcatFromSequence", &["q"], &["y"], vec![int("axis", 1), int("new_axis", 1)])];
    assert_eq!(results(stack, &[&[1.0, 2.0], &[3.0, 4.0]], 0), Ok(vec![vec![1.0, 3.0, 2.0, 4.0]]));
}

#[test]
fn a_graph_runs_on_each_element() {
    let body = graph(
        vec![node("Mul", &["a", "b"], &["c"], vec![])],
        vec![input("a", 1, &["n"]), input("b", 1, &["1"])],
        &["c"],
    );
    let map = vec![node("SequenceMap", &["q", "x"], &["y"], vec![subgraph("body", body)])];
    assert_eq!(results(map, &[&[1.0], &[2.0, 3.0]], 0), Ok(vec![vec![9.0], vec![18.0, 27.0]]));
}

#[test]
fn rank_of_the_elements_must_be_said() {
    let mut untyped = sequence("q");
    if let Some(type_proto::Value::Sequence(kind)) = untyped.r#type.as_mut().and_then(|t| t.value.as_mut())
        && let Some(type_proto::Value::Tensor(tensor)) =
            kind.elem_type.as_mut().and_then(|t| t.value.as_mut())
    {
        tensor.shape = None;
    }
    let nodes = vec![node("SequenceLength", &["q"], &["y"], vec![])];
    let context = load_context();
    let error =
        import_module(&context, &loaded(model(graph(nodes, vec![untyped], &["y"]))), &Options::default());
    let error = error.err().expect("the model is wrong").to_string();
    assert!(error.contains("'q' is a sequence of tensors whose rank is not said"), "{error}");
}

/// An optional tensor that is given is that tensor; one that is not is asked about when the model is imported.
#[test]
fn optional_inputs_are_there_or_not() {
    let mut optional = input("q", 1, &["2"]);
    let tensor = optional.r#type.take().map(Box::new);
    let value = Some(type_proto::Value::Optional(ElementTypeProto { elem_type: tensor }));
    optional.r#type = Some(TypeProto { value });
    let proto =
        |op: &str| model(graph(vec![node(op, &["q"], &["y"], vec![])], vec![optional.clone()], &["y"]));
    let given = Tensor::from_slice(&[2], &[1f32, 2.0]).unwrap();
    let found = run(proto("OptionalGetElement"), &Options::default(), std::slice::from_ref(&given)).unwrap();
    assert_eq!(found, std::slice::from_ref(&given));
    let has = |options: &Options, tensors: &[Tensor]| {
        run(proto("OptionalHasElement"), options, tensors).unwrap()[0].to_ints()[0] != 0
    };
    assert!(has(&Options::default(), &[given]));
    let absent = Options { absent: ["q".to_owned()].into_iter().collect(), ..Options::default() };
    assert!(!has(&absent, &[]));
    let error = run(proto("OptionalGetElement"), &absent, &[]).unwrap_err().to_string();
    assert!(error.contains("the optional value is not there"), "{error}");
}
