//! Sums, products and elementwise functions.
//!
//! Each rule says how far its sides are apart (`Rounding`): constants are added before they are added to a value, which rounds once less; a division
//! by a constant stays one, unless the reciprocal is exact. Where a form would overflow, or lose digits, and the source would not, it does not apply
//! (`numerics`). What would turn a number into NaN or infinity is left alone: `x * 0` stays, but where x is known to be finite (`contents`).

use super::super::rule::{Match, Rule, rule};
use super::conditions::{is_float, is_number};
use super::numerics::{self, WIDE, has_error, is_power_of_two, is_wide, keep_digits};
use fusion_operators::DType;

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule("add-commutes", "x + y = y + x", "(add ?a ?x ?y)", "(add ?a ?y ?x)").exact(),
        rule("mul-commutes", "x y = y x", "(mul ?a ?x ?y)", "(mul ?a ?y ?x)").exact(),
        rule("add-zero", "x + 0 = x", "(add ?a ?x ?c)", "?x")
            .within("exact but for the sign of 0")
            .when("c is 0", |m| is_number(m, "?c", 0.0)),
        rule("sub-zero", "x - 0 = x", "(sub ?a ?x ?c)", "?x")
            .exact()
            .when("c is 0", |m| is_number(m, "?c", 0.0)),
        rule("mul-one", "x 1 = x", "(mul ?a ?x ?c)", "?x")
            .exact()
            .when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule("div-one", "x / 1 = x", "(div ?a ?x ?c)", "?x")
            .exact()
            .when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule("neg-neg", "-(-x) = x", "(neg ?a (neg ?b ?x))", "?x").exact(),
        rule("add-neg", "x + (-y) = x - y", "(add ?a ?x (neg ?b ?y))", "(sub ?a ?x ?y)").exact(),
        rule("sub-neg", "x - (-y) = x + y", "(sub ?a ?x (neg ?b ?y))", "(add ?a ?x ?y)").exact(),
        rule("sub-constant", "x - c = x + (-c)", "(sub ?a ?x ?c)", "(add ?a ?x (neg ?a ?c))")
            .exact()
            .when("c is a constant, x is none", |m| Some(m.is_constant("?c") && !m.is_constant("?x"))),
        rule("div-constant", "x / c = x (1 / c)", "(div ?a ?x ?c)", "(mul ?a ?x (reciprocal ?a ?c))")
            .exact()
            .when("c is a power of two, x is no constant", |m| {
                Some(is_power_of_two(m, "?c")? && !m.is_constant("?x"))
            }),
        rule(
            "add-constants",
            "(x + c) + d = x + (c + d)",
            "(add ?a (add ?b ?x ?c) ?d)",
            "(add ?a ?x (add ?a ?c ?d))",
        )
        .within("1 ulp of |x| + |c + d|, which is what the error of x comes to")
        .when("c and d are constants, x is none and has an error of its own", |m| {
            Some(m.is_constant("?c") && m.is_constant("?d") && !m.is_constant("?x") && has_error(m, "?x")?)
        })
        .when("numbers c and d do not cancel", |m| Some(keep_digits(m, ["?c", "?d"]))),
        rule(
            "mul-constants",
            "(x c) d = x (c d)",
            "(mul ?a (mul ?b ?x ?c) ?d)",
            "(mul ?a ?x (mul ?a ?c ?d))",
        )
        .within("1.5 ulp; the constant is rounded once")
        .when("c and d are constants, x is none", |m| {
            Some(m.is_constant("?c") && m.is_constant("?d") && !m.is_constant("?x"))
        }),
        rule(
            "scale-of-shifted",
            "(x + c) d = x d + c d",
            "(mul ?a (add ?b ?x ?c) ?d)",
            "(add ?a (mul ?a ?x ?d) (mul ?a ?c ?d))",
        )
        .within("2 ulp of |x d| + |c d|, which is what the error of x comes to")
        .when("c and d are constants, x is none and has an error of its own", |m| {
            Some(m.is_constant("?c") && m.is_constant("?d") && !m.is_constant("?x") && has_error(m, "?x")?)
        })
        .when("no f16, where x d and c d may overflow alone", |m| Some(m.ty("?x")?.dtype != DType::F16)),
        rule(
            "factor-out",
            "x y + x z = x (y + z)",
            "(add ?a (mul ?b ?x ?y) (mul ?c ?x ?z))",
            "(mul ?a ?x (add ?a ?y ?z))",
        )
        .within("2 ulp of |x y| + |x z|")
        .when(WIDE, |m| is_wide(m, "?x")),
        rule("square", "x^2 = x x", "(pow ?a ?x ?c)", "(mul ?a ?x ?x)")
            .exact()
            .when("c is 2", |m| is_number(m, "?c", 2.0)),
        rule("cube", "x^3 = x x x", "(pow ?a ?x ?c)", "(mul ?a (mul ?a ?x ?x) ?x)")
            .within("1.5 ulp")
            .when("c is 3", |m| is_number(m, "?c", 3.0)),
        rule("root", "x^(1/2) = sqrt x", "(pow ?a ?x ?c)", "(sqrt ?a ?x)")
            .within("1 ulp")
            .when("c is 1/2, x is known to be 0 or more", |m| {
                Some(is_number(m, "?c", 0.5)? && is_nonnegative(m)?)
            }),
        rule("inverse-root", "x^(-1/2) = rsqrt x", "(pow ?a ?x ?c)", "(rsqrt ?a ?x)")
            .within("2 ulp")
            .when("c is -1/2, x is known to be above 0", |m| {
                Some(is_number(m, "?c", -0.5)? && is_float(m, "?x")? && m.contents("?x").sign.is_positive)
            }),
        rule("fourth-root", "x^(1/4) = sqrt (sqrt x)", "(pow ?a ?x ?c)", "(sqrt ?a (sqrt ?a ?x))")
            .within("1 ulp")
            .when("c is 1/4, x is known to be 0 or more", |m| {
                Some(is_number(m, "?c", 0.25)? && is_nonnegative(m)?)
            }),
        rule(
            "three-quarters",
            "x^(3/4) = sqrt x sqrt (sqrt x)",
            "(pow ?a ?x ?c)",
            "(mul ?a (sqrt ?a ?x) (sqrt ?a (sqrt ?a ?x)))",
        )
        .within("2 ulp")
        .when("c is 3/4, x is known to be 0 or more", |m| {
            Some(is_number(m, "?c", 0.75)? && is_nonnegative(m)?)
        }),
        rule("three-halves", "x^(3/2) = x sqrt x", "(pow ?a ?x ?c)", "(mul ?a ?x (sqrt ?a ?x))")
            .within("1.5 ulp")
            .when("c is 3/2, x is known to be 0 or more", |m| {
                Some(is_number(m, "?c", 1.5)? && is_nonnegative(m)?)
            }),
        rule("inverse", "x^-1 = 1 / x", "(pow ?a ?x ?c)", "(reciprocal ?a ?x)")
            .within("1 ulp")
            .when("c is -1, floats", |m| Some(is_number(m, "?c", -1.0)? && is_float(m, "?x")?)),
        rule("inverse-of-root", "1 / sqrt x = rsqrt x", "(reciprocal ?a (sqrt ?b ?x))", "(rsqrt ?a ?x)")
            .within("2 ulp"),
        rule("one-over-root", "1 / sqrt x = rsqrt x", "(div ?a ?c (sqrt ?b ?x))", "(rsqrt ?a ?x)")
            .within("2 ulp")
            .when("c is 1", |m| is_number(m, "?c", 1.0)),
        rule("over-root", "x / sqrt y = x rsqrt y", "(div ?a ?x (sqrt ?b ?y))", "(mul ?a ?x (rsqrt ?a ?y))")
            .within("2.5 ulp"),
        rule("times-reciprocal", "x (1 / y) = x / y", "(mul ?a ?x (reciprocal ?b ?y))", "(div ?a ?x ?y)")
            .within("1.5 ulp")
            .when("x and y are no constants", |m| Some(!m.is_constant("?x") && !m.is_constant("?y"))),
        rule(
            "centre-of-product",
            "x i + (b - m i) = (x - m) i + b",
            "(add ?a (mul ?c ?x ?i) (sub ?s ?b (mul ?d ?m ?i)))",
            "(add ?a (mul ?c (sub ?s ?x ?m) ?i) ?b)",
        )
        .within("2 ulp of |x i| + |m i| + |b|")
        .when(WIDE, |m| is_wide(m, "?x"))
        .when("x is no constant and not m, of which b alone has more digits", |m| {
            let is_same = m.graph.find(m.id("?x")) == m.graph.find(m.id("?m"));
            Some(!m.is_constant("?x") && !is_same)
        }),
        rule("one-over", "1 / x = reciprocal x", "(div ?a ?c ?x)", "(reciprocal ?a ?x)")
            .exact()
            .when("c is 1, floats", |m| Some(is_number(m, "?c", 1.0)? && is_float(m, "?x")?)),
        rule("same-cast", "cast x to its own type = x", "(cast ?p ?x)", "?x").exact(),
        rule("where-same", "c ? x : x = x", "(where ?a ?c ?x ?x)", "?x").exact(),
        rule(
            "square-of-root",
            "(x c)^2 stays a product: x x c c",
            "(mul ?a (mul ?b ?x ?c) (mul ?b ?x ?c))",
            "(mul ?a (mul ?b ?x ?x) (mul ?b ?c ?c))",
        )
        .within("3 ulp; the constant is rounded once")
        .when("c is one number, whose square is moderate", |m| {
            let c = m.splat("?c")?;
            Some(numerics::is_moderate(c * c) && is_wide(m, "?c")?)
        }),
    ]
}

/// Of what is below 0 a root is NaN, and a power of minus infinity is not.
fn is_nonnegative(found: &Match) -> Option<bool> {
    Some(found.contents("?x").sign.is_nonnegative && is_float(found, "?x")?)
}
