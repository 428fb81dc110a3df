//! The graph: names, order, functions, values known at import, control flow.

use crate::common::*;
use fusion_dialects::{OperationLike, load_context};
use fusion_importers::onnx::proto::{ModelProto, NodeProto};
use fusion_importers::onnx::{ImportError, Options, eager, import_module, signature};
use fusion_operators::{Dim, Tensor};

fn floats(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(shape, values).expect("the values fill the shape")
}

fn bound(name: &str, value: Tensor) -> Options {
    Options { bound: [(name.to_owned(), value)].into_iter().collect(), ..Options::default() }
}

/// One vector in, `y` out.
fn of_nodes(nodes: Vec<NodeProto>) -> ModelProto {
    model(graph(nodes, vec![input("x", 1, &["2"])], &["y"]))
}

fn error_of(model: ModelProto) -> ImportError {
    run(model, &Options::default(), &[floats(&[2], &[1.0, 2.0])]).expect_err("the model is wrong")
}

fn printed(model: ModelProto, options: &Options) -> String {
    let context = load_context();
    let program = import_module(&context, &loaded(model), options).expect("the model is right");
    let module = program.module.as_operation();
    assert!(module.verify(), "{module}");
    module.to_string()
}

#[test]
fn unsupported_operators_are_reported_at_once() {
    let mut inner = node("Unheard", &["x"], &["u"], vec![]);
    inner.domain = "com.example".into();
    let branch = graph(vec![inner], vec![], &["u"]);
    let nodes = vec![
        node("ImageEncoder", &["x"], &["a"], vec![]),
        node("GlobalAveragPool", &["x"], &["b"], vec![]),
        node(
            "If",
            &["x"],
            &["y"],
            vec![subgraph("then_branch", branch.clone()), subgraph("else_branch", branch)],
        ),
    ];
    let error = error_of(of_nodes(nodes));
    let ImportError::UnsupportedOperators(places) = &error else { panic!("{error}") };
    let names: Vec<_> = places.iter().map(|p| (p.op_type.as_str(), p.domain.as_str(), p.version)).collect();
    assert!(names.contains(&("ImageEncoder", "", 17)) && names.contains(&("Unheard", "com.example", 0)));
    assert!(error.to_string().contains("node 'n_a'"), "{error}");
    assert!(error.to_string().contains("node 'n_b' (the nearest that is: GlobalAveragePool)"), "{error}");
}

#[test]
fn undefined_input_names_node_and_value() {
    let error = error_of(of_nodes(vec![node("Relu", &["nowhere"], &["y"], vec![])]));
    assert!(matches!(&error, ImportError::Undefined { value, .. } if value == "nowhere"), "{error}");
    let missing = error_of(of_nodes(vec![node("Relu", &["x"], &["z"], vec![])]));
    assert!(matches!(&missing, ImportError::UndefinedOutput { value, .. } if value == "y"), "{missing}");
}

#[test]
fn duplicate_names_are_errors() {
    let twice = vec![node("Relu", &["x"], &["y"], vec![]), node("Abs", &["x"], &["y"], vec![])];
    assert!(matches!(error_of(of_nodes(twice)), ImportError::Duplicate { value, .. } if value == "y"));
    let shadowed = error_of(of_nodes(vec![node("Relu", &["x"], &["x"], vec![])]));
    assert!(matches!(shadowed, ImportError::Duplicate { value, .. } if value == "x"));
}

#[test]
fn cycle_names_a_node_on_it() {
    let nodes = vec![
        node("Abs", &["x"], &["y"], vec![]),
        node("Add", &["x", "b"], &["a"], vec![]),
        node("Relu", &["a"], &["b"], vec![]),
    ];
    let error = error_of(of_nodes(nodes));
    assert!(
        matches!(&error, ImportError::Cycle { place, .. } if ["n_a", "n_b"].contains(&place.name.as_str()))
    );
}

#[test]
fn nodes_may_stand_in_any_order() {
    let nodes = vec![node("Neg", &["a"], &["y"], vec![]), node("Abs", &["x"], &["a"], vec![])];
    let results = run(of_nodes(nodes), &Options::default(), &[floats(&[2], &[-1.0, 2.0])]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![-1.0, -2.0]));
}

#[test]
fn unknown_operator_sets_are_errors() {
    let mut future = of_nodes(vec![node("Relu", &["x"], &["y"], vec![])]);
    future.opset_import = vec![opset("", 99)];
    assert!(matches!(error_of(future), ImportError::Opset { version: 99, .. }));
}

