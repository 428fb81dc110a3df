//! The rows of the next tile, prefetched while this one is multiplied.
//!
//!     for io  for jo  for k                 for io  for jo  for k
//!       acc += x[io, k] * panel[jo, k]  =>    prefetch a part of x[io + 1, ..] and of y[io + 1, ..]
//!                                             acc += x[io, k] * panel[jo, k]
//!
//! Tiles read a few rows of `x` side by side, each for some lines only, which a core's prefetcher notices late; and what is
//! written comes to the cache first. Beyond the second cache a product of 4096 x 128 and 128 x 128 took 1.21 ms on a core of a Xeon
//! (Sapphire Rapids), 1.04 with the rows prefetched, 0.99 with what it writes as well; streaming stores took 1.10. All at once, at
//! the beginning of a tile, they gained nothing: they wait for each other.

use super::{Contraction, Tile};
use crate::auto_schedule::operands::operands;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, InputId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Machine;

/// What is less than this share of the second cache stays there.
const NEAR_SHARE: u64 = 8;

impl Contraction {
    /// Has the steps of the reduction prefetch what the next tile of rows reads and writes, where the caches do not hold it all.
    pub(super) fn prefetch_next_rows(
        &self,
        writer: &mut Writer,
        nest: &Nest,
        tile: &Tile,
        rows: AxisId,
        machine: &Machine,
        constant: &[bool],
    ) -> Result<(), String> {
        let reduction = nest.reduction.unwrap_or(nest.stage);
        let other = &self.operands[1 - tile.panel];
        let plain = |index: &Expr| index.as_variable().is_some() || index.as_constant().is_some();
        if !self.operands.iter().all(|o| o.indices.iter().all(plain)) {
            return Ok(());
        }
        // Rows that are weights are read again for all columns: a convolution gained nothing.
        let is_data = |input: &InputId| !constant.get(*input).copied().unwrap_or(false);
        let Some(rows_of) = other.input.filter(is_data) else { return Ok(()) };
        let Some(step) = serial_step(&writer.tree, reduction) else { return Ok(()) };
        // Rows that were copied are read there.
        let mut inputs: Vec<InputId> = (!tile.packs_rows).then_some(rows_of).into_iter().collect();
        if nest.reduction.is_some() {
            inputs.extend(
                operands(&writer.tree, nest.stage).unwrap_or_default().iter().filter_map(|o| o.input),
            );
        }
        inputs.sort_unstable();
        inputs.dedup();
        inputs.retain(is_data);
        let results = writer.tree.stages[nest.stage].op.result_values();
        let bytes = |value| tensor_type(value).and_then(|t| t.bytes()).unwrap_or(0);
        let mut wanted: Vec<(Handle, u64)> =
            inputs.into_iter().map(|i| (Handle::Input(i), bytes(writer.tree.inputs[i]))).collect();
        if let [result] = results[..] {
            wanted.push((Handle::Stage(nest.stage), bytes(result)));
        }
        if wanted.iter().map(|(_, bytes)| bytes).sum::<u64>() <= machine.second_cache {
            return Ok(());
        }
        wanted.retain(|(_, bytes)| *bytes > machine.second_cache / NEAR_SHARE);
        wanted.into_iter().try_for_each(|(tensor, _)| {
            writer.prefetch_over(tensor, (nest.stage, rows), 1, Some((reduction, step)))
        })
    }
}

/// The innermost loop over steps of a reduction that is one.
pub fn serial_step(tree: &Schedule, reduction: StageId) -> Option<AxisId> {
    let s = &tree.stages[reduction];
    let in_intrinsic = |l: &AxisId| s.tensorized.as_ref().is_some_and(|t| t.loops.contains(l));
    let is_loop = |l: &AxisId| {
        s.axes[*l].reduce && s.axes[*l].kind == LoopKind::Serial && s.axes[*l].extent > 1 && !in_intrinsic(l)
    };
    s.leaves.iter().copied().rev().find(is_loop)
}
