//! One row alone: a softmax or a normalization of a vector, in one block.
//!
//!     for k  m max= x[k]                     for 1 (block_x)
//!     for k  e[k] = exp(x[k] - m)              m = max over k of x[k]      threads share k, all get m
//!     for k  s += e[k]                =>       e[k] = exp(x[k] - m)        threads share k, in shared memory
//!     for k  y[k] = e[k] / s                   s = sum over k of e[k]
//!                                              y[k] = e[k] / s
//!
//! `rows` has a block for each row, and finds rows by the axes that all stages have. Of one row there is no such axis, and each stage would be
//! a launch, which takes longer than what is computed in it. A row that has no room in shared memory has work for several blocks, and
//! stays several launches.

use super::super::accesses::shape_of;
use super::super::fusion::fuse_last;
use super::super::placement::Nest;
use super::super::reductions::reads_once;
use super::super::writer::Writer;
use super::{lanes, rows};
use crate::schedule::{Schedule, StageId};
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Target;
use std::collections::BTreeSet;

/// More elements than these are worth several blocks.
const MOST_ELEMENTS: u64 = 1 << 15;

/// The stages of a kernel that is one row.
pub struct OneRow {
    host: StageId,
    /// The others in program order.
    members: Vec<StageId>,
}

/// The row that a kernel is, if it is one.
pub fn find(tree: &Schedule, nests: &[Nest], target: &Target) -> Option<OneRow> {
    let host = nests.last().filter(|n| n.reduction.is_none()).map(|n| n.stage)?;
    let elements = |s: StageId| shape_of(tree, s).iter().product::<u64>();
    let bytes = |s: StageId| {
        let size = |t| tensor_type(t).map_or(4, |t| t.dtype.size() as u64);
        elements(s) * tree.stages[s].op.result_values().into_iter().map(size).sum::<u64>()
    };
    let mut members: Vec<StageId> =
        nests.iter().flat_map(|n| n.reduction.into_iter().chain([n.stage])).filter(|s| *s != host).collect();
    members.sort_unstable();
    let reduces = |s: &StageId| tree.stages[*s].is_reduction();
    let is_member = |s: &StageId| {
        let inside = tree.readers(*s).iter().all(|r| *r == host || members.contains(r));
        let fits = !reduces(s) || (elements(*s) == 1 && reads_once(tree, *s));
        inside && fits && !tree.results.contains(s)
    };
    let kept: u64 = members.iter().filter(|s| elements(**s) > 1).map(|s| bytes(*s)).sum();
    let fits = tree.results.contains(&host)
        && !reduces(&host)
        && tree.stages[host].rank() > 0
        && (2..=MOST_ELEMENTS).contains(&elements(host))
        && kept <= target.gpu.shared_bytes / 2;
    (fits && members.iter().any(reduces) && members.iter().all(is_member)).then_some(OneRow { host, members })
}

/// Writes the primitives.
pub fn schedule(writer: &mut Writer, row: &OneRow, target: &Target) -> Result<(), String> {
    let rank = writer.tree.stages[row.host].rank();
    let length: u64 = shape_of(&writer.tree, row.host).iter().product();
    let reduced = |s: &StageId| -> u64 {
        let s = &writer.tree.stages[*s];
        s.axes[..s.op_axes()].iter().map(|a| a.extent).product()
    };
    let longest = row.members.iter().map(reduced).max().unwrap_or(1).max(length);
    let none = BTreeSet::new();
    let lanes = rows::lanes_of(&writer.tree, row.host, &none);
    let threads = rows::threads((longest, lanes), false, target);
    let all = fuse_last(writer, row.host, rank, rank)?;
    let (one, mut along) = writer.split(row.host, all, length)?;
    writer.bind(row.host, one, LoopKind::BlockX)?;
    for &member in row.members.iter().rev() {
        writer.compute_at(member, row.host, one)?;
    }
    for &member in &row.members {
        if shape_of(&writer.tree, member).iter().product::<u64>() > 1 {
            writer.set_scope(member, Scope::Shared)?;
        }
        if writer.tree.stages[member].is_reduction() {
            rows::share_reduction(writer, member, threads)?;
        } else {
            rows::share_elements(writer, member, &none, threads)?;
        }
    }
    (along, _) = lanes::take(writer, row.host, along, lanes)?;
    if length / lanes > threads {
        (_, along) = writer.split(row.host, along, threads)?;
    }
    writer.bind(row.host, along, LoopKind::ThreadX)
}
