//! Contractions: a tile of the result for each block, the operands' parts of it in shared memory.
//!
//! ```text
//!   for i, j  c[i, j] = sum_k  a[i, k] * b[k, j]
//!
//!   for io (block_y)  for jo (block_x)                64 x 64 results a block
//!     for it (thread_y)  for jt (thread_x)            16 x 16 threads, 4 x 4 results each, in registers
//!       for ko                                        steps of 16
//!         as = a[io, ko], bs = b[ko, jo]              all threads copy: coalesced, each element once a block
//!         for ki  for iu, ju (unrolled)  c += as[..] * bs[..]
//! ```
//!
//! The copies are in vectors, padded, and some steps ahead of the products (`shared`). Where there are fewer tiles than cores, long
//! reductions are cut into `parts`.
//!
//! Each element of shared memory is used 64 times, each register four (Volkov and Demmel, "Benchmarking GPUs to Tune Dense Linear
//! Algebra", 2008). `i` is an axis that only one operand varies along, `j` one of the other alone, `k` one of both; further axes
//! of the result are more blocks. What a window reads (a convolution) is a region a little larger than the tile.

mod kind;

use crate::auto_schedule::gpu::{grid, shared};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::parts;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Target;
pub use kind::Products;

/// Threads of a block along both axes.
const THREADS: u64 = 16;

/// Results of a block's tile that a thread computes, along both axes.
#[derive(Clone, Copy)]
struct Tile {
    rows: u64,
    columns: u64,
}

impl Tile {
    /// How many there are of a result of that shape.
    fn blocks(&self, m: u64, n: u64) -> u64 {
        m.div_ceil(THREADS * self.rows) * n.div_ceil(THREADS * self.columns)
    }
}

/// The tiles there are, those with the most reuse first.
#[rustfmt::skip]
const TILES: [Tile; 10] = [
    Tile { rows: 8, columns: 8 },
    Tile { rows: 4, columns: 4 }, Tile { rows: 2, columns: 4 }, Tile { rows: 4, columns: 2 },
    Tile { rows: 2, columns: 2 }, Tile { rows: 1, columns: 4 }, Tile { rows: 4, columns: 1 },
    Tile { rows: 1, columns: 2 }, Tile { rows: 2, columns: 1 },
    Tile { rows: 1, columns: 1 },
];
/// Elements of the reduction for which operands are copied at a time: about so many, or fewer where their tiles are large.
const STEPS: [u64; 5] = [16, 8, 4, 2, 1];
/// What parts of a reduction are multiples of.
const STEP: u64 = STEPS[0];
/// Elements of the reduction whose products stand behind each other, and columns that are multiplied at once, so that operands are read
/// in vectors of them.
const UNROLLED: u64 = 4;
/// Results of a thread, of which each operand is used too seldom if there are fewer.
const FEWEST_RESULTS: u64 = 8;
/// Elements of the reduction that a block has at least where it has only a part of them.
const FEWEST_OF_A_PART: u64 = 256;
/// Reductions of fewer elements leave nothing to reuse.
const FEWEST_STEPS: u64 = 16;
/// Extents below this are no tile.
const FEWEST: u64 = THREADS;

/// What is to be scheduled.
pub struct Contraction {
    /// The axis that the first operand varies along alone.
    pub row: usize,
    /// That of the second, further in.
    pub column: usize,
    /// The longest axis that is summed up.
    pub depth: AxisId,
    /// What is multiplied.
    pub operands: [Operand; 2],
}

/// The largest tile of which there are enough for all cores, and that wastes little beyond the end. Where each would be small, there
/// are enough if each computes a part of the reduction.
fn tile(m: u64, n: u64, (others, depth): (u64, u64), target: &Target) -> Option<Tile> {
    let blocks = |t: &Tile| t.blocks(m, n) * others;
    // A tile beyond both ends would have fewer threads compute than copy.
    let fits = |t: &&Tile| THREADS * t.rows <= m && THREADS * t.columns <= n;
    let enough = |t: &&Tile| blocks(t) >= target.cores && t.rows * t.columns >= FEWEST_RESULTS;
    let in_parts = |t: &&Tile| {
        let all = blocks(t);
        all * parts(depth, all, target).unwrap_or(1) >= target.cores
    };
    let find = |good: &dyn Fn(&&Tile) -> bool| TILES.iter().filter(fits).find(good);
    find(&enough).or_else(|| find(&in_parts)).or_else(|| TILES.iter().rev().find(fits)).copied()
}

