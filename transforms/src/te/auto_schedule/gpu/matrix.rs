//! Products of matrices by matrix instructions: a tile of the result for each block, a part of it for each warp, in registers.
//!
//! ```text
//!   io (block_y)  jo (block_x)                            128 x 128 results a block
//!     iw (thread_z)  jw (thread_y)                        64 x 64 a warp, a fragment
//!       for ko                                            steps of 32
//!         rows[io, ko], columns[ko, jo]                   all threads copy, 16 bytes at a time where they lie together
//!         for ks  for it, jt (unrolled)                   c[it, jt] += rows[it, ks] * columns[ks, jt]: the instruction
//!       for lane (thread_x)  for it, jt, elements         each thread goes on with its elements of the fragment
//! ```
//!
//! What an instruction's rows, columns, depth and threads are is read off its declaration, so that this is for all of them (Feng
//! et al., "TensorIR", 2023). An elementwise stage in front is computed while it is copied, one behind where the sums are;
//! beyond the ends there are zeros, which are not stored. Rows in shared memory are 16 bytes longer than they have to be, so that
//! those below each other fall on different banks.

use super::super::operands::Operand;
use super::super::placement::{self, Nest};
use super::super::writer::Writer;
use super::contraction::{self, Contraction};
use crate::target::Target;
use crate::te::indices::accesses;
use crate::te::intrinsics::{self, Facts, Together};
use crate::te::layout::{Align, Digit, Layout};
use crate::te::schedule::{Attach, AxisId, Handle, Schedule, StageId};
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, ValueLike, kind_of, ops_in, tensor_type};
use fusion_operators::DType;

/// Warps of a block, down and along.
const WARPS: [u64; 2] = [2, 2];
/// Rows and columns of a block's tile, at most.
const SIZES: [u64; 3] = [128, 64, 32];
/// Registers of a thread that hold sums, at most.
const MOST_SUMS: u64 = 128;
/// Bytes of a row of an operand that are copied at a time.
const STEP_BYTES: u64 = 64;
/// Bytes of the widest access.
const ACCESS_BYTES: u64 = 16;

/// A sum of products that an instruction computes.
pub struct Product {
    /// The stage that sums up.
    pub reduction: StageId,
    /// Elementwise stages that are computed while they are copied.
    pub sources: Vec<StageId>,
    found: Contraction,
    facts: Facts,
}

/// What a block computes.
#[derive(Clone, Copy)]
struct Tile {
    rows: u64,
    columns: u64,
}

/// The products among the stages of a kernel for which the target has an instruction.
pub fn find(tree: &Schedule, target: &Target) -> Result<Vec<Product>, String> {
    let mut all: Vec<Facts> = Vec::new();
    for name in target.gpu.matrix.split_whitespace() {
        all.push(intrinsics::facts(tree.kernel.context_ref(), name)?);
    }
    let reductions = (0..tree.stages.len()).filter(|s| tree.stages[*s].is_reduction());
    let product = |reduction: StageId| {
        let found = contraction::recognize(tree, reduction, reduction)?;
        let dtype = product_of(tree.stages[reduction].op)?;
        let fits = all.iter().filter(|facts| facts.dtype == dtype);
        // The one for which fewest operands are turned around; of those the first.
        let turned = |facts: &Facts| -> Option<usize> {
            let both = (0..2).map(|n| turns(&found, facts, n)).collect::<Option<Vec<bool>>>()?;
            Some(both.into_iter().filter(|turns| *turns).count())
        };
        let best = fits.filter_map(|facts| Some((turned(facts)?, facts))).min_by_key(|(turns, _)| *turns)?;
        let of_stage = found.operands.iter().filter_map(|operand| operand.stage);
        let own = |s: &StageId| {
            placement::is_cheap(tree, *s)
                && tree.consumers(*s) == [reduction]
                && !tree.results.contains(s)
        };
        let sources: Vec<StageId> = of_stage.filter(own).collect();
        Some(Product { reduction, sources, facts: best.1.clone(), found })
    };
    Ok(reductions.filter_map(product).collect())
}

