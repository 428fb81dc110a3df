//! Products of matrices.
//!
//! Transposes of operands become flags, scales become part of a weight (forward: of the results, backward: of the data), sums of
//! products with a shared factor become one product.

use super::super::analysis::Graph;
use super::super::language::{Head, Node};
use super::super::rule::{Match, Rule, rule};
use super::conditions::{SUMS, exchanges_last_two, flipped, is_along, shaping, summing_as};
use super::numerics::{has_error, is_moderate_factor, sums_in_own_type};
use egg::Id;
use fusion_operators::Attrs;
use fusion_operators::ops::elementwise::{CAST, DIV, MUL};
use fusion_operators::ops::shape::{RESHAPE, TRANSPOSE};

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "matmul-transposed-left",
            "x' y = (x y){transpose_a}",
            "(matmul ?m (transpose ?p ?x) ?y)",
            "(matmul ?n ?x ?y)",
        ).within(SUMS)
        .when("p exchanges the last two axes", |m| exchanges_last_two(m.attrs("?p")?, m.ty("?x")?.rank()))
        .with("?n", |m| Some(flipped(m.attrs("?m")?, "transpose_a"))),
        rule(
            "matmul-transposed-right",
            "x y' = (x y){transpose_b}",
            "(matmul ?m ?x (transpose ?p ?y))",
            "(matmul ?n ?x ?y)",
        ).within(SUMS)
        .when("p exchanges the last two axes", |m| exchanges_last_two(m.attrs("?p")?, m.ty("?y")?.rank()))
        .with("?n", |m| Some(flipped(m.attrs("?m")?, "transpose_b"))),
        rule(
            "batch-matmul",
            "batch_matmul is matmul of rank 3",
            "(batch_matmul ?m ?x ?y)",
            "(matmul ?m ?x ?y)",
        ).within(SUMS),
        rule("dense-as-matmul", "dense(x, w) = x w'", "(dense ?a ?x ?w)", "(matmul ?n ?x ?w)").within(SUMS)
            .when("x has rank 2 or more", |m| Some(m.ty("?x")?.rank() >= 2))
            .with("?n", |m| Some(Node::attrs(summing_as(m.attrs("?a")?, Attrs::new().with("transpose_b", true))))),
        rule("matmul-as-dense", "x w' = dense(x, w)", "(matmul ?m ?x ?w)", "(dense ?n ?x ?w)").within(SUMS)
            .when("w is a transposed matrix", |m| {
                let attrs = m.attrs("?m")?;
                Some(m.ty("?w")?.rank() == 2 && attrs.flag("transpose_b") && !attrs.flag("transpose_a"))
            })
            .with("?n", |m| Some(Node::attrs(summing_as(m.attrs("?m")?, Attrs::new())))),
        rule(
            "matmul-factor",
            "x y + x z = x (y + z)",
            "(add ?a (matmul ?m ?x ?y) (matmul ?m ?x ?z))",
            "(matmul ?m ?x (add ?a ?y ?z))",
        ).within("1 ulp of the sums of |x y| + |x z|")
        .when("sums of the operands' type, no f16 or bf16", |m| sums_in_own_type(m, "?x")),
        rule(
            "matmul-factor-left",
            "x z + y z = (x + y) z",
            "(add ?a (matmul ?m ?x ?z) (matmul ?m ?y ?z))",
            "(matmul ?m (add ?a ?x ?y) ?z)",
        ).within("1 ulp of the sums of |x z| + |y z|")
        .when("sums of the operands' type, no f16 or bf16", |m| sums_in_own_type(m, "?x")),
        rule(
            "matmul-of-scaled",
            "(c x) y = c (x y)",
            "(matmul ?m (mul ?a ?x ?c) ?y)",
            "(mul ?a (matmul ?m ?x ?y) ?c)",
        ).within("1 ulp of the sum of |c x y|")
        .when("c is one moderate number without axes, of f32, bf16 or f64", |m| {
            Some(is_moderate_factor(m, "?c")? && m.ty("?c")?.rank() == 0)
        }),
        rule(
            "matmul-by-scaled",
            "x (c y) = c (x y)",
            "(matmul ?m ?x (mul ?a ?y ?c))",
            "(mul ?a (matmul ?m ?x ?y) ?c)",
        ).within("1 ulp of the sum of |c x y|")
        .when("c is one moderate number without axes, of f32, bf16 or f64", |m| {
            Some(is_moderate_factor(m, "?c")? && m.ty("?c")?.rank() == 0)
        }),
        rule(
            "matmul-scale",
            "(x w) s = x (w s)",
            "(mul ?a (matmul ?m ?x ?w) ?s)",
            "(matmul ?m ?x (mul ?a ?w ?s))",
        ).within("1 ulp of the sum of |x w s|")
        .when("w and s are constants, s has one number a column or one in all; no f16 or bf16", |m| {
            Some(is_scale_of_columns(m)? && !m.attrs("?m")?.flag("transpose_b"))
        }),
        rule(
            "matmul-scale-transposed",
            "(x w') s = x (w s')'",
            "(mul ?a (matmul ?m ?x ?w) ?s)",
            "(matmul ?m ?x (mul ?a ?w (reshape ?r ?s)))",
        ).within("1 ulp of the sum of |x w s|")
        .when("w and s are constants, s has one number a column or one in all; no f16 or bf16", |m| {
            Some(is_scale_of_columns(m)? && m.attrs("?m")?.flag("transpose_b"))
        })
        .with("?r", |m| Some(Node::attrs(shaping(&[m.shape("?s")?.iter().product(), 1])))),
        rule(
            "dense-scale",
            "dense(x, w) s = dense(x, s' w)",
            "(mul ?a (dense ?m ?x ?w) ?s)",
            "(dense ?m ?x (mul ?a ?w (reshape ?r ?s)))",
        ).within("1 ulp of the sum of |x w s|")
        .when("w and s are constants, s has one number a column or one in all; no f16 or bf16", is_scale_of_columns)
        .with("?r", |m| Some(Node::attrs(shaping(&[m.shape("?s")?.iter().product(), 1])))),
        rule(
            "scaled-matmul",
            "(x s) w = x (s' w)",
            "(matmul ?m (mul ?a ?x ?s) ?w)",
            "(matmul ?m ?x (mul ?a ?w (reshape ?r ?s)))",
        ).within("1 ulp of the sum of |x s w|")
        .when("w and s are constants, s has one number for each of the numbers summed over; no f16 or bf16", |m| {
            let attrs = m.attrs("?m")?;
            let plain = !attrs.flag("transpose_a") && !attrs.flag("transpose_b");
            Some(plain && is_scale_of_rows(m, 0)?)
        })
        .with("?r", |m| Some(Node::attrs(shaping(&[m.shape("?s")?.iter().product(), 1])))),
        rule(
            "scaled-dense",
            "dense(x s, w) = dense(x, w s)",
            "(dense ?m (mul ?a ?x ?s) ?w)",
            "(dense ?m ?x (mul ?a ?w (reshape ?r ?s)))",
        ).within("1 ulp of the sum of |x s w|")
        .when("w and s are constants, s has one number for each of the numbers summed over; no f16 or bf16", |m| {
            is_scale_of_rows(m, 1)
        })
        .with("?r", |m| Some(Node::attrs(shaping(&[1, m.shape("?s")?.iter().product()])))),
        rule(
            "matmul-of-shifted",
            "(x + c) w = x w + c w",
            "(matmul ?m (add ?a ?x ?c) ?w)",
            "(add ?a (matmul ?m ?x ?w) (matmul ?m (broadcast_to ?r ?c) ?w))",
        ).within("2 ulp of the sum of |x w| + |c w|, which is what the error of x comes to")
        .when("w and c are constants, c has one number for each of the numbers summed over or one in all, x is an input, scaled or moved, with an error of its own; no f16 or bf16", |m| {
            if !has_error(m, "?x")? || !sums_in_own_type(m, "?x")? {
                return Some(false);
            }
            let plain = !m.attrs("?m")?.flag("transpose_a") && m.ty("?w")?.rank() == 2;
            let constant = m.is_constant("?w") && m.is_constant("?c") && is_of_input(m.graph, m.id("?x"), MOST_STEPS);
            let (data, shift) = (m.shape("?x")?, m.shape("?c")?);
            let last = *data.last()?;
            Some(plain && constant && shift.len() <= 2 && is_along(&shift, 2, 1, shift.iter().product::<u64>().min(last)))
        })
        .with("?r", |m| Some(Node::attrs(shaping(&[1, *m.shape("?x")?.last()?])))),
        rule(
            "matmul-of-batch",
            "x [B, M, K] times w [K, N] = reshape(x) [B M, K] times w",
            "(matmul ?m ?x ?w)",
            "(reshape ?o (matmul ?m (reshape ?r ?x) ?w))",
        ).within(SUMS)
        .when("w is a matrix, x has leading axes and is not transposed", |m| {
            Some(m.ty("?w")?.rank() == 2 && m.ty("?x")?.rank() > 2 && !m.attrs("?m")?.flag("transpose_a"))
        })
        .with("?r", |m| {
            let shape = m.shape("?x")?;
            let (width, lead) = shape.split_last()?;
            Some(Node::attrs(shaping(&[lead.iter().product(), *width])))
        })
        .with("?o", |m| Some(Node::attrs(shaping(&m.result()?.shape()?)))),
    ]
}