/// The number of parts of a reduction for that many tiles, where it is cut into some.
fn parts(depth: u64, blocks: u64, target: &Target) -> Option<u64> {
    parts::number(depth, blocks, target.cores, (FEWEST_OF_A_PART, STEP))
}

/// A sum of products over an axis of both operands, in a stage with an epilogue of the same axes.
pub fn recognize(tree: &Schedule, stage: StageId, reduction: StageId) -> Option<Contraction> {
    let s = &tree.stages[reduction];
    let (rank, own) = (s.rank(), s.op_axes());
    let dtype = s.op.result_values().first().copied().and_then(tensor_type)?.dtype;
    // The epilogue has the axes of the reduction, one for one.
    if !s.is_reduction()
        || tree.stages[stage].rank() != rank
        || !dtype.is_float()
        || s.op.result_values().len() != 1
    {
        return None;
    }
    let extent = |a: usize| s.axes[a].extent;
    let same = (0..rank).all(|a| tree.stages[stage].axes[a].extent == extent(a));
    let [first, second]: [Operand; 2] = operands(tree, reduction)?.try_into().ok()?;
    let alone = |a: &Operand, b: &Operand| {
        (0..rank).filter(|&i| a.mentions(i) && !b.mentions(i)).max_by_key(|&i| (extent(i) >= FEWEST, i))
    };
    let depth =
        (rank..own).filter(|&k| first.mentions(k) && second.mentions(k)).max_by_key(|&k| extent(k))?;
    let (x, y) = (alone(&first, &second)?, alone(&second, &first)?);
    let total: u64 = (rank..own).map(extent).product();
    // Columns go along memory.
    let (row, column, operands) = if x > y { (y, x, [second, first]) } else { (x, y, [first, second]) };
    let large = extent(row) >= FEWEST && extent(column) >= FEWEST && total >= FEWEST_STEPS;
    (same && large).then_some(Contraction { row, column, depth, operands })
}

