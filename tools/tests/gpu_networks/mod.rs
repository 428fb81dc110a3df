//! Whole networks with few channels and small images, emulated: on every GPU they give what the interpreter gives.
//!
//! They are those that are timed beside other compilers: residual, plain and depthwise networks for images, one that plays games, one that
//! makes images, recurrent ones, a character model, an Evoformer block, attention, and a simulation of carts.

mod attention;
mod carts;
pub mod images;
mod recurrent;

use crate::common::{GPUS, Numbers};
use crate::gpu_kernels::difference;
use crate::gpu_kernels::program::{Program, Value};

/// A network: its name, and what makes it.
type Network = (&'static str, fn(&mut Program) -> Vec<Value>);

const NETWORKS: [Network; 14] = [
    ("resnet18", images::resnet18),
    ("vgg16", images::vgg16),
    ("mobilenet_v2", images::mobilenet_v2),
    ("dqn", images::dqn),
    ("dcgan", images::dcgan),
    ("lstm", recurrent::lstm),
    ("lstm of a batch", recurrent::lstm_of_a_batch),
    ("gru", recurrent::gru),
    ("char_rnn", recurrent::char_rnn),
    ("evoformer", attention::evoformer),
    ("attention", attention::attention),
    ("cartpole", carts::carts),
    ("cartpole, stacked", carts::stacked),
    ("cartpole, unrolled", carts::unrolled),
];

/// Differences add up over the layers of a network.
const MOST_OFF: f64 = 2e-5;

/// Runs networks on a GPU; tells how far each is off.
fn agree(gpu: &'static str, networks: impl Iterator<Item = Network>) {
    let mut wrong = Vec::new();
    for (name, build) in networks {
        let mut program = Program::new(Numbers(41), gpu);
        program.most_off = MOST_OFF;
        let results = build(&mut program);
        let results: Vec<&Value> = results.iter().collect();
        match difference(&program, &results, &["--executor", "interp"]) {
            Ok(off) => println!("{name} {gpu} {off:.1e}"),
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    assert!(wrong.is_empty(), "{} networks:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn networks_give_on_a_gpu_what_the_interpreter_gives() {
    // All of them on all GPUs where that is asked for; else each on one, other ones on each.
    let all = std::env::var_os("FUSION_ALL_NETWORKS").is_some();
    for (first, gpu) in GPUS.iter().enumerate() {
        let step = if all { 1 } else { GPUS.len() };
        agree(gpu, NETWORKS.into_iter().skip(if all { 0 } else { first }).step_by(step));
    }
}
