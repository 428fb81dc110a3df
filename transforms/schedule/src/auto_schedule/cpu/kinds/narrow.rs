//! Narrow columns: reductions of rows that are too short to fill the registers with accumulators.
//!
//!     for j in 0..3  for k  a[j] += x[k, j]     =>     for ko  for rj in 0..48 * 3 (9 vectors)  p[rj] += x[ko * 48 * 3 + rj]
//!                                                      a[j] = the sum of p over r
//!
//! Rows that follow each other in memory are one long row, whose elements have accumulators of their own: as many vectors as additions
//! take to be done. The rest of the rows comes last, with what is beyond the end masked.

use crate::auto_schedule::accesses::{lanes, offsets};
use crate::auto_schedule::cpu::kinds::columns::{go_on, may_be_columns};
use crate::auto_schedule::fusion::along_fused;
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions::contiguous_parallel;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::layout::{Digit, Layout};
use crate::schedule::primitives::rfactor::may_be_factored;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_dialects::OpExt;
use fusion_dialects::indices::expr::gcd;

/// Vectors of accumulators, at least: fewer are waited for.
const FEWEST: u64 = 6;
/// At most: what processors with 16 registers have beside an operand.
const MOST: u64 = 12;
/// Long rows, at least; of fewer, combining the accumulators is too large a part.
const FEWEST_BLOCKS: u64 = 8;

/// The kind.
pub struct NarrowColumns;

impl Kind for NarrowColumns {
    fn about(&self) -> About {
        About {
            name: "narrow-columns",
            matches: "a reduction by columns whose rows are too short for vectors",
            knobs: &[],
            formula: "vectors of long rows x (operations, and a load)",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let of = |nest: &Nest| {
            let reduction = nest.reduction.unwrap_or(nest.stage);
            let narrow = find(tree, reduction, kernel.machine.vector_bytes)?;
            let is_one = may_be_columns(tree, reduction);
            is_one.then_some(Columns { nest: *nest, narrow })
        };
        all(kernel.nests.iter().filter_map(of))
    }
}

struct Columns {
    nest: Nest,
    narrow: Narrow,
}

impl Match for Columns {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let machine = kernel.machine;
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        let vectors = traffic::points(tree, reduction) / self.narrow.lanes as f64;
        let each = traffic::operations_of_a_point(tree, reduction) / machine.multiply_adds as f64;
        let epilogue = traffic::epilogue(tree, &self.nest, kernel);
        let cycles = vectors * each.max(1.0 / machine.loads as f64) + epilogue;
        Some(traffic::seconds(tree, kernel, &[self.nest.stage], cycles))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        schedule(writer, self.nest.reduction.unwrap_or(self.nest.stage), &self.narrow)?;
        go_on(writer, &self.nest, kernel.machine)
    }
}

/// Rows that are one, of a reduction that is worth it.
pub struct Narrow {
    /// The number of parallel axes that are one with the rows.
    together: usize,
    /// Rows in a long one.
    rows: u64,
    lanes: u64,
}

/// The long rows of a reduction over its last axis.
pub fn find(tree: &Schedule, stage: StageId, vector_bytes: u64) -> Option<Narrow> {
    let s = &tree.stages[stage];
    let (own, accesses) = (s.op_axes(), offsets(tree, stage, None));
    let (together, columns) = contiguous_parallel(tree, stage, &accesses, tree.stages[stage].rank())
        .filter(|(_, columns)| *columns > 1)?;
    let lanes = lanes(tree, stage, vector_bytes);
    let results = s.op.result_values().len() as u64;
    let each = lanes / gcd(lanes, columns);
    let vectors = each * columns / lanes.max(1);
    let times = FEWEST.div_ceil(vectors * results);
    let rows = each * times;
    // Two whole vectors beside each other are read as fast.
    let fills = columns >= 2 * lanes && columns.is_multiple_of(lanes);
    let fits = !fills && vectors * times * results <= MOST && s.axes[own - 1].extent >= rows * FEWEST_BLOCKS;
    (fits && may_be_factored(s) && is_one_row(tree, stage, together)).then_some(Narrow {
        together,
        rows,
        lanes,
    })
}

/// True where the next row lies behind the one before in all that is read, so that both together are contiguous.
fn is_one_row(tree: &Schedule, stage: StageId, together: usize) -> bool {
    let s = &tree.stages[stage];
    let (rank, own) = (s.rank(), s.op_axes());
    let extents: Vec<u64> = s.axes[..own].iter().map(|a| a.extent).collect();
    let loads = &offsets(tree, stage, None)[1..];
    let columns: u64 = extents[rank - together..rank].iter().product();
    let along = along_fused(loads, &extents[..rank], together);
    let follows = |(load, column): (&Option<fusion_dialects::indices::expr::Expr>, Option<i64>)| {
        let row = load.as_ref().and_then(|e| e.coefficient(own - 1));
        column.zip(row).is_some_and(|(column, row)| row == column * columns as i64)
    };
    !loads.is_empty() && loads.iter().zip(along).all(follows)
}

/// Writes the primitives of such a reduction.
fn schedule(writer: &mut Writer, stage: StageId, narrow: &Narrow) -> Result<(), String> {
    let s = &writer.tree.stages[stage];
    let (rank, last) = (s.rank(), s.op_axes() - 1);
    let (name, extent) = (format!("rows_of_{}", s.name), s.axes[last].extent);
    let (_, inner) = writer.split(stage, last, narrow.rows)?;
    let partial = writer.rfactor(stage, inner, &name)?;
    let first = rank - narrow.together;
    // Axis `rank` is the row in a long one: its elements lie in memory as they are read.
    let order = (0..first).chain([rank]).chain(first..rank);
    let digits = order.map(|axis| Digit { axis, unit: 1, base: None }).collect();
    writer.transform_layout(Handle::Stage(partial), Layout::new(rank + 1, digits)?)?;
    let own = writer.tree.stages[partial].op_axes();
    let mut reduced: Vec<AxisId> = (rank + 1..own).collect();
    let columns: Vec<AxisId> = [rank].into_iter().chain(first..rank).collect();
    let outside: Vec<AxisId> = (0..first).collect();
    writer.reorder(partial, &[outside.as_slice(), &columns, &reduced].concat())?;
    let Some(long) = writer.fuse_all(partial, &columns)? else { return Ok(()) };
    let (vectors, lane) = writer.split(partial, long, narrow.lanes)?;
    writer.unroll(partial, vectors)?;
    writer.vectorize(partial, lane)?;
    if !extent.is_multiple_of(narrow.rows) {
        let (rest, whole) = writer.split(partial, own - 1, extent / narrow.rows)?;
        reduced.splice(reduced.len() - 1.., [rest, whole]);
    }
    writer.reorder(partial, &[outside.as_slice(), &[vectors, lane], &reduced].concat())?;
    match outside.last() {
        Some(_) => writer.compute_at(partial, stage, first - 1),
        None => Ok(()),
    }
}
