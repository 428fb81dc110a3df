//! Recurrent cells: a product whose columns are pieces of one width, and what goes element by element over these.
//!
//!     for r, n  g[r, n] = sum_k h[r, k] w[k, n]             for uo in 0..H/64 (parallel)
//!     for r, u  c[r, u] = f(g[r, u], g[r, H + u], ..)   =>    for each piece p
//!                                                               for r  g_p[r, ..] = sum_k h[r, k] w[k, p H + 64 uo ..]
//!                                                             for r, v  c[r, 64 uo ..] = f(g_0[r, v], g_1[r, v], ..)
//!
//! The gates of an LSTM or a GRU (Hochreiter and Schmidhuber, 1997; Cho et al., 2014), and those of a gated linear unit. A kernel of its own for
//! what follows waits until all columns are there; so its threads would meet twice a step, and the sums take a way through memory. The
//! panels are those that the product has by itself: a weight that both kinds of kernels read is laid out once. Each piece is computed by a
//! stage of its own ([`recompute`](crate::schedule::primitives::recompute)), so that the sums of one panel are all that registers hold.

use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::cpu::kinds::contraction::{self, Panel};
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::primitives::recompute::{Part, may_be_recomputed};
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::rows;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{OpExt, kind_of};
use fusion_machine::Machine;
use std::collections::BTreeMap;

/// Threads share the panels of a piece: so many there are at least.
const PANELS: u64 = 4;

/// A product and what goes over its pieces.
pub(super) struct Cell {
    /// The product.
    pub product: StageId,
    /// The stages that read each piece that is read, by its number.
    pub readers: BTreeMap<u64, Vec<StageId>>,
    /// What is computed of the pieces for the last stage, in order.
    pub between: Vec<StageId>,
    /// The last stage, which gives the results.
    pub host: StageId,
    /// Columns of a piece.
    pub width: u64,
}

/// The kind.
pub struct Cells;

