//! The least graph that still goes wrong, of those that leaving steps out gives.
//!
//!     results     one alone, then a value that it is computed from
//!     steps       whoever takes a step takes one of its operands of the same type instead

use super::Case;
use fusion_interpreter::random_graphs::{Graph, Step, live};

/// Smaller cases of a case, the smallest first.
fn smaller(case: &Case) -> Vec<Case> {
    let with = |graph: Graph| Case { graph: live(graph), inputs: case.inputs.clone() };
    let of = |results: Vec<usize>| with(Graph { results, ..case.graph.clone() });
    let is_call = |place: &usize| matches!(case.graph.steps[*place], Step::Call { .. });
    let mut cases: Vec<Case> =
        (0..case.graph.steps.len()).filter(is_call).map(|place| of(vec![place])).collect();
    for (place, step) in case.graph.steps.iter().enumerate() {
        let Step::Call { operands, .. } = step else { continue };
        let types = &case.graph.types;
        for &operand in operands.iter().filter(|&&operand| types[operand] == types[place]) {
            let mut graph = case.graph.clone();
            let replace = |of: &mut usize| *of = if *of == place { operand } else { *of };
            graph.results.iter_mut().for_each(replace);
            for step in &mut graph.steps {
                if let Step::Call { operands, .. } = step {
                    operands.iter_mut().for_each(replace);
                }
            }
            cases.push(with(graph));
        }
    }
    let size = |case: &Case| (calls(&case.graph), case.graph.results.len());
    let own = size(case);
    cases.retain(|other| size(other) < own);
    cases.sort_by_key(size);
    cases
}

fn calls(graph: &Graph) -> usize {
    graph.steps.iter().filter(|step| matches!(step, Step::Call { .. })).count()
}

/// The case with as few steps as leave it wrong.
pub fn shrunk(case: Case, is_wrong: &dyn Fn(&Case) -> bool) -> Case {
    let mut least = case;
    while let Some(next) = smaller(&least).into_iter().find(is_wrong) {
        least = next;
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::ops::elementwise as ew;
    use fusion_operators::{Attrs, DType, TensorType};

    #[test]
    fn what_does_not_matter_is_left_out() {
        let ty = TensorType::fixed(&[2], DType::F32);
        let mut graph = Graph::new(DType::F32);
        let x = graph.push(Step::Input(0), ty);
        let a = graph.call(&ew::NEG, Attrs::new(), &[x]).unwrap();
        let b = graph.call(&ew::EXP, Attrs::new(), &[a]).unwrap();
        let c = graph.call(&ew::ADD, Attrs::new(), &[b, a]).unwrap();
        let d = graph.call(&ew::ABS, Attrs::new(), &[c]).unwrap();
        graph.results = vec![d, b];
        let has = |case: &Case| {
            case.graph.steps.iter().any(|step| matches!(step, Step::Call { op, .. } if op.is(&ew::EXP)))
        };
        let least = shrunk(Case { graph, inputs: vec![] }, &has);
        assert_eq!(least.graph.steps.len(), 2, "{}", least.graph.text());
        assert!(has(&least));
    }
}
