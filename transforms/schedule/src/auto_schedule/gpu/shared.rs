//! Tiles of operands in shared memory: copied by all threads of a block, 16 bytes at a time, without conflicts of banks, ahead of
//! what uses them.
//!
//! ```text
//!   tile[i, k] = x[..]     =>     for f (of i, k / 4) / 256  for 16 (thread_y)  for 16 (thread_x)  for 4 (vectorized)
//! ```
//!
//! *Vectors.* As many elements as an access has (`vector_bytes`) where the tile goes on along memory in steps of that many: then
//! neighbouring threads read neighbouring vectors (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory").
//!
//! *Banks.* Shared memory has 32 banks of 4 bytes; an access of 16 bytes is served for 8 threads at a time (the same guide,
//! "Shared Memory and Memory Banks"). Where neighbouring threads read `d` bytes apart, thread `t` of the 8 begins at bank `t d/4 mod 32`:
//! they are all different where `d / 16` is odd. So what a thread reads (`c` rows or columns together) is padded to an odd multiple of
//! 16 bytes, which also keeps vectors aligned; a xor of rows and columns (a swizzle) would save the memory, 16 bytes for `c` rows.
//!
//! *Slots.* Three where the target copies asynchronously (two steps are on their way while one is used), else two, where the next
//! step goes through registers; as many as half of the shared memory holds, so that two blocks fit into a core.

use super::super::operands::Operand;
use super::super::writer::Writer;
use crate::layout::{Align, Digit, Layout};
use crate::schedule::{AxisId, Handle, StageId};
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Target;
use fusion_operators::DType;

/// Elements of an access, at most.
const MOST_LANES: u64 = 16;
/// Slots where copies are asynchronous: two steps are on their way while one is used.
const AHEAD_OF_COPIES: u64 = 3;
/// Bytes of the largest access; neighbours are an odd number of them apart.
const ACCESS_BYTES: u64 = 16;
/// Steps of a reduction below which there is nothing to run ahead of.
const FEWEST_STEPS: u64 = 4;

/// What a block computes at a step: for each axis of a contraction, how many iterations, and how many of them a thread has
/// together.
pub struct Block {
    /// Iterations of a block, of each axis.
    pub extents: Vec<u64>,
    /// Rows and columns of which threads have several: the axis, and how many.
    pub together: [(usize, u64); 2],
}

/// A tile of an operand.
pub struct Tile {
    /// Elements of the largest access that fits everywhere.
    lanes: u64,
    /// The order in memory.
    layout: Layout,
    /// The distance that was asked for.
    align: Option<Align>,
    /// Whether a thread's rows are put together.
    grouped: bool,
    bytes: u64,
}

/// How a tile of an operand is kept.
pub fn tile(writer: &Writer, operand: &Operand, block: &Block, target: &Target) -> Tile {
    let dtype = dtype_of(writer, operand);
    let size = dtype.size().max(1) as u64;
    let axis_of = |d: usize| match operand.indices[d].as_variable() {
        Some(v) if operand.shape[d] == v.extent => Some(v.id),
        _ => None,
    };
    let shape: Vec<u64> =
        operand.indices.iter().zip(&operand.shape).map(|(e, n)| span(e, &block.extents).min(*n)).collect();
    let rank = shape.len();
    let whole = |n: &u64| {
        let fits = |extents: &[u64]| extents.last().is_some_and(|e| e.is_multiple_of(*n));
        let even = operand.indices.last().is_some_and(|e| goes_evenly(e, *n, &block.extents));
        fits(&shape) && fits(&operand.shape) && even
    };
    let most = (target.vector_bytes / size).clamp(1, MOST_LANES);
    let lanes = [16, 8, 4, 2].into_iter().filter(|n| *n <= most).find(whole).unwrap_or(1);

    let mut digits: Vec<Digit> = (0..rank).map(|axis| Digit { axis, unit: 1, base: None }).collect();
    let (mut align, mut grouped) = (None, false);
    let shared = block
        .together
        .iter()
        .find_map(|&(axis, count)| (0..rank).find(|d| axis_of(*d) == Some(axis)).map(|d| (d, count)));
    if let Some((dim, count)) = shared {
        let apart = count * shape[dim + 1..].iter().product::<u64>() * size;
        let fits = ACCESS_BYTES.is_multiple_of(size) && (apart > ACCESS_BYTES) && shape[dim] > count;
        if fits {
            let (factor, offset) = (2 * ACCESS_BYTES / size, ACCESS_BYTES / size);
            align = Some(Align { dim, factor, offset });
            if count > 1 {
                grouped = true;
                digits[dim].base = Some(count);
                digits.insert(dim, Digit { axis: dim, unit: count, base: None });
            }
        }
    }
    let layout = Layout::new(rank, digits).unwrap_or_else(|_| Layout::row_major(rank));
    let kept = align.map_or(layout.clone(), |a| layout.clone().aligned(a));
    let bytes = kept.strides(&shape).1.saturating_mul(size);
    Tile { lanes, layout, align, grouped, bytes }
}

