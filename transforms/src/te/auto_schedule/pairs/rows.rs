//! Of matrices: a block of rows for all panels of columns.
//!
//!     for i, k  s[i] = max ; a[i, k] = x / s           for io                   a block of rows
//!     for i, q  o[i] += a a                              at io    s, a, o of its rows
//!     for i, j, q, t  p[i, j] += one of four        =>   for jo                 a panel, a tile's columns
//!     for i, j  y[i, j] = f(p, o, u)                       for it  for q        rows of a tile: accumulators in registers

use super::super::blocks::most_even;
use super::super::contraction;
use super::super::machine::Machine;
use super::super::reductions;
use super::super::writer::Writer;
use super::{BYTES, Pairs, SHARE, Tile, attach, next_panel, split};
use crate::te::layout::Align;
use crate::te::schedule::{AxisId, Handle};

/// Writes the schedule.
pub(super) fn schedule(
    writer: &mut Writer,
    pairs: &Pairs,
    machine: &Machine,
    constant: &[bool],
) -> Result<(), String> {
    let lanes = machine.lanes(BYTES);
    let rank = writer.tree.stages[pairs.host].rank();
    let extents = writer.tree.stages[pairs.host].extents();
    let depth = writer.tree.stages[pairs.left].axes[rank - 1].extent;
    let tile = Tile::of([extents[rank - 2], extents[rank - 1]], machine);
    let tiles = (machine.second_cache / SHARE / (depth * BYTES * tile.rows)).max(1);
    let rows = most_even(extents[rank - 2].div_ceil(tile.rows), tiles) * tile.rows;

    let (blocks, panels) = write_host(writer, pairs, rows, (tile, machine))?;
    next_panel::ask_for(writer, pairs, panels, machine, constant)?;
    lay_out(writer, pairs, constant, tile.columns(machine))?;
    for stage in [pairs.own, pairs.left, pairs.power] {
        writer.compute_at(stage, pairs.host, blocks)?;
    }
    for stage in [pairs.own, pairs.power] {
        reductions::vectorize(writer, stage, machine.vector_bytes)?;
    }
    // Rows an odd number of lines apart: those of a tile fall on all sets of the nearest cache.
    let line = machine.line / BYTES;
    writer.storage_align(pairs.left, Align { dim: rank - 2, factor: 2 * line, offset: line })?;
    let along = writer.tree.stages[pairs.left].leaves[rank - 1];
    let vector = if depth > lanes { writer.split(pairs.left, along, lanes)?.1 } else { along };
    writer.vectorize(pairs.left, vector)
}

/// Gives the loop over blocks of rows and that over panels of columns.
fn write_host(
    writer: &mut Writer,
    pairs: &Pairs,
    rows: u64,
    with: (Tile, &Machine),
) -> Result<(AxisId, AxisId), String> {
    let stage = pairs.host;
    let axes = writer.tree.stages[stage].leaves.clone();
    let [lead @ .., i, j] = &axes[..] else { return Err("has loops of its own".into()) };
    let (blocks, i) = writer.split(stage, *i, rows)?;
    let tiled = split(writer, stage, [i, *j], with)?;
    writer.reorder(stage, &[lead, &[blocks, tiled.panels, tiled.tiles], &tiled.inside].concat())?;
    attach(writer, pairs.products, (stage, &tiled))?;
    Ok((blocks, tiled.panels))
}

/// Has the right side lie in panels, or copies it so before.
fn lay_out(writer: &mut Writer, pairs: &Pairs, constant: &[bool], columns: u64) -> Result<(), String> {
    let right = &pairs.right;
    let rank = right.shape.len();
    match right.input.filter(|_| right.is_constant(constant)) {
        Some(input) => {
            writer.transform_layout(Handle::Input(input), contraction::panels(rank, rank - 1, columns)?)
        }
        None => contraction::copy_panels_before(writer, pairs.host, right, columns),
    }
}
