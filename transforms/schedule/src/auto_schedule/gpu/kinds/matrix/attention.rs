//! Attention with both products by matrix instructions: a tile of queries for each block, 64 keys at a time.
//!
//! ```text
//!   for io (block_y)                                                64 queries, all columns of the values
//!     for z, y (thread_z, thread_y)  for jt (thread_x)              8 warps of 32 threads, 4 of 64
//!       M, Z, O = online over c                                     registers
//!         for c                                                     64 keys at a time
//!           scaled[64, 64]  = q k'                                  shared; a fragment of each warp, scaled where it is
//!           largest[64], weights[64, 64], total[64]                 shared; a warp a row, weights as the instruction reads them
//!           values[64, columns] = weights v                         shared; a fragment of each warp
//!           M, Z, O         = what both are together                rescaled to the larger maximum
//!       y = O / Z
//! ```
//!
//! Where there is room, queries are copied once, and keys and values a chunk ahead of what is computed with them.
//!
//! The loops are those of `super::super::attention`, which multiplies by multiply-adds; tiles of queries, keys and values are copied as those
//! of other products are (Dao, "FlashAttention-2", 2023).

use super::super::attention::{self, Attention};
use super::super::contraction::Contraction;
use super::arrange::{fragment, sum_up, within_block};
use super::copies;
use super::{FEWEST, Product, Tile, best, step_of};
use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::gpu::grid;
use crate::auto_schedule::gpu::lanes::ACCESS_BYTES;
use crate::auto_schedule::gpu::launch::Launch;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::intrinsics::Facts;
use crate::layout::Align;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_machine::Target;

/// Numbers of a row in shared memory: its maximum and sum, of a chunk and of all.
const NUMBERS: u64 = 4;
/// Threads of a block.
const THREADS: u64 = 256;
/// Warps along the columns of both products.
const ALONG: u64 = 4;
/// Queries of a block, as many as there is memory for.
const QUERIES: [u64; 2] = [64, 32];
/// Chunks of keys and values that are in shared memory where one is copied ahead.
const SLOTS: u64 = 2;
/// Results that a thread has, at most: as many maxima and sums belong to them.
const MOST_RESULTS: u64 = 32;

/// A product of an attention, as an instruction computes it.
struct ByMatrices {
    /// Stages that are computed while they are copied.
    sources: Vec<StageId>,
    found: Contraction,
    facts: Facts,
    tile: Tile,
    step: u64,
}

/// What a block computes.
struct Block {
    scores: ByMatrices,
    values: ByMatrices,
    /// Queries.
    rows: u64,
    /// Elements of a query.
    width: u64,
    /// Columns of the result: whole tiles of all warps.
    columns: u64,
    warps: [u64; 2],
    lanes: u64,
    /// Whether the next chunk of keys and values is on its way while one is computed with, and queries stay where they are.
    ahead: bool,
}

impl Block {
    /// Rows and columns of the result that a thread has.
    fn each(&self) -> [u64; 2] {
        [self.rows / self.warps[0] / self.warps[1], self.columns / self.lanes]
    }

    /// Bytes of shared memory: scores and weighted values in f32, weights, numbers of rows, and the tiles of operands.
    fn shared_bytes(&self) -> u64 {
        let keys = self.scores.tile.columns;
        let size = self.scores.facts.dtype.size() as u64;
        let line = |n: u64| n * size + ACCESS_BYTES;
        let [scores, values] = match self.ahead {
            true => [self.width, keys],
            false => [&self.scores, &self.values].map(|p| p.step),
        };
        let slots = if self.ahead { SLOTS } else { 1 };
        let turned = slots * (self.columns * line(values)).max(values * line(self.columns));
        self.rows * (LANE_BYTES * (keys + self.columns + NUMBERS) + line(keys))
            + (self.rows + slots * keys) * line(scores)
            + turned
    }
}

/// The kind.
pub struct AttendsByMatrices;

