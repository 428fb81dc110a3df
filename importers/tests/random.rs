//! Random numbers: what they are distributed like, and on what they depend.

use crate::common::*;
use fusion_importers::onnx::proto::{AttributeProto, GraphProto, ModelProto, NodeProto};
use fusion_importers::onnx::{Options, import_module};
use fusion_operators::{DType, Tensor};

fn of_nodes(nodes: Vec<NodeProto>, inputs: &[(&str, i32, &[&str])], results: &[&str]) -> ModelProto {
    let inputs = inputs.iter().map(|(name, element, dims)| input(name, *element, dims)).collect();
    ModelProto { opset_import: vec![opset("", 22)], ..model(graph(nodes, inputs, results)) }
}

fn computed(proto: ModelProto, inputs: &[Tensor]) -> Vec<Tensor> {
    let names = proto.graph.iter().flat_map(|g: &GraphProto| g.input.iter().map(|i| i.name.clone()));
    let bound = names.zip(inputs.iter().cloned()).collect();
    run(proto, &Options { bound, ..Options::default() }, inputs).unwrap()
}

/// One node without operands.
fn drawn(op: &str, attributes: Vec<AttributeProto>) -> Tensor {
    computed(of_nodes(vec![node(op, &[], &["y"], attributes)], &[], &["y"]), &[]).remove(0)
}

fn moments(x: &Tensor) -> [f64; 2] {
    let (x, n) = (x.to_f64s(), x.len() as f64);
    let mean = x.iter().sum::<f64>() / n;
    [mean, (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()]
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 0.03
}

#[test]
fn uniform_numbers_fill_their_interval() {
    for dtype in [1, 10, 11, 16] {
        let x = drawn("RandomUniform", vec![ints("shape", &[100, 100]), int("dtype", dtype)]);
        let [mean, deviation] = moments(&x);
        assert!(near(mean, 0.5) && near(deviation, 1.0 / 12f64.sqrt()), "{mean} {deviation}");
        assert!(x.to_f64s().iter().all(|v| (0.0..1.0).contains(v)));
    }
    let x = drawn("RandomUniform", vec![ints("shape", &[10000]), float("low", -3.0), float("high", 5.0)]);
    assert!((moments(&x)[0] - 1.0).abs() < 0.1);
}

#[test]
fn normal_numbers_have_their_mean_and_deviation() {
    for dtype in [1, 10, 11, 16] {
        let shape = ints("shape", &[10000]);
        let [mean, deviation] = moments(&drawn("RandomNormal", vec![shape, int("dtype", dtype)]));
        assert!(near(mean, 0.0) && near(deviation, 1.0), "{mean} {deviation}");
    }
}

#[test]
fn numbers_follow_from_the_seed_or_the_name() {
    let of = |seed| drawn("RandomNormal", vec![ints("shape", &[4]), float("seed", seed)]);
    assert_eq!(of(1.0), of(1.0));
    assert_ne!(of(1.0), of(2.0));
    let nodes = ["a", "b"].map(|y| node("RandomNormal", &[], &[y], vec![ints("shape", &[4])]));
    let both = computed(of_nodes(nodes.to_vec(), &[], &["a", "b"]), &[]);
    assert_ne!(both[0], both[1]);
}

#[test]
fn classes_appear_as_often_as_their_logarithms_say() {
    let logits = [0.2f32, 0.3, 0.5].map(|p| p.ln() + 1.0);
    let logits = Tensor::from_slice(&[1, 3], &logits).unwrap();
    let attributes = vec![int("sample_size", 10000), int("dtype", 7)];
    let nodes = vec![node("Multinomial", &["x"], &["y"], attributes)];
    let y = computed(of_nodes(nodes, &[("x", 1, &["1", "3"])], &["y"]), &[logits]).remove(0);
    assert_eq!((y.dtype(), y.shape()), (DType::I64, &[1, 10000][..]));
    for (class, share) in [0.2, 0.3, 0.5].into_iter().enumerate() {
        let found = y.to_ints().iter().filter(|c| **c == class as i128).count() as f64 / 10000.0;
        assert!(near(found, share), "{class}: {found}");
    }
}

#[test]
fn dropout_in_training_keeps_the_mean() {
    let x = Tensor::from_slice(&[10000], &[1f32; 10000]).unwrap();
    let ratio = Tensor::from_slice(&[], &[0.25f32]).unwrap();
    let of = |training: bool| {
        let training = Tensor::from_ints(DType::Bool, &[], &[training.into()]).unwrap();
        let given = [x.clone(), ratio.clone(), training];
        let nodes = vec![node("Dropout", &["x", "r", "t"], &["y", "mask"], vec![])];
        let inputs: &[(&str, i32, &[&str])] = &[("x", 1, &["10000"]), ("r", 1, &[]), ("t", 9, &[])];
        computed(of_nodes(nodes, inputs, &["y", "mask"]), &given)
    };
    let [y, mask] = of(true).try_into().unwrap();
    assert!(near(moments(&mask)[0], 0.75) && near(moments(&y)[0], 1.0));
    for (y, kept) in y.to_f64s().into_iter().zip(mask.to_ints()) {
        assert!((y - kept as f64 / 0.75).abs() < 1e-6);
    }
    let [y, mask] = of(false).try_into().unwrap();
    assert_eq!((y, moments(&mask)[0]), (x, 1.0));
}

#[test]
fn shapes_may_be_dynamic() {
    let nodes = vec![node("RandomNormalLike", &["x"], &["y"], vec![])];
    let proto = of_nodes(nodes, &[("x", 1, &["n", "8"])], &["y"]);
    let context = fusion_dialects::load_context();
    let program = import_module(&context, &loaded(proto), &Options::default()).unwrap();
    let text = program.module.as_operation().to_string();
    assert!(text.contains("relay.philox") && text.contains("n"), "{text}");
}
