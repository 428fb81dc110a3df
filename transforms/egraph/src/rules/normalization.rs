//! Normalizations in the forms that exporters write.
//!
//! `d = x - mean(x)`, `y = d rsqrt(mean(d d) + eps)` is a layer normalization of scale 1 and shift 0; a product and a sum that follow become
//! its scale and shift. Roots, quotients and powers have become products and `rsqrt` by the rules of algebra, so each form is written once.
//!
//! A softmax takes the maximum off, so that a row with infinity is NaN. So are the forms that do the same; `exp x / sum exp x` is NaN at infinity
//! and 0 elsewhere, and no softmax where a logit may be that.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{SUMS, is_number, permutation, shaping};
use super::numerics::{BELOW_INFINITY, is_below_infinity, is_rounded};
use egg::Id;
use fusion_operators::ops::elementwise::{IS_INF, WHERE};
use fusion_operators::ops::reduction::REDUCE_MAX;
use fusion_operators::{Attrs, TensorType};

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "softmax",
            "exp(x - max x) / sum exp(x - max x) = softmax x",
            "(div ?a (exp ?e (sub ?s ?x (reduce_max ?m ?x))) (reduce_sum ?n (exp ?e (sub ?s ?x (reduce_max ?m ?x)))))",
            "(softmax ?r ?x)",
        ).within("4 ulp")
        .when("both reductions keep one axis, the same", |m| Some(kept_axis(m, "?m")? == kept_axis(m, "?n")?))
        .with("?r", |m| along(kept_axis(m, "?m")?)),
        rule("softmax-unshifted", "exp x / sum exp x = softmax x", "(div ?a (exp ?e ?x) (reduce_sum ?n (exp ?e ?x)))", "(softmax ?r ?x)").within("4 ulp; it does not overflow where exp x does")
            .when("the reduction keeps one axis", |m| kept_axis(m, "?n").map(|_| true))
            .when(BELOW_INFINITY, |m| is_below_infinity(m, "?x"))
            .with("?r", |m| along(kept_axis(m, "?n")?)),
        rule(
            "log-softmax-shifted",
            "(x - max x) - log sum exp(x - max x) = log_softmax x",
            "(sub ?a (sub ?s ?x (reduce_max ?m ?x)) (log ?l (reduce_sum ?n (exp ?e (sub ?s ?x (reduce_max ?m ?x))))))",
            "(log_softmax ?r ?x)",
        ).within("4 ulp of |x - max x| + log n")
        .when("both reductions keep one axis, the same", |m| Some(kept_axis(m, "?m")? == kept_axis(m, "?n")?))
        .with("?r", |m| along(kept_axis(m, "?m")?)),
        rule(
            "log-softmax-unshifted",
            "x - log sum exp x = log_softmax x",
            "(sub ?a ?x (log ?l (reduce_sum ?n (exp ?e ?x))))",
            "(log_softmax ?r ?x)",
        ).within("4 ulp of |x - max x| + log n; it does not overflow where exp x does")
        .when("the reduction keeps one axis", |m| kept_axis(m, "?n").map(|_| true))
        .when(BELOW_INFINITY, |m| is_below_infinity(m, "?x"))
        .with("?r", |m| along(kept_axis(m, "?n")?)),
        rule(
            "log-softmax-by-maximum",
            "x - (log sum exp(x - max x) + max x) = log_softmax x",
            "(sub ?a ?x (add ?b (log ?l (reduce_sum ?n (exp ?e (sub ?s ?x (reduce_max ?m ?x))))) (reduce_max ?m ?x)))",
            "(log_softmax ?r ?x)",
        ).within("4 ulp of |x - max x| + log n")
        .when("both reductions keep one axis, the same", |m| Some(kept_axis(m, "?m")? == kept_axis(m, "?n")?))
        .with("?r", |m| along(kept_axis(m, "?m")?)),
        rule(
            "log-softmax-by-shift",
            "x - (log sum exp(x - s) + s) = log_softmax x",
            "(sub ?a ?x (add ?b (log ?l (reduce_sum ?n (exp ?e (sub ?f ?x ?s)))) ?s))",
            "(log_softmax ?r ?x)",
        ).within("4 ulp of |x - max x| + log n; it does not overflow where exp does")
        .when("the reduction keeps one axis, along which s has one number", |m| {
            let (rank, shift) = (m.ty("?x")?.rank(), m.shape("?s")?);
            let from_back = rank - kept_axis(m, "?n")?;
            Some(shift.len().checked_sub(from_back).is_none_or(|at| shift[at] == 1))
        })
        .when(BELOW_INFINITY, |m| is_below_infinity(m, "?x"))
        .when("s is finite, or NaN where a row has NaN", |m| {
            Some(m.contents("?s").is_finite || is_finite_maximum(m, "?s", kept_axis(m, "?n")?))
        })
        .with("?r", |m| along(kept_axis(m, "?n")?)),
        keeping("kept-maximum", "reshape max x = max x that keeps its axes", "(reshape ?r (reduce_max ?m ?x))", "(reduce_max ?k ?x)"),
        keeping("kept-sum", "reshape sum x = sum x that keeps its axes", "(reshape ?r (reduce_sum ?m ?x))", "(reduce_sum ?k ?x)"),
        keeping("kept-mean", "reshape mean x = mean x that keeps its axes", "(reshape ?r (reduce_mean ?m ?x))", "(reduce_mean ?k ?x)"),
        rule("softmax-of-rows", "softmax reshape x = reshape softmax x", "(softmax ?p (reshape ?r ?x))", "(reshape ?r (softmax ?last ?x))").exact()
            .when("the softmax is along the last axis, which the reshape keeps", |m| {
                let (before, after) = (m.shape("?x")?, m.result()?.shape()?);
                let axis = fusion_operators::relation::normalize_axis(m.attrs("?p")?.int_or("axis", -1), after.len())?;
                Some(axis + 1 == after.len() && before.last()? == after.last()?)
            })
            .with("?last", |_| Some(Node::attrs(Attrs::new().with("axis", -1i64)))),
        moved("softmax-of-transpose", "softmax(x^p) = (softmax x)^p", "(softmax ?a (transpose ?p ?x))", "(transpose ?p (softmax ?b ?x))"),
        moved("log-softmax-of-transpose", "log_softmax(x^p) = (log_softmax x)^p", "(log_softmax ?a (transpose ?p ?x))", "(transpose ?p (log_softmax ?b ?x))"),
        rule("log-softmax", "log softmax x = log_softmax x", "(log ?a (softmax ?p ?x))", "(log_softmax ?p ?x)").within("4 ulp of |x - max x| + log n; it is finite where the softmax is 0"),
        rule("softmax-of-logarithm", "exp log_softmax x = softmax x", "(exp ?a (log_softmax ?p ?x))", "(softmax ?p ?x)").within("4 ulp"),
        rule("softmax-of-shifted", "softmax(x - max x) = softmax x", "(softmax ?p (sub ?s ?x (reduce_max ?m ?x)))", "(softmax ?p ?x)").within("4 ulp")
            .when("the maximum is along the softmax's axis", |m| {
                let rank = m.ty("?x")?.rank();
                let axis = fusion_operators::relation::normalize_axis(m.attrs("?p")?.int_or("axis", -1), rank)?;
                Some(kept_axis(m, "?m")? == axis)
            }),
        rule("mean-of-sum", "sum(x) / n = mean(x)", "(mul ?a (reduce_sum ?n ?x) ?c)", "(reduce_mean ?n ?x)").within("2 ulp").when(
            "c is 1 / n, floats",
            |m| {
                let (result, data) = (m.ty("?x")?, m.result()?.elements()?);
                let share = data as f64 / result.elements()? as f64;
                Some(result.dtype.is_float() && is_rounded(m, "?c", share)?)
            },
        ),
        rule("mean-of-quotient", "sum(x) / n = mean(x)", "(div ?a (reduce_sum ?n ?x) ?c)", "(reduce_mean ?n ?x)").within("1 ulp").when(
            "c is n, floats",
            |m| {
                let (data, result) = (m.ty("?x")?, m.result()?.elements()?);
                Some(data.dtype.is_float() && m.splat("?c")? == data.elements()? as f64 / result as f64)
            },
        ),
        rule(
            "layer-norm",
            "(x - mean x) rsqrt(mean (x - mean x)^2 + eps) = layer_norm(x, 1, 0)",
            "(mul ?a (sub ?s ?x (reduce_mean ?m ?x)) (rsqrt ?q (add ?b (reduce_mean ?m (mul ?c (sub ?s ?x (reduce_mean ?m ?x)) (sub ?s ?x (reduce_mean ?m ?x)))) ?e)))",
            "(layer_norm ?l ?x ?one ?zero)",
        ).within("4 ulp of the normalized row")
        .when("the means are over the last axes and keep them, eps is one number", |m| {
            m.splat("?e")?;
            last_axes(m, "?m").map(|_| true)
        })
        .with("?l", epsilon_of)
        .with("?one", |m| inner(m, 1.0))
        .with("?zero", |m| inner(m, 0.0)),
        rule(
            "layer-norm-by-moments",
            "(x - mean x) rsqrt(mean x^2 - (mean x)^2 + eps) = layer_norm(x, 1, 0)",
            "(mul ?a (sub ?s ?x (reduce_mean ?m ?x)) (rsqrt ?q (add ?b (sub ?d (reduce_mean ?m (mul ?c ?x ?x)) (mul ?f (reduce_mean ?m ?x) (reduce_mean ?m ?x))) ?e)))",
            "(layer_norm ?l ?x ?one ?zero)",
        ).within("what the cancellation of the moments loses is not lost")
        .when("the means are over the last axes and keep them, eps is one number", |m| {
            m.splat("?e")?;
            last_axes(m, "?m").map(|_| true)
        })
        .with("?l", epsilon_of)
        .with("?one", |m| inner(m, 1.0))
        .with("?zero", |m| inner(m, 0.0)),
        rule(
            "scaled-root-of-variance",
            "(x - mean x) (rsqrt(..) g) = ((x - mean x) rsqrt(..)) g",
            "(mul ?a (sub ?s ?x (reduce_mean ?m ?x)) (mul ?b (rsqrt ?q ?v) ?g))",
            "(mul ?a (mul ?a (sub ?s ?x (reduce_mean ?m ?x)) (rsqrt ?q ?v)) ?g)",
        ).within("1.5 ulp")
        .when("g is a constant", |m| Some(m.is_constant("?g"))),
        rule("layer-norm-scale", "layer_norm(x, 1, 0) g = layer_norm(x, g, 0)", "(mul ?a (layer_norm ?l ?x ?one ?zero) ?g)", "(layer_norm ?l ?x (reshape ?r ?g) ?zero)").within("1 ulp")
            .when("the scale was 1 and the shift 0, g has an element for each of a row", |m| {
                Some(is_number(m, "?one", 1.0)? && is_number(m, "?zero", 0.0)? && is_row(m, "?g")?)
            })
            .with("?r", |m| Some(Node::attrs(shaping(&m.shape("?one")?)))),
        rule("layer-norm-shift", "layer_norm(x, g, 0) + b = layer_norm(x, g, b)", "(add ?a (layer_norm ?l ?x ?g ?zero) ?b)", "(layer_norm ?l ?x ?g (reshape ?r ?b))").within("1 ulp of |y| + |b|")
            .when("the shift was 0, b has an element for each of a row", |m| {
                Some(is_number(m, "?zero", 0.0)? && is_row(m, "?b")?)
            })
            .with("?r", |m| Some(Node::attrs(shaping(&m.shape("?zero")?)))),
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

