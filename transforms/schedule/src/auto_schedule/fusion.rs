//! Which of the last axes of a nest can be one loop: those along which every access goes on where it is.
//!
//!     for i, j  y[i, j] = x[i, j] + b[k]      =>      for f  y[f] = x[f] + b[k]

use super::accesses::offsets;
use super::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::put;

/// Variable of the axis under test.
const FUSED: usize = 2000;

/// How many of the last axes of a nest, of those extents, are best one loop.
pub fn last_axes(tree: &Schedule, stage: StageId, attached: Option<StageId>, extents: &[u64]) -> usize {
    if extents.len() < 2 { 1 } else { fusable(&offsets(tree, stage, attached), extents) }
}

/// The axes when the last `n` of them are one, which is variable `extents.len() - n`.
pub fn axes_in_terms_of_one(extents: &[u64], n: usize) -> Vec<Expr> {
    in_terms_of(extents, n, extents.len() - n)
}

fn in_terms_of(extents: &[u64], n: usize, fused: usize) -> Vec<Expr> {
    let first = extents.len() - n;
    let mut axes: Vec<Expr> = extents[..first].iter().enumerate().map(|(i, &e)| Expr::var(i, e)).collect();
    let mut rest = Expr::var(fused, extents[first..].iter().product());
    let mut last = Vec::new();
    for &extent in extents[first..].iter().rev() {
        last.push(rest.modulo(extent.max(1) as i64));
        rest = rest.div(extent.max(1) as i64);
    }
    last.reverse();
    axes.extend(last);
    axes
}

/// How many of the last axes can be one loop: along it, every access is contiguous or constant.
pub fn fusable(accesses: &[Option<Expr>], extents: &[u64]) -> usize {
    let good = |n: &usize| along_fused(accesses, extents, *n).iter().all(|c| matches!(c, Some(0 | 1)));
    (2..=extents.len()).rev().find(good).unwrap_or(1)
}

/// The coefficients of the accesses along the last `n` axes as one.
pub fn along_fused(accesses: &[Option<Expr>], extents: &[u64], n: usize) -> Vec<Option<i64>> {
    let axes: Vec<Option<Expr>> = in_terms_of(extents, n, FUSED).into_iter().map(Some).collect();
    let coefficient =
        |e: &Option<Expr>| put(e.as_ref()?, &axes).filter(|e| !e.is_opaque())?.coefficient(FUSED);
    accesses.iter().map(coefficient).collect()
}

/// Fuses the last `n` loops of the first `rank`; gives the one over them.
pub fn fuse_last(writer: &mut Writer, stage: StageId, rank: usize, n: usize) -> Result<AxisId, String> {
    let mut fused = writer.tree.stages[stage].leaves[rank - n];
    for _ in 1..n {
        let next = writer.tree.stages[stage].leaves[rank - n + 1];
        fused = writer.fuse(stage, fused, next)?;
    }
    Ok(fused)
}