fn write(
    writer: &mut Writer,
    nest: &Nest,
    reduction: StageId,
    (found, tile): (&Contraction, Tile),
    target: &Target,
) -> Result<(), String> {
    let host = nest.stage;
    // Without an epilogue the tile of a thread is computed beside the stage, and copied to it at the end.
    let sums = match nest.reduction {
        Some(reduction) => reduction,
        None => {
            let name = format!("sums_of_{}", writer.tree.stages[host].name);
            writer.cache_write(host, &name)?
        }
    };
    let rank = writer.tree.stages[host].rank();
    let others: Vec<AxisId> = (0..rank).filter(|a| *a != found.row && *a != found.column).collect();
    let (io, ii) = writer.split_guarded(host, found.row, THREADS * tile.rows)?;
    let (jo, ji) = writer.split_guarded(host, found.column, THREADS * tile.columns)?;
    let (it, iu) = writer.split(host, ii, tile.rows)?;
    let (jt, ju) = writer.split(host, ji, tile.columns)?;
    let order = [others.as_slice(), &[io, jo, it, jt, iu, ju]].concat();
    writer.reorder(host, &order)?;
    grid::bind(writer, host, &others, [io, jo])?;
    writer.bind(host, it, LoopKind::ThreadY)?;
    writer.bind(host, jt, LoopKind::ThreadX)?;
    writer.unroll(host, iu)?;
    writer.unroll(host, ju)?;
    writer.compute_at(sums, host, jt)?;

    let own = writer.tree.stages[sums].op_axes();
    let rest: Vec<AxisId> = (rank..own).filter(|k| *k != found.depth).collect();
    let (step, tiles, slots) = steps(writer, sums, found, tile, target);
    let (ko, ki) = writer.split(sums, found.depth, step)?;
    let mut inner = vec![ki];
    if step.is_multiple_of(UNROLLED) {
        let (outer, unrolled) = writer.split(sums, ki, UNROLLED)?;
        writer.unroll(sums, unrolled)?;
        inner = vec![outer, unrolled];
    }
    // One block of each: what a thread computes of the sums are its own rows and columns.
    let (ro, ri) = writer.split(sums, found.row, tile.rows)?;
    let (co, ci) = writer.split(sums, found.column, tile.columns)?;
    // Columns that lie together are multiplied, and read, in vectors.
    let along = found.operands[1].indices.last().and_then(Expr::as_variable);
    let mut columns = vec![ci];
    if along.is_some_and(|v| v.id == found.column) && tile.columns.is_multiple_of(UNROLLED) {
        let (outer, vector) = writer.split(sums, ci, UNROLLED)?;
        writer.vectorize(sums, vector)?;
        columns = vec![outer, vector];
    }
    let order = [others.as_slice(), &[ro, co, ko], &rest, &inner, &[ri], &columns].concat();
    writer.reorder(sums, &order)?;
    writer.unroll(sums, ri)?;
    writer.unroll(sums, columns[0])?;
    for ((operand, tile), name) in found.operands.iter().zip(&tiles).zip(["rows", "columns"]) {
        let Some(source) = operand.handle() else { continue };
        let name = format!("{name}_of_{}", writer.tree.stages[sums].name);
        let reader = if operand.reader == reduction { sums } else { operand.reader };
        let read = (reader, operand.read);
        shared::share(writer, (source, &name), read, (sums, ko), (tile, slots), [THREADS; 2])?;
    }
    Ok(())
}

/// Elements of the reduction at a time, the tiles of both operands then, and how many of each there are: fewer elements where tiles of
/// more do not fit, or would only fit once where they could take turns.
fn steps(
    writer: &Writer,
    sums: StageId,
    found: &Contraction,
    tile: Tile,
    target: &Target,
) -> (u64, [shared::Tile; 2], u64) {
    let axes = &writer.tree.stages[sums].axes;
    let (rank, own) = (writer.tree.stages[sums].rank(), writer.tree.stages[sums].op_axes());
    let extent = axes[found.depth].extent;
    let with = |near: u64| {
        let step = step(extent, near);
        let of_block = |axis: AxisId| match axis {
            a if a == found.row => THREADS * tile.rows,
            a if a == found.column => THREADS * tile.columns,
            a if a == found.depth => step,
            a if a < rank => 1,
            a => axes[a].extent,
        };
        let block = shared::Block {
            extents: (0..own).map(of_block).collect(),
            together: [(found.row, tile.rows), (found.column, tile.columns)],
        };
        let tiles = [0, 1].map(|i| shared::tile(writer, &found.operands[i], &block, target));
        let slots = shared::slots(&tiles, extent / step, extent.is_multiple_of(step), target);
        (step, tiles, slots)
    };
    let mut all: Vec<_> = STEPS.into_iter().map(with).collect();
    let ahead = all[..2].iter().position(|(_, _, slots)| *slots > 1);
    let fits = || all.iter().position(|(_, tiles, _)| shared::fit(tiles, target));
    let chosen = ahead.or_else(fits).unwrap_or(all.len() - 1);
    all.swap_remove(chosen)
}

/// Elements of the reduction at a time: a number near to that one that leaves nothing over, better one of whole vectors.
fn step(extent: u64, near: u64) -> u64 {
    if extent <= near {
        return extent;
    }
    let divides = (near.div_ceil(2)..=2 * near).filter(|n| extent.is_multiple_of(*n));
    divides.min_by_key(|n| (!n.is_multiple_of(UNROLLED), n.abs_diff(near))).unwrap_or(near)
}
