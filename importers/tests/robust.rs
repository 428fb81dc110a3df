//! No model, however damaged, makes the importer panic.
//!
//! Damages the models of the tests beside this one, and those below the directory FUSION_ONNX_TESTS when
//! it is set (FUSION_ONNX_ROUNDS times each; with FUSION_ONNX_MLIR into modules, which then must verify):
//! bytes of the file, and numbers and names of the decoded message.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::common::{Types, conv_model, function_model, loop_model, reshape_model};
use fusion_dialects::{Context, OperationLike, load_context, with_diagnostics};
use fusion_importers::onnx::model::read_tensor;
use fusion_importers::onnx::proto::{GraphProto, ModelProto};
use fusion_importers::onnx::{Model, Options, import, import_module, signature};
use fusion_operators::DType;
use fusion_operators::random::{cases, seed};
use prost::Message;

/// A small generator of numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn number(&mut self) -> i64 {
        const EDGES: [i64; 14] =
            [0, 1, -1, 2, 3, -2, 7, 255, 1 << 20, 1 << 31, 1 << 40, i64::MAX, i64::MIN, -(1 << 33)];
        EDGES[self.below(EDGES.len())]
    }
}

/// Imports the model, into types only or (`context`) into a module, which then must verify.
fn attempt(model: &Model, options: &Options, context: Option<&Context>) {
    if let Some(context) = context {
        let (valid, diagnostics) = with_diagnostics(context, || {
            import_module(context, model, options).map(|program| program.module.as_operation().verify())
        });
        assert!(valid.unwrap_or(true), "{diagnostics:?}");
        return;
    }
    let Ok(inputs) = signature(model, options) else { return };
    let types = Types(RefCell::new(inputs.iter().map(|i| i.ty.clone()).collect()));
    let ids: Vec<usize> = (0..inputs.len()).collect();
    let _ = import(model, options, &types, &ids);
}

fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    match random.below(3) {
        0 => bytes.truncate(random.below(bytes.len())),
        _ => {
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.next() as u8;
                }
            }
        }
    }
}

fn damage_graph(graph: &mut GraphProto, random: &mut Random) {
    let names: Vec<String> = graph.node.iter().flat_map(|n| n.output.clone()).collect();
    let node = random.below(graph.node.len());
    let Some(node) = graph.node.get_mut(node) else { return };
    match random.below(6) {
        0 => {
            let at = random.below(node.input.len());
            let name = names.get(random.below(names.len())).cloned().unwrap_or_default();
            if let Some(input) = node.input.get_mut(at) {
                *input = name;
            }
        }
        1 => {
            node.input.pop();
        }
        2 => {
            let at = random.below(graph.initializer.len());
            if let Some(tensor) = graph.initializer.get_mut(at) {
                let extent = random.below(tensor.dims.len());
                if let Some(extent) = tensor.dims.get_mut(extent) {
                    *extent = random.number();
                }
                let at = random.below(tensor.int64_data.len());
                if let Some(number) = tensor.int64_data.get_mut(at) {
                    *number = random.number();
                }
            }
        }
        _ => {
            let at = random.below(node.attribute.len());
            let Some(attribute) = node.attribute.get_mut(at) else { return };
            if let Some(graph) = &mut attribute.g {
                return damage_graph(graph, random);
            }
            if let Some(number) = &mut attribute.i {
                *number = random.number();
            }
            let at = random.below(attribute.ints.len());
            match attribute.ints.get_mut(at) {
                Some(number) if random.below(4) > 0 => *number = random.number(),
                _ => {
                    attribute.ints.pop();
                }
            }
        }
    }
}

fn damage_options(options: &mut Options, random: &mut Random) {
    let at = random.below(options.bound.len());
    if let Some((_, tensor)) = options.bound.get_index_mut(at)
        && tensor.dtype() == DType::I64
        && !tensor.is_empty()
    {
        let place = random.below(tensor.len()) * 8;
        tensor.bytes_mut()[place..place + 8].copy_from_slice(&random.number().to_ne_bytes());
    }
}

fn damage(
    name: &str,
    model: &ModelProto,
    options: &Options,
    rounds: u64,
    context: Option<&Context>,
    failures: &mut Vec<String>,
) {
    let bytes = model.encode_to_vec();
    for round in 1..=cases(rounds) {
        let mut random = Random(seed(round).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let tried = catch_unwind(AssertUnwindSafe(|| match random.below(3) {
            0 => {
                let mut bytes = bytes.clone();
                damage_bytes(&mut bytes, &mut random);
                if let Ok(model) = Model::from_bytes(bytes) {
                    attempt(&model, options, context);
                }
            }
            1 => {
                let mut options = options.clone();
                damage_options(&mut options, &mut random);
                attempt(&Model { proto: model.clone(), directory: None }, &options, context);
            }
            _ => {
                let mut proto = model.clone();
                if let Some(graph) = &mut proto.graph {
                    damage_graph(graph, &mut random);
                }
                attempt(&Model { proto, directory: None }, options, context);
            }
        }));
        if tried.is_err() {
            failures.push(format!("{name}, round {round}"));
        }
    }
}

#[test]
fn damaged_models_are_errors() {
    let (context, mut failures) = (load_context(), Vec::new());
    for (name, model) in [
        ("conv", conv_model()),
        ("reshape", reshape_model()),
        ("function", function_model()),
        ("loop", loop_model()),
    ] {
        damage(name, &model, &Options::default(), 500, None, &mut failures);
        damage(name, &model, &Options::default(), 100, Some(&context), &mut failures);
    }
    assert_eq!(failures, Vec::<String>::new());
}

#[test]
fn damaged_test_models_are_errors() {
    let Some(root) = std::env::var_os("FUSION_ONNX_TESTS") else { return };
    let rounds = std::env::var("FUSION_ONNX_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let context = std::env::var_os("FUSION_ONNX_MLIR").map(|_| load_context());
    let mut failures = Vec::new();
    let mut directories: Vec<PathBuf> =
        std::fs::read_dir(Path::new(&root)).into_iter().flatten().flatten().map(|e| e.path()).collect();
    directories.sort();
    for directory in directories {
        let Ok(model) = Model::open(directory.join("model.onnx")) else { continue };
        let mut options = Options::default();
        for (i, input) in model.graph().input.iter().enumerate() {
            if let Ok(tensor) = read_tensor(&directory.join(format!("test_data_set_0/input_{i}.pb"))) {
                options.bound.insert(input.name.clone(), tensor);
            }
        }
        damage(
            &directory.display().to_string(),
            &model.proto,
            &options,
            rounds,
            context.as_ref(),
            &mut failures,
        );
    }
    assert_eq!(failures, Vec::<String>::new());
}
