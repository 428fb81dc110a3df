//! Panels of a product that are computed one at a time in another nest.
//!
//!     for jo  for i, j  y[i, jo 64 + j] = f(p[i, jo 64 + j])      =>      for jo  panel jo of p, all its rows ; for i, j  y = f(p)
//!
//! A panel is of whole tiles, of a width that the other nest wants; the weight lies as for the product by itself.

use super::super::machine::Machine;
use super::super::placement::Nest;
use super::super::writer::Writer;
use super::{Contraction, Tile, recognize, write};
use crate::te::schedule::StageId;

/// The columns of a panel of a product, of which so many are computed at a time in another nest; none where none of those that fit has a
/// tile.
pub fn panel_of(
    writer: &Writer,
    stage: StageId,
    machine: &Machine,
    constant: &[bool],
    fits: &dyn Fn(u64) -> bool,
) -> Option<u64> {
    let (contraction, tile) = in_panels(writer, stage, machine, constant, fits)?;
    Some(contraction.width(&tile))
}

/// Writes the schedule of such a product, which is attached to the other nest then.
pub fn schedule_panel(
    writer: &mut Writer,
    stage: StageId,
    machine: &Machine,
    constant: &[bool],
    fits: &dyn Fn(u64) -> bool,
) -> Result<(), String> {
    let nest = Nest { stage, reduction: None };
    match in_panels(writer, stage, machine, constant, fits) {
        Some((contraction, tile)) => {
            write(writer, &nest, stage, &contraction, &tile, machine, constant).map(|_| ())
        }
        None => Ok(()),
    }
}

/// The contraction of a stage and its best tile that is a panel of columns of a width that fits, and of rows as they are.
fn in_panels(
    writer: &Writer,
    stage: StageId,
    machine: &Machine,
    constant: &[bool],
    fits: &dyn Fn(u64) -> bool,
) -> Option<(Contraction, Tile)> {
    let contraction = recognize(writer, stage, stage, machine).filter(|c| c.groups.is_none())?;
    let is_panel = |tile: &Tile| {
        tile.vector + 1 == contraction.extents.len()
            && !tile.packs_rows
            && tile.across.is_none()
            && fits(contraction.width(tile))
    };
    let tile = contraction.best_tile(machine, constant, &is_panel)?;
    (!contraction.is_copied(&tile, constant)).then_some((contraction, tile))
}
