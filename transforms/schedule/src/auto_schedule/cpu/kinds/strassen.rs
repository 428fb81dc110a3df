//! Strassen's algorithm: seven products of which a few rows and columns are computed at a time, beside what is made of them.
//!
//!     for t, i, k  a[t, i, k] = sums of x            for io, jo   (or for jo, io, with a as a whole before)
//!     for t, i, j, k  p[t, i, j] += a u        =>      at io         a[.., rows of io, ..]
//!     for i, j  y[i, j] = f(sums of p)                 for t         p[t, rows of io, columns of jo]      a panel of u[t], read in order
//!                                                      for rows, vectors, quarters    y = f(sums of p)
//!
//! (Huang et al., "Strassen's Algorithm Reloaded", 2016, compute the sums where a product by itself packs and stores.) The seven products of a
//! tile stay in the near caches, where kernels of their own would write and read each of them: 7/4 of the result. Loops over the quarters
//! are written out inside of the others, so that what they share is loaded and added once. Of sums that the second cache holds beside a right
//! side that it does not, those of all rows are made before: then each panel is read once.

use crate::auto_schedule::cpu::blocks::most_even;
use crate::auto_schedule::cpu::kinds::contraction::{self, RegisterTile};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_machine::Machine;

/// Axes of the sums of blocks: which sum, row and column.
const OF_BLOCKS: usize = 3;
/// The share of the second cache that a block of rows has.
const SHARE: u64 = 4;
/// Tiles of a block at most.
const TILES: u64 = 8;
/// Registers for each vector of a panel, of which most are sums of rows.
const REGISTERS: u64 = 8;
const BYTES: u64 = 4;

/// The stages of such a kernel before what is made of the products.
pub(super) struct Strassen {
    pub products: StageId,
    /// The sums of the left side's quarters.
    pub left: StageId,
    /// The right side's.
    right: Operand,
    /// Products, and the rows, columns and numbers summed over of each.
    count: u64,
    extents: [u64; 3],
}

/// The kind.
pub struct InQuarters;

impl Kind for InQuarters {
    fn about(&self) -> About {
        About {
            name: "strassen",
            matches: "the seven products of Strassen's algorithm, and what is made of them",
            knobs: &[("rows", "rows of a block")],
            formula: "tiles of the products, and vectors of the sums before and behind x operations",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = Quarters::of(tree, kernel);
        all(found)
    }
}

/// A product by Strassen's algorithm, and its tile.
struct Quarters {
    strassen: Strassen,
    host: StageId,
    tile: RegisterTile,
    /// True where the sums of the left side are made as a whole, before.
    left_before: bool,
    /// Rows of a block.
    rows: u64,
}

impl Quarters {
    fn of(tree: &Schedule, kernel: &Kernel) -> Option<Quarters> {
        let machine = kernel.machine;
        let (strassen, [host]) = Strassen::of(tree, kernel.nests)? else { return None };
        if tree.results != [host.stage] || !strassen.make(tree, host.stage) {
            return None;
        }
        let [height, width, depth] = strassen.extents;
        let tile = strassen.tile(tree, machine, kernel.constant, width, &|_| true)?;
        let bytes = |rows: u64, columns: u64| strassen.count * rows * columns * BYTES;
        let left_before =
            bytes(height, depth) <= machine.second_cache && bytes(width, depth) > machine.second_cache;
        let row = bytes(1, tile.width()) + if left_before { 0 } else { bytes(1, depth) };
        let most = (machine.second_cache / SHARE / (row * tile.height)).clamp(1, TILES);
        let rows = most_even(height.div_ceil(tile.height), most) * tile.height;
        Some(Quarters { strassen, host: host.stage, tile, left_before, rows })
    }
}

impl Match for Quarters {
    fn nests(&self) -> Vec<StageId> {
        vec![self.strassen.left, self.strassen.products, self.host]
    }

