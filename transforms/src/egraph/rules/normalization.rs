//! Normalizations and activations in the forms that exporters write.
//!
//! `d = x - mean(x)`, `y = d rsqrt(mean(d d) + eps)` is a layer normalization of scale 1 and shift 0; a product and a sum that follow become
//! its scale and shift. Roots, quotients and powers have become products and `rsqrt` by the rules of algebra, so each form is written once.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::is_number;
use fusion_operators::{Attrs, TensorType};

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "softmax",
            "exp(x - max x) / sum exp(x - max x) = softmax x",
            "(div ?a (exp ?e (sub ?s ?x (reduce_max ?m ?x))) (reduce_sum ?n (exp ?e (sub ?s ?x (reduce_max ?m ?x)))))",
            "(softmax ?r ?x)",
        )
        .when("both reductions keep one axis, the same", |m| Some(kept_axis(m, "?m")? == kept_axis(m, "?n")?))
        .with("?r", |m| along(kept_axis(m, "?m")?)),
        rule("softmax-unshifted", "exp x / sum exp x = softmax x", "(div ?a (exp ?e ?x) (reduce_sum ?n (exp ?e ?x)))", "(softmax ?r ?x)")
            .when("the reduction keeps one axis", |m| kept_axis(m, "?n").map(|_| true))
            .with("?r", |m| along(kept_axis(m, "?n")?)),
        rule("log-softmax", "log softmax x = log_softmax x", "(log ?a (softmax ?p ?x))", "(log_softmax ?p ?x)"),
        rule("softmax-of-shifted", "softmax(x - max x) = softmax x", "(softmax ?p (sub ?s ?x (reduce_max ?m ?x)))", "(softmax ?p ?x)")
            .when("the maximum is along the softmax's axis", |m| {
                let rank = m.ty("?x")?.rank();
                let axis = fusion_operators::relation::normalize_axis(m.attrs("?p")?.int_or("axis", -1), rank)?;
                Some(kept_axis(m, "?m")? == axis)
            }),
        rule("mean-of-sum", "sum(x) / n = mean(x)", "(mul ?a (reduce_sum ?n ?x) ?c)", "(reduce_mean ?n ?x)").when(
            "c is 1 / n, floats",
            |m| {
                let (result, data) = (m.ty("?x")?, m.result()?.elements()?);
                let share = data as f64 / result.elements()? as f64;
                Some(result.dtype.is_float() && (m.splat("?c")? - share).abs() <= 1e-6 * share)
            },
        ),
        rule(
            "layer-norm",
            "(x - mean x) rsqrt(mean (x - mean x)^2 + eps) = layer_norm(x, 1, 0)",
            "(mul ?a (sub ?s ?x (reduce_mean ?m ?x)) (rsqrt ?q (add ?b (reduce_mean ?m (mul ?c (sub ?s ?x (reduce_mean ?m ?x)) (sub ?s ?x (reduce_mean ?m ?x)))) ?e)))",
            "(layer_norm ?l ?x ?one ?zero)",
        )
        .when("the means are over the last axes and keep them, eps is one number", |m| {
            m.splat("?e")?;
            last_axes(m, "?m").map(|_| true)
        })
        .with("?l", |m| {
            let axis = last_axes(m, "?m")? as i64 - m.ty("?x")?.rank() as i64;
            Some(Node::attrs(Attrs::new().with("axis", axis).with("epsilon", m.splat("?e")?)))
        })
        .with("?one", |m| inner(m, 1.0))
        .with("?zero", |m| inner(m, 0.0)),
        rule("layer-norm-scale", "layer_norm(x, 1, 0) g = layer_norm(x, g, 0)", "(mul ?a (layer_norm ?l ?x ?one ?zero) ?g)", "(layer_norm ?l ?x ?g ?zero)")
            .when("the scale was 1 and the shift 0", |m| {
                Some(is_number(m, "?one", 1.0)? && is_number(m, "?zero", 0.0)?)
            }),
        rule("layer-norm-shift", "layer_norm(x, g, 0) + b = layer_norm(x, g, b)", "(add ?a (layer_norm ?l ?x ?g ?zero) ?b)", "(layer_norm ?l ?x ?g ?b)")
            .when("the shift was 0", |m| is_number(m, "?zero", 0.0)),
    ]
}

/// The only axis that a reduction of x combines, when it keeps it as 1.
fn kept_axis(found: &Match, attrs: &str) -> Option<usize> {
    let (rank, attrs) = (found.ty("?x")?.rank(), found.attrs(attrs)?);
    match (attrs.ints("axes"), attrs.flag("keepdims")) {
        (Some([axis]), true) => fusion_operators::relation::normalize_axis(*axis, rank),
        _ => None,
    }
}

/// The first axis that a reduction of x combines, when it combines all from there on and keeps them as 1.
fn last_axes(found: &Match, attrs: &str) -> Option<usize> {
    let (rank, attrs) = (found.ty("?x")?.rank(), found.attrs(attrs)?);
    let mut axes: Vec<usize> = attrs
        .ints("axes")?
        .iter()
        .map(|&a| fusion_operators::relation::normalize_axis(a, rank))
        .collect::<Option<_>>()?;
    axes.sort_unstable();
    let first = *axes.first()?;
    (attrs.flag("keepdims") && axes.into_iter().eq(first..rank)).then_some(first)
}

fn along(axis: usize) -> Option<Node> {
    Some(Node::attrs(Attrs::new().with("axis", axis as i64)))
}

/// One number in the shape of the normalized axes.
fn inner(found: &Match, number: f64) -> Option<Node> {
    let ty = found.ty("?x")?;
    Node::number(number, &TensorType::new(ty.dims[last_axes(found, "?m")?..].to_vec(), ty.dtype))
}
