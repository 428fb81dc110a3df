//! Panels of a product that are computed one at a time in another nest.
//!
//!     for jo  for i, j  y[i, jo 64 + j] = f(p[i, jo 64 + j])      =>      for jo  panel jo of p, all its rows ; for i, j  y = f(p)
//!
//! A panel is of whole tiles, of a width that the other nest wants; the weight lies as for the product by itself.

use super::{Contraction, Tile, beside_memory, recognize, write};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{Schedule, StageId};
use fusion_machine::Machine;

/// Panels of a product, of which one is computed at a time in another nest.
pub struct Panel {
    tile: Tile,
    /// Its columns.
    pub columns: u64,
    /// Cycles of the whole product.
    pub cycles: f64,
}

/// The best panels of a product, of columns that fit and of rows as they are; none where none of those has a tile.
pub fn panel_of(
    tree: &Schedule,
    stage: StageId,
    machine: &Machine,
    constant: &[bool],
    fits: &dyn Fn(u64) -> bool,
) -> Option<Panel> {
    let contraction = product(tree, stage, machine)?;
    let is_panel = |tile: &Tile| {
        tile.vector + 1 == contraction.extents.len()
            && !tile.packs_rows
            && tile.across.is_none()
            && fits(contraction.width(tile))
    };
    let (_, tile) = contraction.best(machine, constant, &is_panel)?;
    let cycles = contraction.cycles(&tile, &beside_memory(machine), constant);
    let columns = contraction.width(&tile);
    (!contraction.is_copied(&tile, constant)).then_some(Panel { tile, columns, cycles })
}

/// Writes the schedule of a product in such panels, or of a part of its columns, which is attached to the other nest then.
pub fn schedule_panel(
    writer: &mut Writer,
    stage: StageId,
    machine: &Machine,
    constant: &[bool],
    panel: &Panel,
) -> Result<(), String> {
    let nest = Nest { stage, reduction: None };
    match product(&writer.tree, stage, machine) {
        Some(contraction) => {
            write(writer, &nest, stage, &contraction, &panel.tile, machine, constant).map(|_| ())
        }
        None => Ok(()),
    }
}

fn product(tree: &Schedule, stage: StageId, machine: &Machine) -> Option<Contraction> {
    recognize(tree, stage, stage, machine).filter(|c| c.groups.is_none())
}
