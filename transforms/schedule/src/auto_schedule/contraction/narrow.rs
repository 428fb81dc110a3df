//! Few columns: lanes go along the reduction, where vectors of columns would leave most lanes out.
//!
//!     for i  for k in 0..128  y[i, 0..4] += x[i, k] * w[k, 0..4]
//!       =>
//!     for i  for j in 0..4 (unrolled)  for ko in 0..8 (unrolled)  for ki (16, vectorized)  y[i, j] += x[i, ..] * w'[j, ..]
//!
//! The lanes of a sum are added at its end. 4096 x 128 by 128 x 4, the biases of an attention, took 77 us on a core of an AMD Zen 5, and
//! 34 so.

use super::super::placement::Nest;
use super::super::writer::Writer;
use super::{Contraction, Tile};
use crate::layout::{Digit, Layout};
use crate::schedule::Handle;
use fusion_machine::Machine;

/// Cycles to add the lanes of a sum, beside others.
const ACROSS: f64 = 3.0;

impl Contraction {
    /// Writes the schedule in lanes along the reduction, where that takes less time than the tile; `false` when it was not written.
    pub(super) fn in_lanes(
        &self,
        writer: &mut Writer,
        nest: &Nest,
        tile: &Tile,
        machine: &Machine,
        constant: &[bool],
    ) -> Result<bool, String> {
        let (panel, other) = (&self.operands[tile.panel], &self.operands[1 - tile.panel]);
        let &[(step, depth)] = &self.steps[..] else { return Ok(false) };
        let (Some(input), true) = (panel.input, panel.is_constant(constant)) else { return Ok(false) };
        let columns = self.extents[tile.vector];
        let vectors = depth / self.lanes;
        let is_plain = self.is_alone && self.fused == 1 && self.groups.is_none() && self.blocks == 1;
        let is_narrow = 2 * columns <= self.lanes
            && depth.is_multiple_of(self.lanes)
            && vectors * columns <= machine.registers
            && self.stride(1 - tile.panel, step) == Some(1)
            && !other.mentions(tile.vector);
        let Some(along) = panel.dimension(step, depth).filter(|_| is_plain && is_narrow) else {
            return Ok(false);
        };
        let rows = self.extents.iter().product::<u64>() / columns;
        let adds = (vectors * columns).div_ceil(machine.multiply_adds);
        let loads = (vectors * (columns + 1)).div_ceil(machine.loads);
        let of_row = adds.max(loads) as f64 + ACROSS * columns as f64;
        if of_row * rows as f64 >= self.cycles(tile, machine, constant) {
            return Ok(false);
        }
        let rank = panel.shape.len();
        if along + 1 != rank {
            let digit = |axis| Digit { axis, unit: 1, base: None };
            let digits = (0..rank).filter(|&axis| axis != along).chain([along]).map(digit).collect();
            writer.transform_layout(Handle::Input(input), Layout::new(rank, digits)?)?;
        }
        let stage = nest.stage;
        let axes = writer.tree.stages[stage].leaves.clone();
        writer.unroll(stage, axes[tile.vector])?;
        let (several, vector) = super::split_above(writer, stage, axes[step], self.lanes)?;
        if let Some(several) = several {
            writer.unroll(stage, several)?;
        }
        writer.vectorize(stage, vector)?;
        let mut order: Vec<_> =
            (0..self.extents.len()).filter(|&a| a != tile.vector).map(|a| axes[a]).collect();
        order.push(axes[tile.vector]);
        order.extend(axes[self.extents.len()..].iter().copied().filter(|&a| a != axes[step]));
        order.extend(several);
        order.push(vector);
        if order != writer.tree.stages[stage].leaves {
            writer.reorder(stage, &order)?;
        }
        Ok(true)
    }
}
