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

use super::{elements, rows};
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::accesses::shape_of;
use crate::auto_schedule::fusion::fuse_last;
use crate::auto_schedule::gpu::lanes;
use crate::auto_schedule::gpu::launch::Launch;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions::reads_once;
use crate::auto_schedule::writer::Writer;
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
        let size = |t| tensor_type(t).map_or(LANE_BYTES, |t| t.dtype.size() as u64);
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

/// The kind.
pub struct InOneBlock;

impl Kind for InOneBlock {
    fn about(&self) -> About {
        About {
            name: "one-row",
            matches: "all nests of a kernel that is one row: softmax or normalization of a vector",
            knobs: &[("threads", "threads of the block")],
            formula: "all stages on one core",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(find(tree, kernel.nests, kernel.target))
    }
}

impl Match for OneRow {
    fn nests(&self) -> Vec<StageId> {
        self.members.iter().copied().chain([self.host]).collect()
    }

    fn space(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        vec![Knob { name: "threads", values: elements::threads(kernel.target) }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let &[threads] = config else { return None };
        let launch = Launch::of(tree, kernel, &self.nests(), (1, threads.max(1) as u64));
        let lanes = rows::lanes_of(tree, self.host, &BTreeSet::new());
        Some(launch.in_lanes(lanes).seconds(kernel.target))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let config = vec![self.threads(tree, kernel.target) as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let threads =
            config.first().map_or_else(|| self.threads(&writer.tree, kernel.target), |n| (*n).max(1) as u64);
        schedule(writer, self, threads)
    }
}

impl OneRow {
    fn threads(&self, tree: &Schedule, target: &Target) -> u64 {
        let length: u64 = shape_of(tree, self.host).iter().product();
        let reduced = |s: &StageId| -> u64 {
            let s = &tree.stages[*s];
            s.axes[..s.op_axes()].iter().map(|a| a.extent).product()
        };
        let longest = self.members.iter().map(reduced).max().unwrap_or(1).max(length);
        let lanes = rows::lanes_of(tree, self.host, &BTreeSet::new());
        rows::threads((longest, lanes), false, target)
    }
}

/// Writes the primitives.
fn schedule(writer: &mut Writer, row: &OneRow, threads: u64) -> Result<(), String> {
    let rank = writer.tree.stages[row.host].rank();
    let length: u64 = shape_of(&writer.tree, row.host).iter().product();
    let none = BTreeSet::new();
    let lanes = rows::lanes_of(&writer.tree, row.host, &none);
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
