//! ONNX models that are programs of the language: loops and sequences of a length that is known at run time only. All ways to run them
//! give what the reference evaluator gives; the graph executor says that it cannot.

#[path = "../../importers/tests/common/mod.rs"]
pub mod common;

use common::*;
use fusion::driver::{CompileOptions, Target};
use fusion::load::{Runnable, load_for};
use fusion::programs::{self, Inputs};
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{GraphProto, ModelProto, NodeProto};
use fusion_operators::{DType, Item, Tensor, ValueTree};
use prost::Message;
use std::path::PathBuf;
use tempfile::TempDir;

/// A model in a file.
pub struct Filed {
    model: ModelProto,
    path: PathBuf,
    options: CompileOptions,
    _directory: TempDir,
}

pub fn filed(model: ModelProto) -> Filed {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.onnx");
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    Filed { model, path, options: CompileOptions::for_target(Target::uncalibrated()), _directory: directory }
}

/// The tensors of a value, in order.
fn tensors(value: ValueTree) -> Vec<Tensor> {
    let tensor = |item| if let Item::Tensor(tensor) = item { Some(tensor) } else { None };
    value.items.into_iter().filter_map(tensor).collect()
}

impl Filed {
    /// Where it lies.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// How it is compiled.
    pub fn options(&self) -> &CompileOptions {
        &self.options
    }

    /// Compares all ways on some inputs, compiled once.
    pub fn agrees(&self, cases: &[Vec<(&str, Tensor)>]) {
        let bytecode = programs::bytecode(&self.path, &self.options).unwrap();
        let native =
            programs::linked(&programs::native(&self.path, &self.options).unwrap()).unwrap().unwrap();
        for case in cases {
            let given: Vec<Tensor> = case.iter().map(|(_, tensor)| tensor.clone()).collect();
            let expected = run(self.model.clone(), &Options::default(), &given).unwrap();
            let inputs: Inputs =
                case.iter().map(|(name, t)| ((*name).to_owned(), ValueTree::tensor(t.clone()))).collect();
            let ways = [
                ("interp", programs::interpret(&self.path, &self.options, inputs.clone())),
                ("vm", programs::run_bytecode(bytecode.clone(), None, inputs.clone())),
                ("aot", programs::run_native(&native, None, inputs)),
            ];
            for (way, value) in ways {
                let found = tensors(value.unwrap_or_else(|error| panic!("{way} on {given:?}: {error}")));
                let types = |list: &[Tensor]| list.iter().map(Tensor::tensor_type).collect::<Vec<_>>();
                assert_eq!(types(&found), types(&expected), "{way} on {given:?}");
                for (found, expected) in found.iter().zip(&expected) {
                    if expected.dtype() == DType::String {
                        assert_eq!(found, expected, "{way} on {given:?}");
                        continue;
                    }
                    let most = (0..expected.len()).map(|i| expected.f64_at(i).abs()).fold(0.0, f64::max);
                    let near = |i: usize| {
                        let allowed = 1e-5 * expected.f64_at(i).abs() + 1e-6 * most;
                        (found.f64_at(i) - expected.f64_at(i)).abs() <= allowed
                    };
                    assert!(
                        (0..found.len()).all(near),
                        "{way} on {given:?}: {found:?}, expected {expected:?}"
                    );
                }
            }
        }
        assert_eq!(native.live_values(), 0);
    }
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(&[values.len()], values).unwrap()
}

fn number(value: i64) -> Tensor {
    Tensor::from_slice(&[], &[value]).unwrap()
}

/// A body over the iteration, whether it goes on, and v.
fn body(nodes: Vec<NodeProto>, outputs: &[&str]) -> GraphProto {
    let inputs = vec![input("i", 7, &[]), input("c", 9, &[]), input("v", 1, &["n"])];
    let mut body = graph(nodes, inputs, outputs);
    body.initializer = vec![f32s("one", &[], &[1.0]), f32s("limit", &[], &[100.0])];
    body
}