/// Calls between an input and what is shifted, at most.
const MOST_STEPS: usize = 3;

/// True for an input, and for what is made of one and of constants by scaling and moving. What another kernel computes has room for a shift at its
/// end, and layers that follow each other would have theirs moved through all of them.
fn is_of_input(graph: &Graph, id: Id, steps: usize) -> bool {
    let is_simple = |node: &&Node| {
        let simple = [&MUL, &DIV, &RESHAPE, &TRANSPOSE, &CAST];
        node.operator().is_some_and(|o| simple.iter().any(|s| o.is(s)))
    };
    let class = &graph[id];
    !class.data.is_constant
        && (class.nodes.iter().any(|n| matches!(n.head, Head::Leaf(_)))
            || steps > 0
                && class.nodes.iter().filter(is_simple).any(|n| {
                    let mut operands = n.children[1..].iter();
                    operands.all(|&o| graph[o].data.is_constant || is_of_input(graph, o, steps - 1))
                }))
}

pub(super) fn is_scale_of_columns(found: &Match) -> Option<bool> {
    let columns = found.result()?.shape()?;
    let (last, rank) = (*columns.last()?, columns.len());
    let constant = found.is_constant("?w") && found.is_constant("?s") && found.ty("?w")?.rank() == 2;
    let scale = found.shape("?s")?;
    let constant = constant && sums_in_own_type(found, "?s")?;
    Some(constant && (is_along(&scale, rank, rank - 1, last) && scale.len() <= 2 || scale.is_empty()))
}

fn is_scale_of_rows(found: &Match, axis: usize) -> Option<bool> {
    let (weight, data) = (found.shape("?w")?, found.shape("?x")?);
    let constant = found.is_constant("?w") && found.is_constant("?s") && weight.len() == 2;
    let constant = constant && sums_in_own_type(found, "?s")?;
    let rank = data.len();
    Some(
        constant
            && weight.get(axis)? == data.last()?
            && is_along(&found.shape("?s")?, rank, rank - 1, *data.last()?),
    )
}
