//! Random graphs on named extents and expressions of them: one compiled program, run at five sizes, gives what the reference semantics give.
//!
//!     FUSION_SEED=1000 FUSION_FUZZ_CASES=2000 cargo test -p fusion-tools --test tools dynamic_extents::graphs

use fusion::driver::{CompileOptions, Target};
use fusion::load::Runnable;
use fusion_interpreter::random_graphs::{Graph, dynamic_graph, dynamic_inputs};
use fusion_operators::random::{cases, seeds};
use fusion_operators::{Tensor, ValueTree};
use fusion_tools::fuzz::{SIZES, far};

/// Compiles a graph once and runs it on some inputs: what goes wrong, with the graph.
pub fn fault(graph: &Graph, cases: &[Vec<Tensor>]) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.mlir");
    std::fs::write(&path, graph.text()).unwrap();
    let program = match Runnable::compile(path.as_path(), &CompileOptions::for_target(Target::uncalibrated()))
    {
        Ok(Runnable::Program(program)) => program,
        Ok(Runnable::Model(_)) => panic!("a model of known extents\n{}", graph.text()),
        Err(error) => return Some(format!("{error}\n{}", graph.text())),
    };
    for inputs in cases {
        let given: Vec<ValueTree> = inputs.iter().cloned().map(ValueTree::tensor).collect();
        let found = program.call(&given).map_err(|error| error.to_string());
        let found = found.map(|value| fusion::programs::tensors_of(&value).unwrap());
        let wrong = match (graph.run(inputs), found) {
            (Ok(expected), Ok(found)) if expected.len() == found.len() => {
                expected.iter().zip(&found).find_map(|(e, (_, f))| far(f, e))
            }
            (Ok(expected), Ok(found)) => Some(format!("{} results of {}", found.len(), expected.len())),
            (Ok(_), Err(error)) => Some(format!("fails: {error}")),
            (Err(error), Ok(_)) => Some(format!("gives something, where it must fail: {error}")),
            (Err(_), Err(_)) => None,
        };
        if let Some(wrong) = wrong {
            let shapes: Vec<String> = inputs.iter().map(|t| t.tensor_type().to_string()).collect();
            return Some(format!("on {}: {wrong}\n{}", shapes.join(", "), graph.text()));
        }
    }
    None
}

/// Fails with what goes wrong for some seeds.
pub fn none_wrong(usual: u64, fault: impl Fn(u64) -> Option<String>) {
    let failures: Vec<String> =
        seeds(usual).filter_map(|seed| Some(format!("seed {seed}: {}", fault(seed)?))).collect();
    assert!(
        failures.is_empty(),
        "{} of {} graphs go wrong; FUSION_SEED=seed FUSION_FUZZ_CASES=1 repeats one:\n{}",
        failures.len(),
        cases(usual),
        failures.join("\n")
    );
}

#[test]
fn one_program_serves_all_sizes() {
    none_wrong(100, |seed| {
        let graph = dynamic_graph(seed);
        let inputs = SIZES.into_iter().enumerate();
        let inputs = inputs.map(|(number, extents)| {
            dynamic_inputs(&graph, &[("n", extents[0]), ("m", extents[1])], seed ^ (number as u64) << 60)
        });
        fault(&graph, &inputs.collect::<Vec<_>>())
    });
}
