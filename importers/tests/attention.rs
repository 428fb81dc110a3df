//! Attention: which keys a query sees, and what a query gives that sees none.

use crate::common::*;
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto};
use fusion_operators::{Dim, Tensor};

/// Attention of queries and keys that are all alike, so that each query gives the mean of the values it sees; the
/// values are 1, 2, 4, ...
fn means(queries: usize, keys: usize, attributes: Vec<AttributeProto>, rest: &[(usize, Tensor)]) -> Vec<f64> {
    let values: Vec<f32> = (0..keys).map(|j| (1u32 << j) as f32).collect();
    let tensor = |n: usize, values: &[f32]| Tensor::from_slice(&[1, 1, n, 1], values).expect("they fill it");
    let mut operands =
        vec![tensor(queries, &vec![0.0; queries]), tensor(keys, &vec![1.0; keys]), tensor(keys, &values)];
    let mut names = vec!["q", "k", "v"];
    let mut inputs: Vec<_> = names.iter().map(|name| input(name, 1, &["1", "1", "n", "1"])).collect();
    for (place, tensor) in rest {
        names.resize(*place, "");
        names.push("more");
        let dims: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
        let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
        let element = if tensor.dtype().is_float() {
            1
        } else if tensor.dtype().is_int() {
            7
        } else {
            9
        };
        inputs.push(input("more", element, &dims));
        operands.push(tensor.clone());
    }
    let whole = graph(vec![node("Attention", &names, &["y"], attributes)], inputs, &["y"]);
    let proto = ModelProto { opset_import: vec![opset("", 25)], ..model(whole) };
    let shapes = [("q", queries), ("k", keys), ("v", keys)];
    let shapes =
        shapes.map(|(name, n)| (name.to_owned(), [1, 1, n as u64, 1].map(Dim::Static).to_vec())).into();
    let options = Options { shapes, ..Options::default() };
    let found = run(proto, &options, &operands).expect("the node is right")[0].to_f64s();
    // Sixths, rounded, so that a third is what it is in any order of sums.
    found.into_iter().map(|x| (6.0 * x).round() / 6.0).collect()
}

fn truths(shape: &[usize], values: &[i128]) -> Tensor {
    Tensor::from_ints(fusion_operators::DType::Bool, shape, values).expect("they fill it")
}

#[test]
fn a_query_that_sees_no_key_gives_zero() {
    let mask = truths(&[2, 2], &[0, 0, 0, 1]);
    assert_eq!(means(2, 2, vec![], &[(3, mask)]), [0.0, 2.0]);
    let infinite = f32::NEG_INFINITY;
    let mask = Tensor::from_slice(&[2, 2], &[infinite, infinite, 0.0, infinite]).expect("they fill it");
    assert_eq!(means(2, 2, vec![], &[(3, mask)]), [0.0, 1.0]);
}

#[test]
fn the_soft_cap_comes_before_the_mask() {
    let mask = truths(&[1, 2], &[1, 0]);
    assert_eq!(means(1, 2, vec![float("softcap", 0.5)], &[(3, mask)]), [1.0]);
}

#[test]
fn queries_stand_at_the_end_of_the_keys_that_are_no_padding() {
    let lengths = |n: i64| vec![(6, Tensor::from_slice(&[1], &[n]).expect("one number"))];
    // Of 2 queries and 3 keys, the first stands at key 1.
    assert_eq!(means(2, 4, vec![int("is_causal", 1)], &lengths(3)), [1.5, 7.0 / 3.0]);
    // Of 2 queries and 1 key, the first stands before all keys.
    assert_eq!(means(2, 4, vec![int("is_causal", 1)], &lengths(1)), [0.0, 1.0]);
}

#[test]
fn windows_bound_how_far_a_query_sees() {
    let window = |left, right| vec![int("left_window_size", left), int("right_window_size", right)];
    assert_eq!(means(3, 3, window(0, 0), &[]), [1.0, 2.0, 4.0]);
    assert_eq!(means(3, 3, window(-1, 0), &[]), [1.0, 1.5, 7.0 / 3.0]);
    assert_eq!(means(3, 3, window(1, -1), &[]), [7.0 / 3.0, 7.0 / 3.0, 3.0]);
}