#[test]
fn loop_collects_as_often_as_an_input_says() {
    let nodes = vec![
        node("Add", &["v", "one"], &["next"], vec![]),
        node("Identity", &["c"], &["again"], vec![]),
        node("Mul", &["next", "next"], &["seen"], vec![]),
    ];
    let attributes = vec![subgraph("body", body(nodes, &["again", "next", "seen"]))];
    let nodes = vec![node("Loop", &["count", "", "x"], &["last", "y"], attributes)];
    let inputs = vec![input("count", 7, &[]), input("x", 1, &["2"])];
    let model = filed(model(graph(nodes, inputs, &["last", "y"])));
    let case = |count| vec![("count", number(count)), ("x", floats(&[0.0, 10.0]))];
    model.agrees(&[case(0), case(1), case(7), case(100)]);
}

#[test]
fn loop_collects_until_its_condition_ends_it() {
    let nodes = vec![
        node("Add", &["v", "v"], &["next"], vec![]),
        node("ReduceMax", &["next"], &["top"], vec![int("keepdims", 0)]),
        node("Less", &["top", "limit"], &["again"], vec![]),
    ];
    let attributes = vec![subgraph("body", body(nodes, &["again", "next", "next"]))];
    let nodes = vec![node("Loop", &["", "", "x"], &["last", "y"], attributes)];
    let model = filed(model(graph(nodes, vec![input("x", 1, &["2"])], &["last", "y"])));
    model.agrees(&[
        vec![("x", floats(&[1.0, 2.0]))],
        vec![("x", floats(&[0.001, 0.0]))],
        vec![("x", floats(&[99.0, 0.0]))],
    ]);
}

#[test]
fn state_of_a_loop_grows() {
    let nodes = vec![
        node("Concat", &["v", "v"], &["next"], vec![int("axis", 0)]),
        node("Identity", &["c"], &["again"], vec![]),
    ];
    let attributes = vec![subgraph("body", body(nodes, &["again", "next"]))];
    let nodes = vec![node("Loop", &["count", "", "x"], &["y"], attributes)];
    let model = filed(model(graph(nodes, vec![input("count", 7, &[]), input("x", 1, &["2"])], &["y"])));
    let case = |count| vec![("count", number(count)), ("x", floats(&[1.0, 2.0]))];
    model.agrees(&[case(0), case(1), case(9)]);
}

#[test]
fn sequence_grows_in_a_loop_and_is_taken_apart() {
    let mut grown = body(
        vec![
            node("Cast", &["i"], &["f"], vec![int("to", 1)]),
            node("Add", &["x", "f"], &["element"], vec![]),
            node("SequenceInsert", &["v", "element"], &["next"], vec![]),
            node("Identity", &["c"], &["again"], vec![]),
        ],
        &["again", "next"],
    );
    grown.initializer.clear();
    let nodes = vec![
        node("SequenceEmpty", &[], &["empty"], vec![int("dtype", 1)]),
        node("Loop", &["count", "", "empty"], &["q"], vec![subgraph("body", grown)]),
        node("SequenceLength", &["q"], &["length"], vec![]),
        node("SequenceAt", &["q", "p"], &["at"], vec![]),
        node("SequenceErase", &["q", "p"], &["shorter"], vec![]),
        node("SequenceInsert", &["shorter", "x", "p"], &["other"], vec![]),
        node("ConcatFromSequence", &["other"], &["joined"], vec![int("axis", 0)]),
        node("ConcatFromSequence", &["q"], &["stacked"], vec![int("axis", 1), int("new_axis", 1)]),
    ];
    let inputs = vec![input("count", 7, &[]), input("x", 1, &["3"]), input("p", 7, &[])];
    let outputs = ["length", "at", "joined", "stacked", "other"];
    let model = filed(model(graph(nodes, inputs, &outputs)));
    let case = |count, p| vec![("count", number(count)), ("x", floats(&[1.0, 2.0, 3.0])), ("p", number(p))];
    model.agrees(&[case(3, 0), case(3, 1), case(1, 0), case(20, -1), case(20, 19)]);
}

