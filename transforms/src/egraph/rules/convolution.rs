//! Convolutions and what is folded into them.
//!
//!     s (x * w) = x * (s w)        axis-scale folding, forward: s has one number a filter
//!     (s x) * w = x * (w s)        backward: s has one number a channel
//!
//! Batch normalization with known statistics is a scale and a shift (Ioffe and Szegedy, 2015, section 3.1); the scale goes into the weight
//! before it, the shift is an epilogue.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{is_along, is_number, shaping};
use fusion_operators::{Attr, Attrs, TensorType};

/// The rules.
pub fn rules() -> Vec<Rule> {
    let mut rules = vec![
        rule(
            "batch-norm",
            "gamma (x - mean) / sqrt(var + eps) + beta = x s + (beta - mean s), s = gamma rsqrt(var + eps)",
            "(batch_norm ?p ?x ?g ?b ?m ?v)",
            "(add ?n (mul ?n ?x (reshape ?r (mul ?n ?g (rsqrt ?n (add ?n ?v ?e))))) (reshape ?r (sub ?n ?b (mul ?n ?m (mul ?n ?g (rsqrt ?n (add ?n ?v ?e)))))))",
        )
        .with("?n", |_| Some(Node::attrs(Attrs::new())))
        .with("?e", |m| {
            let epsilon = m.attrs("?p")?.float_or("epsilon", 1e-5);
            Node::number(epsilon, &TensorType::fixed(&[], m.ty("?v")?.dtype))
        })
        .with("?r", |m| {
            let mut shape = vec![1; m.ty("?x")?.rank() - 1];
            shape[0] = *m.shape("?g")?.first()?;
            Some(Node::attrs(shaping(&shape)))
        }),
        rule("pad-conv2d", "pad(x) * w = x * w with padding", "(conv2d ?p (pad ?q ?x) ?w)", "(conv2d ?r ?x ?w)")
            .when("the padding is of zeros, at the spatial axes, nowhere negative", |m| merged_padding(m).map(|_| true))
            .with("?r", |m| {
                let mut attrs = m.attrs("?p")?.clone();
                attrs.set("padding", merged_padding(m)?);
                Some(Node::attrs(attrs))
            }),
        rule(
            "pointwise-conv2d",
            "x * w = w x for a kernel of 1 x 1",
            "(conv2d ?p ?x ?w)",
            "(reshape ?o (matmul ?n (reshape ?r ?w) (reshape ?s ?x)))",
        )
        .when("stride 1, no padding, one group", |m| {
            let attrs = m.attrs("?p")?;
            let all = |name: &str, number: i64| attrs.ints(name).is_none_or(|v| v.iter().all(|&n| n == number));
            Some(
                m.shape("?w")?[2..] == [1, 1]
                    && all("strides", 1)
                    && all("padding", 0)
                    && attrs.int_or("groups", 1) == 1,
            )
        })
        .with("?n", |_| Some(Node::attrs(Attrs::new())))
        .with("?r", |m| Some(Node::attrs(shaping(&m.shape("?w")?[..2]))))
        .with("?s", |m| {
            let shape = m.shape("?x")?;
            Some(Node::attrs(shaping(&[shape[0], shape[1], shape[2] * shape[3]])))
        })
        .with("?o", |m| Some(Node::attrs(shaping(&m.result()?.shape()?)))),
    ];
    rules.extend([
        rule(
            "conv1d-scale",
            SCALE,
            "(mul ?a (conv1d ?p ?x ?w) ?s)",
            "(conv1d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .when(SCALE_FITS, scales_filters)
        .with("?r", by_filter),
        rule(
            "conv2d-scale",
            SCALE,
            "(mul ?a (conv2d ?p ?x ?w) ?s)",
            "(conv2d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .when(SCALE_FITS, scales_filters)
        .with("?r", by_filter),
        rule(
            "conv3d-scale",
            SCALE,
            "(mul ?a (conv3d ?p ?x ?w) ?s)",
            "(conv3d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .when(SCALE_FITS, scales_filters)
        .with("?r", by_filter),
        rule(
            "conv2d-transpose-scale",
            "s (x *' w) = x *' (s w)",
            "(mul ?a (conv2d_transpose ?p ?x ?w) ?s)",
            "(conv2d_transpose ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .when("w and s are constants, one group, s has one number a filter", |m| {
            Some(m.attrs("?p")?.int_or("groups", 1) == 1 && scales_filters(m)?)
        })
        .with("?r", by_channel),
        rule(
            "scaled-conv2d",
            "(s x) * w = x * (w s)",
            "(conv2d ?p (mul ?a ?x ?s) ?w)",
            "(conv2d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .when("w and s are constants, one group, s has one number a channel", |m| {
            let shape = m.shape("?x")?;
            let constant = m.is_constant("?w") && m.is_constant("?s");
            Some(
                constant
                    && m.attrs("?p")?.int_or("groups", 1) == 1
                    && is_along(&m.shape("?s")?, 4, 1, shape[1]),
            )
        })
        .with("?r", by_channel),
    ]);
    rules
}

const SCALE: &str = "s (x * w) = x * (s w)";
const SCALE_FITS: &str = "w and s are constants, s has one number a filter";

fn scales_filters(found: &Match) -> Option<bool> {
    let result = found.result()?.shape()?;
    let constant = found.is_constant("?w") && found.is_constant("?s");
    Some(constant && is_along(&found.shape("?s")?, result.len(), 1, result[1]))
}

/// The scale as `[F, 1, 1, 1]`, or `[1]` for one number.
fn by_filter(found: &Match) -> Option<Node> {
    let mut shape = vec![1; found.ty("?w")?.rank()];
    shape[0] = found.shape("?s")?.iter().product();
    Some(Node::attrs(shaping(&shape)))
}

/// The scale as `[1, C, 1, 1]`.
fn by_channel(found: &Match) -> Option<Node> {
    let mut shape = vec![1; found.ty("?w")?.rank()];
    shape[1] = found.shape("?s")?.iter().product();
    Some(Node::attrs(shaping(&shape)))
}

/// The padding of a convolution of padded data, all beginnings, then all ends.
fn merged_padding(found: &Match) -> Option<Vec<i64>> {
    let (conv, pad) = (found.attrs("?p")?, found.attrs("?q")?);
    let zeros = pad.str_or("mode", "constant") == "constant" && pad.float_or("value", 0.0) == 0.0;
    let (own, outer) = (conv.ints("padding").unwrap_or(&[0, 0, 0, 0]), pad.ints("padding")?);
    let spatial = outer.len() == 8 && [outer[0], outer[1], outer[4], outer[5]] == [0; 4];
    if !zeros || !spatial || own.len() != 4 || outer.iter().any(|&n| n < 0) {
        return None;
    }
    let is_default = matches!(conv.get("padding"), None | Some(Attr::Ints(_)));
    is_default.then(|| vec![own[0] + outer[2], own[1] + outer[3], own[2] + outer[6], own[3] + outer[7]])
}

/// True for a variable that is one number; kept here for rules on bias.
pub fn is_zero(found: &Match, var: &str) -> Option<bool> {
    is_number(found, var, 0.0)
}
