//! Values whose roundings stay those of the source, as a number is rounded to an integer that is computed of them.
//!
//! ```text
//!     q = round(((a - 128) s + b) / t)          a, b from outside
//!
//!     round, casts to integers                  the operand is marked,
//!     a sum, a product, a maximum, a transpose  and theirs: all of it has one result, bit for bit
//!     a convolution, a sum over an axis, exp    ends it: these round in an order of their own
//! ```
//!
//! Between two integers a difference of one rounding is a difference of one quantum, where the value is a tie; ONNX says for quantized programs
//! which it is. So only rules that keep every bit apply to what is marked. What rests on a sum of many products has no bits to keep.

use super::super::analysis::Graph;
use super::super::language::{Head, Node};
use egg::Id;
use fusion_operators::ops::elementwise::*;
use fusion_operators::ops::pooling::*;
use fusion_operators::{FusionKind, Operator};
use std::collections::HashSet;

/// Operators that round to integers.
const TO_INTEGERS: &[&Operator] = &[&ROUND, &FLOOR, &CEIL];

/// Operators whose results are rounded once, as IEEE 754 says, or not at all.
const ONCE: &[&Operator] = &[
    &ABS,
    &ADD,
    &CAST,
    &CEIL,
    &CLIP,
    &DIV,
    &FLOOR,
    &MAXIMUM,
    &MINIMUM,
    &MUL,
    &NEG,
    &RECIPROCAL,
    &RELU,
    &ROUND,
    &SIGN,
    &SQRT,
    &SUB,
    &WHERE,
    &MAX_POOL1D,
    &MAX_POOL2D,
    &MAX_POOL3D,
    &AVG_POOL1D,
    &AVG_POOL2D,
    &AVG_POOL3D,
    &GLOBAL_MAX_POOL,
];

/// Marks classes of a graph that holds just what a program says.
pub fn mark(graph: &mut Graph) {
    let mut stack: Vec<Id> =
        graph.classes().flat_map(|class| class.nodes.iter()).filter_map(|n| rounded(graph, n)).collect();
    if stack.is_empty() {
        return;
    }
    let defined = defined(graph);
    let mut seen: HashSet<Id> = HashSet::new();
    while let Some(id) = stack.pop() {
        let id = graph.find(id);
        if !defined.contains(&id) || !seen.insert(id) {
            continue;
        }
        graph[id].data.keeps_roundings = true;
        for node in &graph[id].nodes {
            if is_call(node, rounds_once) {
                stack.extend(&node.children[1..]);
            }
        }
    }
}

/// The operand of a node that rounds it to integers.
fn rounded(graph: &Graph, node: &Node) -> Option<Id> {
    let operand = *node.children.get(1)?;
    let is_float = graph[operand].data.types.first()?.dtype.is_float();
    let to_integer = |operator: &Operator| {
        TO_INTEGERS.iter().any(|o| operator.is(o)) || operator.is(&CAST) && becomes_integer(graph, node)
    };
    (is_float && node.operator().is_some_and(to_integer)).then_some(operand)
}

fn becomes_integer(graph: &Graph, node: &Node) -> bool {
    let attrs = graph[node.children[0]].data.attrs.as_ref();
    attrs.and_then(|a| a.attrs.dtype("dtype")).is_some_and(|dtype| dtype.is_int())
}

/// Classes that have one result, bit for bit: inputs, constants, integers, and what is rounded once at a time of these.
fn defined(graph: &Graph) -> HashSet<Id> {
    let mut defined: HashSet<Id> = HashSet::new();
    // Classes are in the order of the program, operands first, so one round finds them all.
    for class in graph.classes() {
        let is_float = class.data.types.iter().any(|ty| ty.dtype.is_float());
        let holds = |node: &Node| match &node.head {
            Head::Leaf(_) | Head::Constant(_) => true,
            Head::Call(operation) => {
                rounds_once(operation.0)
                    && node.children[1..].iter().all(|&c| defined.contains(&graph.find(c)))
            }
            Head::Get(_) | Head::Attrs(_) => false,
        };
        if !is_float || class.nodes.iter().any(holds) {
            defined.insert(class.id);
        }
    }
    defined
}

fn is_call(node: &Node, holds: fn(&Operator) -> bool) -> bool {
    node.operator().is_some_and(holds)
}

fn rounds_once(operator: &Operator) -> bool {
    operator.fusion == FusionKind::Injective || ONCE.iter().any(|o| operator.is(o))
}
