//! ONNX models whose dimensions have names: compiled once, they give at each size what the same model gives whose shapes are known.

use super::onnx_programs::common::*;
use super::onnx_programs::filed;
use fusion_importers::onnx::proto::{NodeProto, TensorProto, ValueInfoProto};
use fusion_operators::Tensor;
use fusion_operators::random::Random;

fn random(shape: &[usize]) -> Tensor {
    Random::new(shape.iter().sum::<usize>() as u64).tensor(fusion_operators::DType::F32, shape).unwrap()
}

/// Compares the model of these nodes at several shapes of its inputs.
fn agrees(
    nodes: Vec<NodeProto>,
    inputs: &[(&str, &[&str])],
    constants: Vec<TensorProto>,
    outputs: &[&str],
    shapes: &[&[&[usize]]],
) {
    let declared: Vec<ValueInfoProto> = inputs.iter().map(|(name, dims)| input(name, 1, dims)).collect();
    let mut graph = graph(nodes, declared, outputs);
    graph.initializer = constants;
    let cases: Vec<Vec<(&str, Tensor)>> = shapes
        .iter()
        .map(|shapes| inputs.iter().zip(*shapes).map(|((name, _), shape)| (*name, random(shape))).collect())
        .collect();
    filed(model(graph)).agrees(&cases);
}

fn weights(name: &str, dims: &[i64]) -> TensorProto {
    let count = dims.iter().product::<i64>();
    let values: Vec<f32> = (0..count).map(|i| ((i * 29 % 13) as f32 - 6.0) / 16.0).collect();
    f32s(name, dims, &values)
}

#[test]
fn recurrent_operators_loop_over_their_steps() {
    for (operator, gates) in [("LSTM", 4), ("GRU", 3), ("RNN", 1)] {
        let direction = text("direction", "bidirectional");
        let nodes =
            vec![node(operator, &["x", "w", "r", "b"], &["y", "h"], vec![int("hidden_size", 3), direction])];
        let constants = vec![
            weights("w", &[2, 3 * gates, 5]),
            weights("r", &[2, 3 * gates, 3]),
            weights("b", &[2, 6 * gates]),
        ];
        let shapes: &[&[&[usize]]] = &[&[&[1, 1, 5]], &[&[7, 2, 5]], &[&[20, 1, 5]]];
        agrees(nodes, &[("x", &["time", "batch", "5"])], constants, &["y", "h"], shapes);
    }
}

#[test]
fn images_are_resized_to_what_another_has() {
    for mode in ["linear", "nearest"] {
        let nodes = vec![
            // Of one sign, so that no digits are lost.
            node("Abs", &["x"], &["a"], vec![]),
            node(
                "MaxPool",
                &["a"],
                &["small"],
                vec![ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2])],
            ),
            node("Shape", &["x"], &["size"], vec![]),
            node("Resize", &["small", "", "", "size"], &["y"], vec![text("mode", mode)]),
        ];
        let shapes: &[&[&[usize]]] = &[&[&[1, 2, 4, 4]], &[&[2, 2, 7, 9]], &[&[1, 2, 2, 33]]];
        agrees(nodes, &[("x", &["n", "2", "h", "w"])], vec![], &["y"], shapes);
    }
}

#[test]
fn positions_are_cut_and_added() {
    // table[0 : seq] and a range, as encoders of text have them.
    let nodes = vec![
        node("Shape", &["x"], &["all"], vec![]),
        node("Gather", &["all", "one"], &["seq"], vec![int("axis", 0)]),
        node("Unsqueeze", &["seq", "first"], &["end"], vec![]),
        node("Slice", &["table", "first", "end", "first"], &["rows"], vec![]),
        node("Range", &["zero", "seq", "one"], &["places"], vec![]),
        node("Cast", &["places"], &["floats"], vec![int("to", 1)]),
        node("Unsqueeze", &["floats", "last"], &["column"], vec![]),
        node("Add", &["x", "rows"], &["a"], vec![]),
        node("Add", &["a", "column"], &["y"], vec![]),
    ];
    let constants = vec![
        weights("table", &[16, 4]),
        i64s("zero", &[], &[0]),
        i64s("one", &[], &[1]),
        i64s("first", &[1], &[0]),
        i64s("last", &[1], &[1]),
    ];
    let shapes: &[&[&[usize]]] = &[&[&[1, 1, 4]], &[&[2, 5, 4]], &[&[1, 16, 4]]];
    agrees(nodes, &[("x", &["batch", "seq", "4"])], constants, &["y"], shapes);
}

#[test]
fn transposed_convolutions_whose_windows_lie_side_by_side_are_blocks() {
    let attributes = || vec![ints("kernel_shape", &[2, 3]), ints("strides", &[2, 3])];
    let nodes = vec![
        node("ConvTranspose", &["x", "w", "b"], &["t"], attributes()),
        node("Relu", &["t"], &["y"], vec![]),
    ];
    let constants = vec![weights("w", &[5, 4, 2, 3]), weights("b", &[4])];
    let shapes: &[&[&[usize]]] = &[&[&[1, 5, 1, 1]], &[&[2, 5, 7, 9]], &[&[1, 5, 20, 33]]];
    agrees(nodes, &[("x", &["n", "5", "h", "w"])], constants, &["y"], shapes);
}

