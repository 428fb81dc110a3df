//! Loops that collect values: the shape of the program they become, and its numbers.

use crate::common::*;
use fusion_dialects::{OperationLike, load_context};
use fusion_importers::onnx::proto::{AttributeProto, GraphProto, ModelProto, NodeProto};
use fusion_importers::onnx::{Options, import_module};
use fusion_operators::Tensor;

fn floats(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).expect("the values fill the shape")
}

fn printed(model: ModelProto) -> String {
    let context = load_context();
    let program = import_module(&context, &loaded(model), &Options::default()).expect("the model is right");
    let module = program.module.as_operation();
    assert!(module.verify(), "{module}");
    module.to_string()
}

/// Running sums: the state and what is collected are the sum so far.
fn sums() -> GraphProto {
    graph(
        vec![node("Add", &["sum", "row"], &["next"], vec![]), node("Identity", &["next"], &["seen"], vec![])],
        vec![input("sum", 1, &["2"]), input("row", 1, &["2"])],
        &["next", "seen"],
    )
}

fn scan(dims: &[&str], mut attributes: Vec<AttributeProto>) -> ModelProto {
    attributes.extend([subgraph("body", sums()), int("num_scan_inputs", 1)]);
    let nodes = vec![node("Scan", &["s", "x"], &["last", "y"], attributes)];
    model(graph(nodes, vec![input("s", 1, &["2"]), input("x", 1, dims)], &["last", "y"]))
}

/// A Loop over x: f32[2], whose body has these nodes and gives again, next, seen.
fn collecting(nodes: Vec<NodeProto>, count: i64) -> ModelProto {
    let mut body = graph(
        nodes,
        vec![input("i", 7, &[]), input("c", 9, &[]), input("v", 1, &["2"])],
        &["again", "next", "seen"],
    );
    body.initializer = vec![
        f32s("one", &[], &[1.0]),
        f32s("limit", &[], &[2.5]),
        i64s("zero", &[1], &[0]),
        i64s("step", &[1], &[1]),
    ];
    let nodes = vec![node("Loop", &["count", "", "x"], &["last", "y"], vec![subgraph("body", body)])];
    let mut whole = graph(nodes, vec![input("x", 1, &["2"])], &["y"]);
    whole.initializer = vec![i64s("count", &[], &[count])];
    model(whole)
}

fn counting_up() -> Vec<NodeProto> {
    vec![
        node("Add", &["v", "one"], &["next"], vec![]),
        node("Identity", &["c"], &["again"], vec![]),
        node("Identity", &["next"], &["seen"], vec![]),
    ]
}

#[test]
fn long_scan_is_a_small_loop() {
    let text = printed(scan(&["1000", "2"], vec![]));
    assert_eq!(text.matches("relay.while").count(), 1, "{text}");
    assert_eq!(text.matches("relay.scatter_nd").count(), 1, "{text}");
    assert!(text.lines().count() < 40, "{text}");
}

