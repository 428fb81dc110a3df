//! The least graph that still goes wrong, of those that leaving steps out gives.
//!
//!     results     one alone, then a value that it is computed from
//!     steps       whoever takes a step takes one of its operands of the same type instead
//!     inputs      those that nobody takes, where no extent is named by one

use super::Case;
use fusion_interpreter::random_graphs::{Graph, Step, live};
use fusion_operators::Tensor;

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

/// The case without inputs that nobody takes.
fn trimmed(case: &Case) -> Case {
    let graph = &case.graph;
    let is_taken = |place: usize| {
        graph.results.contains(&place)
            || graph
                .steps
                .iter()
                .any(|step| matches!(step, Step::Call { operands, .. } if operands.contains(&place)))
    };
    let mut least = Graph::new(graph.dtype);
    let mut places = vec![0; graph.steps.len()];
    let mut kept: Vec<usize> = Vec::new();
    for (place, (step, ty)) in graph.steps.iter().zip(&graph.types).enumerate() {
        let step = match step {
            Step::Input(_) if !is_taken(place) => continue,
            Step::Input(number) => {
                kept.push(*number);
                Step::Input(kept.len() - 1)
            }
            Step::Constant(_) => step.clone(),
            Step::Call { op, attrs, operands } => {
                let operands = operands.iter().map(|&operand| places[operand]).collect();
                Step::Call { op, attrs: attrs.clone(), operands }
            }
        };
        places[place] = least.push(step, ty.clone());
    }
    least.results = graph.results.iter().map(|&place| places[place]).collect();
    let of = |inputs: &Vec<Tensor>| kept.iter().filter_map(|&number| inputs.get(number).cloned()).collect();
    Case { graph: least, inputs: case.inputs.iter().map(of).collect() }
}

/// The case with as few steps as leave it wrong.
pub fn shrunk(case: Case, is_wrong: &dyn Fn(&Case) -> bool) -> Case {
    let mut least = case;
    while let Some(next) = smaller(&least).into_iter().find(is_wrong) {
        least = next;
    }
    let named = least.graph.types.iter().flat_map(|ty| &ty.dims).any(|dim| dim.known().is_none());
    Some(trimmed(&least)).filter(|trimmed| !named && is_wrong(trimmed)).unwrap_or(least)
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
        graph.push(Step::Input(0), ty.clone());
        let x = graph.push(Step::Input(1), ty);
        let a = graph.call(&ew::NEG, Attrs::new(), &[x]).unwrap();
        let b = graph.call(&ew::EXP, Attrs::new(), &[a]).unwrap();
        let c = graph.call(&ew::ADD, Attrs::new(), &[b, a]).unwrap();
        let d = graph.call(&ew::ABS, Attrs::new(), &[c]).unwrap();
        graph.results = vec![d, b];
        let has = |case: &Case| {
            case.graph.steps.iter().any(|step| matches!(step, Step::Call { op, .. } if op.is(&ew::EXP)))
        };
        let inputs = [0f32, 1.0].map(|n| Tensor::from_slice(&[2], &[n, n]).unwrap()).to_vec();
        let least = shrunk(Case { graph, inputs: vec![inputs.clone()] }, &has);
        assert_eq!(least.graph.steps.len(), 2, "{}", least.graph.text());
        assert_eq!(least.inputs, [[inputs[1].clone()]]);
        assert!(has(&least));
    }
}
