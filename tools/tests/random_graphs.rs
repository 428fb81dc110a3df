//! Random graphs with few constants as native code: within the rounding of their sources.
//!
//!     FUSION_SEED=1000 FUSION_FUZZ_CASES=200 cargo test -p fusion-tools --test tools random_graphs
//!
//! Many more run without code generation in `runtime/interpreter/tests/interpreter/random_graphs.rs`.

use fusion::driver::{CompileOptions, Target};
use fusion_importers::onnx::export::has_form;
use fusion_importers::onnx::model::read_tensor;
use fusion_importers::onnx::{Model, Options, eager};
use fusion_interpreter::random_graphs::{Step, graph, inputs};
use fusion_operators::random::{cases, seeds};
use fusion_operators::{DType, Tensor, ops};
use fusion_tools::fuzz::{Case, Kind, Wrong, far};
use std::collections::HashSet;
use std::path::Path;

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

fn tensors(folder: &Path, kind: &str) -> Vec<Tensor> {
    let file = |number: usize| folder.join("test_data_set_0").join(format!("{kind}_{number}.pb"));
    (0..).map(file).take_while(|path| path.exists()).map(|path| read_tensor(&path).unwrap()).collect()
}

#[test]
fn graphs_written_as_onnx_mean_what_they_mean() {
    let directory = tempfile::tempdir().unwrap();
    let (mut written, mut seen) = (0, HashSet::new());
    for seed in seeds(1600) {
        for kind in [Kind::Broad, Kind::Floats, Kind::Dynamic] {
            if kind != Kind::Broad && seed % 8 != 0 {
                continue;
            }
            let Some(case) = Case::of(seed, kind, &DType::NUMBERS) else { continue };
            let number = case.inputs.len() - 1;
            let (name, wrong) =
                (format!("{kind:?}-{seed}"), Wrong { inputs: Some(number), how: String::new() });
            case.write(directory.path(), &name, &wrong).unwrap();
            let folder = directory.path().join(&name);
            let Ok(model) = Model::open(folder.join("model.onnx")) else { continue };
            let (given, wanted) = (tensors(&folder, "input"), tensors(&folder, "output"));
            let found = eager::run(&model, &Options::default(), &given)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", case.graph.text()));
            assert_eq!(found.len(), wanted.len());
            for ((name, found), wanted) in found.iter().zip(&wanted) {
                let how = far(&found[0], wanted);
                assert_eq!(how, None, "seed {seed}, {kind:?}: {name}\n{}", case.graph.text());
            }
            written += 1;
            for step in &case.graph.steps {
                if let Step::Call { op, .. } = step {
                    seen.insert(op.name);
                }
            }
        }
    }
    assert!(written > cases(1600) / 2, "{written} graphs");
    let all = ops::all().filter(|op| has_form(op)).map(|op| op.name);
    let missing: Vec<&str> = all.filter(|name| cases(1600) >= 1600 && !seen.contains(name)).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}
