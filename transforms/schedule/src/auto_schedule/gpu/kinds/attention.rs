//! Attention: a tile of queries for each block, keys and values some at a time through shared memory, nothing else in memory.
//!
//! ```text
//!   for io (block_y)  for jo (block_x)                          64 queries x 64 columns of the values
//!     for it (thread_y)  for jt (thread_x)                      16 x 16 threads, 4 x 4 results each
//!       M, Z, O = online over c                                 registers
//!         for c                                                 64 keys at a time
//!           scaled[64, 64]  = q k'                              shared; 4 x 4 a thread, q and k by 16 columns in shared memory
//!           largest[64], weights[64, 64], total[64]             shared; 16 threads a row
//!           values          = weights v                         4 x 4 a thread, v by 16 keys in shared memory
//!           M, Z, O         = what both are together            rescaled to the larger maximum
//!       y = O / Z
//! ```
//!
//! The stages are those of `online_attention` in `relay_to_te/definitions`; they are recognized by what reads what: a reduction of
//! three results that only the host reads, each of them of one reduction, all of which follow from one product (Dao et al.,
//! "FlashAttention", 2022; "FlashAttention-2", 2023, for the order of the loops).

use crate::auto_schedule::gpu::launch::Launch;
use crate::auto_schedule::gpu::{grid, shared};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::OpExt;
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_machine::Target;

/// Results of the online reduction: maximum, sum and values.
const ONLINE: usize = 3;
/// Numbers of a row in shared memory: its maximum and sum, of a chunk and of all.
const NUMBERS: u64 = 4;
/// Threads of a block along both axes.
const THREADS: u64 = 16;
/// Columns of queries and keys, and rows of values, that are in shared memory at a time; fewer rows of wide values.
const STEP: u64 = 16;
/// Rows of a tile that a thread computes, at most.
const ROWS: u64 = 4;
/// Columns of a tile that a thread computes, at most.
const COLUMNS: u64 = 8;

/// The stages of an attention.
pub struct Attention {
    /// The stage that divides what was summed up.
    pub host: StageId,
    /// Maximum, sum and result so far.
    pub online: StageId,
    /// The scores with scale and bias.
    pub scaled: StageId,
    /// The product in them.
    pub product: StageId,
    /// Maxima and sums of rows.
    pub rows: Vec<StageId>,
    /// Exponentials.
    pub weights: StageId,
    /// The product of weights and values.
    pub values: StageId,
    factors: [Operand; 2],
    columns: Operand,
}

/// The attention that a kernel is, if it is one.
pub fn find(tree: &Schedule, nests: &[Nest]) -> Option<Attention> {
    let host = nests.last().filter(|n| n.reduction.is_none() && !tree.stages[n.stage].is_reduction())?.stage;
    let rank = tree.stages[host].rank();
    let extents = |stage: StageId| -> Vec<u64> {
        let s = &tree.stages[stage];
        s.axes[..s.op_axes()].iter().map(|a| a.extent).collect()
    };
    let reduces = |stage: StageId, rank: usize| {
        let s = &tree.stages[stage];
        s.is_reduction() && s.rank() == rank && s.op_axes() == rank + 1
    };
    let is_online = |n: &&Nest| {
        n.reduction.is_none()
            && reduces(n.stage, rank)
            && tree.stages[n.stage].op.result_values().len() == ONLINE
            && tree.readers(n.stage) == [host]
    };
    let online = nests.iter().find(is_online)?.stage;
    let same = extents(online)[..rank] == extents(host)[..];
    let mut rest: Vec<&Nest> = nests.iter().filter(|n| n.stage != host && n.stage != online).collect();
    let product = rest.iter().position(|n| n.reduction.is_some())?;
    let product = rest.remove(product);
    let (scaled, product) = (product.stage, product.reduction?);
    let values = rest.iter().position(|n| reduces(n.stage, rank + 1))?;
    let values = rest.remove(values).stage;
    let weights = rest.iter().position(|n| !tree.stages[n.stage].is_reduction())?;
    let weights = rest.remove(weights).stage;
    let rows: Vec<StageId> = rest.iter().map(|n| n.stage).collect();
    let inside = [&[online, scaled, values, weights], rows.as_slice()].concat();
    let alone = inside.iter().all(|s| {
        !tree.results.contains(s) && tree.readers(*s).iter().all(|r| *r == host || inside.contains(r))
    });
    let [first, second]: [Operand; 2] = operands(tree, product)?.try_into().ok()?;
    let columns = operands(tree, values)?.into_iter().find(|o| o.stage != Some(weights))?;
    let fits = tree.results.contains(&host)
        && same
        && rank >= 2
        && rows.len() == 2
        && rows.iter().all(|r| reduces(*r, rank))
        && [scaled, weights].iter().all(|s| tree.stages[*s].rank() == rank + 1)
        && tree.stages[product].rank() == rank + 1
        && extents(host)[rank - 2..].iter().all(|n| *n >= THREADS)
        && extents(weights)[rank].is_multiple_of(THREADS);
    (fits && alone).then_some(Attention {
        host,
        online,
        scaled,
        product,
        rows,
        weights,
        values,
        factors: [first, second],
        columns,
    })
}

