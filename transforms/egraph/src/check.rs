//! Whether all forms of a class are equal: every node is computed on given inputs, and compared with its class.
//!
//! ```text
//!     class 7    (mul {} 3 5)        [1.0, 4.0]      the value of the class
//!                (add {} 3 3)        [1.0, 4.1]      disagrees: the rule that made it is wrong
//! ```
//!
//! This checks every rule that was applied at once, where it was applied. A class takes its value from the first node that can be
//! computed, the program's own nodes before those of rules; so the first class with a node that disagrees, operands before those who read
//! them, is where a wrong rule was applied.

use super::analysis::{self, Graph, attrs, made_by};
use super::language::{Constant, Head, Node};
use egg::{Id, Symbol};
use fusion_operators::{Call, DType, Tensor, TensorType, reference};
use indexmap::IndexMap;
use std::collections::HashMap;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Checked {
    /// Classes with a value.
    pub classes: usize,
    /// Nodes that were compared with another of their class.
    pub compared: usize,
    /// The greatest error, relative to the largest element of the value.
    pub error: f64,
}

/// Two forms of a class that differ.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("rule {rule} says that {right} is {left}, but they differ by {error:.1e} of the largest element")]
pub struct Disagreement {
    /// The rule that made the node.
    pub rule: String,
    /// The term that gives the value of the class.
    pub left: String,
    /// The term that disagrees.
    pub right: String,
    /// The error, relative to the largest element.
    pub error: f64,
    /// The operation of the source that the class stands for, by its number.
    pub origin: Option<u32>,
}

/// Operations that computing every node takes.
pub fn operations(graph: &Graph) -> f64 {
    let of = |node: &Node| {
        let operator = node.operator()?;
        let types: Option<Vec<TensorType>> =
            node.children[1..].iter().map(|&c| analysis::only_type(graph, c).cloned()).collect();
        let (types, attrs) = (types?, attrs(graph, node.children[0])?);
        let results = operator.infer(&types, attrs).ok()?;
        let call = Call { op: operator, operands: &types, attrs };
        Some((operator.cost)(&call, &results) + elements(&types) + elements(&results))
    };
    graph.classes().flat_map(|c| c.nodes.iter()).filter_map(of).sum()
}

fn elements(types: &[TensorType]) -> f64 {
    types.iter().filter_map(|t| t.elements()).map(|n| n as f64).sum()
}

