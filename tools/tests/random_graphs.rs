//! Random graphs with few constants as native code: within the rounding of their sources.
//!
//!     FUSION_SEED=1000 FUSION_FUZZ_CASES=200 cargo test -p fusion-tools --test tools random_graphs
//!
//! Many more run without code generation in `runtime/interpreter/tests/interpreter/random_graphs.rs`.

use fusion::driver::{CompileOptions, Target};
use fusion_interpreter::random_graphs::{graph, inputs};
use fusion_operators::random::{cases, seeds};

#[test]
fn native_code_of_graphs_with_few_constants_is_within_their_rounding() {
    fusion::register_passes();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.mlir");
    let options = CompileOptions::for_target(Target::uncalibrated());
    let mut failures: Vec<String> = Vec::new();
    for seed in seeds(8) {
        let graph = graph(seed);
        std::fs::write(&path, graph.text()).unwrap();
        let module = fusion::load::load(&path, &options)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", graph.text()));
        for sample in 0..4 {
            let inputs = inputs(&graph.inputs(), seed ^ sample << 60).unwrap();
            let bounds = graph.bounds(&inputs).unwrap();
            let found = module.run(&inputs).unwrap();
            if let Some((at, how)) = graph.wrong(&bounds, &found) {
                println!("seed {seed}, {}: {how}\n{}", graph.dtype, graph.text());
                failures.push(format!("seed {seed}: result {at}: {how}"));
                break;
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} graphs go wrong; FUSION_SEED=seed FUSION_FUZZ_CASES=1 repeats one:\n{}",
        failures.len(),
        cases(8),
        failures.join("\n")
    );
}
