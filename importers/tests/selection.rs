//! Results whose extents follow from values: with types alone they are not known, and what is computed has them.

use crate::common::*;
use fusion_importers::onnx::proto::{AttributeProto, ModelProto, TensorProto};
use fusion_importers::onnx::{Options, import};
use fusion_operators::{Dim, Tensor};
use std::cell::RefCell;

/// One node whose operands are all graph inputs, but for initializers.
fn one(
    op: &str,
    attributes: Vec<AttributeProto>,
    operands: &[(&str, i32, &[&str])],
    constants: Vec<TensorProto>,
    results: &[&str],
) -> ModelProto {
    let names: Vec<&str> = operands.iter().map(|(name, ..)| *name).collect();
    let names: Vec<&str> = names.into_iter().chain(constants.iter().map(|c| c.name.as_str())).collect();
    let inputs = operands.iter().map(|(name, element, dims)| input(name, *element, dims)).collect();
    let mut graph = graph(vec![node(op, &names, results, attributes)], inputs, results);
    graph.initializer = constants.clone();
    ModelProto { opset_import: vec![opset("", 21)], ..model(graph) }
}

/// The extents of the first result where only types are known.
fn dims(model: ModelProto) -> Vec<Dim> {
    let model = loaded(model);
    let options = Options::default();
    let types = Types(RefCell::new(Vec::new()));
    let given: Vec<_> =
        fusion_importers::onnx::signature(&model, &options).unwrap().into_iter().map(|i| i.ty).collect();
    let ids: Vec<usize> = (0..given.len()).collect();
    types.0.borrow_mut().extend(given);
    let imported = import(&model, &options, &types, &ids).unwrap();
    let fusion_importers::onnx::Output::Tensor(id) = imported.outputs[0].1 else { panic!("it is a tensor") };
    types.0.into_inner().swap_remove(id).dims
}

fn computed(model: ModelProto, inputs: &[Tensor]) -> Vec<Tensor> {
    run(model, &Options::default(), inputs).unwrap()
}

