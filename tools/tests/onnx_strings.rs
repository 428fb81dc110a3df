//! ONNX models of strings. All ways to run them give what the reference evaluator gives, on strings that are empty, long, alike and
//! beyond ASCII, and on other sizes than the last.

use crate::onnx_programs::common::*;
use crate::onnx_programs::{Filed, filed};
use fusion::programs::{self, Inputs};
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, NodeProto, TensorProto};
use fusion_operators::random::{Random, cases, seeds};
use fusion_operators::{Tensor, ValueTree};

const STRING: i32 = 8;

fn strings(name: &str, values: &[&str]) -> AttributeProto {
    let strings = values.iter().map(|s| s.as_bytes().to_vec().into()).collect();
    AttributeProto { name: name.into(), r#type: 8, strings, ..Default::default() }
}

fn texts(name: &str, values: &[&str]) -> TensorProto {
    let string_data = values.iter().map(|s| s.as_bytes().to_vec().into()).collect();
    TensorProto {
        name: name.into(),
        dims: vec![values.len() as i64],
        data_type: STRING,
        string_data,
        ..Default::default()
    }
}

fn whole(
    nodes: Vec<NodeProto>,
    inputs: &[(&str, i32, &[&str])],
    outputs: &[&str],
    given: Vec<TensorProto>,
) -> Filed {
    let inputs = inputs.iter().map(|(name, element, dims)| input(name, *element, dims)).collect();
    let mut graph = graph(nodes, inputs, outputs);
    graph.initializer = given;
    let opset_import = vec![opset("", 21), opset("ai.onnx.ml", 5)];
    filed(ModelProto { opset_import, ..model(graph) })
}

/// Strings of which some are alike, empty, long, and of any letters.
fn random(random: &mut Random, shape: &[usize]) -> Tensor {
    let mut string = || -> String {
        let length = [0, 1, 2, 3, 12, 300][random.next_u64() as usize % 6];
        let letters = ["a", "B", "b", " ", "\t", ",", "é", "İ", "ß", "\u{3000}", "𝔘", "0", "\0"];
        (0..length).map(|_| letters[random.next_u64() as usize % letters.len()]).collect()
    };
    let all: Vec<String> = (0..shape.iter().product()).map(|_| string()).collect();
    Tensor::from_strings(shape, &all).unwrap()
}

/// Some cases of a model that takes strings of these shapes, with and without elements.
fn agrees_on_random(model: &Filed, names: &[&str], shapes: &[&[&[usize]]]) {
    for seed in seeds(2) {
        let mut numbers = Random::new(seed);
        let case = |shapes: &&[&[usize]]| {
            let given = names.iter().zip(*shapes);
            given.map(|(name, shape)| (*name, random(&mut numbers, shape))).collect::<Vec<_>>()
        };
        let all: Vec<_> = shapes.iter().map(case).collect();
        model.agrees(&all);
    }
    assert!(cases(1) > 0);
}

#[test]
fn strings_are_compared_chosen_and_moved_by_kernels() {
    let nodes = vec![
        node("Equal", &["x", "z"], &["same"], vec![]),
        node("Where", &["same", "x", "known"], &["chosen"], vec![]),
        node("Concat", &["chosen", "x"], &["both"], vec![int("axis", 0)]),
        node("Gather", &["both", "places"], &["y"], vec![int("axis", 0)]),
    ];
    let inputs: &[(&str, i32, &[&str])] = &[("x", STRING, &["n", "2"]), ("z", STRING, &["n", "1"])];
    let given = vec![texts("known", &["", "é"]), i64s("places", &[3], &[0, -1, 1])];
    let model = whole(nodes, inputs, &["same", "y"], given);
    agrees_on_random(&model, &["x", "z"], &[&[&[3, 2], &[3, 1]], &[&[1, 2], &[1, 1]], &[&[40, 2], &[40, 1]]]);
}

#[test]
fn strings_are_made_and_cut() {
    let nodes = vec![
        node("StringConcat", &["x", "z"], &["joined"], vec![]),
        node("StringSplit", &["joined"], &["words", "counts"], vec![]),
        node(
            "StringSplit",
            &["joined"],
            &["parts", "numbers"],
            vec![text("delimiter", ",a"), int("maxsplit", 2)],
        ),
        node("RegexFullMatch", &["joined"], &["matches"], vec![text("pattern", "(?s).*[éa]+,?|\\P{L}*")]),
    ];
    let inputs: &[(&str, i32, &[&str])] = &[("x", STRING, &["n", "1"]), ("z", STRING, &["3"])];
    let model = whole(nodes, inputs, &["joined", "words", "counts", "parts", "numbers", "matches"], vec![]);
    agrees_on_random(&model, &["x", "z"], &[&[&[5, 1], &[3]], &[&[0, 1], &[3]], &[&[60, 1], &[3]]]);
}

#[test]
fn stop_words_are_left_out() {
    let attributes = || vec![strings("stopwords", &["a", "é", "", "B"]), text("case_change_action", "UPPER")];
    let model = whole(
        vec![node("StringNormalizer", &["x"], &["y"], attributes())],
        &[("x", STRING, &["n"])],
        &["y"],
        vec![],
    );
    agrees_on_random(&model, &["x"], &[&[&[20]], &[&[1]], &[&[2]], &[&[60]]]);
    model.agrees(&[vec![("x", Tensor::from_strings(&[3], &["A", "b", ""]).unwrap())]]);
}

#[test]
fn each_string_is_found_once() {
    let unique =
        |sorted: i64, given: &str, made: &[&str]| node("Unique", &[given], made, vec![int("sorted", sorted)]);
    let nodes = vec![
        unique(1, "x", &["sorted", "first", "place", "count"]),
        unique(0, "x", &["y", "first0", "place0", "count0"]),
    ];
    let outputs = &["sorted", "first", "place", "count", "y", "place0", "count0"];
    let model = whole(nodes, &[("x", STRING, &["n"])], outputs, vec![]);
    agrees_on_random(&model, &["x"], &[&[&[20]], &[&[1]], &[&[60]]]);
    model.agrees(&[vec![("x", Tensor::from_strings(&[3], &["b", "", "a\0b"]).unwrap())]]);
}

#[test]
fn labels_and_categories_of_a_classifier_are_strings() {
    let ml = |mut node: NodeProto| {
        node.domain = "ai.onnx.ml".into();
        node
    };
    let keys = ["a", "b", "", "ab", "é"];
    let nodes = vec![
        ml(node(
            "LabelEncoder",
            &["x"],
            &["code"],
            vec![strings("keys_strings", &keys), ints("values_int64s", &[3, 1, 4, 1, 5])],
        )),
        ml(node("OneHotEncoder", &["x"], &["hot"], vec![strings("cats_strings", &keys)])),
        node("Flatten", &["hot"], &["features"], vec![int("axis", 1)]),
        ml(node(
            "LinearClassifier",
            &["features"],
            &["label", "scores"],
            vec![
                strings("classlabels_strings", &["yes", "no", "per\u{0}haps"]),
                AttributeProto {
                    name: "coefficients".into(),
                    r#type: 6,
                    floats: (0..30).map(|i| ((i * 7) % 11) as f32 - 5.0).collect(),
                    ..Default::default()
                },
                AttributeProto {
                    name: "intercepts".into(),
                    r#type: 6,
                    floats: vec![0.5, 0.0, -0.5],
                    ..Default::default()
                },
            ],
        )),
    ];
    let model = whole(nodes, &[("x", STRING, &["n", "2"])], &["code", "label", "scores"], vec![]);
    agrees_on_random(&model, &["x"], &[&[&[9, 2]], &[&[1, 2]], &[&[70, 2]]]);
}

#[test]
fn numbers_are_written_and_read_alike_everywhere() {
    let nodes = vec![
        node("Cast", &["x"], &["text"], vec![int("to", 8)]),
        node("Cast", &["text"], &["back"], vec![int("to", 1)]),
        node("Cast", &["back"], &["wide"], vec![int("to", 11)]),
        node("Cast", &["wide"], &["digits"], vec![int("to", 8)]),
        node("Cast", &["digits"], &["whole"], vec![int("to", 7)]),
    ];
    let model = whole(nodes, &[("x", 1, &["n"])], &["text", "back", "digits", "whole"], vec![]);
    let mut random = Random::new(7);
    let bits: Vec<f32> =
        (0..4000).map(|_| f32::from_bits(random.next_u64() as u32)).filter(|x| x.is_finite()).collect();
    let few = [0.1f32, -0.0, 1e-45, f32::MAX, 0.3, 16777216.0, 1.5e9, -7.25];
    let powers: Vec<f32> = (-149..128).map(|power| 2f64.powi(power) as f32).collect();
    model
        .agrees(&[&bits[..], &few, &powers].map(|x| vec![("x", Tensor::from_slice(&[x.len()], x).unwrap())]));
}

/// The message of a run that fails, in the machine and compiled ahead of time.
fn fails(model: &Filed, x: Tensor) -> [String; 2] {
    let inputs: Inputs = [("x".to_owned(), ValueTree::tensor(x))].into_iter().collect();
    let bytecode = programs::bytecode(model.path(), model.options()).unwrap();
    let native =
        programs::linked(&programs::native(model.path(), model.options()).unwrap()).unwrap().unwrap();
    let said = [
        programs::run_bytecode(bytecode, None, inputs.clone()).unwrap_err().to_string(),
        programs::run_native(&native, None, inputs.clone()).unwrap_err().to_string(),
    ];
    // The library stays usable.
    assert!(programs::run_native(&native, None, inputs).is_err());
    said
}

#[test]
fn what_is_no_number_ends_the_run_with_a_sentence() {
    let model = whole(
        vec![node("Cast", &["x"], &["y"], vec![int("to", 7)])],
        &[("x", STRING, &["n"])],
        &["y"],
        vec![],
    );
    for said in fails(&model, Tensor::from_strings(&[2], &["1", "one"]).unwrap()) {
        assert!(
            said.contains("takes numbers in decimal notation, such as 12 or -1.5e3, found \"one\""),
            "{said}"
        );
    }
}

#[test]
fn strings_that_grow_end_the_run_with_a_sentence() {
    let double = |i: usize| {
        node("StringConcat", &[&format!("s{i}"), &format!("s{i}")], &[&format!("s{}", i + 1)], vec![])
    };
    let nodes =
        std::iter::once(node("Identity", &["x"], &["s0"], vec![])).chain((0..12).map(double)).collect();
    let model = whole(nodes, &[("x", STRING, &["n"])], &["s12"], vec![]);
    for said in fails(&model, Tensor::from_strings(&[1], &["x".repeat(1 << 20)]).unwrap()) {
        assert!(said.contains("makes strings of more than 1073741824 bytes"), "{said}");
    }
}