#[test]
fn scan_collects_along_axes_and_in_directions() {
    let (s, x) = (floats(&[2], &[0.0, 0.0]), floats(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let results = |x: Tensor, dims: &[&str], attributes| {
        let results = run(scan(dims, attributes), &Options::default(), &[s.clone(), x]);
        results.expect("the model is right").iter().map(Tensor::to_f64s).collect::<Vec<_>>()
    };
    let (forward, total) = (vec![1.0, 2.0, 4.0, 6.0, 9.0, 12.0], vec![9.0, 12.0]);
    assert_eq!(results(x.clone(), &["3", "2"], vec![]), [total.clone(), forward.clone()]);
    let backward = vec![ints("scan_input_directions", &[1])];
    assert_eq!(
        results(x.clone(), &["3", "2"], backward),
        [total.clone(), vec![5.0, 6.0, 8.0, 10.0, 9.0, 12.0]]
    );
    let reversed = vec![ints("scan_output_directions", &[1])];
    assert_eq!(results(x, &["3", "2"], reversed), [total.clone(), vec![9.0, 12.0, 4.0, 6.0, 1.0, 2.0]]);
    let columns = vec![ints("scan_input_axes", &[1]), ints("scan_output_axes", &[-1])];
    let transposed = floats(&[2, 3], &[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    assert_eq!(results(transposed, &["2", "3"], columns), [total, vec![1.0, 4.0, 9.0, 2.0, 6.0, 12.0]]);
}

#[test]
fn scan_of_a_batch_is_a_loop_in_a_loop() {
    let attributes = vec![subgraph("body", sums()), int("num_scan_inputs", 1)];
    let nodes = vec![node("Scan", &["", "s", "x"], &["last", "y"], attributes)];
    let inputs = vec![input("s", 1, &["2", "2"]), input("x", 1, &["2", "50", "2"])];
    let whole = graph(nodes, inputs, &["last", "y"]);
    let proto = ModelProto { opset_import: vec![opset("", 8)], ..model(whole) };
    assert_eq!(printed(proto.clone()).matches("relay.while").count(), 2);
    let results =
        run(proto, &Options::default(), &[floats(&[2, 2], &[0.0; 4]), floats(&[2, 50, 2], &[1.0; 200])]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![50.0; 4]));
}

#[test]
fn loop_that_collects_stays_a_loop() {
    assert!(printed(collecting(counting_up(), 3)).contains("relay.while"));
    let results = run(collecting(counting_up(), 3), &Options::default(), &[floats(&[2], &[0.0, 10.0])]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![1.0, 11.0, 2.0, 12.0, 3.0, 13.0]));
}

#[test]
fn body_that_needs_its_iteration_is_unrolled() {
    let mut nodes = counting_up();
    nodes[2] = node("Unsqueeze", &["i", "zero"], &["begin"], vec![]);
    nodes.push(node("Add", &["begin", "step"], &["end"], vec![]));
    nodes.push(node("Slice", &["next", "begin", "end"], &["seen"], vec![]));
    assert!(!printed(collecting(nodes.clone(), 2)).contains("relay.while"));
    let results = run(collecting(nodes, 2), &Options::default(), &[floats(&[2], &[0.0, 10.0])]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![1.0, 12.0]));
}

#[test]
fn loop_that_may_end_early_collects_a_list() {
    let mut nodes = counting_up();
    nodes[1] = node("ReduceSum", &["next"], &["sum"], vec![int("keepdims", 0)]);
    nodes.push(node("Less", &["sum", "limit"], &["again"], vec![]));
    let text = printed(collecting(nodes.clone(), 3));
    assert!(text.contains("relay.while") && text.contains("@sequence_stack"), "{text}");
    let results = run(collecting(nodes, 3), &Options::default(), &[floats(&[2], &[0.0, 0.0])]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![1.0, 1.0, 2.0, 2.0]));
}

#[test]
fn loop_that_never_runs_collects_nothing() {
    let results = run(collecting(counting_up(), 0), &Options::default(), &[floats(&[2], &[0.0, 10.0])]);
    assert_eq!(results.map(|r| r[0].shape().to_vec()).ok(), Some(vec![0, 2]));
}

/// A Loop whose count is an input: what it carries becomes twice as long each time.
fn growing() -> ModelProto {
    let body = graph(
        vec![
            node("Concat", &["v", "v"], &["next"], vec![int("axis", 0)]),
            node("Identity", &["c"], &["again"], vec![]),
        ],
        vec![input("i", 7, &[]), input("c", 9, &[]), input("v", 1, &["n"])],
        &["again", "next"],
    );
    let nodes = vec![node("Loop", &["count", "", "x"], &["y"], vec![subgraph("body", body)])];
    model(graph(nodes, vec![input("count", 7, &[]), input("x", 1, &["2"])], &["y"]))
}

#[test]
fn state_is_held_as_what_its_shapes_have_in_common() {
    let text = printed(growing());
    assert!(text.contains("relay.ascribe %arg1 : tensor<2xf32> -> tensor<?xf32>"), "{text}");
    let count = Tensor::from_slice(&[], &[3i64]).expect("a scalar");
    let results = run(growing(), &Options::default(), &[count, floats(&[2], &[1.0, 2.0])]);
    assert_eq!(results.map(|r| r[0].len()).ok(), Some(16));
}

/// A Loop of four steps of that many nodes, which collects nothing.
fn counting(length: usize) -> ModelProto {
    let names: Vec<String> = (0..=length).map(|i| format!("v{i}")).collect();
    let mut nodes: Vec<NodeProto> =
        names.windows(2).map(|pair| node("Neg", &[&pair[0]], &[&pair[1]], vec![])).collect();
    nodes.push(node("Identity", &["c"], &["again"], vec![]));
    let body = graph(
        nodes,
        vec![input("i", 7, &[]), input("c", 9, &[]), input("v0", 1, &["2"])],
        &["again", &names[length]],
    );
    let nodes = vec![node("Loop", &["count", "", "x"], &["y"], vec![subgraph("body", body)])];
    let mut whole = graph(nodes, vec![input("x", 1, &["2"])], &["y"]);
    whole.initializer = vec![i64s("count", &[], &[4])];
    model(whole)
}

#[test]
fn few_steps_stand_behind_each_other_unless_they_are_long() {
    assert!(!printed(counting(3)).contains("relay.while"));
    assert!(printed(counting(300)).contains("relay.while"));
}
