//! Zeros, ones, and matrices that pick rows, where the elements of an operand are known ([`contents`](super::super::contents)).
//!
//!     x 0 = 0, m ? x : y = x           where x is finite; where all of m is true
//!     x I = x, P x = rows of x         I an identity matrix, P one whose rows are 1 in one column
//!
//! A product with 0 is 0 only of what is finite: of NaN and infinities it is NaN, and floats from outside may be these. A product with
//! an identity matrix gives each element as it is, NaN and infinities as well; what it would make of their neighbours, to whom they are
//! added times 0, is left out (as Winograd's form adds them to more).

use super::super::contents::Picks;
use super::super::language::{Constant, Node};
use super::super::rule::{Match, Rule, rule};
use super::conditions::is_number;
use fusion_operators::{Attrs, DType, Tensor};

/// The rules of sums and products of elements.
pub fn rules() -> Vec<Rule> {
    vec![
        rule("mul-zeros", "x 0 = 0", "(mul ?a ?x ?z)", "?y")
            .within("exact but for the sign of 0")
            .when(ZEROS, |m| zeros_and_finite(m, "?x"))
            .with("?y", zeros),
        rule("where-true", "true ? x : y = x", "(where ?a ?m ?x ?y)", "?x")
            .exact()
            .when("all of the condition is true", |m| is_number(m, "?m", 1.0)),
        rule("where-false", "false ? x : y = y", "(where ?a ?m ?x ?y)", "?y")
            .exact()
            .when("all of the condition is false", |m| is_number(m, "?m", 0.0)),
    ]
}

/// The rules of products of matrices.
pub fn of_products() -> Vec<Rule> {
    vec![
        rule("matmul-by-zeros", "x 0 = 0", "(matmul ?m ?x ?z)", "?y")
            .within("exact but for the sign of 0")
            .when(ZEROS, |m| zeros_and_finite(m, "?x"))
            .with("?y", zeros),
        rule("matmul-of-zeros", "0 x = 0", "(matmul ?m ?z ?x)", "?y")
            .within("exact but for the sign of 0")
            .when(ZEROS, |m| zeros_and_finite(m, "?x"))
            .with("?y", zeros),
        rule("matmul-by-identity", "x I = x", "(matmul ?m ?x ?i)", "?x")
            .exact()
            .when("i is an identity matrix, x is not transposed", |m| {
                Some(!m.attrs("?m")?.flag("transpose_a") && is_identity(m, "?i")?)
            }),
        rule("matmul-of-identity", "I x = x", "(matmul ?m ?i ?x)", "?x")
            .exact()
            .when("i is an identity matrix, x is not transposed", |m| {
                Some(!m.attrs("?m")?.flag("transpose_b") && is_identity(m, "?i")?)
            }),
        rule("matmul-of-picks", "P x = rows of x", "(matmul ?m ?p ?x)", "(gather ?g ?x ?i)")
            .exact()
            .when("each row of the matrix p is 1 in one column and 0 in others, x is not transposed", |m| {
                Some(!m.attrs("?m")?.flag("transpose_b") && picks(m, "?p", "transpose_a", false).is_some())
            })
            .with("?g", |m| along(m.ty("?x")?.rank().checked_sub(2)?))
            .with("?i", |m| indices(picks(m, "?p", "transpose_a", false)?)),
        rule("matmul-by-picks", "x P' = columns of x", "(matmul ?m ?x ?p)", "(gather ?g ?x ?i)")
            .exact()
            .when("each column of the matrix p is 1 in one row and 0 in others, x is not transposed", |m| {
                Some(!m.attrs("?m")?.flag("transpose_a") && picks(m, "?p", "transpose_b", true).is_some())
            })
            .with("?g", |m| along(m.ty("?x")?.rank().checked_sub(1)?))
            .with("?i", |m| indices(picks(m, "?p", "transpose_b", true)?)),
    ]
}

/// The rules of convolutions. Those of kernels of 1 x 1 become products.
pub fn of_convolutions() -> Vec<Rule> {
    let by_zeros = |name, left: &'static str| {
        rule(name, "x * 0 = 0", left, "?y")
            .within("exact but for the sign of 0")
            .when(ZEROS, |m| zeros_and_finite(m, "?x"))
            .with("?y", zeros)
    };
    vec![
        by_zeros("conv1d-by-zeros", "(conv1d ?p ?x ?z)"),
        by_zeros("conv2d-by-zeros", "(conv2d ?p ?x ?z)"),
        by_zeros("conv3d-by-zeros", "(conv3d ?p ?x ?z)"),
    ]
}

const ZEROS: &str = "z is 0, x is known to be finite";

fn zeros_and_finite(found: &Match, var: &str) -> Option<bool> {
    Some(is_number(found, "?z", 0.0)? && found.contents(var).is_finite)
}

fn zeros(found: &Match) -> Option<Node> {
    let ty = found.result()?;
    ty.shape()?;
    Node::number(0.0, ty)
}

/// True for a square matrix whose rows pick the column of their own number.
fn is_identity(found: &Match, var: &str) -> Option<bool> {
    let (shape, picks) = (found.shape(var)?, found.contents(var).picks.as_ref()?);
    Some(shape == [u64::from(picks.width); 2] && picks.is_identity())
}

/// Rows that a matrix picks by its rows, and by its columns where it is transposed; or the other way round.
fn picks(found: &Match, var: &str, flag: &str, by_columns: bool) -> Option<Picks> {
    let (shape, picks) = (found.shape(var)?, found.contents(var).picks.as_ref()?);
    let is_matrix = shape == [picks.columns.len() as u64, u64::from(picks.width)];
    match found.attrs("?m")?.flag(flag) == by_columns {
        _ if !is_matrix => None,
        true => Some(picks.clone()),
        false => picks.inverse(),
    }
}

fn along(axis: usize) -> Option<Node> {
    Some(Node::attrs(Attrs::new().with("axis", axis as i64)))
}

/// The columns as a constant of few numbers.
fn indices(picks: Picks) -> Option<Node> {
    let numbers: Vec<i128> = picks.columns.iter().map(|&column| column.into()).collect();
    let tensor = Tensor::from_ints(DType::I32, &[numbers.len()], &numbers).ok()?;
    Constant::of(&tensor).map(|constant| Node::leaf(super::super::language::Head::Constant(constant)))
}
