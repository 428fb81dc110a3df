//! Of matrices: a block of rows for all panels of columns.
//!
//!     for i, k  s[i] = max ; a[i, k] = x / s           for io                   a block of rows
//!     for i, q  o[i] += a a                              at io    s, a, o of its rows
//!     for i, j, q, t  p[i, j] += one of four        =>   for jo                 a panel, a tile's columns
//!     for i, j  y[i, j] = f(p, o, u)                       for it  for q        rows of a tile: accumulators in registers

use super::{BYTES, InnerProductTrick, SHARE, Tile, attach, prefetch, split};
use crate::auto_schedule::cpu::blocks::most_even;
use crate::auto_schedule::cpu::kinds::contraction;
use crate::auto_schedule::reductions;
use crate::auto_schedule::writer::Writer;
use crate::layout::Align;
use crate::schedule::{AxisId, Handle};
use fusion_machine::Machine;

/// Writes the schedule.
pub(super) fn schedule(
    writer: &mut Writer,
    trick: &InnerProductTrick,
    machine: &Machine,
    constant: &[bool],
) -> Result<(), String> {
    let lanes = machine.lanes(BYTES);
    let rank = writer.tree.stages[trick.host].rank();
    let extents = writer.tree.stages[trick.host].extents();
    let depth = writer.tree.stages[trick.left].axes[rank - 1].extent;
    let tile = Tile::of([extents[rank - 2], extents[rank - 1]], machine);
    let tiles = (machine.second_cache / SHARE / (depth * BYTES * tile.rows)).max(1);
    let rows = most_even(extents[rank - 2].div_ceil(tile.rows), tiles) * tile.rows;

    let (blocks, panels) = write_host(writer, trick, rows, (tile, machine))?;
    prefetch::next_panel(writer, trick, panels, machine, constant)?;
    lay_out(writer, trick, constant, tile.columns(machine))?;
    for stage in [trick.own, trick.left, trick.power] {
        writer.compute_at(stage, trick.host, blocks)?;
    }
    for stage in [trick.own, trick.power] {
        reductions::vectorize(writer, stage, machine.vector_bytes)?;
    }
    // Rows an odd number of lines apart: those of a tile fall on all sets of the nearest cache.
    let line = machine.line / BYTES;
    writer.storage_align(trick.left, Align { dim: rank - 2, factor: 2 * line, offset: line })?;
    let along = writer.tree.stages[trick.left].leaves[rank - 1];
    let vector = if depth > lanes { writer.split(trick.left, along, lanes)?.1 } else { along };
    writer.vectorize(trick.left, vector)
}

/// Gives the loop over blocks of rows and that over panels of columns.
fn write_host(
    writer: &mut Writer,
    trick: &InnerProductTrick,
    rows: u64,
    with: (Tile, &Machine),
) -> Result<(AxisId, AxisId), String> {
    let stage = trick.host;
    let axes = writer.tree.stages[stage].leaves.clone();
    let [lead @ .., i, j] = &axes[..] else { return Err("has loops of its own".into()) };
    let (blocks, i) = writer.split(stage, *i, rows)?;
    let tiled = split(writer, stage, [i, *j], with)?;
    writer.reorder(stage, &[lead, &[blocks, tiled.panels, tiled.tiles], &tiled.inside].concat())?;
    attach(writer, trick.products, (stage, &tiled))?;
    Ok((blocks, tiled.panels))
}

/// Has the right side lie in panels, or copies it so before.
fn lay_out(
    writer: &mut Writer,
    trick: &InnerProductTrick,
    constant: &[bool],
    columns: u64,
) -> Result<(), String> {
    let right = &trick.right;
    let rank = right.shape.len();
    match right.input.filter(|_| right.is_constant(constant)) {
        Some(input) => {
            writer.transform_layout(Handle::Input(input), contraction::panels(rank, rank - 1, columns)?)
        }
        None => contraction::copy_panels_before(writer, trick.host, right, columns),
    }
}