/// The kind.
pub struct Attends;

impl Kind for Attends {
    fn about(&self) -> About {
        About {
            name: "attention",
            matches: "all nests of a kernel that is an attention",
            knobs: &[("rows", "rows of scores that a thread computes")],
            formula: "multiply-adds of both products and what is between; queries, keys and values once a block",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(find(tree, kernel.nests).map(|group| ByMultiplyAdds { group }))
    }
}

struct ByMultiplyAdds {
    group: Attention,
}

impl Match for ByMultiplyAdds {
    fn nests(&self) -> Vec<StageId> {
        self.group.nests()
    }

    fn space(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let rows = self.rows(tree, kernel.target).map(|rows| rows as i64).collect();
        vec![Knob { name: "rows", values: rows }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let rows = (*config.first()?).max(1) as u64;
        let (queries, columns) = self.group.extents(tree);
        let columns_of_thread = most(columns, COLUMNS);
        let down = queries.div_ceil(THREADS * rows);
        let blocks = self.group.others(tree) * down * columns.div_ceil(THREADS * columns_of_thread);
        let launch = Launch::of(tree, kernel, &self.group.stages(), (blocks, THREADS * THREADS));
        let launch = Launch { fetched: launch.fetched * down as f64, ..launch };
        Some(launch.in_lanes(rows * columns_of_thread).seconds(kernel.target))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let config = vec![self.rows(tree, kernel.target).next()? as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, _kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        schedule(writer, &self.group, config.first().map_or(1, |rows| (*rows).max(1) as u64))
    }
}

impl ByMultiplyAdds {
    /// Rows that a thread may compute, the most first: those of which shared memory has room, or one.
    fn rows(&self, tree: &Schedule, target: &Target) -> impl Iterator<Item = u64> {
        let group = &self.group;
        let rank = tree.stages[group.host].rank();
        let keys = tree.stages[group.weights].axes[rank].extent;
        let first = most(group.extents(tree).0, ROWS);
        let halves = std::iter::successors(Some(first), |n| Some(n / 2).filter(|n| *n > 0));
        let fits =
            move |rows: &u64| *rows == 1 || shared_bytes(tree, group, *rows, keys) <= target.gpu.shared_bytes;
        halves.filter(fits)
    }
}

impl Attention {
    /// The stages with loops of their own.
    pub fn nests(&self) -> Vec<StageId> {
        let others = [self.online, self.scaled, self.weights, self.values, self.host];
        self.rows.iter().copied().chain(others).collect()
    }

    /// All stages.
    pub fn stages(&self) -> Vec<StageId> {
        [self.nests(), vec![self.product]].concat()
    }

    /// Queries, and columns of the values.
    pub fn extents(&self, tree: &Schedule) -> (u64, u64) {
        let s = &tree.stages[self.host];
        (s.axes[s.rank() - 2].extent, s.axes[s.rank() - 1].extent)
    }

    /// How many attentions there are beside each other.
    pub fn others(&self, tree: &Schedule) -> u64 {
        let s = &tree.stages[self.host];
        s.axes[..s.rank() - 2].iter().map(|axis| axis.extent).product()
    }
}

/// Rows or columns that a thread has of so many: a power of two.
fn most(extent: u64, most: u64) -> u64 {
    most.min(1 << (extent / THREADS).max(1).ilog2())
}

/// Writes the primitives.
fn schedule(writer: &mut Writer, group: &Attention, rows: u64) -> Result<(), String> {
    let rank = writer.tree.stages[group.host].rank();
    let lead: Vec<AxisId> = (0..rank - 2).collect();
    let (row, column) = (rank - 2, rank - 1);
    let columns = most(group.extents(&writer.tree).1, COLUMNS);

    let (io, ii) = writer.split_guarded(group.host, row, THREADS * rows)?;
    let (jo, ji) = writer.split_guarded(group.host, column, THREADS * columns)?;
    let (it, iu) = writer.split(group.host, ii, rows)?;
    let (jt, ju) = writer.split(group.host, ji, columns)?;
    writer.reorder(group.host, &[lead.as_slice(), &[io, jo, it, jt, iu, ju]].concat())?;
    grid::bind(writer, group.host, &lead, [io, jo])?;
    writer.bind(group.host, it, LoopKind::ThreadY)?;
    writer.bind(group.host, jt, LoopKind::ThreadX)?;
    writer.unroll(group.host, iu)?;
    writer.unroll(group.host, ju)?;
    writer.compute_at(group.online, group.host, jt)?;

    let chunks = rank;
    let (ro, ri) = writer.split(group.online, row, rows)?;
    let (co, ci) = writer.split(group.online, column, columns)?;
    writer.reorder(group.online, &[lead.as_slice(), &[ro, co, chunks, ri, ci]].concat())?;
    writer.unroll(group.online, ri)?;
    writer.unroll(group.online, ci)?;

    // Each before what it reads: all are computed at the same loop.
    let mut inside = [&[group.values, group.weights, group.scaled], group.rows.as_slice()].concat();
    inside.sort_unstable();
    for &stage in inside.iter().rev() {
        writer.compute_at(stage, group.online, chunks)?;
        if stage != group.values {
            writer.set_scope(stage, Scope::Shared)?;
        }
    }
    weighted_values(writer, group, rows, columns)?;
    shared::together(writer, group.weights, 1, [THREADS; 2])?;
    for &stage in &group.rows {
        let (outer, _) = writer.split(stage, row, rows)?;
        let (_, along) = writer.split(stage, rank, THREADS)?;
        writer.bind(stage, outer, LoopKind::ThreadY)?;
        writer.bind(stage, along, LoopKind::ThreadX)?;
    }
    scores(writer, group, rows)
}

/// Bytes of shared memory that a block takes with so many rows a thread: twice the scores, one number of a row four times (sums across
/// threads have room of their own), and the three tiles of operands.
fn shared_bytes(tree: &Schedule, group: &Attention, rows: u64, keys: u64) -> u64 {
    let element = traffic::element_bytes(tree, group.scaled) as u64;
    let rows = THREADS * rows;
    element * (2 * rows * keys + NUMBERS * rows + STEP * (rows + keys) + STEP * THREADS * ROWS)
}

/// The product of queries and keys, with what is done to it: rows and columns for each thread.
fn scores(writer: &mut Writer, group: &Attention, rows: u64) -> Result<(), String> {
    let last = writer.tree.stages[group.scaled].rank() - 1;
    let row = last - 2;
    let lead: Vec<AxisId> = (0..row).collect();
    let columns = writer.tree.stages[group.scaled].axes[last].extent / THREADS;
    let (it, iu) = writer.split(group.scaled, row, rows)?;
    let (jt, ju) = writer.split(group.scaled, last, columns)?;
    writer.reorder(group.scaled, &[lead.as_slice(), &[it, last - 1, jt, iu, ju]].concat())?;
    writer.bind(group.scaled, it, LoopKind::ThreadY)?;
    writer.bind(group.scaled, jt, LoopKind::ThreadX)?;
    writer.unroll(group.scaled, iu)?;
    writer.unroll(group.scaled, ju)?;
    writer.compute_at(group.product, group.scaled, jt)?;
    let own = writer.tree.stages[group.product].op_axes();
    let tile = Tile {
        stage: group.product,
        step: STEP,
        depth: own - 1,
        row,
        rows,
        column: last,
        columns,
        outside: last - 1,
    };
    for (operand, name) in group.factors.iter().zip(["queries", "keys"]) {
        tile.stage_operand(writer, operand, name)?;
    }
    Ok(())
}

/// The product of weights and values.
fn weighted_values(writer: &mut Writer, group: &Attention, rows: u64, columns: u64) -> Result<(), String> {
    let rank = writer.tree.stages[group.values].rank();
    let outside = rank - 2;
    let tile = Tile {
        stage: group.values,
        // As many elements for all widths of the tile.
        step: (STEP * ROWS / columns).min(STEP),
        depth: rank,
        row: outside - 1,
        rows,
        column: rank - 1,
        columns,
        outside,
    };
    tile.stage_operand(writer, &group.columns, "columns")
}

/// What a thread computes of a product.
struct Tile {
    stage: StageId,
    /// Elements of the reduction for which operands are copied at a time.
    step: u64,
    depth: AxisId,
    row: AxisId,
    rows: u64,
    column: AxisId,
    columns: u64,
    /// The axis of chunks, one of which is computed.
    outside: AxisId,
}

impl Tile {
    /// Has an operand copied for some steps of the reduction at a time, which is arranged when the first one is.
    fn stage_operand(&self, writer: &mut Writer, operand: &Operand, name: &str) -> Result<(), String> {
        let at = match writer.tree.stages[self.stage].relations.is_empty() {
            true => self.arrange(writer)?,
            false => self.steps(writer),
        };
        let Some(source) = operand.handle() else { return Ok(()) };
        let name = format!("{name}_of_{}", writer.tree.stages[self.stage].name);
        let copy = writer.cache_read(source, &name, (operand.reader, operand.read))?;
        writer.compute_at(copy, self.stage, at)?;
        writer.set_scope(copy, Scope::Shared)?;
        shared::together(writer, copy, 1, [THREADS; 2])
    }

    /// The loop over steps: the reduction loop that comes first.
    fn steps(&self, writer: &Writer) -> AxisId {
        let s = &writer.tree.stages[self.stage];
        s.leaves.iter().copied().find(|&l| s.axes[l].reduce).unwrap_or(self.depth)
    }

    fn arrange(&self, writer: &mut Writer) -> Result<AxisId, String> {
        let lead: Vec<AxisId> = (0..self.row).collect();
        let extent = writer.tree.stages[self.stage].axes[self.depth].extent;
        let (ko, ki) = writer.split(self.stage, self.depth, self.step.min(extent))?;
        let (ro, ri) = writer.split(self.stage, self.row, self.rows)?;
        let (co, ci) = writer.split(self.stage, self.column, self.columns)?;
        writer.reorder(self.stage, &[lead.as_slice(), &[ro, self.outside, co, ko, ki, ri, ci]].concat())?;
        writer.unroll(self.stage, ri)?;
        writer.unroll(self.stage, ci)?;
        Ok(ko)
    }
}
