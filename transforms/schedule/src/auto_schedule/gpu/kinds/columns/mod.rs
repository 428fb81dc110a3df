//! Columns: reductions whose results lie side by side in memory, and the elements combined far apart; vectors by matrices among them.
//!
//! ```text
//!   for j  for k  y[j] += x[k, j]     =>     for j / 32 (block_x)  for 8 (thread_x)                       8 x 32 threads a block
//!                                              for 4 (vectorized)  for k / 32  for 32 (thread_y)  s += x[k, j]
//!                                              y[j] = s of all 32
//! ```
//!
//! Of a few vectors by a matrix each thread has the results of all, so that it reads the matrix once:
//!
//! ```text
//!   for i, j  for k  y[i, j] += x[i, k] * w[k, j]     =>     the same with   for 4 (unrolled)  s[i] += x[i, k] * w[k, j]
//! ```
//!
//! Threads side by side read vectors that lie side by side; those below each other share a column, and combine what they have through
//! shared memory. Where that leaves cores idle, parts of a column are blocks of their own, which a second launch adds up (`parts`).
//! How many threads and parts there are follows from a closed form (`sizes`), of which the least time is taken. Several reductions of the
//! same columns, with what goes on with them, are one launch (`group`).

pub mod group;
pub mod sizes;

use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::accesses::offsets;
use crate::auto_schedule::fusion::along_fused;
use crate::auto_schedule::gpu::launch::UNDER_WAY;
use crate::auto_schedule::gpu::{grid, lanes};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::parts;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions::{
    differs_at_each_point, fits_lanes, reads_once, together_along_reduction,
};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::primitives::rfactor;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::{Target, roof};
use sizes::{Sizes, Work};
use std::collections::BTreeSet;
use std::ops::Range;

/// Elements of a column, at least: fewer are as soon combined by one thread.
const FEWEST_ROWS: u64 = 8;
/// Results of a thread, at most, where it goes on with what it has read.
const MOST_RESULTS: u64 = 64;
/// Steps of a thread that stand behind each other, so that their reads are under way together.
const UNROLLED: u64 = UNDER_WAY;

/// Reductions side by side.
struct Columns {
    /// The axes along which they lie together.
    along: Range<usize>,
    /// The axis of results for which the same elements are read.
    again: Option<usize>,
    /// Columns read or written at once.
    lanes: u64,
    /// Bytes of an element.
    size: u64,
}

impl Columns {
    /// The parallel axes that are blocks.
    fn others(&self, rank: usize) -> Vec<AxisId> {
        (0..rank).filter(|a| !self.along.contains(a) && self.again != Some(*a)).collect()
    }
}

/// The kind.
pub struct InColumns;

impl Kind for InColumns {
    fn about(&self) -> About {
        About {
            name: "columns",
            matches: "a reduction across memory whose results lie side by side; vectors by matrices among them",
            knobs: SIZES,
            formula: "waves x (bytes of a block / rate of a core) or bytes / bandwidth; a launch that adds up parts",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = |nest: &Nest| {
            let columns = recognize(tree, nest)?;
            Some(OfNest { nest: *nest, work: work(tree, nest, &columns), columns })
        };
        all(kernel.nests.iter().filter_map(found))
    }
}

/// Knobs of columns.
const SIZES: &[(&str, &str)] = &[
    ("along", "threads side by side"),
    ("sharing", "threads that share a column"),
    ("parts", "parts of a column, each by a block of its own"),
];

struct OfNest {
    nest: Nest,
    columns: Columns,
    work: Work,
}

fn work(tree: &Schedule, nest: &Nest, columns: &Columns) -> Work {
    let s = &tree.stages[nest.reduction.unwrap_or(nest.stage)];
    let (rank, own) = (s.rank(), s.op_axes());
    let extent = |a: AxisId| s.axes[a].extent;
    Work {
        columns: columns.along.clone().map(extent).product(),
        rows: (rank..own).map(extent).product(),
        axis: extent(longest(tree, nest)),
        others: columns.others(rank).into_iter().map(extent).product(),
        lanes: columns.lanes,
        size: columns.size,
    }
}

/// The longest axis that is combined.
fn longest(tree: &Schedule, nest: &Nest) -> AxisId {
    let s = &tree.stages[nest.reduction.unwrap_or(nest.stage)];
    (s.rank()..s.op_axes()).max_by_key(|a| s.axes[*a].extent).unwrap_or(s.rank())
}

impl OfNest {
    fn seconds(&self, tree: &Schedule, sizes: &Sizes, target: &Target) -> Seconds {
        let operations: f64 = traffic::stages_of(&self.nest)
            .map(|stage| traffic::points(tree, stage) * traffic::operations_of_a_point(tree, stage))
            .sum();
        let arithmetic = operations / target.flops_of(target.cores).max(1.0);
        target.kernel_call + roof(arithmetic, self.work.time(sizes, target))
    }

