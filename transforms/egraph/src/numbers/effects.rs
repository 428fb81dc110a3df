//! What operators do to a tensor all of whose elements are one number: rows of facts.
//!
//!     computed    y = f(x, ..)            elementwise
//!     moved       y = x                   transposes, slices, maxima, means
//!     summed      y = n x                 n elements for each of the result
//!     contracted  y = k x w               k products for each element of the result
//!
//! An operator without a row gives a number that is not known.

use super::super::language::Node;
use fusion_operators::Attrs;
use fusion_operators::Operator;
use fusion_operators::ops::attention::ATTENTION;
use fusion_operators::ops::contraction::*;
use fusion_operators::ops::convolution::{CONV1D, CONV2D, CONV3D};
use fusion_operators::ops::elementwise::*;
use fusion_operators::ops::indexing::{GATHER, GATHER_ELEMENTS, GATHER_ND};
use fusion_operators::ops::layout::*;
use fusion_operators::ops::normalization::*;
use fusion_operators::ops::pooling::*;
use fusion_operators::ops::reduction::*;
use fusion_operators::ops::shape::*;
use fusion_operators::reference::elementwise::erf;

/// A function of the numbers of the operands.
pub type Scalar = fn(&[f64], &Attrs) -> f64;

/// What an operator does.
#[derive(Clone, Copy)]
pub enum Effect {
    /// It computes each element of the elements at its place.
    Computed(Scalar),
    /// The same of floats; of integers nothing is known.
    ComputedOfFloats(Scalar),
    /// It says whether two elements are equal: no error of theirs moves that by little.
    Compared(Scalar),
    /// Its elements are some of those of that operand, or lie between them.
    Moved(usize),
    /// The same, of elements all of which take part.
    Gathered,
    /// Its elements are those of all operands.
    Joined,
    /// It sums.
    Summed,
    /// It sums products of the first two operands.
    Contracted,
    /// The same, of the elements in windows.
    Convolved,
    /// One over the number of elements along an axis, or the logarithm of that.
    Shared(fn(f64) -> f64),
    /// It takes the mean off, and adds the operand of that number after it multiplied by the one before.
    Normalized(usize),
}

/// The effect of the operator of a node.
pub fn of(node: &Node) -> Option<Effect> {
    let operator = node.operator()?;
    let is = |row: &&(&[&Operator], Effect)| row.0.iter().any(|o| operator.is(o));
    ROWS.iter().find(is).map(|(_, effect)| *effect)
}

macro_rules! one {
    ($operator:ident, $f:expr) => {
        (&[&$operator], Effect::Computed(|x, _| $f(x[0])))
    };
}

macro_rules! two {
    ($operator:ident, $f:expr) => {
        (&[&$operator], Effect::Computed(|x, _| $f(x[0], x[1])))
    };
}

type Row = (&'static [&'static Operator], Effect);

