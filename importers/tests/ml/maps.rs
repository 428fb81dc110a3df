//! Maps, which are columns of keys and of values.

use super::*;
use fusion_importers::onnx::proto::{MapTypeProto, TensorTypeProto, TypeProto, ValueInfoProto, type_proto};
use fusion_importers::onnx::{eager, signature};

/// A graph input that is a map; elements by their numbers in TensorProto.
fn map_of(keys: i32, values: i32) -> ValueInfoProto {
    let tensor = TensorTypeProto { elem_type: values, shape: None };
    let value_type = Some(Box::new(TypeProto { value: Some(type_proto::Value::Tensor(tensor)) }));
    let value = Some(type_proto::Value::Map(MapTypeProto { key_type: keys, value_type }));
    ValueInfoProto { name: "m".into(), r#type: Some(TypeProto { value }) }
}

fn of_map(op: &str, attributes: Vec<AttributeProto>, map: ValueInfoProto) -> ModelProto {
    let mut call = node(op, &["m"], &["y"], attributes);
    call.domain = "ai.onnx.ml".into();
    let opset_import = vec![opset("", 21), opset("ai.onnx.ml", 3)];
    ModelProto { opset_import, ..model(graph(vec![call], vec![map], &["y"])) }
}

fn applied(
    op: &str,
    attributes: Vec<AttributeProto>,
    (map, keys, values): (ValueInfoProto, Tensor, Tensor),
) -> Result<Tensor, String> {
    let results = run(of_map(op, attributes, map), &Options::default(), &[keys, values]);
    Ok(results.map_err(|error| error.to_string())?.remove(0))
}

fn numbers(keys: &[i64], values: &[f32]) -> (ValueInfoProto, Tensor, Tensor) {
    let (keys, values) =
        (Tensor::from_slice(&[keys.len()], keys), Tensor::from_slice(&[values.len()], values));
    (map_of(7, 1), keys.unwrap(), values.unwrap())
}

#[test]
fn a_map_is_two_inputs_of_one_extent() {
    let model = loaded(of_map("CastMap", vec![], map_of(7, 1)));
    let inputs = signature(&model, &Options::default()).unwrap();
    let written: Vec<String> = inputs.iter().map(|i| format!("{}: {}", i.name, i.ty)).collect();
    assert_eq!(written, ["m.keys: tensor<m.countxi64>", "m.values: tensor<m.countxf32>"]);
}

#[test]
fn a_row_has_a_value_for_each_word_of_a_vocabulary() {
    let keys = Tensor::from_strings(&[3], &["c", "a", "q"]).unwrap();
    let values = Tensor::from_slice(&[3], &[8f32, 4.0, 1.0]).unwrap();
    let words = vec![strings("string_vocabulary", &["a", "c", "b"])];
    let y = applied("DictVectorizer", words.clone(), (map_of(8, 1), keys, values)).unwrap();
    assert_eq!((y.shape(), y.to_f64s()), (&[1, 3][..], vec![4.0, 8.0, 0.0]));
    let none = (
        map_of(8, 1),
        Tensor::from_strings::<&str>(&[0], &[]).unwrap(),
        Tensor::from_slice(&[0], &[0f32; 0]).unwrap(),
    );
    assert_eq!(applied("DictVectorizer", words, none).unwrap().to_f64s(), [0.0; 3]);
}

#[test]
fn dense_rows_are_in_the_order_of_keys() {
    let y = applied("CastMap", vec![text("cast_to", "TO_INT64")], numbers(&[3, -1, 7], &[1.5, 2.5, -1.0]))
        .unwrap();
    assert_eq!((y.shape(), y.dtype(), y.to_f64s()), (&[1, 3][..], DType::I64, vec![2.0, 1.0, -1.0]));
}

#[test]
fn sparse_rows_have_a_column_for_each_key() {
    let sparse = |to: &str| vec![text("map_form", "SPARSE"), int("max_map", 5), text("cast_to", to)];
    let map = || numbers(&[3, 1, 7], &[1.5, 2.5, -1.0]);
    let y = applied("CastMap", sparse("TO_FLOAT"), map()).unwrap();
    assert_eq!(y.to_f64s(), [0.0, 2.5, 0.0, 1.5, 0.0]);
    let y = applied("CastMap", sparse("TO_STRING"), map()).unwrap();
    assert_eq!(y.strings().collect::<Vec<_>>(), ["0.f", "2.5", "0.f", "1.5", "0.f"]);
}

#[test]
fn what_is_wrong_with_a_map_is_said() {
    let failed = |op: &str, attributes| applied(op, attributes, numbers(&[1], &[2.0])).unwrap_err();
    let cases = [
        failed("DictVectorizer", vec![]),
        failed("DictVectorizer", vec![strings("string_vocabulary", &["a"])]),
        failed("CastMap", vec![text("map_form", "SPARSE"), int("max_map", -1)]),
        failed("CastMap", vec![text("cast_to", "TO_BOOL")]),
        failed("Normalizer", vec![]),
    ];
    let expected = [
        "one of the attributes string_vocabulary and int64_vocabulary must be given",
        "a vocabulary of !relay.string cannot be one of keys of i64",
        "attribute max_map must be from 1 to",
        "attribute cast_to must be TO_FLOAT, TO_INT64 or TO_STRING",
        "a map is given where a tensor is expected",
    ];
    for (found, expected) in cases.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
    let mut inside = map_of(7, 1);
    if let Some(type_proto::Value::Map(map)) = &mut inside.r#type.as_mut().unwrap().value {
        map.value_type = Some(Box::new(map_of(7, 1).r#type.unwrap()));
    }
    let error = eager::run(&loaded(of_map("CastMap", vec![], inside)), &Options::default(), &[]).unwrap_err();
    assert!(error.to_string().contains("is a map to something else than numbers or strings"), "{error}");
}
