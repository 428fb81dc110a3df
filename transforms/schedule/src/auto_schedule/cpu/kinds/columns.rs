//! Columns: reductions whose results lie side by side in memory, and the elements combined far apart.
//!
//!     for j  for k  a[j] += x[k, j]      =>      for ko  for jo  for jv (vectorized)
//!                                                  a[jo * 16 + jv] += x[ko * 8 .. + 8, jo * 16 + jv]
//!
//! Memory is read in its order, row after row: the accumulators of a block of columns stay in first-level cache, and take part
//! once in several rows. When all columns fit into registers, that is where they are accumulated.

use crate::auto_schedule::accesses::{lanes, offsets};
use crate::auto_schedule::cpu::kinds::tiling::tile;
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions::{
    contiguous_parallel, fits_lanes, reads_once, together_along_reduction,
};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_machine::Machine;

/// Fewer results side by side leave vectors half empty.
const FEWEST: u64 = 8;
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

/// The kind.
pub struct Columns;

impl Kind for Columns {
    fn about(&self) -> About {
        About {
            name: "columns",
            matches: "a reduction that reads memory once, whose results lie side by side",
            knobs: &[],
            formula: "vectors read x (operations, and a load), and of each some rows a load and a store of its sum",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let is_one = |nest: &&Nest| is_columns(tree, nest.reduction.unwrap_or(nest.stage));
        all(kernel.nests.iter().filter(is_one).map(|nest| ByColumns { nest: *nest }))
    }
}

struct ByColumns {
    nest: Nest,
}

impl Match for ByColumns {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let machine = kernel.machine;
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        let vectors = traffic::points(tree, reduction) / traffic::lanes(tree, reduction, kernel);
        let all = traffic::points(tree, reduction) * BYTES as f64;
        let is_far = all > machine.first_cache as f64 / 2.0;
        let from_far = if is_far { machine.vector_bytes as f64 / machine.near_bytes as f64 } else { 0.0 };
        let loads =
            (traffic::LINES / machine.loads as f64).max(from_far) + 2.0 / ROWS as f64 / machine.loads as f64;
        let epilogue = traffic::epilogue(tree, &self.nest, kernel);
        let each = traffic::operations_of_a_point(tree, reduction) / machine.multiply_adds as f64;
        Some(traffic::seconds(tree, kernel, &[self.nest.stage], vectors * each.max(loads) + epilogue))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        columns(writer, reduction, kernel.machine.vector_bytes, None)?;
        go_on(writer, &self.nest, kernel.machine)
    }
}

/// Schedules what goes on with the results: it reads them once more, which is little beside the rows.
pub fn go_on(writer: &mut Writer, nest: &Nest, machine: &Machine) -> Result<(), String> {
    match nest.reduction {
        Some(_) => tile(writer, &Nest { stage: nest.stage, reduction: None }, machine),
        None => Ok(()),
    }
}

/// True for a reduction to schedule by columns.
pub fn is_columns(tree: &Schedule, stage: StageId) -> bool {
    may_be_columns(tree, stage) && side_by_side(tree, stage).is_some_and(|extent| extent >= FEWEST)
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
pub fn may_be_columns(tree: &Schedule, stage: StageId) -> bool {
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
    let lanes = lanes(&writer.tree, stage, vector_bytes).min(extent);
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
