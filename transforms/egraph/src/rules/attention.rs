//! Attention without scores in memory.
//!
//!     softmax(scale q k' + bias) v = attention(q, k, v, bias){scale}
//!
//! One kernel goes over the keys block by block and keeps the maximum and the sum so far (Milakov and Gimelshein, "Online normalizer
//! calculation for softmax", 2018; Dao et al., "FlashAttention", 2022). The scores, n x m for each head, are never stored.

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{SUMS, scalar_like};
use fusion_operators::{Attrs, DType};

/// The rules.
pub fn rules() -> Vec<Rule> {
    let plain = |name, equation, scores: &'static str, right: &'static str| {
        rule(name, equation, scores, right)
            .within("4 ulp of the sum of |p v|; scores are rounded as the kernel sums them")
    };
    vec![
        plain(
            "attention",
            "softmax(q k') v = attention(q, k, v)",
            "(matmul ?m (softmax ?s (matmul ?n ?q ?k)) ?v)",
            "(attention ?t ?q ?k ?v)",
        )
        .when(FITS, fits)
        .with("?t", |_| scaled(1.0)),
        plain(
            "attention-scale",
            "softmax(c q k') v = attention(q, k, v){c}",
            "(matmul ?m (softmax ?s (mul ?a (matmul ?n ?q ?k) ?c)) ?v)",
            "(attention ?t ?q ?k ?v)",
        )
        .when(FITS, fits)
        .with("?t", |m| scaled(m.splat("?c")?)),
        plain(
            "attention-bias",
            "softmax(q k' + b) v = attention(q, k, v, b)",
            "(matmul ?m (softmax ?s (add ?d (matmul ?n ?q ?k) ?b)) ?v)",
            "(attention ?t ?q ?k ?v ?b)",
        )
        .when(FITS, fits)
        .with("?t", |_| scaled(1.0)),
        plain(
            "attention-scale-bias",
            "softmax(c q k' + b) v = attention(q, k, v, b){c}",
            "(matmul ?m (softmax ?s (add ?d (mul ?a (matmul ?n ?q ?k) ?c) ?b)) ?v)",
            "(attention ?t ?q ?k ?v ?b)",
        )
        .when(FITS, fits)
        .with("?t", |m| scaled(m.splat("?c")?)),
        rule(
            "biases-of-scores",
            "(q k' + b) + c = q k' + (b + c)",
            "(add ?d (add ?e (matmul ?n ?q ?k) ?b) ?c)",
            "(add ?d (matmul ?n ?q ?k) (add ?e ?b ?c))",
        )
        .within("1 ulp of |b| + |c|")
        .when("the keys are transposed", |m| Some(m.attrs("?n")?.flag("transpose_b"))),
        rule(
            "biases-of-scaled-scores",
            "(s q k' + b) + c = s q k' + (b + c)",
            "(add ?d (add ?e (mul ?a (matmul ?n ?q ?k) ?s) ?b) ?c)",
            "(add ?d (mul ?a (matmul ?n ?q ?k) ?s) (add ?e ?b ?c))",
        )
        .within("1 ulp of |b| + |c|")
        .when("the keys are transposed", |m| Some(m.attrs("?n")?.flag("transpose_b"))),
        rule(
            "mask-as-bias",
            "softmax(m ? x : c) = softmax(x + (m ? 0 : c))",
            "(softmax ?s (where ?w ?m ?x ?c))",
            "(softmax ?s (add ?w ?x (where ?w ?m ?z ?c)))",
        )
        .within("exact for |x| below 2^102")
        .when(MASKS, masks)
        .with("?z", |m| scalar_like(m, "?c", 0.0)),
        rule(
            "mask-as-bias-else",
            "softmax(m ? c : x) = softmax(x + (m ? c : 0))",
            "(softmax ?s (where ?w ?m ?c ?x))",
            "(softmax ?s (add ?w ?x (where ?w ?m ?c ?z)))",
        )
        .within("exact for |x| below 2^102")
        .when(MASKS, masks)
        .with("?z", |m| scalar_like(m, "?c", 0.0)),
        rule("matmul-keys-by-row", "q k = q (k')'", "(matmul ?n ?q ?k)", "(matmul ?t ?q (transpose ?p ?k))")
            .within(SUMS)
            .when("k is no constant, of rank 3 or more, and neither operand is transposed", |m| {
                let attrs = m.attrs("?n")?;
                let plain = !attrs.flag("transpose_a") && !attrs.flag("transpose_b");
                Some(plain && !m.is_constant("?k") && m.ty("?k")?.rank() >= 3)
            })
            .with("?t", |_| Some(Node::attrs(Attrs::new().with("transpose_b", true))))
            .with("?p", |m| {
                let rank = m.ty("?k")?.rank();
                let mut axes: Vec<usize> = (0..rank).collect();
                axes.swap(rank - 2, rank - 1);
                Some(Node::attrs(super::conditions::transposing(&axes)))
            }),
        rule(
            "attention-of-scaled",
            "attention(c q, k, v){d} = attention(q, k, v){c d}",
            "(attention ?t (mul ?a ?q ?c) ?k ?v)",
            "(attention ?u ?q ?k ?v)",
        )
        .within("1.5 ulp of the scores")
        .when("c is one number", |m| m.splat("?c").map(|_| true))
        .with("?u", |m| scaled(m.splat("?c")? * m.attrs("?t")?.float_or("scale", 1.0))),
        rule(
            "attention-of-scaled-bias",
            "attention(c q, k, v, b){d} = attention(q, k, v, b){c d}",
            "(attention ?t (mul ?a ?q ?c) ?k ?v ?b)",
            "(attention ?u ?q ?k ?v ?b)",
        )
        .within("1.5 ulp of the scores")
        .when("c is one number", |m| m.splat("?c").map(|_| true))
        .with("?u", |m| scaled(m.splat("?c")? * m.attrs("?t")?.float_or("scale", 1.0))),
        rule(
            "attention-of-scaled-keys",
            "attention(q, c k, v){d} = attention(q, k, v){c d}",
            "(attention ?t ?q (mul ?a ?k ?c) ?v)",
            "(attention ?u ?q ?k ?v)",
        )
        .within("1.5 ulp of the scores")
        .when("c is one number", |m| m.splat("?c").map(|_| true))
        .with("?u", |m| scaled(m.splat("?c")? * m.attrs("?t")?.float_or("scale", 1.0))),
        rule(
            "attention-of-scaled-keys-bias",
            "attention(q, c k, v, b){d} = attention(q, k, v, b){c d}",
            "(attention ?t ?q (mul ?a ?k ?c) ?v ?b)",
            "(attention ?u ?q ?k ?v ?b)",
        )
        .within("1.5 ulp of the scores")
        .when("c is one number", |m| m.splat("?c").map(|_| true))
        .with("?u", |m| scaled(m.splat("?c")? * m.attrs("?t")?.float_or("scale", 1.0))),
    ]
}

