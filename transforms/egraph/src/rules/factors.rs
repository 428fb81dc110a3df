//! Constant factors of products and sums: where one number is multiplied, and with which others it becomes one.
//!
//!     (x c) y = (x y) c = x (y c)                     a product with another constant then takes c in
//!     (p c + (q ? a : b)) d = p (c d) + (q ? a d : b d)       one multiplication less
//!
//! What takes a number in is a constant, a choice of constants, a product or a quotient with a factor that does, or a sum of what does.
//!
//! A number may stand at any factor of a product, so that products which share a factor can share it with the number. Into a sum it goes only
//! where each summand has a constant that takes it in, which costs nothing; elsewhere the sum is multiplied once. Numbers that move past a value
//! make other values between, so they are moderate ones (`numerics`).

use super::super::rule::{Match, Rule, rule};
use super::conditions::is_float;
use super::numerics::is_moderate_factor;
use egg::Id;
use fusion_operators::ops::elementwise::{ADD, DIV, MUL, SUB, WHERE};
use std::collections::HashSet;

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "factor-outwards",
            "(x c) y = (x y) c",
            "(mul ?a (mul ?b ?x ?c) ?y)",
            "(mul ?b (mul ?a ?x ?y) ?c)",
        )
        .within("1.5 ulp")
        .when(FACTORS, |m| Some(is_moderate_factor(m, "?c")? && are_values(m))),
        rule(
            "factor-inwards",
            "(x y) c = (x c) y",
            "(mul ?a (mul ?b ?x ?y) ?c)",
            "(mul ?b (mul ?a ?x ?c) ?y)",
        )
        .within("1.5 ulp")
        .when(FACTORS, |m| Some(is_moderate_factor(m, "?c")? && are_values(m))),
        rule(
            "factor-of-choice",
            "(q ? a : b) c = q ? a c : b c",
            "(mul ?m (where ?w ?q ?a ?b) ?c)",
            "(where ?w ?q (mul ?m ?a ?c) (mul ?m ?b ?c))",
        )
        .exact()
        .when("a, b and c are one number of floats each", |m| {
            Some(is_one_float(m, "?a")? && is_one_float(m, "?b")? && is_one_float(m, "?c")?)
        }),
        rule(
            "factor-of-quotient",
            "(x / y) c = (x c) / y",
            "(mul ?m (div ?d ?x ?y) ?c)",
            "(div ?d (mul ?m ?x ?c) ?y)",
        )
        .within("1.5 ulp")
        .when("c is one moderate number of f32, bf16 or f64; x takes it in, y is no constant", |m| {
            Some(
                !m.is_constant("?y")
                    && is_moderate_factor(m, "?c")?
                    && takes_in(m, m.id("?x"), &mut HashSet::new()),
            )
        }),
        rule(
            "factor-of-sum",
            "(x + y) c = x c + y c",
            "(mul ?m (add ?s ?x ?y) ?c)",
            "(add ?s (mul ?m ?x ?c) (mul ?m ?y ?c))",
        )
        .within("2 ulp of |x c| + |y c|, which is what the errors of x and y come to")
        .when(TAKEN_IN, |m| Some(is_moderate_factor(m, "?c")? && both_take_it_in(m))),
        rule(
            "factor-of-difference",
            "(x - y) c = x c - y c",
            "(mul ?m (sub ?s ?x ?y) ?c)",
            "(sub ?s (mul ?m ?x ?c) (mul ?m ?y ?c))",
        )
        .within("2 ulp of |x c| + |y c|, which is what the errors of x and y come to")
        .when(TAKEN_IN, |m| Some(is_moderate_factor(m, "?c")? && both_take_it_in(m))),
    ]
}

const FACTORS: &str = "c is one moderate number of f32, bf16 or f64; x and y are no constants";
const TAKEN_IN: &str = "c is one moderate number of f32, bf16 or f64; x and y take it in";

fn is_one_float(found: &Match, var: &str) -> Option<bool> {
    Some(found.splat(var).is_some() && is_float(found, var)?)
}

fn are_values(found: &Match) -> bool {
    !found.is_constant("?x") && !found.is_constant("?y")
}

/// True when neither summand is multiplied once more for what it is multiplied by.
fn both_take_it_in(found: &Match) -> bool {
    ["?x", "?y"].iter().all(|var| takes_in(found, found.id(var), &mut HashSet::new()))
}

/// True when some form of a value has constants that another one can be multiplied to beforehand. What was looked at, or is about to be, says no.
fn takes_in(found: &Match, value: Id, seen: &mut HashSet<Id>) -> bool {
    let value = found.graph.find(value);
    if found.graph[value].data.is_constant {
        return true;
    }
    if seen.len() >= MOST_LOOKED_AT || !seen.insert(value) {
        return false;
    }
    found.graph[value].nodes.iter().any(|node| {
        let mut takes = |child: &Id| takes_in(found, *child, seen);
        match node.children.get(1..) {
            Some([x, y]) if node.calls(&ADD) || node.calls(&SUB) => takes(x) && takes(y),
            Some([x, y]) if node.calls(&MUL) => takes(x) || takes(y),
            Some([x, _]) if node.calls(&DIV) => takes(x),
            Some([_, a, b]) if node.calls(&WHERE) => {
                [a, b].iter().all(|id| found.graph[**id].data.is_constant)
            }
            _ => false,
        }
    })
}

/// Values that are looked at to find whether one takes a constant in.
const MOST_LOOKED_AT: usize = 32;
