//! Random quantized networks: what is compiled gives the bits that the reference evaluator gives for the imported graph.
//!
//! More networks, and others:
//!
//!     FUSION_FUZZ_CASES=500 FUSION_SEED=3 cargo test -p fusion-tools --test tools quantized_networks

mod network;

use crate::onnx_programs::common as models;
use fusion::driver::{CompileOptions, Strategy, Target};
use fusion::load::{Runnable, load_for};
use fusion_importers::onnx::Options;
use fusion_importers::onnx::proto::{ModelProto, ValueInfoProto};
use fusion_operators::Tensor;
use fusion_operators::random::seeds;
use indexmap::IndexMap;
use network::{Network, Output, network};
use prost::Message;
use std::path::Path;

/// The part of elements that may be off by one, where a sum of floats was rounded.
const MOST_OFF: f64 = 0.02;
/// How near to half between two integers a sum of that size 1 may lie, so that it is no fault to round it the other way: the mean of an even
/// number of elements often lies there.
const NEAR_TIE: f64 = 1e-5;

/// True where a sum in quanta may be rounded to either neighbour.
fn is_tie(quanta: f64) -> bool {
    (quanta - quanta.floor() - 0.5).abs() <= NEAR_TIE * quanta.abs().max(1.0)
}

/// How a result differs from what is wanted, if it may not. Sums are those that were rounded to it.
fn difference(output: &Output, found: &Tensor, wanted: &Tensor, sums: Option<&Tensor>) -> Option<String> {
    if found.tensor_type() != wanted.tensor_type() {
        return Some(format!("{} is {}, not {}", output.name, found.tensor_type(), wanted.tensor_type()));
    }
    let (found, wanted) = (found.to_f64s(), wanted.to_f64s());
    let apart: Vec<f64> = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).collect();
    let off: Vec<usize> = (0..apart.len()).filter(|&i| found[i] != wanted[i]).collect();
    let greatest = apart.iter().copied().fold(0.0, f64::max);
    let quanta = |at: usize| Some(sums?.f64_at(at) / f64::from(output.of_sum.as_ref()?.1));
    let no_ties = off.iter().filter(|at| !quanta(**at).is_some_and(is_tie)).count();
    let allowed = if sums.is_some() { (MOST_OFF * apart.len() as f64).ceil() } else { 0.0 };
    let right = no_ties as f64 <= allowed && (off.is_empty() || greatest <= 1.0);
    (!right).then(|| {
        let (name, count, at) = (&output.name, apart.len(), off[0]);
        let (is, not) = (found[at], wanted[at]);
        format!(
            "{name}: {} of {count} are off, by up to {greatest}; element {at} is {is}, not {not}",
            off.len()
        )
    })
}

/// The nodes of a model, and its constants of one element.
fn written(model: &ModelProto) -> String {
    let graph = model.graph.as_ref().unwrap();
    let constants = graph.initializer.iter().filter(|c| c.float_data.len() + c.int32_data.len() == 1);
    let constants = constants.map(|c| format!("{} = {:?}{:?}", c.name, c.float_data, c.int32_data));
    let nodes =
        graph.node.iter().map(|n| format!("{} = {} {}", n.output.join(", "), n.op_type, n.input.join(", ")));
    constants.chain(nodes).collect::<Vec<_>>().join("\n")
}

/// Compiles and runs a network, and compares its outputs.
fn check(network: &Network, path: &Path, options: &CompileOptions) -> Result<(), String> {
    let inputs = std::slice::from_ref(&network.x);
    let mut model = network.model.clone();
    let sums = network.outputs.iter().filter_map(|output| Some(&output.of_sum.as_ref()?.0));
    let shown = sums.map(|name| ValueInfoProto { name: name.clone(), r#type: None });
    model.graph.as_mut().ok_or("has no graph")?.output.extend(shown);
    let wanted = models::run(model, &Options::default(), inputs).map_err(|e| e.to_string())?;
    let (wanted, sums) = wanted.split_at(network.outputs.len());
    std::fs::write(path, network.model.encode_to_vec()).map_err(|e| e.to_string())?;
    let given = IndexMap::from([("x".to_owned(), network.x.clone())]);
    let found = match load_for(path, options, &given).map_err(|e| e.to_string())? {
        (Runnable::Model(model), _) => model.run(inputs).map_err(|e| e.to_string())?,
        (Runnable::Program(_), _) => return Err("became a program of the language".to_owned()),
    };
    let mut sums = sums.iter();
    let compared = network.outputs.iter().zip(&found).zip(wanted);
    let wrong: Vec<String> = compared
        .filter_map(|((o, f), w)| difference(o, f, w, o.of_sum.as_ref().and_then(|_| sums.next())))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn agree(strategy: Strategy, count: u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.onnx");
    let options = CompileOptions { strategy, ..CompileOptions::for_target(Target::uncalibrated()) };
    let mut wrong = Vec::new();
    for seed in seeds(count) {
        let network = network(seed);
        if let Err(why) = check(&network, &path, &options) {
            wrong.push(format!("FUSION_SEED={seed} FUSION_FUZZ_CASES=1: {why}\n{}", written(&network.model)));
        }
    }
    assert!(wrong.is_empty(), "{} networks are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn each_operator_by_itself_gives_the_reference_s_bits() {
    agree(Strategy::None, 8);
}

#[test]
fn compiled_as_a_whole_they_give_the_reference_s_bits() {
    agree(Strategy::EGraph, 40);
}
