//! The operands of the next product of several, prefetched while this one is computed.
//!
//!     for b  for j  for i  for k                  for b  for j  for i  for k
//!       acc += x[i, k] * w[b, k, j]          =>     prefetch a part of w[b + 1, ..]
//!                                                   acc += x[i, k] * w[b, k, j]
//!
//! A panel that is read where it lies has its lines rows apart, some of a page each, of which a core's prefetcher brings none in time: the
//! first tile of rows waits for each. 64 products of 64 x 512 and 512 x 128, whose right sides are 16.8 MB, took 3.2 ms on a core of an AMD
//! Zen 5, 2.9 with the lines of some steps later prefetched, 2.5 with the next panel and 2.2 with the next product, where its
//! multiply-adds alone take 2.1.

use super::prefetch_rows::serial_step;
use super::{Contraction, Tile};
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, StageId};
use fusion_machine::Machine;

/// What is prefetched takes one of so many parts of the cache that it goes to.
const OF_CACHE: u64 = 4;

impl Contraction {
    /// Has the steps of the reduction prefetch what the next iteration of the loop `batch`, which selects panels, reads of the panel's operand,
    /// where that comes from beyond the second cache, and this has room for both.
    pub(super) fn prefetch_next_batch(
        &self,
        writer: &mut Writer,
        reduction: StageId,
        batch: (StageId, AxisId),
        tile: &Tile,
        machine: &Machine,
        constant: &[bool],
    ) -> Result<(), String> {
        let panel = &self.operands[tile.panel];
        let (Some(input), false) = (panel.input, panel.is_constant(constant)) else { return Ok(()) };
        if self.is_copied(tile, constant) || panel.dimension(tile.vector, self.extents[tile.vector]).is_none()
        {
            return Ok(());
        }
        let bytes = panel.shape.iter().product::<u64>() * LANE_BYTES;
        let of_one = self.depth * self.extents[tile.vector] * LANE_BYTES;
        if bytes <= machine.second_cache || of_one > machine.second_cache / OF_CACHE {
            return Ok(());
        }
        let Some(step) = serial_step(&writer.tree, reduction) else { return Ok(()) };
        writer.prefetch_over(Handle::Input(input), batch, 1, Some((reduction, step)))
    }
}
