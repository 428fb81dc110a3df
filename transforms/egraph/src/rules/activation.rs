//! Activations in the forms that exporters write.
//!
//! There is no operator for GELU, SiLU or hard-swish: in a kernel a chain of elementwise operators costs what the operator would, and fuses like
//! it. What is to be had is a shorter chain. `tanh` of a GELU, of which only half of 1 + tanh is needed, is a sigmoid of one exponential:
//!
//!     x / 2 (1 + tanh u) = x sigmoid 2u                 sigmoid v = 1 / (1 + exp -v) = (1 + tanh(v / 2)) / 2
//!
//! wherever the half stands; a SiLU that was written as a quotient has one too; and bounds that are cut off or scaled are one `clip`, into
//! whose operand and bounds the sixth of a hard-swish goes. A cast of floats to integers saturates by itself. GELU by `erf` is as short as it can be in every order of its factors.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{is_float, is_number, scalar_like};
use super::numerics::is_moderate_factor;
use fusion_operators::dtype::Class;
use fusion_operators::{Attrs, DType};

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule("max-zero", "max(x, 0) = relu x", "(maximum ?a ?x ?c)", "(relu ?a ?x)")
            .exact()
            .when("c is 0", |m| is_number(m, "?c", 0.0)),
        rule("relu-relu", "relu relu x = relu x", "(relu ?a (relu ?b ?x))", "(relu ?a ?x)").exact(),
        rule("clip-at-zero", "clip(x, 0, none) = relu x", "(clip ?p ?x)", "(relu ?q ?x)")
            .exact()
            .when("min is 0, there is no max", |m| {
                let attrs = m.attrs("?p")?;
                Some(
                    attrs.get("max").is_none()
                        && attrs.get("min").is_some()
                        && attrs.float_or("min", 1.0) == 0.0,
                )
            })
            .with("?q", |_| Some(Node::attrs(Attrs::new()))),
        rule(
            "sigmoid",
            "1 / (1 + exp(-x)) = sigmoid x",
            "(reciprocal ?a (add ?b ?c (exp ?d (neg ?e ?x))))",
            "(sigmoid ?a ?x)",
        )
        .within("2 ulp")
        .when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule(
            "half-of-tanh",
            "sigmoid x = (tanh(x / 2) + 1) / 2, read backwards",
            "(mul ?a (add ?b (tanh ?d (mul ?e ?x ?h)) ?c) ?g)",
            "(sigmoid ?d ?x)",
        )
        .within("2 ulp; where the sum cancels, its error is gone")
        .when("c is 1, h and g are 1/2", |m| {
            Some(is_number(m, "?c", 1.0)? && is_number(m, "?h", 0.5)? && is_number(m, "?g", 0.5)?)
        }),
        rule(
            "one-over-exp",
            "x / (1 + exp(-y)) = x sigmoid y",
            "(div ?a ?x (add ?b (exp ?d (neg ?e ?y)) ?c))",
            "(mul ?a ?x (sigmoid ?d ?y))",
        )
        .within("2.5 ulp")
        .when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule(
            "half-with-tanh",
            "(x / 2) (tanh u + 1) = x sigmoid(2 u)",
            "(mul ?a (mul ?m ?x ?h) (add ?b (tanh ?d ?u) ?c))",
            "(mul ?a ?x (sigmoid ?d (mul ?m ?u ?two)))",
        )
        .within("2 ulp; where the sum cancels, its error is gone")
        .when("c is 1, h is 1/2", |m| Some(is_number(m, "?c", 1.0)? && is_number(m, "?h", 0.5)?))
        .with("?two", |m| scalar_like(m, "?c", 2.0)),
        rule(
            "half-of-product-with-tanh",
            "(x (tanh u + 1)) / 2 = x sigmoid(2 u)",
            "(mul ?a (mul ?m ?x (add ?b (tanh ?d ?u) ?c)) ?h)",
            "(mul ?a ?x (sigmoid ?d (mul ?m ?u ?two)))",
        )
        .within("2 ulp; where the sum cancels, its error is gone")
        .when("c is 1, h is 1/2", |m| Some(is_number(m, "?c", 1.0)? && is_number(m, "?h", 0.5)?))
        .with("?two", |m| scalar_like(m, "?c", 2.0)),
        rule(
            "half-of-sum-with-tanh",
            "(tanh u + 1) / 2 = sigmoid(2 u)",
            "(mul ?a (add ?b (tanh ?d ?u) ?c) ?h)",
            "(sigmoid ?d (mul ?a ?u ?two))",
        )
        .within("2 ulp; where the sum cancels, its error is gone")
        .when("c is 1, h is 1/2", |m| Some(is_number(m, "?c", 1.0)? && is_number(m, "?h", 0.5)?))
        .with("?two", |m| scalar_like(m, "?c", 2.0)),
        rule(
            "least-of-greatest",
            "min(max(x, a), b) = clip(x, a, b)",
            "(minimum ?p (maximum ?q ?x ?a) ?b)",
            "(clip ?r ?x)",
        )
        .exact()
        .when("a <= b, numbers", |m| Some(m.splat("?a")? <= m.splat("?b")?))
        .with("?r", |m| bounds(Some(m.splat("?a")?), Some(m.splat("?b")?))),
        rule(
            "greatest-of-least",
            "max(min(x, b), a) = clip(x, a, b)",
            "(maximum ?p (minimum ?q ?x ?b) ?a)",
            "(clip ?r ?x)",
        )
        .exact()
        .when("a <= b, numbers", |m| Some(m.splat("?a")? <= m.splat("?b")?))
        .with("?r", |m| bounds(Some(m.splat("?a")?), Some(m.splat("?b")?))),
        rule(
            "least-of-relu",
            "min(relu x, b) = clip(x, 0, b)",
            "(minimum ?p (relu ?q ?x) ?b)",
            "(clip ?r ?x)",
        )
        .exact()
        .when("b is a number of 0 or more", |m| Some(m.splat("?b")? >= 0.0))
        .with("?r", |m| bounds(Some(0.0), Some(m.splat("?b")?))),
        rule("clip-of-relu", "clip(relu x, a, b) = clip(x, 0, b)", "(clip ?p (relu ?q ?x))", "(clip ?r ?x)")
            .exact()
            .when("a <= 0 <= b", |m| {
                let (low, high) = bounds_of(m, "?p")?;
                Some(low.is_none_or(|a| a <= 0.0) && high.is_some_and(|b| b >= 0.0))
            })
            .with("?r", |m| bounds(Some(0.0), bounds_of(m, "?p")?.1)),
        rule(
            "cast-saturates",
            "clip(x, a, b) as integers = x as integers",
            "(cast ?c (clip ?p ?x))",
            "(cast ?c ?x)",
        )
        .exact()
        .when("x is of floats, no integer of the result is below a or above b", |m| {
            let (low, high) = bounds_of(m, "?p")?;
            let (least, most) = range(m.attrs("?c")?.dtype("dtype")?)?;
            let is_wide = low.is_none_or(|a| a <= least) && high.is_none_or(|b| b >= most);
            Some(is_wide && is_float(m, "?x")?)
        }),
        rule(
            "scaled-clip",
            "clip(x, a, b) c = clip(x c, a c, b c)",
            "(mul ?m (clip ?p ?x) ?c)",
            "(clip ?r (mul ?m ?x ?c))",
        )
        .within("1 ulp, at the bounds")
        .when("c is a number above 0, floats", |m| {
            Some(m.splat("?c")? > 0.0 && m.splat("?c")?.is_finite() && is_float(m, "?x")?)
        })
        .with("?r", |m| {
            let ((low, high), c) = (bounds_of(m, "?p")?, m.splat("?c")?);
            bounds(low.map(|a| a * c), high.map(|b| b * c))
        }),
        rule(
            "scaled-product-with-clip",
            "(x clip(y, a, b)) c = x (clip(y, a, b) c)",
            "(mul ?m (mul ?n ?x (clip ?p ?y)) ?c)",
            "(mul ?m ?x (mul ?n (clip ?p ?y) ?c))",
        )
        .within("1.5 ulp")
        .when("c is one moderate number of f32, bf16 or f64", |m| is_moderate_factor(m, "?c")),
    ]
}

/// The least and the greatest integer of a type.
fn range(dtype: DType) -> Option<(f64, f64)> {
    let power = |bits: usize| 2f64.powi(bits as i32);
    match dtype.class() {
        Class::Signed => Some((-power(8 * dtype.size() - 1), power(8 * dtype.size() - 1) - 1.0)),
        Class::Unsigned => Some((0.0, power(8 * dtype.size()) - 1.0)),
        _ => None,
    }
}

/// Attributes of a clip.
fn bounds(low: Option<f64>, high: Option<f64>) -> Option<Node> {
    let mut attrs = Attrs::new();
    low.into_iter().for_each(|a| attrs.set("min", fusion_operators::Attr::Float(a)));
    high.into_iter().for_each(|b| attrs.set("max", fusion_operators::Attr::Float(b)));
    Some(Node::attrs(attrs))
}

/// The bounds of a clip, where it has them.
fn bounds_of(found: &Match, attrs: &str) -> Option<(Option<f64>, Option<f64>)> {
    let attrs = found.attrs(attrs)?;
    let bound = |name: &str| attrs.get(name).map(|_| attrs.float_or(name, 0.0));
    Some((bound("min"), bound("max")))
}