fn f32s_of(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

#[test]
fn places_that_are_not_zero() {
    let model = || one("NonZero", vec![], &[("x", 1, &["2", "3"])], vec![], &["y"]);
    assert_eq!(dims(model()), [Dim::Static(2), Dim::Any]);
    let found = computed(model(), &[f32s_of(&[2, 3], &[0.0, 2.0, 0.0, -1.0, 0.0, f32::NAN])]);
    assert_eq!(found[0].to_ints(), [0, 1, 1, 1, 0, 2]);
    assert_eq!(computed(model(), &[f32s_of(&[2, 3], &[0.0; 6])])[0].shape(), [2, 0]);
}

#[test]
fn slices_by_a_condition_that_is_computed() {
    let operands: &[(&str, i32, &[&str])] = &[("x", 1, &["2", "3"]), ("c", 9, &["2"])];
    let model = || one("Compress", vec![int("axis", 1)], operands, vec![], &["y"]);
    assert_eq!(dims(model()), [Dim::Static(2), Dim::Any]);
    let condition = Tensor::from_ints(fusion_operators::DType::Bool, &[2], &[0, 1]).unwrap();
    let found = computed(model(), &[f32s_of(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), condition]);
    assert_eq!(found[0].to_f64s(), [2.0, 5.0]);
}

#[test]
fn each_element_once_in_either_order() {
    let model = |sorted: i64| {
        one("Unique", vec![int("sorted", sorted)], &[("x", 1, &["6"])], vec![], &["y", "i", "r", "c"])
    };
    assert_eq!(dims(model(1)), [Dim::Any]);
    let x = f32s_of(&[6], &[3.0, 1.0, 3.0, 2.0, 1.0, 3.0]);
    let ints = |t: &Tensor| t.to_ints();
    let found = computed(model(1), std::slice::from_ref(&x));
    assert_eq!(found[0].to_f64s(), [1.0, 2.0, 3.0]);
    assert_eq!(
        [&found[1], &found[2], &found[3]].map(ints),
        [vec![1, 3, 0], vec![2, 0, 2, 1, 0, 2], vec![2, 1, 3]]
    );
    let found = computed(model(0), std::slice::from_ref(&x));
    assert_eq!(found[0].to_f64s(), [3.0, 1.0, 2.0]);
    assert_eq!(
        [&found[1], &found[2], &found[3]].map(ints),
        [vec![0, 1, 3], vec![0, 1, 0, 2, 1, 0], vec![3, 2, 1]]
    );
}

#[test]
fn strings_are_sorted_by_their_bytes() {
    let model = one("Unique", vec![], &[("x", 8, &["5"])], vec![], &["y", "i", "r", "c"]);
    let x = Tensor::from_strings(&[5], &["b", "a", "é", "b", "ab"]).unwrap();
    let found = computed(model, &[x]);
    assert_eq!(found[0].strings().collect::<Vec<_>>(), ["a", "ab", "b", "é"]);
    assert_eq!(found[1].to_ints(), [1, 4, 0, 2]);
    assert_eq!(found[3].to_ints(), [1, 1, 2, 1]);
}

#[test]
fn slices_of_many_elements_are_sorted_in_a_loop() {
    let model = one("Unique", vec![int("axis", 0)], &[("x", 1, &["3", "40"])], vec![], &["y", "i", "r", "c"]);
    // They differ in the last element alone.
    let rows = [2.0, 1.0, 2.0].map(|last| [vec![5.0; 39], vec![last]].concat()).concat();
    let found = computed(model, &[f32s_of(&[3, 40], &rows)]);
    assert_eq!(found[0].shape(), [2, 40]);
    assert_eq!(
        [&found[1], &found[2], &found[3]].map(|t| t.to_ints()),
        [vec![1, 0], vec![1, 0, 1], vec![1, 2]]
    );
}

#[test]
fn bounds_that_are_computed() {
    let operands: &[(&str, i32, &[&str])] = &[("x", 1, &["5"]), ("b", 7, &["1"]), ("e", 7, &["1"])];
    let slice = |step: i64| {
        one("Slice", vec![], operands, vec![i64s("a", &[1], &[0]), i64s("s", &[1], &[step])], &["y"])
    };
    assert_eq!(dims(slice(2)), [Dim::Any]);
    let of = |begin: i64, end: i64, step: i64| {
        let bound = |n: i64| Tensor::from_slice(&[1], &[n]).unwrap();
        computed(slice(step), &[f32s_of(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0]), bound(begin), bound(end)])[0]
            .to_f64s()
    };
    assert_eq!(of(1, 100, 1), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(of(-4, -1, 2), [1.0, 3.0]);
    assert_eq!(of(4, 2, 1), [0.0; 0]);
    assert_eq!(of(i64::MIN, i64::MAX, 3), [0.0, 3.0]);
    let range: &[(&str, i32, &[&str])] = &[("b", 7, &[]), ("e", 7, &[]), ("d", 7, &[])];
    let range = || one("Range", vec![], range, vec![], &["y"]);
    assert_eq!(dims(range()), [Dim::Any]);
    let numbers = |all: [i64; 3]| all.map(|n| Tensor::from_slice(&[], &[n]).unwrap());
    assert_eq!(computed(range(), &numbers([3, 11, 3]))[0].to_ints(), [3, 6, 9]);
    assert_eq!(computed(range(), &numbers([3, -4, -3]))[0].to_ints(), [3, 0, -3]);
    assert_eq!(computed(range(), &numbers([3, 3, 1]))[0].to_ints(), [0; 0]);
}

#[test]
fn shapes_that_are_computed() {
    let operands: &[(&str, i32, &[&str])] = &[("x", 1, &["3", "1"]), ("s", 7, &["3"])];
    let expand = || one("Expand", vec![], operands, vec![], &["y"]);
    assert_eq!(dims(expand()), [Dim::Any, Dim::Static(3), Dim::Any]);
    let shape = Tensor::from_slice(&[3], &[2i64, 1, 2]).unwrap();
    let found = computed(expand(), &[f32s_of(&[3, 1], &[1.0, 2.0, 3.0]), shape.clone()]);
    assert_eq!(found[0].shape(), [2, 3, 2]);
    assert_eq!(found[0].to_f64s(), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    let filled = one("ConstantOfShape", vec![], &[("s", 7, &["3"])], vec![], &["y"]);
    assert_eq!(computed(filled, &[shape])[0].shape(), [2, 1, 2]);
}

#[test]
fn as_many_of_the_greatest_as_are_asked_for() {
    let model = || one("TopK", vec![], &[("x", 1, &["4"]), ("k", 7, &["1"])], vec![], &["y", "i"]);
    assert_eq!(dims(model()), [Dim::Any]);
    let of = |k: i64| {
        computed(model(), &[f32s_of(&[4], &[1.0, 4.0, 2.0, 3.0]), Tensor::from_slice(&[1], &[k]).unwrap()])
    };
    assert_eq!(of(2)[0].to_f64s(), [4.0, 3.0]);
    assert_eq!(of(2)[1].to_ints(), [1, 3]);
    assert_eq!(of(9)[0].len(), 4);
}

/// Two images of two classes; boxes by corners in any order.
#[test]
fn boxes_that_overlap_are_suppressed() {
    let operands: &[(&str, i32, &[&str])] = &[
        ("boxes", 1, &["1", "4", "4"]),
        ("scores", 1, &["1", "2", "4"]),
        ("most", 7, &[]),
        ("overlap", 1, &[]),
        ("least", 1, &[]),
    ];
    let model = || one("NonMaxSuppression", vec![], operands, vec![], &["y"]);
    assert_eq!(dims(model()), [Dim::Any, Dim::Static(3)]);
    let boxes =
        [[0.0, 0.0, 2.0, 2.0], [0.0, 0.1, 2.0, 2.1], [4.0, 4.0, 3.0, 3.0], [0.0, 0.0, 2.0, 2.0f32]].concat();
    let scores = [[0.9, 0.8, 0.3, 0.05], [0.1, 0.95, 0.7, 0.2f32]].concat();
    let of = |most: i64, overlap: f32, least: f32| {
        let operands = [
            f32s_of(&[1, 4, 4], &boxes),
            f32s_of(&[1, 2, 4], &scores),
            Tensor::from_slice(&[], &[most]).unwrap(),
            f32s_of(&[], &[overlap]),
            f32s_of(&[], &[least]),
        ];
        computed(model(), &operands)[0].to_ints()
    };
    assert_eq!(of(4, 0.5, 0.15), [0, 0, 0, 0, 0, 2, 0, 1, 1, 0, 1, 2]);
    assert_eq!(of(1, 0.5, 0.15), [0, 0, 0, 0, 1, 1]);
    // All of them, as none overlap by so much; but those that are the same.
    assert_eq!(of(4, 0.95, 0.15), [0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 1, 1, 0, 1, 2, 0, 1, 3]);
    assert_eq!(of(4, 0.5, 0.99), [0; 0]);
}