#[test]
fn functions_are_inlined_with_their_attributes() {
    let results = run(function_model(), &Options::default(), &[floats(&[2], &[1.0, -3.0])]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![2.0, -6.0]));
    let mut defaulted = function_model();
    defaulted.functions[0].attribute_proto = vec![float("factor", 5.0)];
    if let Some(graph) = &mut defaulted.graph {
        graph.node[0].attribute.clear();
    }
    let results = run(defaulted, &Options::default(), &[floats(&[2], &[1.0, -3.0])]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![5.0, -15.0]));
}

#[test]
fn recursive_function_is_an_error() {
    let mut recursive = function_model();
    let mut again = node("Scaled", &["a"], &["b"], vec![]);
    again.domain = "local".into();
    recursive.functions[0].node = vec![again];
    recursive.functions[0].opset_import.push(opset("local", 1));
    assert!(matches!(error_of(recursive), ImportError::Recursion { .. }));
}

#[test]
fn a_value_that_is_needed_is_asked_for_by_name() {
    let nodes = vec![
        node("Cast", &["to"], &["to64"], vec![int("to", 7)]),
        node("Tile", &["x", "to64"], &["y"], vec![]),
    ];
    let inputs = vec![input("x", 1, &["2", "1"]), input("to", 6, &["2"]), input("unused", 1, &[])];
    let proto = model(graph(nodes, inputs, &["y"]));
    let to = Tensor::from_slice(&[2], &[2i32, 1]).expect("two numbers");
    let tensors = [floats(&[2, 1], &[1.0, 2.0]), to.clone(), floats(&[], &[0.0])];
    let error = run(proto.clone(), &Options::default(), &tensors).expect_err("it is not known how often");
    assert!(error.to_string().contains("graph input 'to'"), "{error}");
    let mut options = bound("to", to);
    options.bound.insert("unused".into(), floats(&[], &[0.0]));
    let results = run(proto.clone(), &options, &tensors).expect("that is given");
    assert_eq!(results[0].shape(), [4, 1]);
    let context = load_context();
    let program = import_module(&context, &loaded(proto), &options).expect("that is given");
    assert_eq!(program.specialized, ["to"]);
}

#[test]
fn names_are_given_to_all_extents_that_had_one() {
    let model = loaded(conv_model());
    let given = |dims: &[&str]| {
        let shape = dims.iter().map(|dim| Dim::of_text(dim)).collect();
        let shapes = [("x".to_owned(), shape)].into_iter().collect();
        signature(&model, &Options { shapes, ..Options::default() })
    };
    let batch = given(&["batch", "?", "?", "4"]).expect("a signature");
    assert_eq!(batch[0].ty.dims[0], Dim::Symbol("batch".into()));
    assert_eq!(batch[0].ty.dims[1..], signature(&model, &Options::default()).unwrap()[0].ty.dims[1..]);
}

#[test]
fn given_shapes_replace_symbols() {
    let model = loaded(conv_model());
    let plain = signature(&model, &Options::default()).expect("a signature");
    assert_eq!(plain[0].ty.dims[0], Dim::Symbol("n".into()));
    let known = |shape: &[u64]| shape.iter().map(|&n| Dim::Static(n)).collect();
    let shapes = [("x".to_owned(), known(&[3, 1, 4, 4]))].into_iter().collect();
    let given = signature(&model, &Options { shapes, ..Options::default() }).expect("a signature");
    assert_eq!(given[0].ty.shape(), Some(vec![3, 1, 4, 4]));
    for (name, shape) in [("x", vec![3, 2, 4, 4]), ("z", vec![1])] {
        let shapes = [(name.to_owned(), known(&shape))].into_iter().collect();
        assert!(matches!(
            signature(&model, &Options { shapes, ..Options::default() }),
            Err(ImportError::Input { .. })
        ));
    }
}

