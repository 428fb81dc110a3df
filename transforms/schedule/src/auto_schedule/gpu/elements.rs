//! A thread for each element, or for a few that lie together in memory.
//!
//!     for i, j  y[i, j] = f(x[i, j])     =>     for f / 1024 (block_x)  for 256 (thread_x)  for 4 (vectorized)  y[f] = f(x[f])
//!
//! All axes become one. Where every access goes on along it, a thread takes 16 bytes at once, which neighbouring threads
//! continue (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"). Where that is so along the last axis only, and this has
//! whole accesses, it is of the last axis that a thread has several: the rows of a gather, what is added to each row.
//!
//!     for i, j  y[i, j] = x[p[i], j]     =>      for f / 256 (block_x)  for 256 (thread_x)  for 4 (vectorized)  f = (i, j / 4)
//!
//! A reduction in a nest is computed by the thread that needs its result.

use super::super::accesses::{go_on_along, offsets};
use super::super::fusion::along_fused;
use super::super::placement::Nest;
use super::super::writer::Writer;
use super::lanes::{self, ACCESS_BYTES};
use crate::schedule::{AxisId, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Target;

/// Threads of a block: enough warps for a core to switch between, and several blocks fit into a core.
const THREADS: u64 = 256;

/// Writes the primitives of a nest, whatever it is.
pub fn schedule(writer: &mut Writer, nest: &Nest, target: &Target) -> Result<bool, String> {
    let stage = nest.stage;
    let rank = writer.tree.stages[stage].rank();
    if rank == 0 {
        return Ok(true);
    }
    let extents: Vec<u64> = writer.tree.stages[stage].axes[..rank].iter().map(|a| a.extent).collect();
    let elements: u64 = extents.iter().product();
    let reduces = nest.reduction.is_some() || writer.tree.stages[stage].is_reduction();
    let (lanes, whole) = if reduces { (1, true) } else { lanes(writer, stage, &extents, target) };
    let mut inner: Vec<AxisId> = Vec::new();
    let mut axes: Vec<AxisId> = (0..rank).collect();
    if !whole {
        let (outer, vector) = writer.split(stage, rank - 1, lanes)?;
        writer.vectorize(stage, vector)?;
        axes[rank - 1] = outer;
        inner.push(vector);
    }
    let mut axis = axes[0];
    for next in &axes[1..] {
        axis = writer.fuse(stage, axis, *next)?;
    }
    if whole {
        let (outer, vector) = lanes::take(writer, stage, axis, lanes)?;
        axis = outer;
        inner.extend(vector);
    }
    let thread = block_and_thread(writer, stage, axis, elements / lanes, target)?;
    let innermost = inner.last().copied().unwrap_or(thread);
    if let Some(reduction) = nest.reduction {
        writer.compute_at(reduction, stage, innermost)?;
    }
    Ok(true)
}

/// Binds a loop of so many iterations, a thread for each; gives the loop over threads.
pub(super) fn block_and_thread(
    writer: &mut Writer,
    stage: StageId,
    axis: AxisId,
    iterations: u64,
    target: &Target,
) -> Result<AxisId, String> {
    let threads =
        THREADS.min(target.gpu.block_threads).min(iterations.max(1).next_multiple_of(target.gpu.warp));
    let (block, thread) = writer.split_guarded(stage, axis, threads)?;
    writer.bind(stage, block, LoopKind::BlockX)?;
    writer.bind(stage, thread, LoopKind::ThreadX)?;
    Ok(thread)
}

/// Elements of one access, and whether it may go on from one row to the next: as many as 16 bytes have, of a number that leaves nothing
/// over, while the threads stay busy.
fn lanes(writer: &Writer, stage: StageId, extents: &[u64], target: &Target) -> (u64, bool) {
    let result = writer.tree.stages[stage].op.result_values().first().copied().and_then(tensor_type);
    let most = (ACCESS_BYTES / result.map_or(4, |t| t.dtype.size() as u64).max(1)).clamp(1, 8);
    let busy = target.cores * target.gpu.core_threads / 2;
    let elements: u64 = extents.iter().product();
    let of = |along: u64| {
        let divides = |n: &u64| along.is_multiple_of(*n) && elements / n >= busy;
        [8, 4, 2].into_iter().filter(|n| *n <= most).find(divides)
    };
    let accesses = offsets(&writer.tree, stage, None);
    let contiguous = along_fused(&accesses, extents, extents.len()).iter().all(|c| matches!(c, Some(0 | 1)));
    if contiguous {
        return (of(elements).unwrap_or(1), true);
    }
    let last = extents.len() - 1;
    match of(extents[last]).filter(|_| go_on_along(&writer.tree, stage, last)) {
        Some(lanes) => (lanes, false),
        None => (1, true),
    }
}