#[test]
fn an_extent_that_is_squeezed_if_it_is_one_is_taken_to_be_one() {
    // torch's squeeze(-1) of an extent that is not known.
    let last = i64s("last", &[1], &[-1]);
    let mut squeezed = graph(vec![node("Squeeze", &["x", "last"], &["s"], vec![])], vec![], &["s"]);
    squeezed.initializer = vec![last.clone()];
    let kept = graph(vec![node("Identity", &["x"], &["k"], vec![])], vec![], &["k"]);
    let branches = vec![subgraph("then_branch", squeezed), subgraph("else_branch", kept)];
    let nodes = vec![
        node("Shape", &["x"], &["all"], vec![]),
        node("Gather", &["all", "last"], &["extent"], vec![int("axis", 0)]),
        node("Equal", &["extent", "one"], &["is_one"], vec![]),
        node("If", &["is_one"], &["maybe"], branches),
        node("Transpose", &["maybe"], &["y"], vec![ints("perm", &[1, 0])]),
    ];
    let constants = vec![last, i64s("one", &[1], &[1])];
    let shapes: &[&[&[usize]]] = &[&[&[2, 4, 1]], &[&[5, 4, 1]]];
    agrees(nodes, &[("x", &["n", "4", "s"])], constants, &["y"], shapes);
}

#[test]
fn shapes_with_minus_one_are_expanded() {
    // torch's expand(-1, n, -1): the shape is Where(shape == -1, 1, shape).
    let nodes = vec![
        node("Shape", &["x"], &["of_x"], vec![]),
        node("Gather", &["of_x", "zero"], &["n"], vec![int("axis", 0)]),
        node("Unsqueeze", &["n", "axis"], &["n1"], vec![]),
        node("Concat", &["minus", "n1", "minus"], &["to"], vec![int("axis", 0)]),
        node("Equal", &["to", "minus"], &["keeps"], vec![]),
        node("Where", &["keeps", "one", "to"], &["shape"], vec![]),
        node("Unsqueeze", &["x", "one"], &["x3"], vec![]),
        node("Expand", &["x3", "shape"], &["y"], vec![]),
    ];
    let constants = vec![
        i64s("zero", &[], &[0]),
        i64s("axis", &[1], &[0]),
        i64s("minus", &[1], &[-1]),
        i64s("one", &[1], &[1]),
    ];
    agrees(nodes, &[("x", &["n", "m"])], constants, &["y"], &[&[&[1, 1]], &[&[3, 5]], &[&[8, 2]]]);
}

#[test]
fn extents_follow_from_values() {
    let nodes = vec![
        // What is above a number, its places, and each value once.
        node("Round", &["x"], &["r"], vec![]),
        node("Greater", &["r", "none"], &["above"], vec![]),
        node("NonZero", &["above"], &["places"], vec![]),
        node("Compress", &["r", "flags"], &["kept"], vec![int("axis", 0)]),
        node("Unique", &["r"], &["once", "first", "group", "often"], vec![]),
        // As long as the first axis, and in the order of the first column.
        node("Shape", &["x"], &["all"], vec![]),
        node("Slice", &["all", "zero", "one"], &["rows"], vec![]),
        node("Slice", &["x", "zero", "one", "one"], &["column"], vec![]),
        node("Squeeze", &["column", "one"], &["line"], vec![]),
        node("TopK", &["line", "rows"], &["sorted", "order"], vec![]),
        // Numbers that are computed: how many are kept.
        node("Greater", &["line", "none"], &["flags"], vec![]),
        node("Cast", &["flags"], &["ones"], vec![int("to", 7)]),
        node("ReduceSum", &["ones", "zero"], &["count"], vec![int("keepdims", 1)]),
        node("Slice", &["x", "zero", "count"], &["cut"], vec![]),
        node("Concat", &["count", "four"], &["shape"], vec![int("axis", 0)]),
        node("Reshape", &["cut", "shape"], &["same"], vec![]),
        node("ConstantOfShape", &["shape"], &["zeros"], vec![]),
        node("Add", &["same", "zeros"], &["y"], vec![]),
        node("Cast", &["places"], &["p"], vec![int("to", 1)]),
        node("Cast", &["order"], &["o"], vec![int("to", 1)]),
        node("Cast", &["group"], &["g"], vec![int("to", 1)]),
        node("Cast", &["often"], &["f"], vec![int("to", 1)]),
    ];
    let constants = vec![
        f32s("none", &[], &[0.0]),
        i64s("zero", &[1], &[0]),
        i64s("one", &[1], &[1]),
        i64s("four", &[1], &[4]),
    ];
    let shapes: &[&[&[usize]]] = &[&[&[1, 4]], &[&[5, 4]], &[&[90, 4]]];
    let outputs = ["y", "kept", "once", "sorted", "p", "o", "g", "f"];
    agrees(nodes, &[("x", &["n", "4"])], constants, &outputs, shapes);
}
