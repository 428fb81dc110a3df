//! Reductions along memory: in vectors, several at a time.
//!
//!     for k in 0..n  a += x[k]      =>      for ko  for c in 0..8 (unrolled)  for l in 0..16 (vectorized)
//!                                             p[c][l] += x[ko * 128 + c * 16 + l]          a = the sum of p
//!
//! One chain of additions takes `latency` cycles a vector; `latency * additions a cycle` chains run at the speed at which
//! vectors are added, or loaded. Reduction axes that are contiguous together are one.

use super::accesses::{lanes, offsets};
use super::fusion::along_fused;
use super::writer::Writer;
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::{OpExt, tensor_type};

/// Additions under way: of 4 cycles, 2 begin in each.
const CHAINS: u64 = 8;
/// Shorter reductions are not worth combining lanes.
const FEWEST_LANES: u64 = 4;
/// Registers for partial results, of several tensors together.
const MOST_REGISTERS: u64 = 8;
/// A reduction this short is written out: the code generator takes at most as many apart again.
const MOST_COPIES: u64 = 8;

/// Extents of a stage's own axes, parallel ones first.
fn extents(tree: &Schedule, stage: StageId) -> Vec<u64> {
    let s = &tree.stages[stage];
    let own = s.op_axes();
    s.axes[..own].iter().map(|a| a.extent).collect()
}

/// How many of the last reduction axes are one along which memory is contiguous, and its extent.
fn contiguous(tree: &Schedule, stage: StageId) -> Option<(usize, u64)> {
    let extents = extents(tree, stage);
    let reduced = extents.len() - tree.stages[stage].rank();
    // The first offset is that of the store, which is outside of the reduction.
    let loads = &offsets(tree, stage, None)[1..];
    let good = |n: &usize| along_fused(loads, &extents, *n).iter().all(|c| matches!(c, Some(0 | 1)));
    let together = (1..=reduced).rev().find(good)?;
    Some((together, extents[extents.len() - together..].iter().product()))
}

/// How many of the last of so many parallel axes are one along which memory is contiguous, and its extent.
pub fn contiguous_parallel(
    tree: &Schedule,
    stage: StageId,
    accesses: &[Option<Expr>],
    parallel: usize,
) -> Option<(usize, u64)> {
    let extents = &extents(tree, stage)[..parallel];
    let good = |n: &usize| along_fused(accesses, extents, *n).iter().all(|c| matches!(c, Some(0 | 1)));
    let together = (1..=extents.len()).rev().find(good)?;
    Some((together, extents[extents.len() - together..].iter().product()))
}

/// How many of the last reduction axes step through memory evenly as one; at least one.
pub fn together_along_reduction(tree: &Schedule, stage: StageId, accesses: &[Option<Expr>]) -> usize {
    let extents = extents(tree, stage);
    let reduced = extents.len() - tree.stages[stage].rank();
    let even = |n: &usize| along_fused(accesses, &extents, *n).iter().all(Option::is_some);
    (1..=reduced).rev().find(even).unwrap_or(1)
}

/// True when a reduction can be computed in lanes along its last axes.
pub fn fits_lanes(tree: &Schedule, stage: StageId) -> bool {
    contiguous(tree, stage).is_some_and(|(_, extent)| extent >= FEWEST_LANES)
}

/// True when some load of a reduction reads another element at each of its points: what it takes is then the time to read
/// memory once. In contractions and windows, elements are read again and again.
pub fn reads_once(tree: &Schedule, stage: StageId) -> bool {
    let extents = extents(tree, stage);
    let known = |e: &Option<Expr>| e.as_ref().is_some_and(|e| differs_at_each_point(e, &extents));
    offsets(tree, stage, None)[1..].iter().any(known)
}

/// True when an offset is another one at each point of axes of those extents.
pub fn differs_at_each_point(e: &Expr, extents: &[u64]) -> bool {
    if e.is_opaque() {
        return false;
    }
    let mut steps: Vec<(i64, i64)> = Vec::new();
    for (axis, &extent) in extents.iter().enumerate().filter(|(_, n)| **n > 1) {
        match e.coefficient(axis) {
            Some(c) if c != 0 => steps.push((c.abs(), extent as i64)),
            _ => return false,
        }
    }
    steps.sort_unstable();
    // Each axis steps over all that the smaller ones reach.
    let mut reach = 0i64;
    steps.iter().all(|&(step, extent)| {
        let beyond = step > reach;
        reach = reach.saturating_add(step.saturating_mul(extent - 1));
        beyond
    })
}

/// Computes a reduction that is alone in its row: a short one is written out, so that the code generator can take several
/// rows at once with their elements interleaved, another is computed in lanes.
pub fn alone(writer: &mut Writer, stage: StageId, vector_bytes: u64) -> Result<(), String> {
    let (rank, own) = (writer.tree.stages[stage].rank(), writer.tree.stages[stage].op_axes());
    let total: u64 = writer.tree.stages[stage].axes[rank..own].iter().map(|a| a.extent).product();
    if total > MOST_COPIES || total >= lanes(&writer.tree, stage, vector_bytes) {
        return vectorize(writer, stage, vector_bytes);
    }
    (rank..own).try_for_each(|axis| writer.unroll(stage, axis))
}

/// Bytes of an element of all results, and of the smallest.
fn result_bytes(tree: &Schedule, stage: StageId) -> (u64, u64) {
    let results = tree.stages[stage].op.result_values().into_iter();
    let sizes: Vec<u64> = results
        .map(|v| tensor_type(v).map_or(LANE_BYTES, |t| t.dtype.size() as u64).max(LANE_BYTES))
        .collect();
    (sizes.iter().sum(), sizes.iter().copied().min().unwrap_or(LANE_BYTES))
}

/// Computes a reduction in lanes, when that is possible.
pub fn vectorize(writer: &mut Writer, stage: StageId, vector_bytes: u64) -> Result<(), String> {
    vectorize_in(writer, stage, vector_bytes, None)
}

/// The same with a number of chains, where one is given.
pub fn vectorize_in(
    writer: &mut Writer,
    stage: StageId,
    vector_bytes: u64,
    chains: Option<u64>,
) -> Result<(), String> {
    let Some((together, extent)) = contiguous(&writer.tree, stage) else { return Ok(()) };
    if extent < FEWEST_LANES {
        return Ok(());
    }
    let last = writer.tree.stages[stage].op_axes();
    let mut along: AxisId = last - together;
    for next in last - together + 1..last {
        along = writer.fuse(stage, along, next)?;
    }
    let (lanes, most) = at_a_time(&writer.tree, stage, extent, vector_bytes);
    let chains = chains.unwrap_or(most).clamp(1, (extent / lanes).max(1));
    if extent > lanes * chains {
        (_, along) = writer.split(stage, along, lanes * chains)?;
    }
    if chains > 1 {
        let (copies, vector) = writer.split(stage, along, lanes)?;
        writer.unroll(stage, copies)?;
        along = vector;
    }
    writer.vectorize(stage, along)
}

/// Lanes of a reduction over so many elements, and how many chains of them are under way.
pub fn at_a_time(tree: &Schedule, stage: StageId, extent: u64, vector_bytes: u64) -> (u64, u64) {
    let lanes = floor_power_of_two(lanes(tree, stage, vector_bytes).min(extent));
    let (all, least) = result_bytes(tree, stage);
    let registers = lanes * all / vector_bytes.max(lanes * least);
    (lanes, CHAINS.min(MOST_REGISTERS / registers.max(1)).clamp(1, (extent / lanes).max(1)))
}

fn floor_power_of_two(n: u64) -> u64 {
    1 << n.max(1).ilog2()
}
