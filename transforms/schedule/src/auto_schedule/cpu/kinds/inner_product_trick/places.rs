//! Of images, whose numbers of a channel lie side by side: a block of places for all filters.
//!
//!     for c, f  s[p] = max ; a[c, p] = x / s           for po                   a block of places
//!     for p  o[p] += a a                                 at po    s, a, o of its places
//!     for f, p, q, t  y[f, p] += one of four        =>   for ft  for pi         a tile of filters by vectors of places,
//!     for f, p  y[f, p] = f(p, o, u)                     for fo  for pt         or of places by vectors of filters
//!
//! Vectors go along places where these fill them about as well as filters do: those of filters are turned round when they are stored.

use super::{BYTES, InnerProductTrick, SHARE, Tile, attach, prefetch, split};
use crate::auto_schedule::cpu::blocks::most_even;
use crate::auto_schedule::cpu::kinds::contraction;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, StageId};
use fusion_machine::Machine;
use fusion_operators::ops::inner_product_trick::lies_along_places;

/// Axes of the left operand: its parts, rows and columns.
const RANK: usize = 3;
/// Vectors of places whose sums are made at a time.
const AT_A_TIME: u64 = 4;

/// Writes the schedule.
pub(super) fn schedule(
    writer: &mut Writer,
    trick: &InnerProductTrick,
    machine: &Machine,
    constant: &[bool],
) -> Result<(), String> {
    let lanes = machine.lanes(BYTES);
    let host = &writer.tree.stages[trick.host];
    let (extents, axes) = (host.extents(), host.leaves.clone());
    let (&[_, filters, places], &[image, filter, place]) = (&extents[..], &axes[..]) else {
        return Err("is no convolution of images".into());
    };
    let depth = writer.tree.stages[trick.left].axes[1].extent;
    let along_places = lies_along_places(places, filters);
    let tile = Tile::of(if along_places { [filters, places] } else { [places, filters] }, machine);
    let columns = tile.columns(machine);
    let unit = if along_places { columns } else { tile.rows };
    let most = (machine.second_cache / SHARE / (depth * BYTES * unit)).max(1);
    let block = unit * most_even(places.div_ceil(unit), most);

    let stage = trick.host;
    let (blocks, place) = writer.split(stage, place, block)?;
    let axes = if along_places { [filter, place] } else { [place, filter] };
    let tiled = split(writer, stage, axes, (tile, machine))?;
    let around = match along_places {
        true => [image, blocks, tiled.tiles, tiled.panels],
        false => [image, blocks, tiled.panels, tiled.tiles],
    };
    writer.reorder(stage, &[&around[..], &tiled.inside].concat())?;
    attach(writer, trick.products, (stage, &tiled))?;

    let of_right = if along_places { tiled.tiles } else { tiled.panels };
    prefetch::next_panel(writer, trick, of_right, machine, constant)?;
    let width = if along_places { tile.rows } else { columns };
    match trick.right.input.filter(|_| trick.right.is_constant(constant)) {
        Some(input) => writer.transform_layout(Handle::Input(input), contraction::panels(2, 1, width)?)?,
        None => contraction::copy_panels_before(writer, stage, &trick.right, width)?,
    }
    if along_places {
        writer.transform_layout(Handle::Stage(trick.left), contraction::panels(RANK, RANK - 1, columns)?)?;
    }
    for of_places in [trick.own, trick.left, trick.power] {
        writer.compute_at(of_places, stage, blocks)?;
    }
    for reduction in [trick.own, trick.power] {
        in_vectors(writer, reduction, lanes)?;
    }
    let axes = writer.tree.stages[trick.left].leaves.clone();
    let (panels, lane) = writer.split(trick.left, axes[2], lanes)?;
    writer.vectorize(trick.left, lane)?;
    if along_places {
        writer.reorder(trick.left, &[axes[0], panels, axes[1], lane])?;
    }
    Ok(())
}

/// Makes sums in vectors of what lies side by side, some of them at a time.
pub(super) fn in_vectors(writer: &mut Writer, stage: StageId, lanes: u64) -> Result<(), String> {
    let axes: Vec<AxisId> = writer.tree.stages[stage].leaves.clone();
    let last = writer.tree.stages[stage].rank() - 1;
    let (groups, several) = writer.split(stage, axes[last], lanes * AT_A_TIME)?;
    let (several, lane) = writer.split(stage, several, lanes)?;
    writer.unroll(stage, several)?;
    writer.vectorize(stage, lane)?;
    writer.reorder(stage, &[&axes[..last], &[groups, several, lane], &axes[last + 1..]].concat())
}
