//! Random programs in all ways there are to run them: the values are the same.
//!
//!     FUSION_SEED=1000 FUSION_FUZZ_CASES=200 cargo test -p fusion-tools --test tools executors

use fusion::Error;
use fusion::driver::{CompileOptions, Target};
use fusion::programs::{self, Inputs};
use fusion_interpreter::random_programs::{Contents, inputs, program};
use fusion_operators::ValueTree;
use fusion_operators::random::{cases, seeds};
use std::path::Path;

fn given(seed: u64) -> Inputs {
    let named = |(i, tensor)| (format!("input_{i}"), ValueTree::tensor(tensor));
    inputs(seed).into_iter().enumerate().map(named).collect()
}

fn graph(path: &Path, options: &CompileOptions, seed: u64) -> Result<ValueTree, Error> {
    let module = fusion::load::load(path, options)?;
    assert!(module.description().program.is_none());
    let outputs = module.run(&inputs(seed))?;
    Ok(programs::joined(outputs.into_iter().map(ValueTree::tensor).collect()))
}

/// Runs programs of some seeds; gives how many of them the interpreter runs within its limits.
fn agree(contents: Contents, count: u64) -> u64 {
    fusion::register_passes();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program.mlir");
    let options = CompileOptions::for_target(Target::uncalibrated());
    let mut compared = 0;
    for seed in seeds(count) {
        let source = program(seed, contents);
        std::fs::write(&path, &source).unwrap();
        let Ok(expected) = programs::interpret(&path, &options, given(seed)) else { continue };
        let vm = programs::bytecode(&path, &options)
            .and_then(|file| programs::run_bytecode(file, None, given(seed)));
        let native = || -> Result<ValueTree, Error> {
            let compiled = programs::native(&path, &options)?;
            let program = programs::linked(&compiled)?.unwrap();
            let value = programs::run_native(&program, None, given(seed));
            assert_eq!(program.live_values(), 0, "seed {seed}\n{source}");
            value
        };
        let mut ways = vec![("vm", vm), ("aot", native())];
        if !contents.language {
            ways.push(("graph", graph(&path, &options, seed)));
        }
        for (way, found) in ways {
            let found = found.unwrap_or_else(|error| panic!("seed {seed} by {way}: {error}\n{source}"));
            if let Err(difference) = expected.same(&found, 1e-5) {
                panic!("seed {seed} by {way}: {difference}\n{expected}\n{found}\n{source}");
            }
        }
        compared += 1;
    }
    compared
}

#[test]
fn programs_of_the_language_give_the_same_values_everywhere() {
    assert!(agree(Contents::default(), 12) >= cases(12) / 2);
}

#[test]
fn models_with_branches_and_loops_give_the_same_values_everywhere() {
    let contents = Contents { language: false, ..Contents::default() };
    assert!(agree(contents, 12) >= cases(12) / 2);
}