/// Tensors of random numbers, floats between -1 and 1, integers between 0 and 7; `None` for types of unknown extents.
pub fn random_tensors(types: &[TensorType], seed: u64) -> Option<Vec<Tensor>> {
    // Xorshift (Marsaglia, 2003).
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut one = |ty: &TensorType| {
        let shape: Vec<usize> = ty.shape()?.iter().map(|&n| n as usize).collect();
        let float = ty.dtype.is_float();
        let numbers: Vec<f64> = (0..ty.elements()?)
            .map(|_| {
                if float {
                    (next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
                } else {
                    (next() >> 60) as f64 / 2.0
                }
            })
            .collect();
        Tensor::from_f64s(ty.dtype, &shape, &numbers).ok()
    };
    types.iter().map(&mut one).collect()
}

/// Computes all nodes of a graph. `leaves` are the values of its leaves, `constants` those of its large constants.
pub fn check(
    graph: &Graph,
    leaves: &[Tensor],
    constants: &dyn Fn(u32) -> Option<Tensor>,
    tolerance: f64,
) -> Result<Checked, Disagreement> {
    let made_by = made_by(graph);
    let mut values: IndexMap<Id, Vec<Tensor>> = IndexMap::new();
    let mut from: IndexMap<Id, Node> = IndexMap::new();
    let mut checked = Checked::default();
    // Rounds from the leaves upwards, so that a class is compared before those who read it.
    loop {
        let mut fresh: Vec<Id> = Vec::new();
        for class in graph.classes().filter(|c| c.data.attrs.is_none()) {
            if values.contains_key(&class.id) {
                continue;
            }
            let mut nodes: Vec<&Node> = class.nodes.iter().collect();
            nodes.sort_by_key(|n| made_by.contains_key(*n));
            let found = nodes.iter().find_map(|n| Some((*n, compute(graph, n, leaves, constants, &values)?)));
            if let Some((node, value)) = found {
                from.insert(class.id, node.clone());
                fresh.push(class.id);
                values.insert(class.id, value);
            }
        }
        for id in &fresh {
            compare(graph, *id, leaves, constants, &values, &from, &made_by, tolerance, &mut checked)?;
        }
        if fresh.is_empty() {
            break;
        }
    }
    // Nodes whose operands got their values later than their class did.
    let mut checked = Checked { classes: values.len(), ..Checked::default() };
    for id in values.keys() {
        compare(graph, *id, leaves, constants, &values, &from, &made_by, tolerance, &mut checked)?;
    }
    Ok(checked)
}

#[allow(clippy::too_many_arguments)]
fn compare(
    graph: &Graph,
    id: Id,
    leaves: &[Tensor],
    constants: &dyn Fn(u32) -> Option<Tensor>,
    values: &IndexMap<Id, Vec<Tensor>>,
    from: &IndexMap<Id, Node>,
    made_by: &HashMap<Node, Symbol>,
    tolerance: f64,
    checked: &mut Checked,
) -> Result<(), Disagreement> {
    for node in graph[id].nodes.iter().filter(|n| **n != from[&id]) {
        let Some(other) = compute(graph, node, leaves, constants, values) else { continue };
        let error = values[&id].iter().zip(&other).map(|(a, b)| difference(a, b)).fold(0.0, f64::max);
        checked.compared += 1;
        checked.error = checked.error.max(error);
        // Also true for what is no number.
        if error > allowed(&other, tolerance) || error.is_nan() {
            let rule = made_by.get(node).or_else(|| made_by.get(&from[&id]));
            return Err(Disagreement {
                rule: rule.map_or_else(|| "unknown".to_owned(), Symbol::to_string),
                left: show(&from[&id]),
                right: show(node),
                error,
                origin: graph[id].data.origins.first().copied(),
            });
        }
    }
    Ok(())
}

/// The difference that is no error: of elements of two bytes some roundings, as forms round at different places.
fn allowed(values: &[Tensor], tolerance: f64) -> f64 {
    let rounding = values.iter().map(|value| match value.dtype() {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        _ => 0.0,
    });
    rounding.fold(tolerance, |most, unit| most.max(8.0 * unit))
}

fn show(node: &Node) -> String {
    let children: Vec<String> = node.children.iter().map(|c| format!(" {c}")).collect();
    format!("({node}{})", children.concat())
}

fn compute(
    graph: &Graph,
    node: &Node,
    leaves: &[Tensor],
    constants: &dyn Fn(u32) -> Option<Tensor>,
    values: &IndexMap<Id, Vec<Tensor>>,
) -> Option<Vec<Tensor>> {
    match &node.head {
        Head::Attrs(_) => None,
        Head::Leaf(number) => Some(vec![leaves.get(*number as usize)?.clone()]),
        Head::Constant(Constant::Large { number, .. }) => Some(vec![constants(*number)?]),
        Head::Constant(constant) => Some(vec![constant.tensor()?]),
        Head::Get(index) => {
            Some(vec![values.get(&graph.find(node.children[0]))?.get(*index as usize)?.clone()])
        }
        Head::Call(operation) => {
            let operands: Option<Vec<Tensor>> = node.children[1..]
                .iter()
                .map(|&c| Some(values.get(&graph.find(c))?.first()?.clone()))
                .collect();
            reference::evaluate(operation.0, attrs(graph, graph.find(node.children[0]))?, &operands?).ok()
        }
    }
}

/// The greatest difference of two tensors, relative to the largest element; equal elements differ by 0, infinite ones too.
fn difference(a: &Tensor, b: &Tensor) -> f64 {
    if a.shape() != b.shape() || a.dtype() != b.dtype() {
        return f64::INFINITY;
    }
    let (a, b) = (a.to_f64s(), b.to_f64s());
    let largest = a.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(1e-30, f64::max);
    let one = |(x, y): (&f64, &f64)| {
        if x == y || x.is_nan() && y.is_nan() { 0.0 } else { (x - y).abs() / largest }
    };
    a.iter().zip(&b).map(one).fold(0.0, |most, e| if e.is_nan() || e > most { e } else { most })
}