#[rustfmt::skip]
static ROWS: &[Row] = &[
    two!(ADD, |a: f64, b| a + b),
    two!(MUL, |a: f64, b| a * b),
    two!(SUB, |a: f64, b| a - b),
    (&[&DIV], Effect::ComputedOfFloats(|x, _| x[0] / x[1])),
    (&[&POW], Effect::ComputedOfFloats(|x, _| x[0].powf(x[1]))),
    (&[&TRANSPOSE, &RESHAPE, &LAYOUT_TRANSFORM, &SLICE, &SQUEEZE, &EXPAND_DIMS, &BROADCAST_TO, &TILE, &REVERSE], Effect::Moved(0)),
    (&[&GATHER, &GATHER_ELEMENTS, &GATHER_ND, &RESIZE, &PAD], Effect::Moved(0)),
    (&[&MAX_POOL1D, &MAX_POOL2D, &MAX_POOL3D, &LAYOUT_MAX_POOL2D], Effect::Moved(0)),
    (&[&AVG_POOL1D, &AVG_POOL2D, &AVG_POOL3D, &LAYOUT_AVG_POOL2D], Effect::Moved(0)),
    (&[&ATTENTION], Effect::Moved(2)),
    (&[&GLOBAL_MAX_POOL, &GLOBAL_AVG_POOL, &REDUCE_MEAN, &REDUCE_MAX, &REDUCE_MIN], Effect::Gathered),
    (&[&CONCAT], Effect::Joined),
    (&[&REDUCE_SUM], Effect::Summed),
    (&[&MATMUL, &BATCH_MATMUL, &DENSE], Effect::Contracted),
    (&[&CONV1D, &CONV2D, &CONV3D, &LAYOUT_CONV2D], Effect::Convolved),
    (&[&SOFTMAX], Effect::Shared(|n| 1.0 / n)),
    (&[&LOG_SOFTMAX], Effect::Shared(|n| -n.ln())),
    (&[&LAYER_NORM, &INSTANCE_NORM, &GROUP_NORM], Effect::Normalized(2)),
    (&[&BATCH_NORM], Effect::Computed(|x, attrs| {
        (x[0] - x[3]) / (x[4] + attrs.float_or("epsilon", 1e-5)).sqrt() * x[1] + x[2]
    })),
    one!(RELU, |v: f64| v.max(0.0)),
    one!(EXP, f64::exp),
    one!(TANH, f64::tanh),
    one!(SIGMOID, |v: f64| 1.0 / (1.0 + (-v).exp())),
    one!(ERF, erf),
    one!(SQRT, f64::sqrt),
    one!(RSQRT, |v: f64| 1.0 / v.sqrt()),
    one!(RECIPROCAL, |v: f64| 1.0 / v),
    one!(NEG, |v: f64| -v),
    one!(ABS, f64::abs),
    one!(LOG, f64::ln),
    one!(LOG1P, f64::ln_1p),
    one!(SIGN, |v: f64| if v == 0.0 { 0.0 } else { v.signum() }),
    (&[&CAST], Effect::Computed(|x, _| x[0])),
    (&[&CLIP], Effect::Computed(|x, attrs| {
        x[0].max(attrs.float_or("min", f64::NEG_INFINITY)).min(attrs.float_or("max", f64::INFINITY))
    })),
    two!(MINIMUM, f64::min),
    two!(MAXIMUM, f64::max),
    (&[&WHERE], Effect::Computed(|x, _| if x[0] != 0.0 { x[1] } else { x[2] })),
    (&[&EQUAL], Effect::Compared(|x, _| f64::from(x[0] == x[1]))),
    (&[&NOT_EQUAL], Effect::Compared(|x, _| f64::from(x[0] != x[1]))),
    two!(LESS, |a, b| f64::from(a < b)),
    two!(LESS_EQUAL, |a, b| f64::from(a <= b)),
    two!(GREATER, |a, b| f64::from(a > b)),
    two!(GREATER_EQUAL, |a, b| f64::from(a >= b)),
    two!(LOGICAL_AND, |a: f64, b: f64| a * b),
    two!(LOGICAL_OR, |a: f64, b: f64| a.max(b)),
    two!(LOGICAL_XOR, |a, b| f64::from(a != b)),
    one!(LOGICAL_NOT, |v: f64| 1.0 - v),
    one!(FLOOR, f64::floor),
    one!(CEIL, f64::ceil),
    one!(ROUND, f64::round_ties_even),
    one!(SIN, f64::sin),
    one!(COS, f64::cos),
    one!(TAN, f64::tan),
    one!(ASIN, f64::asin),
    one!(ACOS, f64::acos),
    one!(ATAN, f64::atan),
    one!(SINH, f64::sinh),
    one!(COSH, f64::cosh),
    one!(ASINH, f64::asinh),
    one!(ACOSH, f64::acosh),
    one!(ATANH, f64::atanh),
];