/// True for the maximum of x along an axis, but where that is infinite for a number, as importers write the shift of ReduceLogSumExp.
fn is_finite_maximum(found: &Match, var: &str, axis: usize) -> bool {
    let graph = found.graph;
    let (x, rank) = (graph.find(found.id("?x")), found.ty("?x").map_or(0, TensorType::rank));
    let any = |id: Id, holds: &dyn Fn(&Node) -> bool| graph[id].nodes.iter().any(holds);
    let is_axis = |attrs: Id| match super::super::analysis::attrs(graph, attrs).and_then(|a| a.ints("axes")) {
        Some([only]) => fusion_operators::relation::normalize_axis(*only, rank) == Some(axis),
        _ => false,
    };
    let is_maximum =
        |m: Id| any(m, &|n| n.calls(&REDUCE_MAX) && is_axis(n.children[0]) && graph.find(n.children[1]) == x);
    let is_infinite = |condition: Id, m: Id| {
        any(condition, &|n| n.calls(&IS_INF) && graph.find(n.children[1]) == graph.find(m))
    };
    any(found.id(var), &|n| {
        n.calls(&WHERE)
            && graph[n.children[2]].data.contents.is_finite
            && is_infinite(n.children[1], n.children[3])
            && is_maximum(n.children[3])
    })
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

/// A reduction without the axes it combined, and a reshape that puts them back as 1.
fn keeping(name: &'static str, equation: &'static str, left: &'static str, right: &'static str) -> Rule {
    rule(name, equation, left, right)
        .exact()
        .when("the reshape inserts the axes that were combined", |m| {
            let attrs = m.attrs("?m")?;
            let kept = keeping_shape(&m.shape("?x")?, attrs.ints("axes")?)?;
            Some(!attrs.flag("keepdims") && m.result()?.shape()? == kept)
        })
        .with("?k", |m| Some(Node::attrs(m.attrs("?m")?.clone().with("keepdims", true))))
}

/// A softmax of a transpose, along the axis of the untransposed tensor.
fn moved(name: &'static str, equation: &'static str, left: &'static str, right: &'static str) -> Rule {
    rule(name, equation, left, right).within(SUMS).with("?b", |m| {
        let rank = m.ty("?x")?.rank();
        let axis = fusion_operators::relation::normalize_axis(m.attrs("?a")?.int_or("axis", -1), rank)?;
        along(permutation(m.attrs("?p")?, rank)?[axis])
    })
}

/// A shape with some extents 1.
fn keeping_shape(shape: &[u64], axes: &[i64]) -> Option<Vec<u64>> {
    let mut kept = shape.to_vec();
    for &axis in axes {
        kept[fusion_operators::relation::normalize_axis(axis, shape.len())?] = 1;
    }
    Some(kept)
}

/// Attributes of a layer normalization over the axes of its means.
fn epsilon_of(found: &Match) -> Option<Node> {
    let axis = last_axes(found, "?m")? as i64 - found.ty("?x")?.rank() as i64;
    Some(Node::attrs(Attrs::new().with("axis", axis).with("epsilon", found.splat("?e")?)))
}

/// True when an operand has the extents of the normalized axes, with any number of extents of 1 before them.
fn is_row(found: &Match, var: &str) -> Option<bool> {
    let (row, operand) = (found.shape("?zero")?, found.shape(var)?);
    let ones = operand.len().checked_sub(row.len())?;
    Some(operand[ones..] == row[..] && operand[..ones].iter().all(|&n| n == 1))
}

fn along(axis: usize) -> Option<Node> {
    Some(Node::attrs(Attrs::new().with("axis", axis as i64)))
}

/// One number in the shape of the normalized axes.
fn inner(found: &Match, number: f64) -> Option<Node> {
    let ty = found.ty("?x")?;
    Node::number(number, &TensorType::new(ty.dims[last_axes(found, "?m")?..].to_vec(), ty.dtype))
}
