//! Rows whose results go past the caches, or that have long operations: they are stored while the next row is computed.
//!
//!     for i                                              for io (parallel)  for ii in 0..16 (pipeline)
//!       for k  e[k] = exp(x[i, k] - m)                     for ko  for kc in 0..4 (unrolled)  for l in 0..16 (vectorized)
//!       for k  s += e[k]                           =>        e'[k] = exp(x[i + 1, k] - m')
//!       for k  y[i, k] = e[k] / s   (te.stream)              s' += e'[k]
//!                                                            y[i, k] = e[k] / s
//!
//! The loops that become one have to take as many elements at a time: the host's, that of the last reduction, and that of what is kept of
//! a row (`te.pipeline`, `loop-fuse`, `loop-overlap`). Zen 4, 16.8 MB: softmax of 4096 x 1024 takes 0.88 in place of 1.13 ms (1.09 without the pipeline),
//! layer normalization 0.55 in place of 1.35 (0.71). Four vectors at a time: two take as long, eight 5 % longer; blocks of 16 to 256 rows are as good.
//!
//! What is still in the caches is not worth streams (`streams`). Without them, exponentials of a row have loads and stores of another one beside them, that the units that
//! multiply do not wait for: 128 x 1024 takes 31 us in place of 36, 1024 x 256 62 in place of 72, 2048 x 512 with a mask 280 in place of 350. Normalizations, which wait
//! for memory alone, take up to half longer so than row by row.

use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::accesses::lanes;
use crate::auto_schedule::cpu::iterated::operations;
use crate::auto_schedule::cpu::streams;
use crate::auto_schedule::reductions;
use crate::auto_schedule::row_groups::{self, Rows};
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::OpExt;
use fusion_machine::Machine;
use std::collections::BTreeSet;

/// A row takes one of so many parts of the second cache.
const OF_CACHE: u64 = 8;
/// Vectors that the joined loops take at a time.
pub const VECTORS: u64 = 4;
/// Operations of an element in the joined loops from which on rows overlap that stay in the caches as well.
const LONG: f64 = 12.0;
/// Rows of a pipeline: the first one waits for nothing, and the last one has nothing beside it. More would leave threads without any.
const ROWS: u64 = 16;
/// The fewest that are worth one.
const FEWEST_ROWS: u64 = 8;

/// A group whose rows overlap.
pub struct Pipeline {
    /// The host's loop over the rows of a pipeline.
    pub axis: AxisId,
    /// The stages whose loops are joined, which take `VECTORS` vectors at a time.
    pub joined: BTreeSet<StageId>,
}

impl Pipeline {
    /// That of a group whose host has a last loop over rows, where it pays.
    pub fn of(
        writer: &mut Writer,
        rows: &Rows,
        at: AxisId,
        machine: &Machine,
    ) -> Result<Option<Self>, String> {
        let far = streams::results(&writer.tree, machine).contains(&rows.host);
        let pays = |joined: &BTreeSet<StageId>| {
            let work =
                joined.iter().map(|stage| writer.tree.stages[*stage].op.body(0).map_or(0.0, operations));
            far || work.sum::<f64>() >= LONG
        };
        let Some(joined) = joined(&writer.tree, rows, machine).filter(pays) else { return Ok(None) };
        let s = &writer.tree.stages[rows.host];
        let axis = match s.axes[at].extent {
            n if n >= 2 * ROWS => writer.split(rows.host, at, ROWS)?.1,
            // Threads share the outermost loop.
            n if n >= FEWEST_ROWS && s.leaves.first() != Some(&at) => at,
            _ => return Ok(None),
        };
        Ok(Some(Pipeline { axis, joined }))
    }
}

/// The host, the reduction before it, and what that one sums up, where all of them go over the elements of a row.
fn joined(tree: &Schedule, rows: &Rows, machine: &Machine) -> Option<BTreeSet<StageId>> {
    let host = (rows.host, rows.shared.clone());
    let length_of = |(stage, fixed): &(StageId, BTreeSet<usize>)| row_groups::length(tree, *stage, fixed);
    let length = length_of(&host);
    let whole = |member: &(StageId, BTreeSet<usize>)| {
        let taken = VECTORS * lanes(tree, member.0, machine.vector_bytes);
        length_of(member) == length && length.is_multiple_of(taken) && length > taken
    };
    let reduces = |stage: StageId| tree.stages[stage].is_reduction();
    let (last, before) = rows.members.split_last()?;
    let sums = reduces(last.0) && reductions::fits_lanes(tree, last.0);
    // Two rows of what is read, what is kept and what is stored are in the near caches at a time.
    let near = length.saturating_mul(LANE_BYTES) <= machine.second_cache / OF_CACHE;
    if !sums || reduces(rows.host) || !whole(last) || !whole(&host) || !near {
        return None;
    }
    let kept = before.last().filter(|kept| !reduces(kept.0) && whole(kept));
    Some([host.0, last.0].into_iter().chain(kept.map(|kept| kept.0)).collect())
}
