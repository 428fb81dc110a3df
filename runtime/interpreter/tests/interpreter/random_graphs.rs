//! Random graphs with few constants: `relay-optimize` keeps them within the rounding of their sources.
//!
//!     FUSION_SEED=5000 FUSION_FUZZ_CASES=20000 cargo test -p fusion-interpreter --test interpreter random_graphs
//!
//! Nothing is compiled, so thousands run in a minute; `tools/tests/random_graphs.rs` runs some as native code. A graph that goes wrong is printed
//! with the rules without any of which it would be right.

use super::*;
use fusion_dialects::{Context, Options, Pass, module_op, run_passes};
use fusion_egraph::RelayOptimize;
use fusion_egraph::bisect::{Found, bisect};
use fusion_interpreter::random_graphs::{Graph, Step, graph, inputs, representable};
use fusion_interpreter::run_function;
use fusion_operators::random::{cases, seeds};

/// Failures of which the rules are found.
const MOST_BISECTED: usize = 4;

/// Input tensors of each graph.
const SAMPLES: u64 = 2;

/// What is wrong with `@main` of a module that a graph became.
fn wrong(graph: &Graph, seed: u64, module: Op) -> Option<String> {
    (0..SAMPLES).find_map(|sample| {
        let inputs = inputs(&graph.inputs(), seed ^ sample << 60)?;
        let bounds = graph.bounds(&inputs).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        match run_function(module, "main", &inputs) {
            Ok(found) => graph.wrong(&bounds, &found).map(|(at, how)| format!("result {at}: {how}")),
            Err(error) => Some(error.to_string()),
        }
    })
}

/// The rules that break a graph, each once.
fn rules(context: &Context, graph: &Graph, seed: u64) -> String {
    let module = parse_module(context, &graph.text()).unwrap();
    let options = Options::defaults(RelayOptimize::OPTIONS);
    let mut judge = |module: Op| wrong(graph, seed, module);
    match bisect(module_op(&module), &options, &mut judge) {
        Found::Smallest(smallest) => {
            let mut names: Vec<&str> = smallest.applications.iter().map(|a| a.rule).collect();
            names.sort_unstable();
            names.dedup();
            names.join(", ")
        }
        Found::WithoutRules => "no rule".to_owned(),
        Found::Right => "none when it runs again".to_owned(),
    }
}

#[test]
fn relay_optimize_keeps_graphs_with_few_constants() {
    fusion_dialects::register_upstream_passes();
    fusion_transforms::register();
    let mut failures: Vec<String> = Vec::new();
    for seed in seeds(500) {
        let context = load_context();
        context.enable_multi_threading(false);
        let graph = graph(seed);
        let module = parse_module(&context, &graph.text()).unwrap();
        let failure = match run_passes(&module, "builtin.module(relay-optimize)") {
            Ok(()) => wrong(&graph, seed, module_op(&module)),
            Err(errors) => Some(errors.join("\n")),
        };
        if let Some(failure) = failure {
            // Each takes some hundred runs.
            let rules = match failures.len() {
                0..MOST_BISECTED => rules(&context, &graph, seed),
                _ => "rules that were not looked for".to_owned(),
            };
            println!("seed {seed}, {} by {rules}: {failure}\n{}", graph.dtype, graph.text());
            failures.push(format!("seed {seed} by {rules}: {failure}"));
        }
    }
    let count = cases(500);
    assert!(
        failures.is_empty(),
        "{} of {count} graphs are not kept; FUSION_SEED=seed FUSION_FUZZ_CASES=1 repeats one:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn sources_lie_within_their_own_bounds() {
    let (mut bounded, mut all) = (0, 0);
    for seed in seeds(500) {
        let graph = graph(seed);
        let inputs = inputs(&graph.inputs(), seed).unwrap();
        let bounds = graph.bounds(&inputs).unwrap();
        let own = graph.run(&inputs).unwrap();
        assert_eq!(graph.wrong(&bounds, &own), None, "seed {seed}\n{}", graph.text());
        for &place in &graph.results {
            let errors = bounds[place].error.to_f64s();
            bounded += errors.iter().filter(|error| error.is_finite()).count();
            all += errors.len();
        }
    }
    // Where the source overflows nothing is compared; that must not be most of it.
    assert!(cases(500) < 100 || bounded > all / 2, "{bounded} of {all} elements are compared");
}

#[test]
fn text_is_the_graph() {
    for seed in seeds(100) {
        let graph = graph(seed);
        let inputs = inputs(&graph.inputs(), seed).unwrap();
        let (found, wanted) = (super::run(&graph.text(), &inputs).unwrap(), graph.run(&inputs).unwrap());
        let bytes = |tensors: &[Tensor]| tensors.iter().map(|t| t.bytes().to_vec()).collect::<Vec<_>>();
        assert_eq!(bytes(&found), bytes(&wanted), "seed {seed}\n{}", graph.text());
    }
}

/// Of a graph one constant of which is another number, most have elements that are off by more than rounding.
#[test]
fn another_constant_is_noticed() {
    let (mut changed, mut noticed) = (0, 0);
    for seed in 0..300 {
        let graph = graph(seed);
        let inputs = inputs(&graph.inputs(), seed).unwrap();
        let bounds = graph.bounds(&inputs).unwrap();
        let read = |place| {
            graph.steps.iter().any(|s| matches!(s, Step::Call { operands, .. } if operands.contains(&place)))
        };
        let Some(place) = (0..graph.steps.len())
            .rev()
            .find(|&place| matches!(graph.steps[place], Step::Constant(_)) && read(place))
        else {
            continue;
        };
        let mut other = graph.clone();
        if let Step::Constant(tensor) = &mut other.steps[place] {
            let scaled = |v: f64| representable(graph.dtype, if v == 0.0 { 0.5 } else { 1.5 * v });
            let numbers: Vec<f64> = tensor.to_f64s().into_iter().map(scaled).collect();
            *tensor = Tensor::from_f64s(graph.dtype, tensor.shape(), &numbers).unwrap();
        }
        changed += 1;
        noticed += usize::from(graph.wrong(&bounds, &other.run(&inputs).unwrap()).is_some());
    }
    assert!(noticed > changed / 3, "{noticed} of {changed}");
}