    fn may_be_cut(&self, tree: &Schedule) -> bool {
        rfactor::may_be_factored(&tree.stages[self.nest.reduction.unwrap_or(self.nest.stage)])
    }
}

impl Match for OfNest {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        knobs(&self.work, self.may_be_cut(tree), kernel.target)
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let sizes = self.work.fitting(config, kernel.target)?;
        Some(self.seconds(tree, &sizes, kernel.target))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let sizes = self.work.sizes(self.may_be_cut(tree), kernel.target);
        Some((sizes.config(), self.seconds(tree, &sizes, kernel.target)))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let sizes = Sizes::of(config).ok_or("has columns without sizes")?;
        let (nest, columns) = (&self.nest, &self.columns);
        let reduction = nest.reduction.unwrap_or(nest.stage);
        if sizes.parts > 1
            && let Some(partial) = parts::of(writer, reduction, longest(&writer.tree, nest), sizes.parts)?
        {
            let own = Nest { stage: partial, reduction: None };
            write(writer, &own, columns, &Sizes { parts: 1, ..sizes })?;
            parts::apart(writer, partial)?;
            let last = Work { rows: sizes.parts, axis: 1, size: LANE_BYTES, ..self.work.clone() };
            return write(writer, nest, columns, &last.sizes(false, kernel.target));
        }
        write(writer, nest, columns, &sizes)
    }
}

