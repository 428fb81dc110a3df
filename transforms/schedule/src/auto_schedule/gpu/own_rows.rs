//! A thread for each row whose elements lie apart in memory, or are few: softmax along another axis than the last.
//!
//!     for i, k, j  m[i, j] max= x[i, k, j]                    for (i, j) / 64 (block_x)  for 64 (thread_x)
//!     for i, k, j  e[i, k, j] = exp(x[i, k, j] - m[i, j])       for k  m max= x[i, k, j]                in a register
//!     for i, k, j  s[i, j] += e[i, k, j]                =>      for k  s += exp(x[i, k, j] - m)
//!     for i, k, j  y[i, k, j] = e[i, k, j] / s[i, j]            for k  y[i, k, j] = exp(x[i, k, j] - m) / s
//!
//! Neighbouring threads read neighbouring elements where rows lie side by side. What is an element of a row is computed where it is read,
//! again where it is read again: that takes less than memory does (the recomputation of Chen et al., "Training Deep Nets with Sublinear
//! Memory Cost", 2016, within a kernel). So it is one launch, where each stage would be one.

use super::super::row_groups::{Rows, length};
use super::super::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::OpExt;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_machine::Target;

/// A thread goes through so many elements in less time than launches take.
const SHORT: u64 = 64;
/// Threads of a block, of which there are fewer where rows are few, so that all cores have some.
const MOST_THREADS: u64 = 256;
/// Stages of a row that are computed where they are read, at most: each may read those before it several times.
const MOST_INLINE: usize = 4;

/// Elements of all rows, those of the longest stage.
pub fn elements(tree: &Schedule, rows: &Rows) -> u64 {
    count(tree, rows).saturating_mul(longest(tree, rows))
}

fn count(tree: &Schedule, rows: &Rows) -> u64 {
    rows.shared.iter().map(|axis| tree.stages[rows.host].axes[*axis].extent).product()
}

fn longest(tree: &Schedule, rows: &Rows) -> u64 {
    rows.members.iter().map(|(stage, fixed)| length(tree, *stage, fixed)).max().unwrap_or(1)
}

/// The members of a group.
pub(super) struct Kinds {
    /// Those that are combined.
    pub reductions: Vec<StageId>,
    /// Those that are computed where they are read.
    pub elements: Vec<StageId>,
}

/// The members by kind, where those that are elements may be computed where they are read.
pub(super) fn kinds(tree: &Schedule, rows: &Rows) -> Option<Kinds> {
    let (reductions, elements): (Vec<StageId>, Vec<StageId>) =
        rows.members.iter().map(|(stage, _)| *stage).partition(|s| tree.stages[*s].is_reduction());
    let computes = |s: &StageId| matches!(tree.stages[*s].op.kind(), Some(Kind::Te(Te::Compute)));
    let may_be_inline = elements.len() <= MOST_INLINE && elements.iter().chain([&rows.host]).all(computes);
    may_be_inline.then_some(Kinds { reductions, elements })
}

/// Writes the primitives of a group; false where rows are long and few, so that threads had better share each.
pub fn schedule(writer: &mut Writer, rows: &Rows, target: &Target) -> Result<bool, String> {
    let tree = &writer.tree;
    let count = count(tree, rows);
    let fills_cores = count >= target.cores * target.gpu.warp;
    if longest(tree, rows) > SHORT && !fills_cores {
        return Ok(false);
    }
    let Some(Kinds { reductions, elements }) = kinds(tree, rows) else { return Ok(false) };
    for stage in elements.iter().rev() {
        writer.inline(*stage)?;
    }
    let leaves = writer.tree.stages[rows.host].leaves.clone();
    let (outer, inner): (Vec<AxisId>, Vec<AxisId>) = leaves.iter().partition(|a| rows.shared.contains(a));
    let order = [outer.as_slice(), &inner].concat();
    if order != leaves {
        writer.reorder(rows.host, &order)?;
    }
    let Some(row) = writer.fuse_all(rows.host, &outer)? else { return Ok(false) };
    let threads = (count / target.cores.max(1)).next_power_of_two().max(target.gpu.warp);
    let threads = threads.min(MOST_THREADS).min(target.gpu.block_threads);
    let (block, thread) = writer.split_guarded(rows.host, row, threads)?;
    writer.bind(rows.host, block, LoopKind::BlockX)?;
    writer.bind(rows.host, thread, LoopKind::ThreadX)?;
    for stage in reductions.iter().rev() {
        writer.compute_at(*stage, rows.host, thread)?;
    }
    Ok(true)
}