/// The type of the two elements whose product is summed up in f32, and nothing else.
fn product_of(op: Op) -> Option<DType> {
    let is = |op: &Op, kind: Upstream| matches!(kind_of(*op), Some(Kind::Upstream(k)) if k == kind);
    let combiner = op.body(1).map(ops_in)?;
    let sums = matches!(&combiner[..], [sum, _] if is(sum, Upstream::AddF));
    let on_scalars = |op: &Op| op.result_values().iter().any(|v| v.r#type().to_string() != "index");
    let body: Vec<Op> = op.body(0).map(ops_in)?.into_iter().filter(on_scalars).collect();
    let products = body.iter().filter(|op| is(op, Upstream::MulF)).count();
    let plain = body.iter().all(|op| {
        is(op, Upstream::MulF)
            || is(op, Upstream::ExtF)
            || is(op, Upstream::ArithConstant)
            || matches!(kind_of(*op), Some(Kind::Te(Te::Load)))
    });
    let read = accesses(op);
    let [a, b] = &read[..] else { return None };
    let (a, b) = (tensor_type(a.tensor)?.dtype, tensor_type(b.tensor)?.dtype);
    let sum = tensor_type(*op.result_values().first()?)?.dtype;
    (sums && products == 1 && plain && a == b && sum == DType::F32).then_some(a)
}

/// The axis of a tensor that is indexed with an axis of the stage, and by how much a step of the one is one of the other.
fn dim_of(operand: &Operand, axis: usize) -> Option<(usize, i64)> {
    let mut with = (0..operand.indices.len()).filter(|d| operand.indices[*d].mentions(axis));
    let (first, second) = (with.next()?, with.next());
    if second.is_some() {
        return None;
    }
    Some((first, operand.indices[first].coefficient(axis)?))
}

/// The axis of an operand's tensor along which its elements must lie together; none where any will do.
fn together(found: &Contraction, facts: &Facts, n: usize) -> Option<Option<usize>> {
    let operand = &found.operands[n];
    let (own, deep) =
        (dim_of(operand, if n == 0 { found.row } else { found.column })?, dim_of(operand, found.depth)?);
    let (dim, step) = match facts.together[n] {
        Together::Any => return Some(None),
        Together::Depth => deep,
        Together::Own => own,
    };
    (step == 1 && own.0 != deep.0).then_some(Some(dim))
}

/// True when a copy of an operand lies in another order than the tensor; none where there is no such copy.
fn turns(found: &Contraction, facts: &Facts, n: usize) -> Option<bool> {
    let dim = together(found, facts, n)?;
    Some(dim.is_some_and(|dim| dim + 1 != found.operands[n].shape.len()))
}

/// Writes the primitives of a product; false where its tiles would have to be too large.
pub fn schedule(
    writer: &mut Writer,
    nest: &Nest,
    product: &Product,
    target: &Target,
) -> Result<bool, String> {
    let inlined = |operand: &Operand| {
        operand.stage.is_some_and(|stage| writer.tree.stages[stage].attach == Attach::Inline)
    };
    let fits = contraction::recognize(&writer.tree, nest.stage, product.reduction).is_some();
    if !fits || product.found.operands.iter().any(inlined) {
        return Ok(false);
    }
    let Some((tile, step)) = sizes(&writer.tree, product, target) else { return Ok(false) };
    let host = nest.stage;
    let sums = match nest.reduction {
        Some(reduction) => reduction,
        None => {
            let name = format!("sums_of_{}", writer.tree.stages[host].name);
            writer.cache_write(host, &name)?
        }
    };
    let at = arrange(writer, host, product, tile)?;
    writer.compute_at(sums, host, at)?;
    writer.set_scope(sums, Scope::Fragment)?;
    writer.transform_layout(Handle::Stage(sums), fragment(&writer.tree, sums, product)?)?;
    let (at, instruction) = sum_up(writer, sums, product, step)?;
    for n in 0..2 {
        copy(writer, sums, at, product, (n, tile, step))?;
    }
    writer.tensorize(sums, instruction, &product.facts.name)?;
    Ok(true)
}

/// The tile of a block and the steps of the sum that take the least time: each core computes its share of the blocks one after
/// another, and in each either multiplies or waits for what is copied.
fn sizes(tree: &Schedule, product: &Product, target: &Target) -> Option<(Tile, u64)> {
    let (found, facts) = (&product.found, &product.facts);
    let axes = &tree.stages[product.reduction].axes;
    let rank = tree.stages[product.reduction].rank();
    let (m, n, k) = (axes[found.row].extent, axes[found.column].extent, axes[found.depth].extent);
    let others: u64 =
        (0..rank).filter(|a| *a != found.row && *a != found.column).map(|a| axes[a].extent).product();
    let [rows, columns, lanes] = facts.extents();
    let bytes = facts.dtype.size() as u64;
    let longest = (STEP_BYTES / bytes).max(facts.depth);
    let halves = std::iter::successors(Some(longest), |n| Some(n / 2).filter(|n| *n >= facts.depth));
    let step = halves.into_iter().find(|n| k.is_multiple_of(*n)).unwrap_or(longest.min(k.next_multiple_of(facts.depth)));
    let flops = if bytes == 2 { target.gpu.matrix_flops } else { target.peak_flops };
    let time = |tile: &Tile| {
        let blocks = m.div_ceil(tile.rows) * n.div_ceil(tile.columns) * others;
        let multiply = 2.0 * (tile.rows * tile.columns) as f64 / flops.max(1.0);
        let copy = ((tile.rows + tile.columns) * bytes) as f64 / target.l3.bandwidth.max(1.0);
        blocks.div_ceil(target.cores) as f64 * multiply.max(copy)
    };
    let all = SIZES.iter().flat_map(|&rows| SIZES.iter().map(move |&columns| Tile { rows, columns }));
    let fits = |tile: &Tile| {
        let (down, along) = (tile.rows / WARPS[0], tile.columns / WARPS[1]);
        let shared = (tile.rows + tile.columns) * (step * bytes + ACCESS_BYTES);
        down.is_multiple_of(rows)
            && along.is_multiple_of(columns)
            && down * along / lanes <= MOST_SUMS
            && shared <= target.gpu.shared_bytes
            && WARPS[0] * WARPS[1] * lanes <= target.gpu.block_threads
    };
    let best = all.filter(fits).min_by(|a, b| time(a).total_cmp(&time(b)))?;
    Some((best, step))
}

/// Splits the loop over an instruction's rows or columns into the axes it has for them.
fn cut(
    writer: &mut Writer,
    stage: StageId,
    loop_: AxisId,
    facts: &Facts,
    axes: &[usize],
    made: &mut [AxisId],
) -> Result<(), String> {
    let mut rest = loop_;
    for (i, &axis) in axes.iter().enumerate() {
        if i + 1 == axes.len() {
            made[axis] = rest;
        } else {
            (made[axis], rest) = writer.split(stage, rest, facts.unit(axis))?;
        }
    }
    Ok(())
}

/// Blocks, warps and lanes of the stage that goes on with the sums; gives the loop inside of which they are computed.
fn arrange(writer: &mut Writer, host: StageId, product: &Product, tile: Tile) -> Result<AxisId, String> {
    let (found, facts) = (&product.found, &product.facts);
    let rank = writer.tree.stages[host].rank();
    let others: Vec<AxisId> = (0..rank).filter(|a| *a != found.row && *a != found.column).collect();
    let [rows, columns, _] = facts.extents();
    let mut made = vec![0; facts.axes.len()];
    let mut exact = true;
    let mut outer = Vec::new();
    for (n, axis, size, unit) in [(0, found.row, tile.rows, rows), (1, found.column, tile.columns, columns)] {
        let whole = writer.tree.stages[host].axes[axis].extent.is_multiple_of(size);
        exact &= whole || n == 0;
        let (block, inside) = match whole {
            true => writer.split(host, axis, size)?,
            false => writer.split_guarded(host, axis, size)?,
        };
        let (warp, inside) = writer.split(host, inside, size / WARPS[n])?;
        let (at, inside) = writer.split(host, inside, unit)?;
        cut(writer, host, inside, facts, if n == 0 { &facts.rows } else { &facts.columns }, &mut made)?;
        outer.push([block, warp, at]);
    }
    let lanes: Vec<AxisId> = facts.lanes.iter().map(|a| made[*a]).collect();
    let elements: Vec<AxisId> = facts.elements().iter().map(|a| made[*a]).collect();
    let ([io, iw, it], [jo, jw, jt]) = (outer[0], outer[1]);
    let order = [others.as_slice(), &[io, jo, iw, jw], &lanes, &[it, jt], &elements].concat();
    writer.reorder(host, &order)?;
    if let Some((&first, rest)) = others.split_first() {
        let mut other = first;
        for next in rest {
            other = writer.fuse(host, other, *next)?;
        }
        writer.bind(host, other, LoopKind::BlockZ)?;
    }
    let mut lane = lanes[0];
    for next in &lanes[1..] {
        lane = writer.fuse(host, lane, *next)?;
    }
    let bound = [LoopKind::BlockY, LoopKind::BlockX, LoopKind::ThreadZ, LoopKind::ThreadY, LoopKind::ThreadX];
    for (axis, kind) in [io, jo, iw, jw, lane].into_iter().zip(bound) {
        writer.bind(host, axis, kind)?;
    }
    writer.unroll(host, it)?;
    writer.unroll(host, jt)?;
    // Neighbours along the last axis lie together in the result, where it is one of the columns.
    let last = facts.elements().last().copied().filter(|a| exact && facts.columns.last() == Some(a));
    for axis in facts.elements() {
        if Some(axis) == last {
            writer.vectorize(host, made[axis])?;
        } else {
            writer.unroll(host, made[axis])?;
        }
    }
    Ok(jw)
}

/// The layout of the sums: whole tiles, in them the threads, in them their elements.
fn fragment(tree: &Schedule, sums: StageId, product: &Product) -> Result<Layout, String> {
    let (found, facts) = (&product.found, &product.facts);
    let rank = tree.stages[sums].rank();
    let [rows, columns, _] = facts.extents();
    let whole = |axis, unit| Digit { axis, unit, base: None };
    let others = (0..rank).filter(|a| *a != found.row && *a != found.column).map(|a| whole(a, 1));
    let inside = facts.lanes.iter().copied().chain(facts.elements()).map(|a| Digit {
        axis: if facts.rows.contains(&a) { found.row } else { found.column },
        unit: facts.unit(a),
        base: Some(facts.axes[a]),
    });
    let tiles = [whole(found.row, rows), whole(found.column, columns)];
    Layout::new(rank, others.chain(tiles).chain(inside).collect())
}

/// The loops of the sums; gives the one at which operands are copied, and the first that is the instruction.
fn sum_up(
    writer: &mut Writer,
    sums: StageId,
    product: &Product,
    step: u64,
) -> Result<(AxisId, AxisId), String> {
    let (found, facts) = (&product.found, &product.facts);
    let s = &writer.tree.stages[sums];
    let (rank, own, depth) = (s.rank(), s.op_axes(), s.axes[found.depth].extent);
    let others: Vec<AxisId> = (0..rank).filter(|a| *a != found.row && *a != found.column).collect();
    let rest: Vec<AxisId> = (rank..own).filter(|k| *k != found.depth).collect();
    let [rows, columns, _] = facts.extents();
    let mut made = vec![0; facts.axes.len()];
    let (it, inside) = writer.split(sums, found.row, rows)?;
    cut(writer, sums, inside, facts, &facts.rows, &mut made)?;
    let (jt, inside) = writer.split(sums, found.column, columns)?;
    cut(writer, sums, inside, facts, &facts.columns, &mut made)?;
    let (ko, ki) = match depth.is_multiple_of(step) {
        true => writer.split(sums, found.depth, step)?,
        false => writer.split_padded(sums, found.depth, step)?,
    };
    let (ks, kk) = writer.split(sums, ki, facts.depth)?;
    let order = [others.as_slice(), &[ko], &rest, &[ks, it, jt], &made, &[kk]].concat();
    writer.reorder(sums, &order)?;
    writer.unroll(sums, ks)?;
    writer.unroll(sums, it)?;
    writer.unroll(sums, jt)?;
    Ok((rest.last().copied().unwrap_or(ko), made[0]))
}

/// A copy of an operand in shared memory, by all threads of the block.
fn copy(
    writer: &mut Writer,
    sums: StageId,
    at: AxisId,
    product: &Product,
    (n, tile, step): (usize, Tile, u64),
) -> Result<(), String> {
    let (found, facts) = (&product.found, &product.facts);
    let operand = &found.operands[n];
    let copy = match operand.stage.filter(|s| product.sources.contains(s)) {
        Some(source) => source,
        None => {
            let name = format!("{}_of_{}", ["rows", "columns"][n], writer.tree.stages[sums].name);
            let source = operand.handle().ok_or("reads a tensor that nobody gives")?;
            writer.cache_read(source, &name, &[sums])?
        }
    };
    writer.compute_at(copy, sums, at)?;
    writer.set_scope(copy, Scope::Shared)?;
    let (rank, bytes) = (operand.shape.len(), facts.dtype.size() as u64);
    let last = rank - 1;
    if let Some(Some(dim)) = together(found, facts, n).filter(|dim| *dim != Some(last)) {
        let digit = |axis| Digit { axis, unit: 1, base: None };
        let digits = (0..rank).filter(|d| *d != dim).chain([dim]).map(digit).collect();
        writer.transform_layout(Handle::Stage(copy), Layout::new(rank, digits)?)?;
    }
    let access = ACCESS_BYTES / bytes;
    if rank > 1 {
        writer.storage_align(copy, Align { dim: rank - 2, factor: 2 * access, offset: access })?;
    }
    // Elements that lie together in the tensor and in the copy go in one access.
    let along = match dim_of(operand, found.depth) {
        Some((dim, 1)) if dim == last => Some(step),
        _ => [tile.rows, tile.columns].get(n).copied(),
    };
    let own = if n == 0 { found.row } else { found.column };
    let alone = |axis: usize| {
        let extent = writer.tree.stages[sums].axes[axis].extent;
        operand.dimension(axis, extent) == Some(last) && extent.is_multiple_of(access)
    };
    let stays = turns(found, facts, n) == Some(false);
    let wide = stays && (alone(own) || alone(found.depth)) && along.is_some_and(|n| n.is_multiple_of(access));
    share(writer, copy, facts.extents()[2], if wide { access } else { 1 })
}

/// Has all threads of a block copy, neighbours what lies together.
fn share(writer: &mut Writer, copy: StageId, lanes: u64, width: u64) -> Result<(), String> {
    let rank = writer.tree.stages[copy].rank();
    let mut all: AxisId = 0;
    for next in 1..rank {
        all = writer.fuse(copy, all, next)?;
    }
    if width > 1 {
        let (outer, vector) = writer.split(copy, all, width)?;
        writer.vectorize(copy, vector)?;
        all = outer;
    }
    let (_, inner) = writer.split(copy, all, WARPS[0] * WARPS[1] * lanes)?;
    let (z, inner) = writer.split(copy, inner, WARPS[1] * lanes)?;
    let (y, x) = writer.split(copy, inner, lanes)?;
    for (axis, kind) in [(z, LoopKind::ThreadZ), (y, LoopKind::ThreadY), (x, LoopKind::ThreadX)] {
        writer.bind(copy, axis, kind)?;
    }
    Ok(())
}