impl Kind for AttendsByMatrices {
    fn about(&self) -> About {
        About {
            name: "attention-by-matrices",
            matches: "all nests of a kernel that is an attention whose products an instruction computes",
            knobs: &[
                ("queries", "queries of a block"),
                ("ahead", "1 where keys and values are copied a chunk ahead"),
            ],
            formula: "both products by matrix instructions, and what is between as in `attention`",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = || {
            let group = attention::find(tree, kernel.nests)?;
            let products = super::find(tree, kernel).ok()?;
            let blocks = blocks(tree, &group, &products, kernel.target);
            (!blocks.is_empty()).then_some(OfBlocks { group, blocks })
        };
        all(found())
    }
}

struct OfBlocks {
    group: Attention,
    /// The ways to compute it that there is room for, the best one first.
    blocks: Vec<Block>,
}

impl Match for OfBlocks {
    fn nests(&self) -> Vec<StageId> {
        self.group.nests()
    }

    fn copies(&self) -> Vec<StageId> {
        self.blocks.first().map_or(Vec::new(), |b| [b.scores.sources.as_slice(), &b.values.sources].concat())
    }

    fn space(&self, _tree: &Schedule, _kernel: &Kernel) -> Vec<Knob> {
        let values = |of: fn(&Block) -> i64| {
            let mut values: Vec<i64> = self.blocks.iter().map(of).collect();
            values.sort_unstable_by(|a, b| b.cmp(a));
            values.dedup();
            values
        };
        let knob = |name, of| Knob { name, values: values(of) };
        vec![knob("queries", |b: &Block| b.rows as i64), knob("ahead", |b: &Block| i64::from(b.ahead))]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let block = self.of(config)?;
        let (queries, columns) = self.group.extents(tree);
        let blocks = self.group.others(tree) * queries.div_ceil(block.rows);
        let launch = Launch::of(tree, kernel, &self.group.stages(), (blocks, THREADS));
        let fetched = launch.fetched * queries.div_ceil(block.rows) as f64;
        // What instructions multiply is no work of the other units.
        let of_stage = |stage| traffic::points(tree, stage) * traffic::operations_of_a_point(tree, stage);
        let operations = launch.operations - of_stage(self.group.product) - of_stage(self.group.values);
        let flops = kernel.target.matrix_flops_of(block.scores.facts.factors).max(1.0);
        let points = traffic::points(tree, self.group.product) + traffic::points(tree, self.group.values);
        let beyond = block.columns as f64 / columns.max(1) as f64;
        let waves = (blocks as f64 / kernel.target.cores.max(1) as f64).ceil();
        let multiply = 2.0 * points * beyond / blocks.max(1) as f64 * waves / flops;
        let [rows, columns] = block.each();
        Some(
            Launch { fetched, operations, ..launch }.in_lanes(rows * columns).seconds(kernel.target)
                + multiply,
        )
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let first = self.blocks.first()?;
        let config = vec![first.rows as i64, i64::from(first.ahead)];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, _kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let block = self.of(config).ok_or("has an attention of no block that there is room for")?;
        schedule(writer, &self.group, block)
    }
}

impl OfBlocks {
    fn of(&self, config: &[i64]) -> Option<&Block> {
        let &[rows, ahead] = config else { return None };
        self.blocks.iter().find(|b| (b.rows as i64, i64::from(b.ahead)) == (rows, ahead))
    }
}

/// How a block may compute an attention; not at all where its products are none of matrix instructions, or too large.
fn blocks(tree: &Schedule, group: &Attention, products: &[Product], target: &Target) -> Vec<Block> {
    let axes = |stage: StageId| &tree.stages[stage].axes;
    let rank = tree.stages[group.host].rank();
    let [queries, columns] = [rank - 2, rank - 1].map(|axis| axes(group.host)[axis].extent);
    let keys = axes(group.weights)[rank].extent;
    let make = |(rows, ahead): (u64, bool)| {
        let product = |stage: StageId, depth: u64, columns: u64| {
            let product = products.iter().find(|p| p.reduction == stage)?;
            let by_warps: Vec<Facts> = product.facts.iter().filter(|f| f.panels.is_none()).cloned().collect();
            let (found, facts) = best(tree, stage, &by_warps)?;
            let facts = facts.into_iter().min_by_key(|facts| facts.extents()[1])?;
            let [_, unit, lanes] = facts.extents();
            let warps = [THREADS / lanes / ALONG, ALONG];
            let tile = Tile { rows, columns: columns.next_multiple_of(unit * ALONG), warps };
            let sources = product.sources.clone();
            Some(ByMatrices { sources, found, step: step_of(&facts, depth), facts, tile })
        };
        let own = tree.stages[group.product].op_axes();
        let width = axes(group.product)[own - 1].extent;
        let (scores, values) = (product(group.product, width, keys)?, product(group.values, keys, columns)?);
        let (tile, lanes) = (values.tile, values.facts.extents()[2]);
        let columns = tile.columns;
        Some(Block { rows, width, columns, warps: tile.warps, lanes, ahead, scores, values })
    };
    let fits = |block: &Block| {
        let [rows, _, lanes] = block.scores.facts.extents();
        let [row, column] = block.each();
        let down = block.rows / block.warps[0];
        lanes == block.lanes
            && block.rows <= queries
            && block.columns == columns
            && block.scores.tile.columns == keys
            && down.is_multiple_of(rows)
            && (!block.ahead || block.width.is_multiple_of(block.scores.step))
            && block.columns.is_multiple_of(block.lanes)
            && row > 0
            && row * column <= MOST_RESULTS
            && keys.is_multiple_of(block.lanes)
            && block.shared_bytes() <= target.gpu.most_shared_bytes / if block.ahead { 2 } else { 1 }
    };
    let large = columns >= FEWEST && THREADS <= target.gpu.block_threads;
    // Copies that nobody waits for are worth their memory where two blocks still fit into a core.
    let ways = [true, false].into_iter().filter(|ahead| !ahead || target.gpu.copy_bytes > 0);
    let all = QUERIES.into_iter().flat_map(|rows| ways.clone().map(move |ahead| (rows, ahead)));
    all.filter(|_| large).filter_map(make).filter(fits).collect()
}

/// Writes the primitives.
fn schedule(writer: &mut Writer, group: &Attention, block: &Block) -> Result<(), String> {
    let sums = writer.cache_write(group.values, "sums_of_values")?;
    let (within, chunks) = results(writer, group, block)?;
    // Each before what it reads: all are computed at the same loop, the sums of values in that of the values.
    writer.compute_at(group.values, group.online, chunks)?;
    writer.set_scope(group.values, Scope::Shared)?;
    let chunk = (group.online, chunks, SLOTS);
    let copied = Copied { operand: 1, whole: block.ahead.then_some((chunk, block.scores.tile.columns)) };
    multiply(writer, (group.values, sums), &block.values, &[copied])?;
    let mut inside = [&[group.weights, group.scaled], group.rows.as_slice()].concat();
    inside.sort_unstable();
    for &stage in inside.iter().rev() {
        writer.compute_at(stage, group.online, chunks)?;
        writer.set_scope(stage, Scope::Shared)?;
    }
    copies::share(writer, group.weights, (block.warps, block.lanes), 1)?;
    let access = ACCESS_BYTES / block.values.facts.dtype.size() as u64;
    let dim = writer.tree.stages[group.weights].rank() - 1 - 2;
    writer.storage_align(group.weights, Align { dim, factor: 2 * access, offset: access })?;
    for &stage in &group.rows {
        by_rows(writer, stage, block)?;
    }
    let once = (group.host, within, 1);
    let copied = [(0, once), (1, chunk)].map(|(operand, place)| {
        let whole = block.ahead.then_some((place, block.width));
        Copied { operand, whole }
    });
    multiply(writer, (group.scaled, group.product), &block.scores, &copied)
}

/// Which thread has which of the results, and goes through chunks of keys with them; gives the loop over threads and the one over chunks.
fn results(writer: &mut Writer, group: &Attention, block: &Block) -> Result<(AxisId, AxisId), String> {
    let rank = writer.tree.stages[group.host].rank();
    let lead: Vec<AxisId> = (0..rank - 2).collect();
    let (row, column) = (rank - 2, rank - 1);
    let [own_rows, own_columns] = block.each();
    let (io, ii) = writer.split_guarded(group.host, row, block.rows)?;
    let (jo, ji) = writer.split_guarded(group.host, column, block.columns)?;
    let (z, ii) = writer.split(group.host, ii, block.rows / block.warps[0])?;
    let (y, iu) = writer.split(group.host, ii, own_rows)?;
    let (x, ju) = writer.split(group.host, ji, own_columns)?;
    writer.reorder(group.host, &[lead.as_slice(), &[io, jo, z, y, x, iu, ju]].concat())?;
    grid::bind(writer, group.host, &lead, [io, jo])?;
    let bound = [LoopKind::ThreadZ, LoopKind::ThreadY, LoopKind::ThreadX];
    for (axis, kind) in [z, y, x].into_iter().zip(bound) {
        writer.bind(group.host, axis, kind)?;
    }
    writer.unroll(group.host, iu)?;
    writer.unroll(group.host, ju)?;
    writer.compute_at(group.online, group.host, x)?;
    let chunks = rank;
    let (ro, ri) = writer.split(group.online, row, own_rows)?;
    let (co, ci) = writer.split(group.online, column, own_columns)?;
    writer.reorder(group.online, &[lead.as_slice(), &[ro, co, chunks, ri, ci]].concat())?;
    writer.unroll(group.online, ri)?;
    writer.unroll(group.online, ci)?;
    Ok((x, chunks))
}

/// A number of each row, which a warp computes together.
fn by_rows(writer: &mut Writer, stage: StageId, block: &Block) -> Result<(), String> {
    let rank = writer.tree.stages[stage].rank();
    let (z, inside) = writer.split(stage, rank - 2, block.rows / block.warps[0])?;
    let (y, _) = writer.split(stage, inside, block.each()[0])?;
    let (_, x) = writer.split(stage, rank, block.lanes)?;
    for (axis, kind) in [(z, LoopKind::ThreadZ), (y, LoopKind::ThreadY), (x, LoopKind::ThreadX)] {
        writer.bind(stage, axis, kind)?;
    }
    Ok(())
}

/// An operand that is copied: what a step of its product reads, or all of it, of so many steps, at a loop of another stage in so many slots.
struct Copied {
    operand: usize,
    whole: Option<((StageId, AxisId, u64), u64)>,
}

/// One of the products: a stage in shared memory, whose sums are a fragment, and copies of some of the operands.
fn multiply(
    writer: &mut Writer,
    (host, sums): (StageId, StageId),
    by: &ByMatrices,
    copied: &[Copied],
) -> Result<(), String> {
    let both = (&by.found, &by.facts);
    let rank = writer.tree.stages[host].rank();
    let others: Vec<AxisId> = (0..rank).filter(|a| *a != by.found.row && *a != by.found.column).collect();
    let at =
        within_block(writer, host, &by.facts, (&others, [by.found.row, by.found.column]), (by.tile, true))?;
    writer.compute_at(sums, host, at)?;
    writer.set_scope(sums, Scope::Fragment)?;
    let layout = fragment(&writer.tree, sums, both)?;
    writer.transform_layout(Handle::Stage(sums), layout)?;
    let (at, instruction) = sum_up(writer, sums, both, (by.tile, by.step))?;
    for Copied { operand, whole } in copied {
        let own = (&by.found, &by.facts, by.sources.as_slice());
        let ((stage, at, slots), step) = whole.unwrap_or(((sums, at, 1), by.step));
        let copy = copies::copy(writer, sums, (stage, at), own, (*operand, by.tile, step))?;
        if slots > 1 {
            writer.double_buffer(copy, slots)?;
        }
    }
    writer.tensorize(sums, instruction, &by.facts.name)
}
