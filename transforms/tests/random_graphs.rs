//! All forms of random graphs with few constants, with a budget several times the usual; and of the samples of each rule by itself.
//!
//!     FUSION_SEED=5000 FUSION_FUZZ_CASES=2000 cargo test -p fusion-transforms --test transforms random_graphs

use crate::bounds::{Given, check, sources};
use crate::common::{Drawn, Reader};
use crate::rules::{OneRule, SAMPLES, families};
use fusion_dialects::module::{FpMath, Level};
use fusion_egraph::analysis::{Facts, Graph};
use fusion_egraph::check::operations;
use fusion_egraph::contents::Contents;
use fusion_egraph::extract::rates::Rates;
use fusion_egraph::language::{Constant, Head, Node};
use fusion_egraph::rules::Rules;
use fusion_egraph::saturate::{Budget, Open, saturate};
use fusion_interpreter::random_graphs::{self, Step, constants, inputs};
use fusion_machine::Target;
use fusion_operators::random::{Random, cases, seeds};
use fusion_operators::rounding::Bounded;
use fusion_operators::{DType, Tensor};

/// The e-graph of a random graph, and the constants that are too large for its nodes.
fn egraph(source: &random_graphs::Graph) -> (Graph, Vec<Tensor>) {
    let target = Target { additions: 2, ..Target::default() };
    let mut graph = Graph::new(Facts {
        rates: Rates::of(&target).with(FpMath { level: Level::Fast, max_error: None }),
        ..Facts::default()
    });
    let (mut ids, mut large) = (Vec::new(), Vec::new());
    for (step, ty) in source.steps.iter().zip(&source.types) {
        let node = match step {
            Step::Input(number) => {
                graph.analysis.leaf_types.push(ty.clone());
                graph.analysis.leaf_places.push(0);
                Node::leaf(Head::Leaf(*number as u32))
            }
            Step::Constant(tensor) => Node::leaf(Head::Constant(Constant::of(tensor).unwrap_or_else(|| {
                large.push(tensor.clone());
                graph.analysis.contents.push(Contents::of_large(tensor));
                Constant::Large { ty: ty.clone(), number: large.len() as u32 - 1 }
            }))),
            Step::Call { op, attrs, operands } => {
                let attrs = graph.add(Node::attrs(attrs.clone()));
                Node::call(op, attrs, operands.iter().map(|&place| ids[place]))
            }
        };
        ids.push(graph.add(node));
    }
    graph.rebuild();
    graph.analysis.most_parts = Some(source.steps.len() as u32 + 1);
    (graph, large)
}

/// What a graph says against itself, or what its forms differ in.
fn judged(graph: &Graph, given: &Given, terms: &[(egg::Id, Bounded)]) -> Result<usize, String> {
    if let Some(found) = &graph.analysis.contradiction {
        return Err(format!(
            "rules {} contradict themselves: {}",
            found.rules(graph).join(", "),
            found.differs
        ));
    }
    check(graph, given, terms)
}

/// Several times the usual.
fn generous(nodes: usize) -> Budget {
    let Budget { rounds, nodes, matches } = Budget::for_nodes(nodes);
    Budget { rounds: 3 * rounds, nodes: 3 * nodes, matches: 3 * matches }
}

fn report(failures: &[String], count: u64) {
    assert!(
        failures.is_empty(),
        "{} of {count} go wrong; FUSION_SEED=seed FUSION_FUZZ_CASES=1 repeats one:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn all_forms_of_graphs_with_few_constants_are_within_their_rounding() {
    let rules = Rules::of(&families()).unwrap();
    let (mut failures, mut compared) = (Vec::new(), 0);
    for seed in seeds(500) {
        let source = random_graphs::graph(seed);
        let leaves = inputs(&source.inputs(), seed).unwrap();
        let (mut graph, large) = egraph(&source);
        let given = Given { leaves: &leaves, large: &large };
        let terms = sources(&graph, &given);
        let budget = generous(graph.total_number_of_nodes());
        saturate(&mut graph, &rules, budget, &mut Open);
        match judged(&graph, &given, &terms) {
            Ok(count) => compared += count,
            Err(wrong) => {
                println!("seed {seed}, {}: {wrong}\n{}", source.dtype, source.text());
                failures.push(format!("seed {seed}: {wrong}"));
            }
        }
    }
    report(&failures, cases(500));
    assert!(compared as u64 > 4 * cases(500), "{compared} forms");
}

/// Operations of a term up to which it is computed.
const MOST_OPERATIONS: f64 = 1e6;

#[test]
fn each_rule_by_itself_is_within_the_rounding_of_its_samples() {
    let rules = Rules::of(&families()).unwrap();
    let (mut failures, mut applied) = (Vec::new(), 0);
    for seed in seeds(3) {
        let mut random = Random::new(seed);
        for (name, text) in SAMPLES {
            let dtypes = [DType::F32, DType::F32, DType::F16, DType::BF16, DType::F64];
            let dtype = dtypes[(random.next_u64() % 5) as usize];
            let number = random.next_u64();
            let drawn = Drawn { dtype, constants: constants(dtype, number), inputs: number };
            let mut reader = Reader::drawn(text, number | 1, drawn);
            reader.term();
            reader.graph.rebuild();
            if operations(&reader.graph) > MOST_OPERATIONS {
                continue;
            }
            let (leaves, large) = (reader.leaves.clone(), reader.large.clone());
            let given = Given { leaves: &leaves, large: &large };
            let terms = sources(&reader.graph, &given);
            let budget = Budget { rounds: 2, ..Budget::for_nodes(100) };
            let found = saturate(&mut reader.graph, &rules, budget, &mut OneRule(name));
            applied += found.rules.iter().map(|rule| rule.applied).sum::<usize>();
            if let Err(wrong) = judged(&reader.graph, &given, &terms) {
                failures.push(format!("seed {seed}, rule {name} of {dtype} in {text}: {wrong}"));
            }
        }
    }
    report(&failures, cases(3));
    assert!(applied as u64 > 50 * cases(3), "{applied} applications");
}
