//! Convolutions and what is folded into them.
//!
//!     s (x * w) = x * (s w)        axis-scale folding, forward: s has one number a filter
//!     (s x) * w = x * (w s)        backward: s has one number a channel
//!
//! Batch normalization with known statistics is a scale and a shift (Ioffe and Szegedy, 2015, section 3.1); the scale goes into the weight
//! before it, the shift is an epilogue. A shift of the data goes the same way where no padding has it, and bias and activation of a
//! convolution go past the pool that follows:
//!
//!     (x + c) * w = x * w + c * w             max_pool(relu(x + b)) = relu(max_pool x + b)

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{SUMS, is_along, is_number, shaping, summing_as};
use super::numerics::{has_error, sums_in_own_type};
use fusion_operators::{Attr, Attrs, TensorType};

/// The rules.
pub fn rules() -> Vec<Rule> {
    let mut rules = vec![
        before_pool("max-pool-of-relu", "max_pool relu x = relu max_pool x", "(max_pool2d ?p (relu ?a ?x))", "(relu ?a (max_pool2d ?p ?x))"),
        before_pool("max-pool-of-clip", "max_pool clip x = clip max_pool x", "(max_pool2d ?p (clip ?a ?x))", "(clip ?a (max_pool2d ?p ?x))"),
        before_pool("max-pool-of-bias", "max_pool(x + b) = max_pool x + b", "(max_pool2d ?p (add ?a ?x ?b))", "(add ?a (max_pool2d ?p ?x) ?b)")
            .when("b has no extents along the pixels, x is no constant", |m| {
                let bias = m.shape("?b")?;
                Some(!m.is_constant("?x") && bias.iter().rev().take(2).all(|&n| n == 1))
            }),
        rule(
            "batch-norm",
            "gamma (x - mean) / sqrt(var + eps) + beta = x s + (beta - mean s), s = gamma rsqrt(var + eps)",
            "(batch_norm ?p ?x ?g ?b ?m ?v)",
            "(add ?n (mul ?n ?x (reshape ?r (mul ?n ?g (rsqrt ?n (add ?n ?v ?e))))) (reshape ?r (sub ?n ?b (mul ?n ?m (mul ?n ?g (rsqrt ?n (add ?n ?v ?e)))))))",
        ).within("2 ulp of |x s| + |mean s| + |beta|")
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
        rule("pad-conv2d", "pad(x) * w = x * w with padding", "(conv2d ?p (pad ?q ?x) ?w)", "(conv2d ?r ?x ?w)").within(SUMS)
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
        ).within(SUMS)
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
        .with("?n", |m| Some(Node::attrs(summing_as(m.attrs("?p")?, Attrs::new()))))
        .with("?r", |m| Some(Node::attrs(shaping(&m.shape("?w")?[..2]))))
        .with("?s", |m| {
            let shape = m.shape("?x")?;
            Some(Node::attrs(shaping(&[shape[0], shape[1], shape[2] * shape[3]])))
        })
        .with("?o", |m| Some(Node::attrs(shaping(&m.result()?.shape()?)))),
    ];
    rules.push(
        rule(
            "shifted-conv2d",
            "(x + c) * w = x * w + c * w",
            "(conv2d ?p (add ?a ?x ?c) ?w)",
            "(add ?a (conv2d ?p ?x ?w) (conv2d ?q (broadcast_to ?r ?c) ?w))",
        ).within("2 ulp of the sum of |x w| + |c w|, which is what the error of x comes to")
        .when("no padding, w and c are constants, c has one number a channel or one in all, x is none and has an error of its own; no f16 or bf16", |m| {
            let constant = m.is_constant("?w") && m.is_constant("?c") && !m.is_constant("?x");
            let constant = constant && has_error(m, "?x")? && sums_in_own_type(m, "?x")?;
            let (data, shift) = (m.shape("?x")?, m.shape("?c")?);
            let ones = |at: usize| shift.len().checked_sub(4 - at).is_none_or(|at| shift[at] == 1);
            let is_unpadded = m.attrs("?p")?.ints("padding").is_none_or(|v| v.iter().all(|&n| n == 0));
            Some(
                constant
                    && is_unpadded
                    && data.len() == 4
                    && shift.len() <= 4
                    && [0, 2, 3].into_iter().all(ones),
            )
        })
        .with("?q", |m| {
            let given = m.attrs("?p")?;
            let mut attrs = Attrs::new();
            for name in ["dilation", "groups"] {
                given.get(name).into_iter().for_each(|value| attrs.set(name, value.clone()));
            }
            Some(Node::attrs(attrs))
        })
        // An image as large as the kernel has one window.
        .with("?r", |m| {
            let (data, weight) = (m.shape("?x")?, m.shape("?w")?);
            let dilation = m.attrs("?p")?.ints("dilation").unwrap_or(&[1, 1]).to_vec();
            let extent =
                |axis: usize| Some((weight[2 + axis] - 1) * u64::try_from(*dilation.get(axis)?).ok()? + 1);
            Some(Node::attrs(shaping(&[1, data[1], extent(0)?, extent(1)?])))
        }),
    );
    rules.extend([
        rule(
            "conv1d-scale",
            SCALE,
            "(mul ?a (conv1d ?p ?x ?w) ?s)",
            "(conv1d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .within("1 ulp of the sum of |x w s|")
        .when(SCALE_FITS, scales_filters)
        .with("?r", by_filter),
        rule(
            "conv2d-scale",
            SCALE,
            "(mul ?a (conv2d ?p ?x ?w) ?s)",
            "(conv2d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .within("1 ulp of the sum of |x w s|")
        .when(SCALE_FITS, scales_filters)
        .with("?r", by_filter),
        rule(
            "conv3d-scale",
            SCALE,
            "(mul ?a (conv3d ?p ?x ?w) ?s)",
            "(conv3d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .within("1 ulp of the sum of |x w s|")
        .when(SCALE_FITS, scales_filters)
        .with("?r", by_filter),
        rule(
            "conv2d-transpose-scale",
            "s (x *' w) = x *' (s w)",
            "(mul ?a (conv2d_transpose ?p ?x ?w) ?s)",
            "(conv2d_transpose ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .within("1 ulp of the sum of |x w s|")
        .when("w and s are constants, one group, s has one number a filter; no f16 or bf16", |m| {
            Some(m.attrs("?p")?.int_or("groups", 1) == 1 && scales_filters(m)?)
        })
        .with("?r", by_channel),
        rule(
            "scaled-conv2d",
            "(s x) * w = x * (w s)",
            "(conv2d ?p (mul ?a ?x ?s) ?w)",
            "(conv2d ?p ?x (mul ?a ?w (reshape ?r ?s)))",
        )
        .within("1 ulp of the sum of |x s w|")
        .when("w and s are constants, one group, s has one number a channel; no f16 or bf16", |m| {
            let shape = m.shape("?x")?;
            let constant = m.is_constant("?w") && m.is_constant("?s") && sums_in_own_type(m, "?s")?;
            Some(
                constant
                    && m.attrs("?p")?.int_or("groups", 1) == 1
                    && is_along(&m.shape("?s")?, 4, 1, *shape.get(1)?),
            )
        })
        .with("?r", by_channel),
    ]);
    rules
}

/// What grows with each element may be taken of the greatest alone: of fewer, and where a kernel of windows ends.
fn before_pool(name: &'static str, equation: &'static str, left: &'static str, right: &'static str) -> Rule {
    rule(name, equation, left, right).exact().when("each window has an element of the image", |m| {
        let attrs = m.attrs("?p")?;
        let (kernel, padding) = (attrs.ints("kernel")?, attrs.ints("padding").unwrap_or(&[0; 4]));
        let inside = |(axis, &extent): (usize, &i64)| padding[axis] < extent && padding[axis + 2] < extent;
        let fits = kernel.len() == 2 && padding.len() == 4 && !attrs.flag("ceil_mode");
        Some(fits && kernel.iter().enumerate().all(inside))
    })
}

const SCALE: &str = "s (x * w) = x * (s w)";
pub(super) const SCALE_FITS: &str = "w and s are constants, s has one number a filter; no f16 or bf16";

pub(super) fn scales_filters(found: &Match) -> Option<bool> {
    let result = found.result()?.shape()?;
    let constant = found.is_constant("?w") && found.is_constant("?s") && sums_in_own_type(found, "?s")?;
    Some(constant && is_along(&found.shape("?s")?, result.len(), 1, result[1]))
}

/// The scale as `[F, 1, 1, 1]`, or `[1]` for one number.
pub(super) fn by_filter(found: &Match) -> Option<Node> {
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