#[test]
fn pieces_of_a_dynamic_axis_are_mapped() {
    let map = graph(
        vec![node("Mul", &["t", "t"], &["square"], vec![])],
        vec![input("t", 1, &["m", "2"])],
        &["square"],
    );
    let nodes = vec![
        node("SplitToSequence", &["x", "two"], &["q"], vec![int("axis", 0)]),
        node("SequenceMap", &["q"], &["r"], vec![subgraph("body", map)]),
        node("ConcatFromSequence", &["r"], &["y"], vec![int("axis", 0)]),
    ];
    let mut whole = graph(nodes, vec![input("x", 1, &["n", "2"])], &["y", "r"]);
    whole.initializer = vec![i64s("two", &[], &[2])];
    let rows = |n: usize| {
        let values: Vec<f32> = (0..2 * n).map(|i| i as f32).collect();
        vec![("x", Tensor::from_slice(&[n, 2], &values).unwrap())]
    };
    filed(model(whole)).agrees(&[rows(1), rows(2), rows(5), rows(64)]);
}

#[test]
fn scan_goes_over_a_dynamic_axis() {
    let sums = graph(
        vec![node("Add", &["sum", "row"], &["next"], vec![]), node("Identity", &["next"], &["seen"], vec![])],
        vec![input("sum", 1, &["2"]), input("row", 1, &["2"])],
        &["next", "seen"],
    );
    for directions in
        [vec![], vec![ints("scan_input_directions", &[1])], vec![ints("scan_output_directions", &[1])]]
    {
        let mut attributes = directions;
        attributes.extend([subgraph("body", sums.clone()), int("num_scan_inputs", 1)]);
        let nodes = vec![node("Scan", &["s", "x"], &["last", "y"], attributes)];
        let inputs = vec![input("s", 1, &["2"]), input("x", 1, &["n", "2"])];
        let model = filed(model(graph(nodes, inputs, &["last", "y"])));
        let case = |n: usize| {
            let values: Vec<f32> = (0..2 * n).map(|i| i as f32).collect();
            vec![("s", floats(&[0.5, 0.0])), ("x", Tensor::from_slice(&[n, 2], &values).unwrap())]
        };
        model.agrees(&[case(1), case(3), case(50)]);
    }
}

#[test]
fn branches_give_tensors_of_other_extents() {
    let then = graph(vec![node("Concat", &["x", "x"], &["t"], vec![int("axis", 0)])], vec![], &["t"]);
    let otherwise = graph(vec![node("Neg", &["x"], &["e"], vec![])], vec![], &["e"]);
    let attributes = vec![subgraph("then_branch", then), subgraph("else_branch", otherwise)];
    let nodes = vec![node("If", &["c"], &["y"], attributes)];
    let model = filed(model(graph(nodes, vec![input("c", 9, &[]), input("x", 1, &["2"])], &["y"])));
    let condition = |holds: i128| Tensor::from_ints(fusion_operators::DType::Bool, &[], &[holds]).unwrap();
    let case = |holds| vec![("c", condition(holds)), ("x", floats(&[1.0, 2.0]))];
    model.agrees(&[case(0), case(1)]);
}

#[test]
fn graph_executor_says_that_it_cannot() {
    let model = filed(loop_model());
    let inputs =
        [("count", number(3)), ("go", Tensor::from_ints(fusion_operators::DType::Bool, &[], &[1]).unwrap())];
    let inputs = inputs.into_iter().map(|(name, tensor)| (name.to_owned(), tensor)).collect();
    // A loop that collects nothing and keeps its shapes is a graph.
    assert!(matches!(load_for(&model.path, &model.options, &inputs).unwrap().0, Runnable::Model(_)));
    let nodes = vec![node("Identity", &["c"], &["again"], vec![])];
    let attributes = vec![subgraph("body", body(nodes, &["again", "v", "v"]))];
    let nodes = vec![node("Loop", &["count", "", "x"], &["last", "y"], attributes)];
    let inputs = vec![input("count", 7, &[]), input("x", 1, &["2"])];
    let model = filed(common::model(graph(nodes, inputs, &["last", "y"])));
    assert!(matches!(
        load_for(&model.path, &model.options, &Default::default()).unwrap().0,
        Runnable::Program(_)
    ));
    let graph = std::process::Command::new(env!("CARGO_BIN_EXE_fusion"))
        .args([
            "run",
            "model.onnx",
            "--executor",
            "graph",
            "--input",
            "count=2i64",
            "--input",
            "x=tensor<2xf32> [1.0, 2.0]",
        ])
        .current_dir(model.path.parent().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&graph.stderr).into_owned();
    assert!(graph.status.code() == Some(1) && said.contains("which the graph executor cannot run"), "{said}");
}
