//! Recurrent cells whose product is made by Strassen's algorithm: what goes over pieces of the columns, beside seven products of quarters.
//!
//!     columns     0    H   2H   3H   4H         panel u of piece 0 of the products gives panel u of pieces 0 and 2,
//!     pieces      | 0  | 1  | 2  | 3  |         that of piece 1 those of 1 and 3
//!     products    | 0    1  |  0    1 |
//!
//!     for uo in 0..H/32 (parallel)
//!       for each piece q of the products   p_q[t, r, ..] = sum_k a[t, r, k] w[t, k, q H + 32 uo ..]
//!       for r, v, both halves of the rows   c[r, 32 uo ..] = f(sums of p_0[.., r, v], sums of p_1[.., r, v])
//!
//! As [`cells`](crate::auto_schedule::cpu::kinds::cells), with the products of [`strassen`](crate::auto_schedule::cpu::kinds::strassen): a kernel of its own for what follows would meet the threads twice a step.
//! A step of an LSTM of 16 rows takes 70 us on a core of Zen 4 where one of the whole product takes 78.

use crate::auto_schedule::cpu::kinds::cells::{Cell, over_pieces};
use crate::auto_schedule::cpu::kinds::contraction::{self, RegisterTile};
use crate::auto_schedule::cpu::kinds::strassen::Strassen;
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::primitives::compute_inline::compute_inline;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use std::borrow::Cow;

/// The kind.
pub struct CellsInQuarters;

impl Kind for CellsInQuarters {
    fn about(&self) -> About {
        About {
            name: "strassen-cells",
            matches: "what `cells` does, with a product that is made by Strassen's algorithm",
            knobs: &[],
            formula: "tiles of the products, and vectors of what is before and behind x operations",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = Quarters::of(tree, kernel);
        all(found)
    }
}

/// Such a cell, and the tile of its products.
struct Quarters {
    strassen: Strassen,
    cell: Cell,
    tile: RegisterTile,
    /// A stage that is made where it is read.
    whole: Option<StageId>,
}

impl Quarters {
    fn of(tree: &Schedule, kernel: &Kernel) -> Option<Quarters> {
        let (machine, constant) = (kernel.machine, kernel.constant);
        let whole = kept_whole(tree, kernel.nests, constant);
        let mut tree = Cow::Borrowed(tree);
        if let Some(whole) = whole {
            compute_inline(tree.to_mut(), whole).ok()?;
        }
        let nests: Vec<Nest> = kernel.nests.iter().filter(|n| Some(n.stage) != whole).copied().collect();
        let (strassen, cell) = find(&tree, &nests, constant)?;
        let pieces = cell.readers.len() as u64;
        let fits = |columns: u64| {
            cell.has_panels_of(columns) && strassen.bytes(columns) * pieces <= machine.first_cache / 2
        };
        let tile = strassen.tile(&tree, machine, constant, cell.width, &fits)?;
        Some(Quarters { strassen, cell, tile, whole })
    }
}

impl Match for Quarters {
    fn nests(&self) -> Vec<StageId> {
        let products = [self.strassen.left, self.strassen.products, self.cell.host];
        self.cell.between.iter().copied().chain(products).chain(self.whole).collect()
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let (strassen, cell) = (&self.strassen, &self.cell);
        let sums = cell.between.iter().copied().chain([strassen.left, cell.host]).chain(self.whole);
        let sums: f64 = sums.map(|stage| traffic::in_vectors(tree, stage, kernel)).sum();
        Some(traffic::seconds(tree, kernel, &self.nests(), self.tile.cycles + sums))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        let (strassen, cell, tile) = (&self.strassen, &self.cell, &self.tile);
        let (machine, constant) = (kernel.machine, kernel.constant);
        if let Some(whole) = self.whole {
            writer.inline(whole)?;
        }
        strassen.lay_out(writer, constant, tile)?;
        let pieces = cell.take_apart(writer)?;
        let tile_of = |writer: &mut Writer, stage: StageId| {
            let panels = cell.tile(writer, stage, tile.width(), machine)?;
            both_halves(writer, stage, strassen).map(|()| panels)
        };
        let panels: AxisId = tile_of(writer, cell.host)?;
        for &stage in cell.between.iter().rev() {
            tile_of(writer, stage)?;
            writer.compute_at(stage, cell.host, panels)?;
        }
        for &piece in &pieces {
            strassen.write_products(writer, piece, tile)?;
            writer.compute_at(piece, cell.host, panels)?;
        }
        strassen.write_left(writer, machine)?;
        contraction::prefetch_for_epilogue(writer, (cell.host, panels), cell.product, machine, constant)
    }
}

/// The products of a kernel of which all the rest goes over pieces of either half of the columns.
fn find(tree: &Schedule, nests: &[Nest], constant: &[bool]) -> Option<(Strassen, Cell)> {
    let (strassen, behind) =
        Strassen::of(tree, nests).filter(|(strassen, _)| strassen.is_of_constant(constant))?;
    let is_row = |point: &[Expr], read: &[Expr]| match (point, read) {
        ([row, _], [product, read]) => product.as_constant().is_some() && *read == strassen.of_half(0, row),
        _ => false,
    };
    let cell = over_pieces(tree, strassen.products, behind, &is_row)?;
    let rows = tree.stages[cell.host].extents()[0];
    (rows == 2 * strassen.rows()).then_some((strassen, cell))
}

/// The stage of the whole result, where several read pieces of it as it is: it is made where they do.
fn kept_whole(tree: &Schedule, nests: &[Nest], constant: &[bool]) -> Option<StageId> {
    let (strassen, [whole, behind @ ..]) = Strassen::of(tree, nests)? else { return None };
    let is_row = |point: &[Expr], read: &[Expr]| matches!((point, read), ([row, _], [read]) if row == read);
    let cell = over_pieces(tree, whole.stage, behind, &is_row)?;
    let pieces = tree.stages[whole.stage].extents().last()? / cell.width;
    let found =
        strassen.is_of_constant(constant) && strassen.make(tree, whole.stage) && pieces.is_multiple_of(2);
    found.then_some(whole.stage)
}

/// Has both halves of the rows made together inside of the loop over vectors: they share what they load.
fn both_halves(writer: &mut Writer, stage: StageId, strassen: &Strassen) -> Result<(), String> {
    let order = writer.tree.stages[stage].leaves.clone();
    let [panels, rows, inside @ .., lanes] = &order[..] else { return Err("has no rows".into()) };
    let (lower, row) = writer.split(stage, *rows, strassen.rows())?;
    let order = [&[*panels, row], inside, &[lower, *lanes]].concat();
    writer.reorder(stage, &order)?;
    writer.unroll(stage, lower)
}
