//! Constant panels from beyond the near cache, where those of all kernels together do not stay. Each step prefetches what a later one
//! multiplies, wherever that lies: panels lie in the order of the loops, so that one is behind the other.
//!
//!     for k                               for k
//!       acc += a[k] * panel[k]      =>      prefetch panel[k + 64]
//!                                           acc += a[k] * panel[k]
//!
//! A core's own prefetcher follows a stream within a page, waits for memory at the next, and does not know the next panel. Where
//! steps have so little work that the arithmetic hides nothing, several streams at a time keep it under way:
//!
//!     for k in 0..4096                      for ki in 0..1024  for ks in 0..4 (unrolled)
//!       acc += a[k] * panel[k]      =>        acc += a[ks * 1024 + ki] * panel[ks * 1024 + ki]
//!
//! Where several tiles of rows multiply a panel, the first one alone would wait for it: there all of them prefetch the next panel, little by
//! little.
//!
//!     for jo  for io  for k               for jo  for io  for k
//!       acc += a[io, k] * panel[jo, k]  =>  prefetch a part of panel[jo + 1]
//!                                           acc += a[io, k] * panel[jo, k]
//!
//! One stream of 64 MB was read at 10 GB/s by a core of a Xeon (Sapphire Rapids), four at 15.

use super::prefetch_rows::serial_step;
use super::{Contraction, Tile};
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_machine::Machine;

/// A panel takes one of so many parts of the second cache, so that the next one has room.
const OF_CACHE: u64 = 4;
/// Streams at a time; more gained nothing.
const STREAMS: u64 = 4;
/// Fewer bytes of a stream are not worth it.
const SHORTEST: u64 = 16 << 10;
/// A loop's body of more multiply-adds than this has work enough to read meanwhile.
const MOST_WORK: u64 = 128;
/// Bytes that are prefetched: some thousand cycles at the rate of memory, of which a line takes some hundred. Panels of 16.8 MB were
/// multiplied by 16 rows in 2.0 ms with 2 kB, and within 5 % of 1.8 with 8, 16 or 32.
const AHEAD: u64 = 8 << 10;

/// Panels of which each prefetches the next one; the first one comes by itself.
const FEWEST_PANELS: u64 = 4;

impl Contraction {
    /// Splits the steps of the reduction into streams, or has them prefetch later ones, where the panel comes from afar.
    pub(super) fn stream(
        &self,
        writer: &mut Writer,
        reduction: StageId,
        panels: Option<(StageId, AxisId)>,
        tile: &Tile,
        machine: &Machine,
        constant: &[bool],
    ) -> Result<(), String> {
        let panel = &self.operands[tile.panel];
        let bytes = panel.shape.iter().product::<u64>() * LANE_BYTES;
        let is_far = machine.constant_bytes.is_some() && bytes > machine.first_cache;
        let Some(input) = panel.input.filter(|_| panel.is_constant(constant) && is_far) else {
            return Ok(());
        };
        match self.streamed_step(&writer.tree, reduction, tile, bytes > machine.second_cache) {
            Some(step) => self.split_in_streams(writer, reduction, step),
            None => {
                if let Some(panels) = panels.filter(|_| self.panels_wait(tile, machine))
                    && let Some(step) = serial_step(&writer.tree, reduction)
                {
                    return writer.prefetch_over(Handle::Input(input), panels, 1, Some((reduction, step)));
                }
                self.prefetch(writer, Handle::Input(input), reduction, tile)
            }
        }
    }

    /// True when several tiles of rows multiply a panel, which comes more slowly than one of them does it, and the next one has room.
    fn panels_wait(&self, tile: &Tile, machine: &Machine) -> bool {
        let (width, rows) = (self.width(tile), tile.all_rows());
        let panel = self.depth * width * LANE_BYTES;
        let step = (tile.vectors * rows).div_ceil(machine.multiply_adds).max(machine.latency);
        let comes = machine.constant_bytes.map_or(0.0, |rate| (width * LANE_BYTES) as f64 / rate);
        let panels = self.extents[tile.vector].div_ceil(width);
        panels >= FEWEST_PANELS
            && comes > step as f64
            && self.reuse(tile.panel) >= 2 * rows
            && panel <= machine.second_cache / OF_CACHE
            && self.panels_at_once(tile, machine, false) == 1
    }

    /// The only step of a reduction that is worth several streams.
    fn streamed_step(
        &self,
        tree: &Schedule,
        reduction: StageId,
        tile: &Tile,
        is_large: bool,
    ) -> Option<AxisId> {
        if !is_large || self.reuse(tile.panel) > tile.all_rows() {
            return None;
        }
        let s = &tree.stages[reduction];
        let steps = s.leaves.iter().copied().filter(|&l| s.axes[l].reduce && s.axes[l].extent > 1);
        let [step] = steps.collect::<Vec<_>>()[..] else { return None };
        let extent = s.axes[step].extent;
        let is_long = extent.is_multiple_of(STREAMS)
            && extent / STREAMS * tile.vectors * self.lanes * LANE_BYTES >= SHORTEST
            && tile.all_rows() * tile.vectors * STREAMS <= MOST_WORK;
        is_long.then_some(step)
    }

    fn split_in_streams(&self, writer: &mut Writer, reduction: StageId, step: AxisId) -> Result<(), String> {
        let extent = writer.tree.stages[reduction].axes[step].extent;
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

    /// Has the innermost loop over steps prefetch what comes some steps later.
    fn prefetch(
        &self,
        writer: &mut Writer,
        panel: Handle,
        reduction: StageId,
        tile: &Tile,
    ) -> Result<(), String> {
        let Some(axis) = serial_step(&writer.tree, reduction) else { return Ok(()) };
        let s = &writer.tree.stages[reduction];
        let steps: Vec<AxisId> = s.leaves.iter().copied().filter(|&l| s.axes[l].reduce).collect();
        let written_out = steps.iter().rev().take_while(|l| **l != axis).map(|&l| s.axes[l].extent);
        let bytes = self.width(tile) * LANE_BYTES * written_out.product::<u64>();
        writer.prefetch(panel, reduction, axis, AHEAD.div_ceil(bytes))
    }
}
