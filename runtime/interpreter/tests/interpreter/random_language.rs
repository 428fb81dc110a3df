//! Random programs of the whole language: passes keep what they compute.

use super::*;
use fusion_dialects::Module;
use fusion_interpreter::random_programs::{Contents, inputs, program};
use fusion_interpreter::run_program;
use fusion_operators::ValueTree;
use fusion_operators::random::seeds;
use melior::pass::PassManager;

/// Each pass by itself, and together.
const PIPELINES: &[&str] = &[
    "canonicalize,cse",
    "relay-to-anf",
    "relay-to-basic-block-form",
    "relay-to-graph-form",
    "relay-lift-lambdas",
    "relay-eta-expand",
    "relay-eta-expand{parameters=true}",
    "relay-inline",
    "relay-inline{size=100 fuel=30}",
    "relay-dce",
    "relay-cse",
    "relay-partial-eval",
    "relay-partial-eval{fuel=6}",
    "relay-partial-eval{fuel=40 specialisations=2 depth=3}",
    "relay-partial-eval,relay-to-graph-form,relay-inline,relay-partial-eval,relay-to-anf",
    "relay-inline,relay-lift-lambdas,relay-cse,relay-dce,relay-to-basic-block-form",
];

/// For programs in which each function has one type.
const MONOMORPHIC: &[&str] = &[
    "relay-defunctionalise",
    "relay-lift-lambdas,relay-defunctionalise,relay-partial-eval",
    "relay-partial-eval,relay-defunctionalise,relay-inline,relay-to-graph-form",
];

const LIMITS: Limits = Limits { steps: 100_000, depth: 5_000, memory: 1 << 28 };

fn value(module: &Module, seed: u64) -> Result<ValueTree, InterpretError> {
    let values = run_program(module.as_operation(), "main", &inputs(seed), LIMITS)?;
    Ok(values.into_iter().next().unwrap_or_default())
}

/// Runs programs of seeds before and after pipelines; gives how many were compared.
fn keep(seeds: std::ops::Range<u64>, contents: Contents, pipelines: &[&str]) -> usize {
    fusion_dialects::register_upstream_passes();
    fusion_transforms::register();
    let mut compared = 0;
    for seed in seeds {
        let source = program(seed, contents);
        let context = load_context();
        let module = parse_module(&context, &source)
            .unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{source}"));
        let Ok(expected) = value(&module, seed) else { continue };
        for pipeline in pipelines {
            let mut module = parse_module(&context, &source).unwrap();
            let passes = PassManager::new(&context);
            let text = format!("builtin.module({pipeline})");
            melior::utility::parse_pass_pipeline(passes.as_operation_pass_manager(), &text).unwrap();
            passes.run(&mut module).unwrap_or_else(|_| panic!("seed {seed}: {pipeline} fails\n{source}"));
            let found = value(&module, seed).and_then(|found| {
                expected.same(&found, 0.0).map_err(|d| InterpretError::NoFunction(d.to_string()))
            });
            if let Err(error) = found {
                panic!("seed {seed}: after {pipeline}: {error}\n{source}\n{}", module.as_operation());
            }
        }
        compared += 1;
    }
    compared
}

#[test]
fn passes_keep_what_programs_of_the_language_compute() {
    let range = seeds(80);
    let count = range.end - range.start;
    assert!(keep(range, Contents::default(), PIPELINES) as u64 >= count / 2);
}

#[test]
fn passes_keep_what_programs_without_type_variables_compute() {
    let contents = Contents { polymorphic: false, ..Contents::default() };
    let range = seeds(60);
    let count = range.end - range.start;
    assert!(keep(range, contents, MONOMORPHIC) as u64 >= count / 2);
}
