//! Scales of rows: what all elements that are summed up share is multiplied once, behind the sum.
//!
//!     relu(x s) = relu(x) s            where s is 0 or more
//!     (x s)^2   = x^2 s^2
//!     sum (x s) = (sum x) s            where s has one number along the axes of the sum
//!
//! Sums over what is normalized need the scale of the normalization no longer, and go over the data together with those that the scale
//! is computed of:
//!
//!     d = x - mean x    r = rsqrt(mean d^2 + eps)    sum relu(d r)^2 = (sum relu(d)^2) r^2
//!
//! takes two passes over a row in place of three. A square of what was not scaled may be too large for its type where that of the scaled number is
//! not, so it is only taken where the program squares it already, as it does for the variance.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{is_float, shaping};
use super::numerics::{has_square, is_wide};
use fusion_operators::Call;
use fusion_operators::ops::reduction::{REDUCE_SUM, reduced_axes};

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "relu-of-scaled",
            "relu(x s) = relu(x) s",
            "(relu ?a (mul ?b ?x ?s))",
            "(mul ?b (relu ?a ?x) ?s)",
        ).exact()
        .when("s is known to be finite and 0 or more, and has fewer elements than x", |m| {
            Some(m.contents("?s").sign.is_factor && is_smaller(m)?)
        }),
        rule(
            "square-of-scaled",
            "(x s)^2 = x^2 s^2",
            "(mul ?a (mul ?b ?x ?s) (mul ?b ?x ?s))",
            "(mul ?a (mul ?b ?x ?x) (mul ?b ?s ?s))",
        ).within("3 ulp")
        .when("s has fewer elements than x; f32, bf16 or f64; the program has x^2 already, or the square of what x is the relu of", |m| {
            Some(is_smaller(m)? && is_wide(m, "?s")? && has_square(m, "?x"))
        }),
        out_of(
            "sum-of-scaled",
            "sum (x s) = (sum x) s",
            "(reduce_sum ?r (mul ?b ?x ?s))",
            "(reshape ?k (mul ?b (reduce_sum ?q ?x) ?s))",
        ),
        out_of(
            "mean-of-scaled",
            "mean (x s) = (mean x) s",
            "(reduce_mean ?r (mul ?b ?x ?s))",
            "(reshape ?k (mul ?b (reduce_mean ?q ?x) ?s))",
        ),
    ]
}

/// The sum keeps its axes, so that it has an element where the scale has one.
fn out_of(name: &'static str, equation: &'static str, left: &'static str, right: &'static str) -> Rule {
    rule(name, equation, left, right)
        .within("sums of |x s| in another order, 1 ulp")
        .when("s has one number along the axes of the sum and fewer elements than x; f32, bf16 or f64", |m| {
            Some(is_smaller(m)? && is_float(m, "?s")? && is_wide(m, "?s")? && is_one_in_sums(m)?)
        })
        .with("?q", |m| Some(Node::attrs(m.attrs("?r")?.clone().with("keepdims", true))))
        .with("?k", |m| Some(Node::attrs(shaping(&m.result()?.shape()?))))
}

/// True when there is less to compute of the scale than of what it scales.
fn is_smaller(found: &Match) -> Option<bool> {
    let (x, s) = (found.ty("?x")?, found.ty("?s")?);
    Some(s.elements()? < x.elements()?)
}

/// True when a scale has one number along the axes that are summed.
fn is_one_in_sums(found: &Match) -> Option<bool> {
    let (x, s, attrs) = (found.ty("?x")?, found.shape("?s")?, found.attrs("?r")?);
    let missing = x.rank().checked_sub(s.len())?;
    let axes = reduced_axes(&Call { op: &REDUCE_SUM, operands: std::slice::from_ref(x), attrs }).ok()?;
    Some(axes.into_iter().all(|axis| axis < missing || s[axis - missing] == 1))
}
