//! What follows the sums of the next panel, prefetched while this one is multiplied.
//!
//!     for jo  for io                              for jo  for io
//!       for k  acc += x[io, k] * panel[jo, k]  =>   for k  prefetch a part of a[.., jo + 1]
//!       y[io, jo] = acc + a[io, jo]                        acc += x[io, k] * panel[jo, k]
//!                                                   y[io, jo] = acc + a[io, jo]
//!
//! Of a product of few rows `a` is read a few lines of each row at a time, which a core's prefetcher does not see, and waits at the end of each tile
//! where another kernel wrote it long ago: in an LSTM of 16 rows, where `a` is what all inputs gave, 7 % of a step on a core of Zen 4, which then takes
//! 4.61 ms for all steps in place of 4.67. What the near cache would not keep until then is left (`prefetch_rows`).

use super::prefetch_rows::serial_step;
use super::{Contraction, Tile};
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, InputId, StageId};
use fusion_machine::Machine;
use std::collections::BTreeSet;

/// What is prefetched takes one of so many parts of the cache that it goes to.
const OF_CACHE: u64 = 4;

impl Contraction {
    /// Has the steps of the reduction prefetch what follows reads of the next iteration of the loop `panels`.
    pub(super) fn prefetch_next_panel(
        &self,
        writer: &mut Writer,
        nest: &Nest,
        tile: &Tile,
        panels: AxisId,
        machine: &Machine,
        constant: &[bool],
    ) -> Result<(), String> {
        let Some(reduction) = nest.reduction else { return Ok(()) };
        let others = self.extents.iter().enumerate().filter(|(axis, _)| *axis != tile.vector);
        let of_panel = others.map(|(_, extent)| extent).product::<u64>() * self.width(tile) * LANE_BYTES;
        if of_panel > machine.first_cache / OF_CACHE {
            return Ok(());
        }
        prefetch_for_epilogue(writer, (nest.stage, panels), reduction, machine, constant)
    }
}

/// Has the steps of a product prefetch what another stage reads in the next iteration of a loop of its.
pub fn prefetch_for_epilogue(
    writer: &mut Writer,
    panels: (StageId, AxisId),
    product: StageId,
    machine: &Machine,
    constant: &[bool],
) -> Result<(), String> {
    let Some(step) = serial_step(&writer.tree, product) else { return Ok(()) };
    let is_wanted = |read: &Operand| {
        let input = read.input.filter(|input| !constant.get(*input).copied().unwrap_or(false));
        let bytes = LANE_BYTES * read.shape.iter().product::<u64>();
        input.filter(|_| (machine.first_cache..=machine.second_cache).contains(&bytes))
    };
    let read = operands(&writer.tree, panels.0).unwrap_or_default();
    let wanted: BTreeSet<InputId> = read.iter().filter_map(is_wanted).collect();
    wanted
        .into_iter()
        .try_for_each(|input| writer.prefetch_over(Handle::Input(input), panels, 1, Some((product, step))))
}