    fn space(&self, _tree: &Schedule, _kernel: &Kernel) -> Vec<Knob> {
        let tiles = self.strassen.extents[0].div_ceil(self.tile.height).min(TILES);
        vec![Knob { name: "rows", values: (1..=tiles).map(|n| (n * self.tile.height) as i64).collect() }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let sums = [self.strassen.left, self.host].map(|stage| traffic::in_vectors(tree, stage, kernel));
        let cycles = self.tile.cycles + sums[0] + sums[1];
        Some(traffic::seconds(tree, kernel, &self.nests(), cycles))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let config = vec![self.rows as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let (strassen, tile, host) = (&self.strassen, &self.tile, self.host);
        let rows = config.first().map_or(self.rows, |rows| *rows as u64);
        let (blocks, panels) = strassen.write_host(writer, host, rows, tile, self.left_before)?;
        strassen.write_products(writer, strassen.products, tile)?;
        writer.compute_at(strassen.products, host, if self.left_before { blocks } else { panels })?;
        if !strassen.lay_out(writer, kernel.constant, tile)? {
            let at = self.left_before.then_some(panels);
            contraction::copy_operand(writer, (host, at), (strassen.products, strassen.products), 2, tile)?;
        }
        strassen.write_left(writer, kernel.machine)?;
        match self.left_before {
            true => Ok(()),
            false => writer.compute_at(strassen.left, host, blocks),
        }
    }
}

impl Strassen {
    /// The products that a kernel begins with, and what is behind them.
    pub fn of<'n>(tree: &Schedule, nests: &'n [Nest]) -> Option<(Strassen, &'n [Nest])> {
        let [left, products, behind @ ..] = nests else { return None };
        let alone = nests.iter().all(|n| n.reduction.is_none());
        let (left, products) = (left.stage, products.stage);
        let p = &tree.stages[products];
        let (&[count, height, width], &[depth]) =
            p.extents().split_at_checked(p.rank()).and_then(|(own, over)| {
                Some((<&[u64; 3]>::try_from(own).ok()?, <&[u64; 1]>::try_from(over).ok()?))
            })?;
        let read = operands(tree, products)?;
        let right = read.iter().find(|o| o.mentions(2) && o.stage.is_none())?.clone();
        let is_sums = tree.stages[left].rank() == OF_BLOCKS && !tree.stages[left].is_reduction();
        let is_left = read.iter().any(|o| o.stage == Some(left) && o.mentions(1));
        let found = alone && is_left && is_sums && tree.readers(left) == [products];
        let strassen = Strassen { products, left, right, count, extents: [height, width, depth] };
        found.then_some((strassen, behind))
    }

    /// The place in the products that gives a place of one half along an axis of the result, which is that of the rows or that of the columns.
    pub fn of_half(&self, axis: usize, at: &Expr) -> Expr {
        at.modulo(self.extents[axis] as i64)
    }

    /// True where a stage is a matrix of twice the products' extents, of which each element is made of those at one place.
    pub fn make(&self, tree: &Schedule, host: StageId) -> bool {
        let stage = &tree.stages[host];
        let extents = stage.extents();
        let is_whole = extents.iter().zip(self.extents).all(|(whole, half)| *whole == 2 * half);
        if stage.is_reduction() || stage.rank() != 2 || !is_whole {
            return false;
        }
        let at: Vec<Expr> = extents.iter().enumerate().map(|(a, n)| Expr::var(a, *n)).collect();
        let place = [0, 1].map(|axis| self.of_half(axis, &at[axis]));
        let at: Vec<Option<Expr>> = at.into_iter().map(Some).collect();
        let reads = tree.reads_of(self.products, host, &at);
        let at_place = |read: &Vec<Option<Expr>>| {
            let read: Option<Vec<Expr>> = read.iter().cloned().collect();
            read.is_some_and(|read| read[0].as_constant().is_some() && read[1..] == place)
        };
        !reads.is_empty() && reads.iter().all(at_place)
    }

    /// The tile for so many columns, in panels that fit. Panels are wide: their rows are read in order, and those of a tile are one further
    /// vector each.
    pub fn tile(
        &self,
        tree: &Schedule,
        machine: &Machine,
        constant: &[bool],
        columns: u64,
        fits: &dyn Fn(u64) -> bool,
    ) -> Option<RegisterTile> {
        let lanes = machine.lanes(BYTES);
        let most = (machine.registers / REGISTERS).max(1);
        let is_even = |n: &u64| (columns / lanes).is_multiple_of(*n) && fits(n * lanes);
        let even = (1..=most).rev().find(is_even)?;
        contraction::tile_of_vectors(tree, self.products, machine, constant, (2, 1), even)
    }

    /// Bytes of all products of so many columns.
    pub fn bytes(&self, columns: u64) -> u64 {
        self.count * self.extents[0] * columns * BYTES
    }

    /// Rows of each product.
    pub fn rows(&self) -> u64 {
        self.extents[0]
    }

    /// True where the right side is a constant.
    pub fn is_of_constant(&self, constant: &[bool]) -> bool {
        self.right.input.is_some() && self.right.is_constant(constant)
    }

    /// Has a constant right side lie in panels; `false` for one that is none.
    pub fn lay_out(
        &self,
        writer: &mut Writer,
        constant: &[bool],
        tile: &RegisterTile,
    ) -> Result<bool, String> {
        let Some(input) = self.right.input.filter(|_| self.is_of_constant(constant)) else {
            return Ok(false);
        };
        let layout = contraction::panels(self.right.shape.len(), 2, tile.width())?;
        writer.transform_layout(Handle::Input(input), layout).map(|()| true)
    }

    /// Gives the loops over blocks of rows and over panels.
    fn write_host(
        &self,
        writer: &mut Writer,
        host: StageId,
        rows: u64,
        tile: &RegisterTile,
        panels_first: bool,
    ) -> Result<(AxisId, AxisId), String> {
        let [height, width, _] = self.extents;
        let axes = writer.tree.stages[host].leaves.clone();
        let (lower, i) = writer.split(host, axes[0], height)?;
        let (behind, j) = writer.split(host, axes[1], width)?;
        let (blocks, i) = writer.split(host, i, rows)?;
        let (panels, j) = writer.split(host, j, tile.width())?;
        let (vectors, lanes) = writer.split(host, j, tile.lanes)?;
        let outer = if panels_first { [panels, blocks] } else { [blocks, panels] };
        let order = [outer[0], outer[1], i, vectors, lower, behind, lanes];
        writer.reorder(host, &order)?;
        writer.unroll(host, lower)?;
        writer.unroll(host, behind)?;
        writer.vectorize(host, lanes)?;
        Ok((blocks, panels))
    }

    /// Writes the loops of the products, or of a part of their columns.
    pub fn write_products(
        &self,
        writer: &mut Writer,
        stage: StageId,
        tile: &RegisterTile,
    ) -> Result<(), String> {
        let axes = writer.tree.stages[stage].leaves.clone();
        let [each, i, j, k] = axes[..] else { return Err("has loops of its own".into()) };
        let (panels, j) = writer.split(stage, j, tile.width())?;
        let (tiles, i) = writer.split(stage, i, tile.height)?;
        writer.unroll(stage, i)?;
        let (vectors, lanes) = writer.split(stage, j, tile.lanes)?;
        writer.unroll(stage, vectors)?;
        writer.vectorize(stage, lanes)?;
        writer.reorder(stage, &[each, panels, tiles, i, vectors, lanes, k])
    }

    /// Writes the loops of the left side's sums.
    pub fn write_left(&self, writer: &mut Writer, machine: &Machine) -> Result<(), String> {
        let axes = writer.tree.stages[self.left].leaves.clone();
        let [each, i, k] = axes[..] else { return Err("has loops of its own".into()) };
        let (vectors, lanes) = writer.split(self.left, k, machine.lanes(BYTES))?;
        writer.reorder(self.left, &[i, vectors, each, lanes])?;
        writer.unroll(self.left, each)?;
        writer.vectorize(self.left, lanes)
    }
}
