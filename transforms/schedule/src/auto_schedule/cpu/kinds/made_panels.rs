//! A product with a matrix that is made of smaller constants, panel by panel: weights of few bits, for many rows.
//!
//!     for n, k  w[n, k] = f(q[n, k / 8], s[n, k / 32])      for no
//!     for m, n  for k  y[m, n] += x[m, k] w[n, k]       =>    for ko  for ki in 0..8 (unrolled)  for n in the panel  w[k][n] = f(q[ko], s[ko / 4])
//!                                                            for mo  for m, n in a tile  for k  y += x w
//!
//! A panel is made once for all rows, in the order in which tiles read it, and of a width that the second cache holds. Elements that are of one word are
//! made together. As a whole, the matrix would be written to memory and read again.

use super::contraction::{RegisterTile, panels, split_above, tile_of_vectors};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_dialects::indices::expr::{Atom, Expr};

const BYTES: u64 = 4;
/// Vectors of a panel at most.
const MOST_VECTORS: u64 = 4;

/// The kind.
pub struct MadePanels;

impl Kind for MadePanels {
    fn about(&self) -> About {
        About {
            name: "made-panels",
            matches: "a product of many rows with a matrix that is made of constants",
            knobs: &[],
            formula: "tiles of the product, and vectors of the matrix x operations",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().filter_map(|nest| Made::of(tree, nest, kernel)))
    }
}

struct Made {
    nest: Nest,
    sum: StageId,
    matrix: StageId,
    /// The axes of columns and of rows in the result, and the axis of columns in the matrix.
    columns: usize,
    rows: usize,
    side: usize,
    /// Elements along the numbers summed over that are made of one element of a constant.
    together: u64,
    tile: RegisterTile,
}

impl Made {
    fn of(tree: &Schedule, nest: &Nest, kernel: &Kernel) -> Option<Made> {
        let sum = nest.reduction.unwrap_or(nest.stage);
        let s = &tree.stages[sum];
        let (host, rank) = (&tree.stages[nest.stage], s.rank());
        let extents = s.extents();
        let same_axes = nest.stage == sum || host.extents()[..host.rank()] == extents[..rank];
        if !s.is_reduction() || !same_axes || s.op_axes() != rank + 1 {
            return None;
        }
        let read = operands(tree, sum)?;
        let is_matrix = |o: &&Operand| {
            o.stage.is_some_and(|m| {
                let alone = kernel.nests.iter().any(|n| n.stage == m && n.reduction.is_none());
                let constant =
                    operands(tree, m).is_some_and(|all| all.iter().all(|o| o.is_constant(kernel.constant)));
                alone
                    && constant
                    && !tree.stages[m].is_reduction()
                    && tree.readers(m) == [sum]
                    && !tree.results.contains(&m)
            })
        };
        let [panel] = read.iter().filter(is_matrix).collect::<Vec<_>>()[..] else { return None };
        let (matrix, columns) = (panel.stage?, (0..rank).find(|&axis| panel.mentions(axis))?);
        let side = panel.dimension(columns, extents[columns])?;
        let data = read.iter().find(|o| !o.mentions(columns))?;
        let is_row = |axis: &usize| data.mentions(*axis) && !panel.mentions(*axis) && extents[*axis] > 1;
        let rows = (0..rank).filter(is_row).max_by_key(|&axis| extents[axis])?;
        let is_plain = read.len() == 2 && panel.shape.len() == 2 && tree.stages[matrix].rank() == 2;
        let together = is_plain.then(|| together(tree, matrix, 1 - side))??;
        let machine = kernel.machine;
        let lanes = machine.lanes(BYTES);
        let fits = |vectors: &u64| extents[rank] * vectors * lanes * BYTES <= machine.second_cache / 2;
        let most = (extents[columns] / lanes).min(MOST_VECTORS);
        let vectors = (1..=most).rev().find(fits).or((most > 0).then_some(1))?;
        let tile = tile_of_vectors(tree, sum, machine, kernel.constant, (columns, rows), vectors)?;
        Some(Made { nest: *nest, sum, matrix, columns, rows, side, together, tile })
    }