/// True when two blocks of such tiles fit into a core.
pub fn fit(tiles: &[Tile], target: &Target) -> bool {
    bytes(tiles) <= target.gpu.most_shared_bytes / 2
}

fn bytes(tiles: &[Tile]) -> u64 {
    tiles.iter().map(|tile| tile.bytes).fold(0, u64::saturating_add)
}

/// Slots of each tile; 1 where nothing runs ahead.
pub fn slots(tiles: &[Tile], steps: u64, whole: bool, target: &Target) -> u64 {
    // What is left over behind the last whole step has tiles of its own.
    let (half, bytes) = (target.gpu.most_shared_bytes / 2, bytes(tiles));
    slots_of(bytes, steps, half - if whole { 0 } else { bytes.min(half) }, wanted(target))
}

/// How many slots tiles have that all threads copy.
pub fn wanted(target: &Target) -> u64 {
    if target.gpu.copy_bytes > 0 { AHEAD_OF_COPIES } else { 2 }
}

/// Slots of tiles of so many bytes together, where there are so many bytes for them.
pub fn slots_of(bytes: u64, steps: u64, room: u64, wanted: u64) -> u64 {
    let fits = |n: &u64| bytes.saturating_mul(*n) <= room;
    let most = (2..=wanted).rev().find(fits).unwrap_or(1);
    if steps < FEWEST_STEPS { 1 } else { most }
}

/// Has a load of a reader read a tile in shared memory, which all threads fill together at a loop of a stage.
pub fn share(
    writer: &mut Writer,
    (source, name): (Handle, &str),
    read: (StageId, usize),
    (stage, at): (StageId, AxisId),
    (tile, slots): (&Tile, u64),
    threads: [u64; 2],
) -> Result<StageId, String> {
    let copy = writer.cache_read(source, name, read)?;
    writer.compute_at(copy, stage, at)?;
    writer.set_scope(copy, Scope::Shared)?;
    if tile.grouped {
        writer.transform_layout(Handle::Stage(copy), tile.layout.clone())?;
    }
    if let Some(align) = tile.align {
        writer.storage_align(copy, align)?;
    }
    if slots > 1 {
        writer.double_buffer(copy, slots)?;
    }
    together(writer, copy, tile.lanes, threads)?;
    Ok(copy)
}

/// Has all threads of a block compute a stage, neighbours what lies together.
pub fn together(writer: &mut Writer, stage: StageId, lanes: u64, [x, y]: [u64; 2]) -> Result<(), String> {
    let rank = writer.tree.stages[stage].rank();
    let mut axes: Vec<AxisId> = (0..rank).collect();
    if lanes > 1 {
        let (outer, vector) = writer.split(stage, rank - 1, lanes)?;
        writer.vectorize(stage, vector)?;
        axes[rank - 1] = outer;
    }
    let mut all = axes[0];
    for next in &axes[1..] {
        all = writer.fuse(stage, all, *next)?;
    }
    let (_, inner) = writer.split(stage, all, x * y)?;
    let (row, column) = writer.split(stage, inner, x)?;
    writer.bind(stage, row, LoopKind::ThreadY)?;
    writer.bind(stage, column, LoopKind::ThreadX)
}

fn dtype_of(writer: &Writer, operand: &Operand) -> DType {
    let tensor = match (operand.input, operand.stage) {
        (Some(input), _) => Some(writer.tree.inputs[input]),
        (None, Some(stage)) => writer.tree.stages[stage].op.result_values().first().copied(),
        (None, None) => None,
    };
    tensor.and_then(tensor_type).map_or(DType::F32, |t| t.dtype)
}

/// True when an index goes on by one along an axis of which a block has a multiple of so many iterations, and begins at a multiple of
/// as many.
fn goes_evenly(e: &Expr, by: u64, extents: &[u64]) -> bool {
    let known = e.terms().all(|(atom, _)| matches!(atom, Atom::Var(_)));
    let uneven: Vec<(&Atom, i64)> = e.terms().filter(|(_, c)| !c.unsigned_abs().is_multiple_of(by)).collect();
    let along = match uneven[..] {
        [(Atom::Var(v), 1)] => extents.get(v.id).is_some_and(|n| n.is_multiple_of(by)),
        _ => false,
    };
    known && along && e.offset().unsigned_abs().is_multiple_of(by)
}

/// How many values an index takes in a block, at most.
fn span(e: &Expr, extents: &[u64]) -> u64 {
    let each = |(atom, c): (&Atom, i64)| match atom {
        Atom::Var(v) => {
            extents.get(v.id).copied().unwrap_or(v.extent).saturating_sub(1).saturating_mul(c.unsigned_abs())
        }
        _ => u64::MAX,
    };
    e.terms().map(each).fold(1, u64::saturating_add)
}
