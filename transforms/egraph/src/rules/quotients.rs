//! Quotients of what is summed: a division by a constant goes where a scale would.
//!
//!     (x w) / s = x (w / s)                               w and s are constants, so the quotient is one
//!     softmax(q k' / c) v = attention(q, k, v){1 / c}     scores are scaled as the kernel sums them
//!
//! Elsewhere a division by a constant stays a division, unless its reciprocal is exact (`algebra`).

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::attention::{FITS, fits, scaled};
use super::conditions::shaping;
use super::contraction::is_scale_of_columns;
use super::convolution::{SCALE_FITS, by_filter, scales_filters};

/// The rules of products of matrices.
pub fn of_products() -> Vec<Rule> {
    vec![
        rule(
            "matmul-quotient",
            "(x w) / s = x (w / s)",
            "(div ?a (matmul ?m ?x ?w) ?s)",
            "(matmul ?m ?x (div ?a ?w ?s))",
        )
        .within(WEIGHT)
        .when(COLUMNS, |m| Some(is_scale_of_columns(m)? && !m.attrs("?m")?.flag("transpose_b"))),
        rule(
            "matmul-quotient-transposed",
            "(x w') / s = x (w / s')'",
            "(div ?a (matmul ?m ?x ?w) ?s)",
            "(matmul ?m ?x (div ?a ?w (reshape ?r ?s)))",
        )
        .within(WEIGHT)
        .when(COLUMNS, |m| Some(is_scale_of_columns(m)? && m.attrs("?m")?.flag("transpose_b")))
        .with("?r", by_row),
        rule(
            "dense-quotient",
            "dense(x, w) / s = dense(x, w / s')",
            "(div ?a (dense ?m ?x ?w) ?s)",
            "(dense ?m ?x (div ?a ?w (reshape ?r ?s)))",
        )
        .within(WEIGHT)
        .when(COLUMNS, is_scale_of_columns)
        .with("?r", by_row),
    ]
}

/// The rules of convolutions.
pub fn of_convolutions() -> Vec<Rule> {
    let quotient = |name, left, right| {
        rule(name, "(x * w) / s = x * (w / s)", left, right)
            .within(WEIGHT)
            .when(SCALE_FITS, scales_filters)
            .with("?r", by_filter)
    };
    vec![
        quotient(
            "conv1d-quotient",
            "(div ?a (conv1d ?p ?x ?w) ?s)",
            "(conv1d ?p ?x (div ?a ?w (reshape ?r ?s)))",
        ),
        quotient(
            "conv2d-quotient",
            "(div ?a (conv2d ?p ?x ?w) ?s)",
            "(conv2d ?p ?x (div ?a ?w (reshape ?r ?s)))",
        ),
        quotient(
            "conv3d-quotient",
            "(div ?a (conv3d ?p ?x ?w) ?s)",
            "(conv3d ?p ?x (div ?a ?w (reshape ?r ?s)))",
        ),
    ]
}

/// The rules of attention.
pub fn of_attention() -> Vec<Rule> {
    let scores = |name, equation, left, right| {
        rule(name, equation, left, right)
            .within("1.5 ulp of the scores")
            .when(FITS, fits)
            .when("c is one number other than 0", |m| Some(m.splat("?c")? != 0.0))
            .with("?t", |m| scaled(m.splat("?c")?.recip()))
    };
    let operand = |name, equation, left, right| {
        rule(name, equation, left, right)
            .within("1.5 ulp of the scores")
            .when("c is one number other than 0", |m| Some(m.splat("?c")? != 0.0))
            .with("?u", |m| scaled(m.attrs("?t")?.float_or("scale", 1.0) / m.splat("?c")?))
    };
    vec![
        scores(
            "attention-quotient",
            "softmax(q k' / c) v = attention(q, k, v){1 / c}",
            "(matmul ?m (softmax ?s (div ?a (matmul ?n ?q ?k) ?c)) ?v)",
            "(attention ?t ?q ?k ?v)",
        ),
        scores(
            "attention-quotient-bias",
            "softmax(q k' / c + b) v = attention(q, k, v, b){1 / c}",
            "(matmul ?m (softmax ?s (add ?d (div ?a (matmul ?n ?q ?k) ?c) ?b)) ?v)",
            "(attention ?t ?q ?k ?v ?b)",
        ),
        operand(
            "attention-of-quotient",
            "attention(q / c, k, v){d} = attention(q, k, v){d / c}",
            "(attention ?t (div ?a ?q ?c) ?k ?v)",
            "(attention ?u ?q ?k ?v)",
        ),
        operand(
            "attention-of-quotient-bias",
            "attention(q / c, k, v, b){d} = attention(q, k, v, b){d / c}",
            "(attention ?t (div ?a ?q ?c) ?k ?v ?b)",
            "(attention ?u ?q ?k ?v ?b)",
        ),
    ]
}

const WEIGHT: &str = "1 ulp of the sum of |x w / s|";
const COLUMNS: &str = "w and s are constants, s has one number a column or one in all; no f16 or bf16";

/// The divisors as a column.
fn by_row(found: &Match) -> Option<Node> {
    Some(Node::attrs(shaping(&[found.shape("?s")?.iter().product(), 1])))
}
