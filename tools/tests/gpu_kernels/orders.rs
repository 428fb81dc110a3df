//! Blocks and warps in other orders: kernels of all kinds give the same bits.

use super::program::Program;
use super::{KINDS, with_few_cores};
use crate::common::{GPUS, Numbers, succeed};
use fusion_runtime::npz;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Orders that are compared; the first is that of the numbers.
const ORDERS: u64 = 5;

/// The bytes of all results of a library in an order.
fn run(directory: &Path, seed: u64) -> Result<Vec<u8>, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusion"));
    command.args(["run", "m.so", "--inputs", "x.npz", "--outputs", "y.npz"]);
    let output =
        command.current_dir(directory).env("FUSION_EMULATE_SEED", seed.to_string()).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let results = npz::read(&directory.join("y.npz")).unwrap();
    Ok(results.values().flat_map(|result| result.bytes().to_vec()).collect())
}

#[test]
fn kernels_of_all_kinds_give_the_same_bits_in_any_order() {
    let mut wrong = Vec::new();
    for (number, (kind, build)) in KINDS.iter().enumerate() {
        let gpu = GPUS[number % GPUS.len()];
        let mut program = Program::new(Numbers(number as u64 + 77), gpu);
        let result = build(&mut program);
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        fs::write(here.join("m.mlir"), program.text(&[&result])).unwrap();
        npz::write(&here.join("x.npz"), program.inputs().iter().map(|(name, x)| (name.as_str(), *x)))
            .unwrap();
        let target = if program.few_cores { with_few_cores(gpu, here) } else { gpu.to_owned() };
        let arguments = ["compile", "m.mlir", "--target", &target, "--emulate", "-o", "m.so"];
        succeed(here, &[arguments.as_slice(), &program.options].concat());
        let first = run(here, 0);
        let others = (1..ORDERS).map(|seed| (seed, run(here, seed)));
        match others.into_iter().find(|(_, other)| other.is_err() || *other != first) {
            Some((seed, Err(why))) => wrong.push(format!("{kind} on {gpu}, order {seed}: {why}")),
            Some((seed, Ok(_))) => wrong.push(format!("{kind} on {gpu}: order {seed} gives other bits")),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