    fn write(&self, writer: &mut Writer, kernel: &Kernel) -> Result<(), String> {
        let (host, tile, width) = (self.nest.stage, &self.tile, self.tile.width());
        let rank = writer.tree.stages[host].rank();
        let axes: Vec<AxisId> = writer.tree.stages[host].leaves[..rank].to_vec();
        let (panel, inside) = split_above(writer, host, axes[self.columns], width)?;
        let (tiles, rows) = split_above(writer, host, axes[self.rows], tile.height)?;
        writer.unroll(host, rows)?;
        let (copies, vector) = split_above(writer, host, inside, tile.lanes)?;
        if let Some(copies) = copies {
            writer.unroll(host, copies)?;
        }
        writer.vectorize(host, vector)?;
        let others =
            (0..rank).filter(|axis| *axis != self.columns && *axis != self.rows).map(|axis| axes[axis]);
        let mut order: Vec<AxisId> =
            panel.into_iter().chain(others).chain(tiles).chain([rows]).chain(copies).collect();
        order.push(vector);
        let own = writer.tree.stages[host].leaves.clone();
        order.extend(own.iter().filter(|&&l| writer.tree.stages[host].axes[l].reduce));
        if order != own {
            writer.reorder(host, &order)?;
        }
        if host != self.sum {
            writer.compute_at(self.sum, host, vector)?;
        }
        self.write_matrix(writer, kernel)?;
        match panel {
            Some(panel) => writer.compute_at(self.matrix, host, panel),
            None => Ok(()),
        }
    }

    /// Has the matrix made in panels, of constants that lie in such.
    fn write_matrix(&self, writer: &mut Writer, kernel: &Kernel) -> Result<(), String> {
        let width = self.tile.width();
        let extent = writer.tree.stages[self.matrix].extents()[self.side];
        for operand in operands(&writer.tree, self.matrix).unwrap_or_default() {
            if let (Some(input), Some(dimension), true) =
                (operand.input, operand.dimension(self.side, extent), operand.is_constant(kernel.constant))
                && writer.tree.input_layouts[input].is_none()
            {
                writer
                    .transform_layout(Handle::Input(input), panels(operand.shape.len(), dimension, width)?)?;
            }
        }
        writer.transform_layout(Handle::Stage(self.matrix), panels(2, self.side, width)?)?;
        let axes = writer.tree.stages[self.matrix].leaves.clone();
        let (steps, each) = split_above(writer, self.matrix, axes[1 - self.side], self.together)?;
        writer.unroll(self.matrix, each)?;
        let (panel, inside) = split_above(writer, self.matrix, axes[self.side], width)?;
        let (copies, vector) = split_above(writer, self.matrix, inside, self.tile.lanes)?;
        writer.vectorize(self.matrix, vector)?;
        let order: Vec<AxisId> = panel.into_iter().chain(steps).chain(copies).chain([each, vector]).collect();
        writer.reorder(self.matrix, &order)
    }
}

/// Elements of a stage along an axis that are made of one element of some tensor; none where each has its own.
fn together(tree: &Schedule, stage: StageId, axis: usize) -> Option<u64> {
    fn least(e: &Expr, axis: usize) -> Option<i64> {
        let of_atom = |atom: &Atom| match atom {
            Atom::Div(inner, by) if inner.mentions(axis) => Some(*by),
            Atom::Mod(inner, _) => least(inner, axis),
            _ => None,
        };
        e.terms().filter_map(|(atom, _)| of_atom(atom)).min()
    }
    let read = operands(tree, stage)?;
    let by = read.iter().flat_map(|o| o.indices.iter().filter_map(|e| least(e, axis))).min()?;
    u64::try_from(by).ok().filter(|by| *by > 1)
}

impl Match for Made {
    fn nests(&self) -> Vec<StageId> {
        vec![self.matrix, self.nest.stage]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let epilogue = traffic::epilogue(tree, &self.nest, kernel);
        let cycles = self.tile.cycles + traffic::in_vectors(tree, self.matrix, kernel) + epilogue;
        Some(traffic::seconds(tree, kernel, &self.nests(), cycles))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        self.estimate(tree, kernel, &[]).map(|seconds| (Vec::new(), seconds))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        self.write(writer, kernel)
    }
}