impl Kind for Cells {
    fn about(&self) -> About {
        About {
            name: "cells",
            matches: "a product whose columns are pieces of one width, and what goes element by element over them",
            knobs: &[],
            formula: "tiles of the product, and vectors of what follows x operations",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = find(tree, kernel.nests).and_then(|cell| InPanels::of(tree, cell, kernel));
        all(found)
    }
}

/// A cell, and the panels that its pieces are computed in.
struct InPanels {
    cell: Cell,
    panel: Panel,
}

impl InPanels {
    fn of(tree: &Schedule, cell: Cell, kernel: &Kernel) -> Option<InPanels> {
        let host = &tree.stages[cell.host];
        let rows: u64 = host.axes[..host.rank() - 1].iter().map(|a| a.extent).product();
        let fits = |columns: u64| {
            let near = rows * columns * LANE_BYTES * cell.readers.len() as u64;
            cell.has_panels_of(columns) && near <= kernel.machine.first_cache / 2
        };
        let panel = contraction::panel_of(tree, cell.product, kernel.machine, kernel.constant, &fits)?;
        Some(InPanels { cell, panel })
    }
}

impl Match for InPanels {
    fn nests(&self) -> Vec<StageId> {
        self.cell.between.iter().copied().chain([self.cell.product, self.cell.host]).collect()
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let behind = self.cell.between.iter().chain([&self.cell.host]);
        let behind: f64 = behind.map(|&stage| traffic::in_vectors(tree, stage, kernel)).sum();
        Some(traffic::seconds(tree, kernel, &self.nests(), self.panel.cycles + behind))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        let (cell, panel, machine, constant) = (&self.cell, &self.panel, kernel.machine, kernel.constant);
        let pieces = cell.take_apart(writer)?;
        let panels = cell.tile(writer, cell.host, panel.columns, machine)?;
        for &stage in cell.between.iter().rev() {
            cell.tile(writer, stage, panel.columns, machine)?;
            writer.compute_at(stage, cell.host, panels)?;
        }
        for &piece in &pieces {
            contraction::schedule_panel(writer, piece, machine, constant, panel)?;
            writer.compute_at(piece, cell.host, panels)?;
        }
        let host = (cell.host, panels);
        contraction::prefetch_for_epilogue(writer, host, cell.product, machine, constant)
    }
}

/// The product of a kernel of which all the rest goes over pieces.
fn find(tree: &Schedule, nests: &[Nest]) -> Option<Cell> {
    let (last, before) = nests.split_last()?;
    let product = before.iter().find(|n| tree.stages[n.stage].is_reduction())?.stage;
    let others: Vec<Nest> = nests.iter().filter(|n| n.stage != product).copied().collect();
    let rank = tree.stages[last.stage].rank();
    let cell = over_pieces(tree, product, &others, &|point, rows| rows == &point[..rank - 1])?;
    (cell.readers.len() > 1).then_some(cell)
}

/// A product and nests that go element by element over pieces of its columns: where one is at a point, `is_row` tells the rest of the place
/// that it reads.
pub(super) fn over_pieces(
    tree: &Schedule,
    product: StageId,
    nests: &[Nest],
    is_row: &dyn Fn(&[Expr], &[Expr]) -> bool,
) -> Option<Cell> {
    let (host, between) = nests.split_last()?;
    let (host, between) = (host.stage, between.iter().map(|n| n.stage).collect::<Vec<_>>());
    let s = &tree.stages[product];
    let extents = |stage: StageId| tree.stages[stage].op.ints("axes");
    let axes = extents(host)?;
    let width = u64::try_from(*axes.last()?).ok().filter(|n| *n > 0)?;
    let columns = s.axes.get(s.rank().checked_sub(1)?)?.extent;
    let is_elementwise = |&stage: &StageId| {
        !tree.stages[stage].is_reduction()
            && matches!(kind_of(tree.stages[stage].op), Some(rows::Kind::Te(Te::Compute)))
            && extents(stage).as_ref() == Some(&axes)
    };
    let alone = nests.iter().all(|n| n.reduction.is_none()) && tree.results == [host];
    if !alone
        || !columns.is_multiple_of(width)
        || !may_be_recomputed(tree, product)
        || !between.iter().chain([&host]).all(is_elementwise)
    {
        return None;
    }
    let point: Vec<Expr> =
        tree.stages[host].extents().iter().enumerate().map(|(a, n)| Expr::var(a, *n)).collect();
    let at: Vec<Option<Expr>> = point.iter().cloned().map(Some).collect();
    let mut readers: BTreeMap<u64, Vec<StageId>> = BTreeMap::new();
    for reader in between.iter().copied().chain([host]) {
        for &stage in &between {
            let own = |read: &Vec<Option<Expr>>| *read == at;
            if !tree.reads_of(stage, reader, &at).iter().all(own) {
                return None;
            }
        }
        for read in tree.reads_of(product, reader, &at) {
            let read: Vec<Expr> = read.into_iter().collect::<Option<_>>()?;
            let (column, rows) = read.split_last()?;
            let begin = u64::try_from(column.minus(point.last()?).as_constant()?).ok()?;
            if !is_row(&point, rows) || !begin.is_multiple_of(width) {
                return None;
            }
            let of_piece = readers.entry(begin / width).or_default();
            if of_piece.last() != Some(&reader) {
                of_piece.push(reader);
            }
        }
    }
    (!readers.is_empty()).then_some(Cell { product, readers, between, host, width })
}

impl Cell {
    /// True for panels that pieces are made of, which threads can share.
    pub(super) fn has_panels_of(&self, columns: u64) -> bool {
        self.width.is_multiple_of(columns) && PANELS * columns <= self.width
    }

    /// Gives each piece but the first a stage of its own; gives those of all.
    pub(super) fn take_apart(&self, writer: &mut Writer) -> Result<Vec<StageId>, String> {
        let axis = writer.tree.stages[self.product].rank() - 1;
        let name = writer.tree.stages[self.product].name.clone();
        let mut pieces = vec![self.product];
        for (piece, readers) in self.readers.iter().skip(1) {
            let part = Part { axis, from: piece * self.width, to: (piece + 1) * self.width };
            let name = format!("{name}_piece_{piece}");
            pieces.push(writer.recompute_part(self.product, &name, readers, Some(part))?);
        }
        Ok(pieces)
    }

    /// Gives a stage its loops: over panels, rows, and the vectors of a panel. Gives that over panels.
    pub(super) fn tile(
        &self,
        writer: &mut Writer,
        stage: StageId,
        panel: u64,
        machine: &Machine,
    ) -> Result<AxisId, String> {
        let mut order = writer.tree.stages[stage].leaves.clone();
        let Some(columns) = order.pop() else { return Err("has no loops".into()) };
        let (panels, within) = writer.split(stage, columns, panel)?;
        order.insert(0, panels);
        let lanes = machine.lanes(LANE_BYTES);
        let mut vector = within;
        if panel > lanes {
            let (vectors, lanes) = writer.split(stage, within, lanes)?;
            order.push(vectors);
            vector = lanes;
        }
        writer.vectorize(stage, vector)?;
        order.push(vector);
        if order != writer.tree.stages[stage].leaves {
            writer.reorder(stage, &order)?;
        }
        Ok(panels)
    }
}