/// The knobs of columns.
fn knobs(work: &Work, may_be_cut: bool, target: &Target) -> Vec<Knob> {
    let mut all = [const { Vec::new() }; 3];
    for sizes in work.possible(may_be_cut, target) {
        for (values, value) in all.iter_mut().zip(sizes.config()) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    all.into_iter().zip(SIZES).map(|(values, (name, _))| Knob { name, values }).collect()
}

/// The columns that a nest is of: each element is read once, and the stage goes on with each result where it lies.
fn recognize(tree: &Schedule, nest: &Nest) -> Option<Columns> {
    let reduction = nest.reduction.unwrap_or(nest.stage);
    let again = again(tree, reduction);
    let read_once = reads_once(tree, reduction) || again.is_some();
    if !read_once
        || !is_columns(tree, reduction)
        || (nest.stage != reduction && !goes_on(tree, nest.stage, reduction))
    {
        return None;
    }
    let all = BTreeSet::from_iter(0..tree.stages[reduction].rank());
    let own = together(tree, reduction, &all)?;
    let stages = [(reduction, own.clone()), (nest.stage, together(tree, nest.stage, &all)?)];
    let count = stages.iter().map(|(_, along)| along.len()).min()?;
    let along = own.end - count..own.end;
    let lanes = stages.iter().map(|(stage, _)| lanes_of(tree, *stage, &along)).min()?;
    let results = again.map_or(1, |a| tree.stages[reduction].axes[a].extent);
    let fits = !again.is_some_and(|a| along.contains(&a)) && results * lanes <= MOST_RESULTS;
    fits.then(|| Columns { along, again, lanes, size: bytes(tree, reduction) })
}

/// The axis of which all results take the same elements of an operand, which is read once otherwise: that of several vectors by a matrix.
fn again(tree: &Schedule, reduction: StageId) -> Option<usize> {
    let s = &tree.stages[reduction];
    let extents: Vec<u64> = s.axes[..s.op_axes()].iter().map(|a| a.extent).collect();
    let accesses = offsets(tree, reduction, None);
    let is_again = |axis: &usize| {
        let mut others = extents.clone();
        others[*axis] = 1;
        let once = |e: &Expr| !e.mentions(*axis) && differs_at_each_point(e, &others);
        extents[*axis] > 1 && accesses[1..].iter().flatten().any(once)
    };
    (0..s.rank()).find(is_again).filter(|_| !reads_once(tree, reduction))
}

/// True for a reduction of one result whose elements lie apart and are enough to be shared.
fn is_columns(tree: &Schedule, reduction: StageId) -> bool {
    let s = &tree.stages[reduction];
    let rows: u64 = s.axes[s.rank()..s.op_axes()].iter().map(|a| a.extent).product();
    s.is_reduction() && rows >= FEWEST_ROWS && s.op.result_values().len() == 1 && !fits_lanes(tree, reduction)
}

/// The last of the parallel axes, of those given, along which all that a stage reads and writes lies together. Axes of one element count
/// for nothing.
fn together(tree: &Schedule, stage: StageId, of: &BTreeSet<usize>) -> Option<Range<usize>> {
    let s = &tree.stages[stage];
    let extents: Vec<u64> = s.axes[..s.rank()].iter().map(|a| a.extent).collect();
    let end = (0..extents.len()).rev().find(|a| extents[*a] > 1)? + 1;
    let open = (0..end).rev().take_while(|a| of.contains(a) || extents[*a] == 1).count();
    let accesses = offsets(tree, stage, None);
    let goes_on =
        |n: &usize| along_fused(&accesses, &extents[..end], *n).iter().all(|c| matches!(c, Some(0 | 1)));
    (1..=open).rev().find(goes_on).map(|count| end - count..end)
}

/// Columns of a stage that are read or written at once.
fn lanes_of(tree: &Schedule, stage: StageId, along: &Range<usize>) -> u64 {
    let s = &tree.stages[stage];
    let extents: Vec<u64> = s.axes[..s.op_axes()].iter().map(|a| a.extent).collect();
    lanes::of(tree, stage, &offsets(tree, stage, None), &extents, along)
}

/// Bytes of the largest element that is read.
fn bytes(tree: &Schedule, reduction: StageId) -> u64 {
    let of_input = |o: &Operand| o.input.and_then(|i| tree.inputs.get(i).copied());
    let read = operands(tree, reduction).unwrap_or_default();
    let sizes = read.iter().filter_map(of_input).filter_map(tensor_type).map(|t| t.dtype.size() as u64);
    sizes.max().unwrap_or(LANE_BYTES)
}

/// True when a stage reads each result of a reduction where it stores its own.
fn goes_on(tree: &Schedule, stage: StageId, reduction: StageId) -> bool {
    let (axes, rank) = (&tree.stages[stage].axes, tree.stages[reduction].rank());
    let is_own = |(at, e): (usize, &Expr)| axes[at].extent == 1 || *e == Expr::var(at, axes[at].extent);
    let reads = operands(tree, stage).unwrap_or_default();
    let mut of_reduction = reads.iter().filter(|o| o.stage == Some(reduction)).peekable();
    tree.stages[stage].rank() == rank
        && of_reduction.peek().is_some()
        && of_reduction.all(|o| o.indices.iter().enumerate().all(is_own))
}

/// Writes the primitives of columns without parts.
fn write(writer: &mut Writer, nest: &Nest, columns: &Columns, sizes: &Sizes) -> Result<(), String> {
    let host = nest.stage;
    let sums = match nest.reduction {
        Some(reduction) => reduction,
        None => {
            let name = format!("columns_of_{}", writer.tree.stages[host].name);
            writer.cache_write(host, &name)?
        }
    };
    let rank = writer.tree.stages[host].rank();
    let along: Vec<AxisId> = columns.along.clone().collect();
    let others = columns.others(rank);
    let again: Vec<AxisId> = columns.again.into_iter().collect();
    let order = [others.as_slice(), &along, &again].concat();
    if order != writer.tree.stages[host].leaves {
        writer.reorder(host, &order)?;
    }
    let Some(column) = writer.fuse_all(host, &along)? else { return Ok(()) };
    let (block, mut thread) = writer.split_guarded(host, column, sizes.along * columns.lanes)?;
    if columns.lanes > 1 {
        let (outer, lane) = writer.split(host, thread, columns.lanes)?;
        if !again.is_empty() {
            writer.reorder(host, &[others.as_slice(), &[block, outer], &again, &[lane]].concat())?;
        }
        writer.vectorize(host, lane)?;
        thread = outer;
    }
    again.iter().try_for_each(|axis| writer.unroll(host, *axis))?;
    grid::along_x(writer, host, &[others.as_slice(), &[block]].concat())?;
    writer.bind(host, thread, LoopKind::ThreadX)?;
    writer.compute_at(sums, host, thread)?;
    share(writer, sums, (columns.along.end - 1, columns.lanes), sizes.sharing)?;
    again.iter().try_for_each(|axis| writer.unroll(sums, *axis))
}

/// The loops of a thread: its columns outside, along that axis so many at once, its share of the rows inside.
fn share(
    writer: &mut Writer,
    sums: StageId,
    (last, lanes): (AxisId, u64),
    sharing: u64,
) -> Result<(), String> {
    let (rank, own) = (writer.tree.stages[sums].rank(), writer.tree.stages[sums].op_axes());
    let accesses = offsets(&writer.tree, sums, None);
    let mut parallel: Vec<AxisId> = (0..rank).collect();
    let (outer, lane) = lanes::take(writer, sums, last, lanes)?;
    parallel[last] = outer;
    parallel.extend(lane);
    let rows = together_along_reduction(&writer.tree, sums, &accesses[1..]);
    let mut row: AxisId = own - rows;
    for next in own - rows + 1..own {
        row = writer.fuse(sums, row, next)?;
    }
    let mut reduced: Vec<AxisId> = (rank..own - rows).collect();
    let mut thread = None;
    if sharing > 1 {
        let (outer, inner) = writer.split_guarded(sums, row, sharing)?;
        (row, thread) = (outer, Some(inner));
    }
    let extent = writer.tree.stages[sums].axes[row].extent;
    if extent > UNROLLED && extent.is_multiple_of(UNROLLED) {
        let (outer, unrolled) = writer.split(sums, row, UNROLLED)?;
        writer.unroll(sums, unrolled)?;
        reduced.extend([outer, unrolled]);
    } else {
        reduced.push(row);
    }
    reduced.extend(thread);
    let order = [parallel, reduced].concat();
    if order != writer.tree.stages[sums].leaves {
        writer.reorder(sums, &order)?;
    }
    match thread {
        Some(thread) => writer.bind(sums, thread, LoopKind::ThreadY),
        None => Ok(()),
    }
}
