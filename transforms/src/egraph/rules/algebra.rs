//! Sums, products and elementwise functions.
//!
//! Floats are taken for real numbers up to rounding: a product with a reciprocal stands for a division, constants are added before they
//! are added to a value. What would turn a number into NaN or infinity, or the other way round, is left alone: `x * 0` stays, but where x is
//! known to be finite (`contents`).

use super::super::rule::{Rule, rule};
use super::conditions::{is_float, is_number, scalar_like};

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule("add-commutes", "x + y = y + x", "(add ?a ?x ?y)", "(add ?a ?y ?x)"),
        rule("mul-commutes", "x y = y x", "(mul ?a ?x ?y)", "(mul ?a ?y ?x)"),
        rule("add-zero", "x + 0 = x", "(add ?a ?x ?c)", "?x").when("c is 0", |m| is_number(m, "?c", 0.0)),
        rule("sub-zero", "x - 0 = x", "(sub ?a ?x ?c)", "?x").when("c is 0", |m| is_number(m, "?c", 0.0)),
        rule("mul-one", "x 1 = x", "(mul ?a ?x ?c)", "?x").when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule("div-one", "x / 1 = x", "(div ?a ?x ?c)", "?x").when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule("neg-neg", "-(-x) = x", "(neg ?a (neg ?b ?x))", "?x"),
        rule("add-neg", "x + (-y) = x - y", "(add ?a ?x (neg ?b ?y))", "(sub ?a ?x ?y)"),
        rule("sub-neg", "x - (-y) = x + y", "(sub ?a ?x (neg ?b ?y))", "(add ?a ?x ?y)"),
        rule("sub-constant", "x - c = x + (-c)", "(sub ?a ?x ?c)", "(add ?a ?x (neg ?a ?c))")
            .when("c is a constant, x is none", |m| Some(m.is_constant("?c") && !m.is_constant("?x"))),
        rule("div-constant", "x / c = x (1 / c)", "(div ?a ?x ?c)", "(mul ?a ?x (reciprocal ?a ?c))").when(
            "c is a constant of floats other than 0",
            |m| {
                let other = m.splat("?c").is_none_or(|c| c != 0.0 && (1.0 / c).is_finite());
                Some(m.is_constant("?c") && !m.is_constant("?x") && other && is_float(m, "?c")?)
            },
        ),
        rule(
            "add-constants",
            "(x + c) + d = x + (c + d)",
            "(add ?a (add ?b ?x ?c) ?d)",
            "(add ?a ?x (add ?a ?c ?d))",
        )
        .when("c and d are constants, x is none", |m| {
            Some(m.is_constant("?c") && m.is_constant("?d") && !m.is_constant("?x"))
        }),
        rule(
            "mul-constants",
            "(x c) d = x (c d)",
            "(mul ?a (mul ?b ?x ?c) ?d)",
            "(mul ?a ?x (mul ?a ?c ?d))",
        )
        .when("c and d are constants, x is none", |m| {
            Some(m.is_constant("?c") && m.is_constant("?d") && !m.is_constant("?x"))
        }),
        rule(
            "scale-of-shifted",
            "(x + c) d = x d + c d",
            "(mul ?a (add ?b ?x ?c) ?d)",
            "(add ?a (mul ?a ?x ?d) (mul ?a ?c ?d))",
        )
        .when("c and d are constants, x is none", |m| {
            Some(m.is_constant("?c") && m.is_constant("?d") && !m.is_constant("?x"))
        }),
        rule(
            "factor-out",
            "x y + x z = x (y + z)",
            "(add ?a (mul ?b ?x ?y) (mul ?c ?x ?z))",
            "(mul ?a ?x (add ?a ?y ?z))",
        )
        .when("floats", |m| is_float(m, "?x")),
        rule("square", "x^2 = x x", "(pow ?a ?x ?c)", "(mul ?a ?x ?x)")
            .when("c is 2", |m| is_number(m, "?c", 2.0)),
        rule("cube", "x^3 = x x x", "(pow ?a ?x ?c)", "(mul ?a (mul ?a ?x ?x) ?x)")
            .when("c is 3", |m| is_number(m, "?c", 3.0)),
        rule("root", "x^(1/2) = sqrt x", "(pow ?a ?x ?c)", "(sqrt ?a ?x)")
            .when("c is 1/2, floats", |m| Some(is_number(m, "?c", 0.5)? && is_float(m, "?x")?)),
        rule("inverse-root", "x^(-1/2) = rsqrt x", "(pow ?a ?x ?c)", "(rsqrt ?a ?x)")
            .when("c is -1/2, floats", |m| Some(is_number(m, "?c", -0.5)? && is_float(m, "?x")?)),
        rule("fourth-root", "x^(1/4) = sqrt (sqrt x)", "(pow ?a ?x ?c)", "(sqrt ?a (sqrt ?a ?x))")
            .when("c is 1/4, floats", |m| Some(is_number(m, "?c", 0.25)? && is_float(m, "?x")?)),
        rule(
            "three-quarters",
            "x^(3/4) = sqrt x sqrt (sqrt x)",
            "(pow ?a ?x ?c)",
            "(mul ?a (sqrt ?a ?x) (sqrt ?a (sqrt ?a ?x)))",
        )
        .when("c is 3/4, floats", |m| Some(is_number(m, "?c", 0.75)? && is_float(m, "?x")?)),
        rule("three-halves", "x^(3/2) = x sqrt x", "(pow ?a ?x ?c)", "(mul ?a ?x (sqrt ?a ?x))")
            .when("c is 3/2, floats", |m| Some(is_number(m, "?c", 1.5)? && is_float(m, "?x")?)),
        rule("inverse", "x^-1 = 1 / x", "(pow ?a ?x ?c)", "(reciprocal ?a ?x)")
            .when("c is -1, floats", |m| Some(is_number(m, "?c", -1.0)? && is_float(m, "?x")?)),
        rule("inverse-of-root", "1 / sqrt x = rsqrt x", "(reciprocal ?a (sqrt ?b ?x))", "(rsqrt ?a ?x)"),
        rule("one-over-root", "1 / sqrt x = rsqrt x", "(div ?a ?c (sqrt ?b ?x))", "(rsqrt ?a ?x)")
            .when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule("over-root", "x / sqrt y = x rsqrt y", "(div ?a ?x (sqrt ?b ?y))", "(mul ?a ?x (rsqrt ?a ?y))"),
        rule("times-reciprocal", "x (1 / y) = x / y", "(mul ?a ?x (reciprocal ?b ?y))", "(div ?a ?x ?y)")
            .when("x and y are no constants", |m| Some(!m.is_constant("?x") && !m.is_constant("?y"))),
        rule(
            "centre-of-product",
            "x i + (b - m i) = (x - m) i + b",
            "(add ?a (mul ?c ?x ?i) (sub ?s ?b (mul ?d ?m ?i)))",
            "(add ?a (mul ?c (sub ?s ?x ?m) ?i) ?b)",
        )
        .when("floats", |m| is_float(m, "?x")),
        rule("one-over", "1 / x = reciprocal x", "(div ?a ?c ?x)", "(reciprocal ?a ?x)")
            .when("c is 1, floats", |m| Some(is_number(m, "?c", 1.0)? && is_float(m, "?x")?)),
        rule("same-cast", "cast x to its own type = x", "(cast ?p ?x)", "?x"),
        rule("where-same", "c ? x : x = x", "(where ?a ?c ?x ?x)", "?x"),
        rule(
            "square-of-root",
            "(x c)^2 stays a product: x x c c",
            "(mul ?a (mul ?b ?x ?c) (mul ?b ?x ?c))",
            "(mul ?a (mul ?b ?x ?x) ?d)",
        )
        // Squares of integers wrap around, which those of the numbers here do not.
        .when("c is one number of floats", |m| Some(m.splat("?c").is_some() && is_float(m, "?c")?))
        .with("?d", |m| {
            let c = m.splat("?c")?;
            scalar_like(m, "?c", c * c)
        }),
    ]
}
