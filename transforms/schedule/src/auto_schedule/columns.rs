//! Columns: reductions whose results lie side by side in memory, and the elements combined far apart.
//!
//!     for j  for k  a[j] += x[k, j]      =>      for ko  for jo  for jv (vectorized)
//!                                                  a[jo * 16 + jv] += x[ko * 8 .. + 8, jo * 16 + jv]
//!
//! Memory is read in its order, row after row: the accumulators of a block of columns stay in first-level cache, and take part
//! once in several rows. When all columns fit into registers, that is where they are accumulated.

use super::accesses::{lanes, offsets};
use super::narrow;
use super::placement::Nest;
use super::reductions::{contiguous_parallel, fits_lanes, reads_once, together_along_reduction};
use super::tiling::tile;
use super::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_machine::Machine;

/// Bytes of a block's accumulators: half of a first-level cache, beside the rows.
const BLOCK_BYTES: u64 = 16 << 10;
/// Bytes of an element.
const BYTES: u64 = 4;
/// Rows that an accumulator combines each time it is loaded: it is then a small part of the traffic.
const ROWS: u64 = 8;
/// Vectors of accumulators in registers.
const MOST_REGISTERS: u64 = 8;
/// With fewer rows, there are no more streams than the processor follows, and the rows may be read side by side.
const FEWEST_ROWS: u64 = 16;

/// Schedules a nest by columns; false for one of another kind.
pub fn schedule(writer: &mut Writer, nest: &Nest, machine: &Machine) -> Result<bool, String> {
    let vector_bytes = machine.vector_bytes;
    let reduction = nest.reduction.unwrap_or(nest.stage);
    let is_wide = is_columns(&writer.tree, reduction);
    match narrow::find(writer, reduction, vector_bytes).filter(|_| may_be_columns(&writer.tree, reduction)) {
        Some(narrow) => narrow::schedule(writer, reduction, &narrow)?,
        None if is_wide => columns(writer, reduction, vector_bytes, None)?,
        None => return Ok(false),
    }
    if nest.stage != reduction {
        // What goes on with the results reads them once more, which is little beside the rows.
        tile(writer, &Nest { stage: nest.stage, reduction: None }, machine)?;
    }
    Ok(true)
}

/// True for a reduction to schedule by columns.
pub fn is_columns(tree: &Schedule, stage: StageId) -> bool {
    may_be_columns(tree, stage) && side_by_side(tree, stage).is_some_and(|extent| extent >= 8)
}

/// Results of a stage that lie side by side, as what they are made of does.
fn side_by_side(tree: &Schedule, stage: StageId) -> Option<u64> {
    let accesses = offsets(tree, stage, None);
    contiguous_parallel(tree, stage, &accesses, tree.stages[stage].rank()).map(|(_, extent)| extent)
}

/// Blocks of columns, each of which goes over all rows, in all that is reduced by itself.
pub fn blocks(tree: &Schedule, stage: StageId) -> u64 {
    let s = &tree.stages[stage];
    let all: u64 = s.axes[..s.rank()].iter().map(|a| a.extent).product();
    let columns = side_by_side(tree, stage).unwrap_or(1).max(1);
    all / columns * columns.div_ceil(BLOCK_BYTES / BYTES)
}

/// True for one of columns, of any number.
fn may_be_columns(tree: &Schedule, stage: StageId) -> bool {
    let s = &tree.stages[stage];
    let reduced: u64 = s.axes[s.rank()..s.op_axes()].iter().map(|a| a.extent).product();
    s.is_reduction() && reduced >= FEWEST_ROWS && !fits_lanes(tree, stage) && reads_once(tree, stage)
}

/// Writes the primitives of such a reduction. Where there is an axis of parts, it is the last parallel one, and becomes the outermost loop.
pub fn columns(
    writer: &mut Writer,
    stage: StageId,
    vector_bytes: u64,
    parts: Option<AxisId>,
) -> Result<(), String> {
    let (rank, own) = (writer.tree.stages[stage].rank(), writer.tree.stages[stage].op_axes());
    let parallel = rank - parts.iter().len();
    let accesses = offsets(&writer.tree, stage, None);
    let found = contiguous_parallel(&writer.tree, stage, &accesses, parallel);
    let Some((together, extent)) = found else { return Ok(()) };
    let lanes = lanes(writer, stage, vector_bytes).min(extent);
    let mut outside: Vec<AxisId> = parts.into_iter().chain(0..parallel - together).collect();
    let mut column: AxisId = parallel - together;
    for next in parallel - together + 1..parallel {
        column = writer.fuse(stage, column, next)?;
    }
    let rows = together_along_reduction(&writer.tree, stage, &accesses);
    let mut row: AxisId = own - rows;
    for next in own - rows + 1..own {
        row = writer.fuse(stage, row, next)?;
    }
    let outer_rows: Vec<AxisId> = (rank..own - rows).collect();
    if extent <= lanes * MOST_REGISTERS {
        let mut order = outside;
        if extent > lanes {
            let (vectors, vector) = writer.split(stage, column, lanes)?;
            writer.unroll(stage, vectors)?;
            order.push(vectors);
            column = vector;
        }
        writer.vectorize(stage, column)?;
        order.push(column);
        order.extend(outer_rows);
        order.push(row);
        return reorder(writer, stage, &order);
    }
    let block = (BLOCK_BYTES / (vector_bytes / lanes.max(1)).max(1)).max(lanes);
    if extent > block {
        let (blocks, inner) = writer.split(stage, column, block)?;
        outside.push(blocks);
        column = inner;
    }
    let (vectors, vector) = writer.split(stage, column, lanes)?;
    writer.vectorize(stage, vector)?;
    let mut order = outside;
    order.extend(outer_rows);
    if writer.tree.stages[stage].axes[row].extent > ROWS {
        let (blocks, inner) = writer.split(stage, row, ROWS)?;
        order.push(blocks);
        row = inner;
    }
    writer.unroll(stage, row)?;
    order.extend([vectors, vector, row]);
    reorder(writer, stage, &order)
}

fn reorder(writer: &mut Writer, stage: StageId, order: &[AxisId]) -> Result<(), String> {
    if writer.tree.stages[stage].leaves == order {
        return Ok(());
    }
    writer.reorder(stage, order)
}