#[test]
fn symbols_reach_the_results() {
    let text = printed(conv_model(), &Options::default());
    assert!(
        text.contains(r#"(%arg0: tensor<?x1x4x4xf32, #relay.dims<["n", "", "", ""]>> {relay.name = "x"})"#),
        "{text}"
    );
    assert!(text.contains(r#"-> (tensor<?x2xf32, #relay.dims<["n", ""]>> {relay.name = "y"})"#), "{text}");
}

#[test]
fn shapes_computed_from_shapes_are_understood() {
    let text = printed(reshape_model(), &Options::default());
    assert!(text.contains("shape = array<i64: -1, 2, 12>"), "{text}");
}

#[test]
fn condition_that_is_known_takes_one_branch() {
    let branch = |op: &str, name: &str| graph(vec![node(op, &["x"], &[name], vec![])], vec![], &[name]);
    let branches =
        || vec![subgraph("then_branch", branch("Abs", "t")), subgraph("else_branch", branch("Neg", "e"))];
    let with = |condition: Option<bool>| {
        let mut nodes = vec![node("If", &["c"], &["y"], branches())];
        let mut inputs = vec![input("x", 1, &["2"])];
        match condition {
            Some(value) => {
                let value = int("value_int", value.into());
                nodes.push(node("Constant", &[], &["i"], vec![value]));
                nodes.push(node("Cast", &["i"], &["c"], vec![int("to", 9)]));
            }
            None => inputs.push(input("c", 9, &[])),
        }
        model(graph(nodes, inputs, &["y"]))
    };
    let known = printed(with(Some(true)), &Options::default());
    assert!(
        known.contains("relay.abs") && !known.contains("relay.neg") && !known.contains("relay.if"),
        "{known}"
    );
    let open = printed(with(None), &Options::default());
    assert!(open.contains("relay.if") && open.contains("relay.abs") && open.contains("relay.neg"), "{open}");
    let no = Tensor::from_bytes(fusion_operators::DType::Bool, &[], vec![0]).expect("one byte");
    let results = run(with(None), &Options::default(), &[floats(&[2], &[-1.0, 2.0]), no]);
    assert_eq!(results.map(|r| r[0].to_f64s()).ok(), Some(vec![1.0, -2.0]));
}

#[test]
fn branches_that_differ_need_a_given_condition() {
    let then = graph(vec![node("Flatten", &["x"], &["t"], vec![int("axis", 0)])], vec![], &["t"]);
    let otherwise = graph(vec![node("Neg", &["x"], &["e"], vec![])], vec![], &["e"]);
    let branches = vec![subgraph("then_branch", then), subgraph("else_branch", otherwise)];
    let inputs = vec![input("c", 9, &[]), input("x", 1, &["2"])];
    let proto = model(graph(vec![node("If", &["c"], &["y"], branches)], inputs, &["y"]));
    let context = load_context();
    let error = import_module(&context, &loaded(proto.clone()), &Options::default()).err();
    let text = error.map(|e| e.to_string()).unwrap_or_default();
    assert!(text.contains("tensor<1x2xf32> or tensor<2xf32>"), "{text}");
    let yes = Tensor::from_bytes(fusion_operators::DType::Bool, &[], vec![1]).expect("one byte");
    let program = import_module(&context, &loaded(proto), &bound("c", yes)).expect("the condition is given");
    assert!(program.module.as_operation().verify());
    assert_eq!(program.specialized, ["c"]);
}

#[test]
fn loop_of_unknown_length_stays_a_loop() {
    let text = printed(loop_model(), &Options::default());
    assert!(text.contains("relay.while"), "{text}");
    let count = Tensor::from_slice(&[], &[50i64]).expect("one number");
    let go = Tensor::from_bytes(fusion_operators::DType::Bool, &[], vec![1]).expect("one byte");
    let inputs = [count, go, floats(&[2], &[1.0, 2.0])];
    let results =
        eager::run(&loaded(loop_model()), &Options::default(), &inputs).expect("the model is right");
    assert_eq!(results[0].1[0].to_f64s(), [64.0, 128.0]);
}

#[test]
fn expansion_without_end_is_an_error() {
    // Each function calls the one before it eight times: 8^20 nodes.
    let mut bomb = function_model();
    bomb.functions[0].node = vec![node("Neg", &["a"], &["b"], vec![])];
    let mut functions = vec![bomb.functions[0].clone()];
    for level in 1..20 {
        let mut function = functions[level - 1].clone();
        let callee = std::mem::replace(&mut function.name, format!("Level{level}"));
        let call = |i: usize| NodeProto {
            domain: "local".into(),
            ..node(
                &callee,
                &["a"],
                &[if i == 7 { "b" } else { ["c", "d", "e", "f", "g", "h", "i"][i] }],
                vec![],
            )
        };
        function.node = (0..8).map(call).collect();
        function.opset_import = vec![opset("", 17), opset("local", 1)];
        functions.push(function);
    }
    bomb.functions = functions;
    if let Some(graph) = &mut bomb.graph {
        graph.node[0].op_type = "Level19".into();
    }
    assert!(matches!(error_of(bomb), ImportError::TooLarge { .. }));
}
