//! Side conditions on numbers: where a form is as accurate as the source, and overflows nowhere else.
//!
//! A form may replace another if its error is a few units in the last place of the result, or a small multiple of the running error bound
//! of the source (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.3). A value between may be 2^24 times larger or smaller
//! than those of the source, no more (*moderate*). Element types with exponents of 8 bits or more have room for that; f16 has none (*wide*).
//!
//!     (x c) y = (x y) c        moderate c, wide types        x y is 2^24 times larger than x c at most
//!     (x + c) d = x d + c d    x has an error of its own     where x and c cancel, x d brings that error as well

use super::super::analysis::Graph;
use super::super::language::{Head, Node};
use super::super::rule::Match;
use egg::Id;
use fusion_operators::ops::elementwise::{
    ABS, CAST, CEIL, CLIP, DIV, FLOOR, MAXIMUM, MINIMUM, MUL, NEG, RELU, ROUND, SIGN, SUB, WHERE,
};
use fusion_operators::ops::pooling::{MAX_POOL1D, MAX_POOL2D, MAX_POOL3D};
use fusion_operators::ops::reduction::{REDUCE_MAX, REDUCE_MIN};
use fusion_operators::{DType, Format, FusionKind, Operator};

/// What [`is_wide`] says.
pub const WIDE: &str = "f32, bf16 or f64";

/// The exponent of factors that are moderate.
const MODERATE: i32 = 24;

/// True for floats whose exponents have 8 bits or more.
pub fn is_wide(found: &Match, var: &str) -> Option<bool> {
    Some(matches!(found.ty(var)?.dtype, DType::F32 | DType::BF16 | DType::F64))
}

/// True for what is summed in its own element type: its sums have the error of each product. Those of f16 and bf16 are of f32, and a weight that
/// is multiplied by a scale before has an error that the sum of the source has not. With `out_dtype`, sums of operands may leave their type.
pub fn sums_in_own_type(found: &Match, var: &str) -> Option<bool> {
    let dtype = found.ty(var)?.dtype;
    Some(!matches!(dtype, DType::F16 | DType::BF16) && dtype == found.result()?.dtype)
}

/// True when a value between may be that many times larger or smaller.
pub fn is_moderate(factor: f64) -> bool {
    (2f64.powi(-MODERATE)..=2f64.powi(MODERATE)).contains(&factor.abs())
}

/// True when a variable is one number, of floats of a wide type, that is moderate.
pub fn is_moderate_factor(found: &Match, var: &str) -> Option<bool> {
    Some(is_moderate(found.splat(var)?) && is_wide(found, var)?)
}

/// True when a variable is one number whose reciprocal is exact.
pub fn is_power_of_two(found: &Match, var: &str) -> Option<bool> {
    Some(found.constant(var)?.exact()?.is_power_of_two())
}

/// True when a number is that one, rounded to the element type of a variable.
pub fn is_rounded(found: &Match, var: &str, number: f64) -> Option<bool> {
    let unit = Format::of(found.ty(var)?.dtype)?.unit_roundoff();
    Some((found.splat(var)? - number).abs() <= unit * number.abs())
}

/// True when the sum of two constants is no smaller than half the larger one, as far as that is known: a sum that cancels brings digits back which
/// adding one after the other has lost, on which programs may count.
pub fn keep_digits(found: &Match, [c, d]: [&str; 2]) -> bool {
    match (found.splat(c), found.splat(d)) {
        (Some(c), Some(d)) => (c + d).abs() >= 0.5 * c.abs().max(d.abs()),
        _ => true,
    }
}

/// True when a variable is no float, or is computed with a rounding, whose error is one of it: it is no input, no cast, and nothing that picks elements of those.
pub fn has_error(found: &Match, var: &str) -> Option<bool> {
    Some(!found.ty(var)?.dtype.is_float() || is_computed(found.graph, found.id(var), MOST_STEPS))
}

/// What [`is_below_infinity`] says of logits.
pub const BELOW_INFINITY: &str = "no x is infinity, of which the source has other results";

/// True when no element of a variable's value is infinity, whatever the inputs are: its limits say so, or it is what is left without its maximum.
pub fn is_below_infinity(found: &Match, var: &str) -> Option<bool> {
    let (graph, id) = (found.graph, found.id(var));
    let is_maximum = |id: Id, of: Id| {
        graph[id].nodes.iter().any(|n| n.calls(&REDUCE_MAX) && graph.find(n.children[1]) == graph.find(of))
    };
    let is_shifted = |n: &Node| n.calls(&SUB) && is_maximum(n.children[2], n.children[1]);
    Some(found.contents(var).limits.are_below_infinity() || graph[id].nodes.iter().any(is_shifted))
}

/// Operators that give elements of what they take, or numbers that need no rounding.
static EXACT: [&Operator; 16] = [
    &ABS,
    &CEIL,
    &CLIP,
    &FLOOR,
    &MAXIMUM,
    &MINIMUM,
    &NEG,
    &RELU,
    &ROUND,
    &SIGN,
    &WHERE,
    &REDUCE_MAX,
    &REDUCE_MIN,
    &MAX_POOL1D,
    &MAX_POOL2D,
    &MAX_POOL3D,
];

/// Steps that are looked back for a rounding.
const MOST_STEPS: usize = 6;

fn is_computed(graph: &Graph, id: Id, steps: usize) -> bool {
    let picks = |operator: &Operator| {
        matches!(operator.fusion, FusionKind::Injective) || EXACT.iter().any(|o| operator.is(o))
    };
    let is_power_of_two = |id: Id| {
        let number = graph[graph.find(id)].data.constant.as_ref().and_then(|c| c.exact());
        number.is_some_and(|c| c.is_power_of_two())
    };
    let keeps_digits = |node: &Node| {
        node.calls(&MUL) && node.children[1..].iter().any(|&c| is_power_of_two(c))
            || node.calls(&DIV) && is_power_of_two(node.children[2])
    };
    let computes = |node: &Node| match (&node.head, node.operator()) {
        (Head::Get(_), _) => true,
        (_, Some(operator)) if operator.is(&CAST) => false,
        (_, Some(operator)) if picks(operator) || keeps_digits(node) => {
            steps > 0 && node.children[1..].iter().any(|&c| is_computed(graph, c, steps - 1))
        }
        (_, operator) => operator.is_some(),
    };
    let class = &graph[id];
    let is_given = class.nodes.iter().any(|n| matches!(n.head, Head::Leaf(_) | Head::Constant(_)));
    !is_given && class.nodes.iter().any(computes)
}

/// True when the graph computes the square of a value, or of what it is the `relu` of, already: it overflows there if anywhere.
pub fn has_square(found: &Match, var: &str) -> bool {
    let graph = found.graph;
    let own = graph.find(found.id(var));
    let of_relu = graph[own].nodes.iter().filter(|n| n.calls(&RELU));
    let mut values = vec![own];
    values.extend(of_relu.map(|n| graph.find(n.children[1])));
    let squares = |id: &Id| {
        graph[*id].parents().any(|parent| {
            graph[parent]
                .nodes
                .iter()
                .any(|n| n.calls(&MUL) && n.children[1..].iter().all(|&c| graph.find(c) == *id))
        })
    };
    values.iter().any(squares)
}
