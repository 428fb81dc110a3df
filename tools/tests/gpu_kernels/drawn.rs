//! Kinds of schedules and knobs by chance, on processors and GPUs: each point of a space computes what the one of least estimate does.

use super::program::Program;
use super::{KINDS, apart, difference};
use crate::common::processor::{on_processor, results_of};
use crate::common::{GPUS, Numbers};
use fusion_operators::random::{cases, seeds};
use fusion_runtime::npz;
use std::fs;

/// Cases that are run by default: each kind once.
const CASES: u64 = KINDS.len() as u64;

/// How far a program is off on this processor with schedules that are drawn, or what is wrong with it.
fn on_this_processor(program: &Program, text: &str, seed: u64) -> Result<f64, String> {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), text).unwrap();
    let inputs = program.inputs();
    npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (name.as_str(), *tensor))).unwrap();
    let wanted = on_processor(here, &[])?;
    let got = results_of(here, &[], Some(seed))?;
    let off = got.values().zip(wanted.values()).map(|(got, wanted)| apart(got, wanted)).fold(0.0, f64::max);
    if off <= program.most_off { Ok(off) } else { Err(format!("is off by {off:e}\n{text}")) }
}

fn check(case: u64) -> Option<String> {
    let (kind, build) = KINDS[(case % KINDS.len() as u64) as usize];
    let gpu = GPUS[(case / 3 % GPUS.len() as u64) as usize];
    let mut program = Program::new(Numbers(case ^ 0x3C6E_F372), gpu);
    let result = build(&mut program);
    program.schedules = Some(case);
    let text = program.text(&[&result]);
    let outcome =
        on_this_processor(&program, &text, case).and_then(|_| difference(&program, &[&result], &[]));
    outcome.err().map(|wrong| format!("case {case}, {kind}: {wrong}"))
}

#[test]
fn schedules_by_chance_compute_what_the_best_ones_do() {
    let wrong: Vec<String> = seeds(CASES).filter_map(check).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases(CASES), wrong.join("\n"));
}
