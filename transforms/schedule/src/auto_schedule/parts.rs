//! Reductions in parts: where a launch would have fewer blocks than there are cores, or a loop fewer iterations than threads, several of them
//! share what is reduced.
//!
//! ```text
//!   c[i, j] = sum_k f(i, j, k)      =>      p[i, j, s] = sum_k f(i, j, 512 s + k)        a launch, s along further blocks; or a parallel loop
//!                                           c[i, j]    = sum_s p[i, j, s]                another one
//! ```
//!
//! This is the "split-K" of CUTLASS, and the two passes of Harris, "Optimizing Parallel Reduction in CUDA" (2007). Each part is
//! summed up in the same order in every run, which atomic operations would not do.

use super::writer::Writer;
use crate::layout::{Digit, Layout};
use crate::schedule::primitives::rfactor;
use crate::schedule::{AxisId, Handle, StageId};

/// The most parts of a reduction.
pub const MOST_PARTS: u64 = 256;

/// The number of parts: as many as make a launch of so many blocks one for all cores, or a few more, each of at least so many of the
/// axis's elements and a multiple of `step`; none where there are blocks enough.
pub fn number(extent: u64, blocks: u64, cores: u64, (fewest, step): (u64, u64)) -> Option<u64> {
    let wanted = cores.div_ceil(blocks.max(1));
    let most = (2 * wanted).min(MOST_PARTS).min(extent / fewest.max(1));
    let whole = |parts: &u64| extent.is_multiple_of(parts * step.max(1));
    if wanted < 2 {
        return None;
    }
    (wanted..=most).find(whole).or_else(|| (2..=wanted.min(most)).rev().find(whole))
}

/// Computes parts of a reduction in a stage of its own, which is given: they are its last parallel axis. None where the parts
/// may not be combined in any order.
pub fn of(
    writer: &mut Writer,
    reduction: StageId,
    axis: AxisId,
    parts: u64,
) -> Result<Option<StageId>, String> {
    let each = writer.tree.stages[reduction].axes[axis].extent / parts.max(1);
    of_size(writer, reduction, axis, each)
}

/// The same in parts of so many elements of the axis; the last one may have fewer.
pub fn of_size(
    writer: &mut Writer,
    reduction: StageId,
    axis: AxisId,
    each: u64,
) -> Result<Option<StageId>, String> {
    let s = &writer.tree.stages[reduction];
    if !rfactor::may_be_factored(s) {
        return Ok(None);
    }
    let name = format!("parts_of_{}", s.name);
    let (part, _) = writer.split(reduction, axis, each)?;
    writer.rfactor(reduction, part, &name).map(Some)
}

/// Keeps each part's results together in memory, so that neighbouring threads store neighbours, as they would store those of the whole.
pub fn apart(writer: &mut Writer, partial: StageId) -> Result<(), String> {
    let rank = writer.tree.stages[partial].rank();
    let order = [rank - 1].into_iter().chain(0..rank - 1);
    let digits = order.map(|axis| Digit { axis, unit: 1, base: None }).collect();
    writer.transform_layout(Handle::Stage(partial), Layout::new(rank, digits)?)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn parts_are_whole_and_as_many_as_cores_need() {
        assert_eq!(number(4096, 16, 108, (256, 16)), Some(8));
        assert_eq!(number(4096, 108, 108, (256, 16)), None);
        assert_eq!(number(256, 1, 108, (256, 16)), None);
        assert_eq!(number(7 * 512, 1, 108, (256, 16)), Some(14));
    }
}