/// What [`fits`] says.
pub(super) const FITS: &str =
    "the leading axes agree, the softmax is along the last axis, f32, or f16 and bf16 with many scores";

const MASKS: &str = "c is one number that hides all others: minus infinity, or at most -2^127 in f32; x is no constant, and finite";

/// Below that, scores do not change a number of 24 bits unless they are near the ends of f32 themselves. Of -10^9 a score of 32 is seen already, in rows
/// that are hidden all.
fn masks(found: &Match) -> Option<bool> {
    let (c, dtype) = (found.splat("?c")?, found.ty("?x")?.dtype);
    let hides = c == f64::NEG_INFINITY || dtype == DType::F32 && c <= -(2f64.powi(127));
    Some(hides && dtype.is_float() && !found.is_constant("?x"))
}

pub(super) fn scaled(scale: f64) -> Option<Node> {
    Some(Node::attrs(Attrs::new().with("scale", scale)))
}

/// One kernel rounds halves once where the program rounds each step; where that spares little the program's roundings stay.
const MANY_SCORES: u64 = 4096;

pub(super) fn fits(found: &Match) -> Option<bool> {
    let attrs = |var| found.attrs(var);
    let (second, first) = (attrs("?m")?, attrs("?n")?);
    let flags = !second.flag("transpose_a")
        && !second.flag("transpose_b")
        && !first.flag("transpose_a")
        && first.flag("transpose_b");
    let lead = |var: &str| {
        let ty = found.ty(var).filter(|t| [DType::F32, DType::F16, DType::BF16].contains(&t.dtype))?;
        Some(ty.shape()?.split_last_chunk::<2>()?.0.to_vec())
    };
    let rows = |var: &str| found.shape(var)?.iter().rev().nth(1).copied();
    let is_worth = found.ty("?q")?.dtype == DType::F32 || rows("?q")? * rows("?k")? >= MANY_SCORES;
    let rank = found.ty("?q")?.rank();
    let axis = fusion_operators::relation::normalize_axis(attrs("?s")?.int_or("axis", -1), rank)?;
    let queries = lead("?q")?;
    Some(flags && is_worth && axis + 1 == rank && queries == lead("?k")? && queries == lead("?v")?)
}
