//! Panels from beyond the near cache. Those that are read once go by several streams at a time:
//!
//!     for k in 0..4096                      for ki in 0..1024  for ks in 0..4 (unrolled)
//!       acc += a[k] * panel[k]      =>        acc += a[ks * 1024 + ki] * panel[ks * 1024 + ki]
//!
//! A core's prefetcher follows a stream within a page, and waits for memory at the next; it follows several at once, so that
//! one of them is always under way. One stream of 64 MB was read at 10 GB/s by a core of a Xeon (Sapphire Rapids), four at 15.
//!
//! Of those that are read again for other rows, each step asks for what a later one multiplies, as long before as it takes to
//! come from afar.

use super::super::machine::Machine;
use super::super::writer::Writer;
use super::next_rows::serial_step;
use super::{Contraction, Tile};
use crate::te::schedule::{AxisId, Handle, StageId};

/// Streams at a time; more gained nothing.
const STREAMS: u64 = 4;
/// Fewer bytes of a stream are not worth it.
const SHORTEST: u64 = 16 << 10;
/// A loop's body of more multiply-adds than this has work enough to read meanwhile.
const MOST_WORK: u64 = 128;
/// Cycles that a line takes from beyond the near cache.
const FAR_CYCLES: u64 = 300;

impl Contraction {
    /// Splits the steps of the reduction into streams, or has them ask for later ones, where the panel comes from afar.
    pub(super) fn stream(
        &self,
        writer: &mut Writer,
        reduction: StageId,
        tile: &Tile,
        machine: &Machine,
        constant: &[bool],
    ) -> Result<(), String> {
        let panel = &self.operands[tile.panel];
        let bytes = panel.shape.iter().product::<u64>() * 4;
        let input = panel.input.filter(|_| panel.is_constant(constant) && bytes > machine.second_cache);
        let Some(input) = input else { return Ok(()) };
        if self.reuse(tile.panel) > tile.height {
            return self.ask(writer, Handle::Input(input), reduction, tile, machine);
        }
        let s = &writer.tree.stages[reduction];
        let steps = s.leaves.iter().copied().filter(|&l| s.axes[l].reduce && s.axes[l].extent > 1);
        let [step] = steps.collect::<Vec<_>>()[..] else { return Ok(()) };
        let extent = s.axes[step].extent;
        if !extent.is_multiple_of(STREAMS)
            || extent / STREAMS * tile.vectors * self.lanes * 4 < SHORTEST
            || tile.height * tile.vectors * STREAMS > MOST_WORK
        {
            return Ok(());
        }
        let (streams, inner) = writer.split(reduction, step, extent / STREAMS)?;
        let order: Vec<AxisId> = writer.tree.stages[reduction].leaves.clone();
        let turned = order.iter().map(|&l| match l {
            l if l == streams => inner,
            l if l == inner => streams,
            l => l,
        });
        writer.reorder(reduction, &turned.collect::<Vec<_>>())?;
        writer.unroll(reduction, streams)
    }

    /// Has the innermost loop over steps ask for what comes some steps later.
    fn ask(
        &self,
        writer: &mut Writer,
        panel: Handle,
        reduction: StageId,
        tile: &Tile,
        machine: &Machine,
    ) -> Result<(), String> {
        let Some(axis) = serial_step(writer, reduction) else { return Ok(()) };
        let s = &writer.tree.stages[reduction];
        let steps: Vec<AxisId> = s.leaves.iter().copied().filter(|&l| s.axes[l].reduce).collect();
        let written_out = steps.iter().rev().take_while(|l| **l != axis).map(|&l| s.axes[l].extent);
        let work = tile.height * tile.vectors * written_out.product::<u64>();
        let cycles = work.div_ceil(machine.multiply_adds).max(machine.latency);
        writer.prefetch(panel, reduction, axis, FAR_CYCLES.div_ceil(cycles))
    }
}
