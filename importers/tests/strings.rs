//! Operators on strings, beside values worked out by hand, and strings that cannot be.

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, NodeProto, TensorProto};
use fusion_operators::Tensor;

pub fn strings(name: &str, values: &[&str]) -> AttributeProto {
    let strings = values.iter().map(|s| s.as_bytes().to_vec().into()).collect();
    AttributeProto { name: name.into(), r#type: 8, strings, ..Default::default() }
}

fn of(strings: &[&str]) -> Tensor {
    Tensor::from_strings(&[strings.len()], strings).unwrap()
}

fn results(call: NodeProto, given: &[Tensor], initializers: Vec<TensorProto>) -> Result<Vec<Tensor>, String> {
    let names = ["x", "z"];
    let element = |t: &Tensor| match t.dtype() {
        fusion_operators::DType::String => 8,
        fusion_operators::DType::I64 => 7,
        _ => 1,
    };
    let one = |(name, t): (&&str, &Tensor)| {
        let dims: Vec<String> = t.shape().iter().map(usize::to_string).collect();
        input(name, element(t), &dims.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let inputs = names.iter().zip(given).map(one).collect();
    let outputs = call.output.clone();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let mut whole = graph(vec![call], inputs, &outputs);
    whole.initializer = initializers;
    let opset_import = vec![opset("", 21), opset("ai.onnx.ml", 5)];
    let model = ModelProto { opset_import, ..model(whole) };
    run(model, &Options::default(), given).map_err(|error| error.to_string())
}

fn one(op: &str, attributes: Vec<AttributeProto>, given: &[Tensor]) -> Result<Tensor, String> {
    let inputs = &["x", "z"][..given.len()];
    Ok(results(node(op, inputs, &["y"], attributes), given, vec![])?.remove(0))
}

fn ml(op: &str, attributes: Vec<AttributeProto>, x: Tensor) -> Result<Tensor, String> {
    let mut call = node(op, &["x"], &["y"], attributes);
    call.domain = "ai.onnx.ml".into();
    Ok(results(call, &[x], vec![])?.remove(0))
}

#[test]
fn keys_values_and_categories_are_strings() {
    let x = || of(&["b", "?", "a", "b"]);
    let keys = || strings("keys_strings", &["a", "b"]);
    let found = ml("LabelEncoder", vec![keys(), strings("values_strings", &["x", "y"])], x()).unwrap();
    assert_eq!(found, of(&["y", "_Unused", "x", "y"]));
    let encoded = vec![keys(), ints("values_int64s", &[5, 6]), int("default_int64", 9)];
    assert_eq!(ml("LabelEncoder", encoded, x()).unwrap().to_ints(), [6, 9, 5, 6]);
    let numbers = Tensor::from_slice(&[2], &[6i64, 7]).unwrap();
    let pairs = || vec![strings("cats_strings", &["a", "b"]), ints("cats_int64s", &[5, 6])];
    assert_eq!(ml("CategoryMapper", pairs(), x()).unwrap().to_ints(), [6, -1, 5, 6]);
    let named = [pairs(), vec![text("default_string", "none")]].concat();
    assert_eq!(ml("CategoryMapper", named, numbers).unwrap(), of(&["b", "none"]));
    let hot = ml("OneHotEncoder", vec![strings("cats_strings", &["a", "b"])], x()).unwrap();
    assert_eq!(hot.to_f64s(), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let refused = ml("LabelEncoder", vec![ints("keys_int64s", &[1]), ints("values_int64s", &[1])], x());
    assert!(refused.unwrap_err().contains("keys of i64 cannot be those of tensor<4x!relay.string>"));
}

#[test]
fn stop_words_are_left_out_in_any_case() {
    let x = of(&["Monday", "mon", "TUESDAY", "mon"]);
    let words = || strings("stopwords", &["MON", "tuesday"]);
    let kept =
        one("StringNormalizer", vec![words(), text("case_change_action", "UPPER")], std::slice::from_ref(&x));
    assert_eq!(kept.unwrap(), of(&["MONDAY"]));
    let exact = vec![words(), int("is_case_sensitive", 1)];
    assert_eq!(one("StringNormalizer", exact, std::slice::from_ref(&x)).unwrap(), x);
    let row = of(&["mon", "Mon"]).reshaped(&[1, 2]).unwrap();
    assert_eq!(one("StringNormalizer", vec![words()], &[row]).unwrap(), of(&[""]).reshaped(&[1, 1]).unwrap());
    let square = of(&["", "", "", ""]).reshaped(&[2, 2]).unwrap();
    assert!(one("StringNormalizer", vec![words()], &[square]).unwrap_err().contains("must be [C] or [1, C]"));
}

#[test]
fn numbers_become_strings_and_back() {
    let numbers = Tensor::from_slice(&[3], &[1.5f32, -2.0, 1e-3]).unwrap();
    let written = one("Cast", vec![int("to", 8)], std::slice::from_ref(&numbers)).unwrap();
    assert_eq!(written, of(&["1.5", "-2", "0.001"]));
    assert_eq!(one("Cast", vec![int("to", 1)], &[written]).unwrap(), numbers);
    let read = |to, x: &str| one("Cast", vec![int("to", to)], &[of(&[x])]);
    assert_eq!(read(9, "0.5").unwrap().to_ints(), [1]);
    assert_eq!(read(10, "1e5").unwrap().to_f64s(), [f64::INFINITY]);
    assert_eq!(read(7, "9007199254740993").unwrap().to_ints(), [9007199254740993]);
    assert!(read(7, "nine").unwrap_err().contains("takes numbers in decimal notation, such as 12 or -1.5e3"));
}

#[test]
fn counts_of_words_are_those_of_their_numbers() {
    let attributes = |pool: AttributeProto| {
        let counts = ints("ngram_counts", &[0, 2]);
        let (columns, mode) = (ints("ngram_indexes", &[0, 1, 2]), text("mode", "TF"));
        let lengths = [int("min_gram_length", 1), int("max_gram_length", 2), int("max_skip_count", 1)];
        [vec![pool, counts, columns, mode], lengths.to_vec()].concat()
    };
    let words = of(&["b", "a", "c", "b"]).reshaped(&[1, 4]).unwrap();
    let by_words =
        one("TfIdfVectorizer", attributes(strings("pool_strings", &["a", "b", "a", "b"])), &[words]);
    let numbers = Tensor::from_slice(&[1, 4], &[7i64, 5, 9, 7]).unwrap();
    let by_numbers = one("TfIdfVectorizer", attributes(ints("pool_int64s", &[5, 7, 5, 7])), &[numbers]);
    assert_eq!(by_words.unwrap().to_f64s(), [1.0, 2.0, 1.0]);
    assert_eq!(by_numbers.unwrap().to_f64s(), [1.0, 2.0, 1.0]);
}

#[test]
fn elements_that_are_no_text_are_refused() {
    let stored = |tensor: TensorProto| {
        results(
            node("Identity", &["k"], &["y"], vec![]),
            &[],
            vec![TensorProto { name: "k".into(), data_type: 8, ..tensor }],
        )
    };
    let bytes = vec![b"fine".to_vec().into(), vec![0xff, 0xfe].into()];
    let wrong = stored(TensorProto { dims: vec![2], string_data: bytes, ..Default::default() }).unwrap_err();
    assert!(wrong.contains("element 1 of tensor 'k' is no text in UTF-8"), "{wrong}");
    let raw = stored(TensorProto { dims: vec![1], raw_data: Some(vec![0; 8].into()), ..Default::default() });
    assert!(raw.unwrap_err().contains("has strings in another place than string_data"));
    let few = stored(TensorProto { dims: vec![1 << 30], ..Default::default() }).unwrap_err();
    assert!(few.contains("has 0 elements, but its shape [1073741824] needs 1073741824"), "{few}");
}

#[test]
fn arithmetic_on_strings_is_an_error_of_the_node() {
    let refused = one("Add", vec![], &[of(&["a"]), of(&["b"])]).unwrap_err();
    assert!(refused.contains("node 'n_y'") && refused.contains("relay.add takes no strings"), "{refused}");
    let pattern = one("RegexFullMatch", vec![text("pattern", "(a")], &[of(&["a"])]).unwrap_err();
    assert!(pattern.contains("attribute pattern \"(a\" is no regular expression"), "{pattern}");
}
