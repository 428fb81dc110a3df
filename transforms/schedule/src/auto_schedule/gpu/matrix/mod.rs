//! Products of matrices by matrix instructions: a tile of the result for each block, a part of it for each warp, in registers.
//! How large these are is in `sizes`, and whether blocks share what is summed up in `waves`.
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

mod arrange;
pub mod attention;
mod copies;
mod sizes;
mod waves;
mod windows;

use super::super::operands::Operand;
use super::super::parts;
use super::super::placement::{self, Nest};
use super::super::writer::Writer;
use super::contraction::{self, Contraction};
use super::lanes::ACCESS_BYTES;
use super::{elements, shared};
use crate::intrinsics::{self, Facts};
use crate::schedule::primitives::{divide, recompute};
use crate::schedule::zeros::sums_zeros;
use crate::schedule::{Attach, AxisId, Handle, Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::loops::Scope;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, ValueLike, kind_of, ops_in, tensor_type};
use fusion_machine::Target;
use fusion_operators::DType;
use sizes::{Extents, step_of};
use waves::{Role, Shares, Work};
use windows::Windows;

/// Threads that do an instruction together, from which on they are four warps.
const GROUP: u64 = 128;
/// Registers of a thread that hold sums, at most; where they are so many, one block fits into a core.
const MOST_SUMS: u64 = 128;
/// Sums of a thread from which on one block with four more warps, which copy, is all that fits into a core.
const SUMS_OF_A_BLOCK: u64 = 64;
/// Slots of tiles that are copied by tma, and what the mbarriers of them take.
const SLOTS_OF_TMA: u64 = 4;
const MBARRIER_BYTES: u64 = 256;
/// Extents below this are no rows, no columns and no depth.
const FEWEST: u64 = 16;

/// A sum of products that an instruction computes.
#[derive(Clone)]
pub struct Product {
    /// The stage that sums up.
    pub reduction: StageId,
    /// Elementwise stages that are computed while they are copied.
    pub sources: Vec<StageId>,
    /// How it becomes a product of matrices, where it is none.
    windows: Option<Windows>,
    /// The instructions for its elements.
    facts: Vec<Facts>,
}

impl Product {
    /// The same of another stage that sums up, which has only a part of its rows or columns.
    fn of(&self, tree: &Schedule, reduction: StageId, sources: Vec<StageId>) -> Product {
        let windows = self.windows.as_ref().and_then(|_| windows::of(tree, reduction, 0));
        Product { reduction, sources, windows, facts: self.facts.clone() }
    }
}

/// What a block computes.
#[derive(Clone, Copy)]
struct Tile {
    rows: u64,
    columns: u64,
    /// Warps, or groups of four, down and along.
    warps: [u64; 2],
}

impl Tile {
    /// Sums that a thread has.
    fn sums(&self, lanes: u64) -> u64 {
        (self.rows / self.warps[0]) * (self.columns / self.warps[1]) / lanes
    }

    /// Bytes of both operands at a time.
    fn bytes(&self, facts: &Facts, step: u64) -> u64 {
        let line = step * facts.dtype.size() as u64;
        (self.rows + self.columns) * if facts.panels.is_some() { line } else { line + ACCESS_BYTES }
    }
}

/// Warps of a block, or groups of four, down and along.
fn warps(facts: &Facts) -> [u64; 2] {
    if reads_shared(facts) { [2, 1] } else { [2, 2] }
}

/// True for instructions of four warps, which read shared memory themselves.
fn reads_shared(facts: &Facts) -> bool {
    facts.extents()[2] >= GROUP
}

/// The products among the stages of a kernel for which the target has an instruction.
pub fn find(tree: &Schedule, target: &Target) -> Result<Vec<Product>, String> {
    let mut all: Vec<Facts> = Vec::new();
    for name in target.gpu.matrix.split_whitespace() {
        all.push(intrinsics::facts(tree.kernel.context_ref(), name)?);
    }
    let reductions = (0..tree.stages.len()).filter(|s| tree.stages[*s].is_reduction());
    let product = |reduction: StageId| {
        let dtype = product_of(tree.stages[reduction].op)?;
        let facts: Vec<Facts> = all.iter().filter(|facts| facts.dtype == dtype).cloned().collect();
        let windows = windows::of(tree, reduction, 0).filter(|_| !facts.is_empty());
        if windows.is_none() {
            best(tree, reduction, &facts)?;
        }
        let read: Vec<StageId> =
            accesses(tree.stages[reduction].op).into_iter().filter_map(|a| tree.giving(a.tensor)).collect();
        // One that both operands are stays in memory: its tiles would differ.
        let own = |s: &StageId| {
            let once = read.iter().filter(|other| *other == s).count() == 1;
            once && placement::is_cheap(tree, *s)
                && tree.consumers(*s) == [reduction]
                && !tree.results.contains(s)
        };
        let sources: Vec<StageId> = read.iter().copied().filter(own).collect();
        Some(Product { reduction, sources, windows, facts })
    };
    Ok(reductions.filter_map(product).collect())
}

/// The product of matrices that a stage is, and the instructions for which fewest operands are turned around; of those the first, and
/// the others that are as it but for their extents.
fn best(tree: &Schedule, reduction: StageId, facts: &[Facts]) -> Option<(Contraction, Vec<Facts>)> {
    let found = contraction::recognize(tree, reduction, reduction)?;
    let extent = |axis: AxisId| tree.stages[reduction].axes[axis].extent;
    let depth = extent(found.depth);
    // Those of large tiles are for products that have some.
    let large = |facts: &Facts| {
        let [rows, columns, _] = facts.extents();
        let [down, along] = warps(facts);
        let least = |own: u64| own.max(facts.panels.unwrap_or(0));
        extent(found.row) >= least(rows * down)
            && extent(found.column) >= least(columns * along)
            && depth >= facts.depth
    };
    let zeros = sums_zeros(tree.stages[reduction].op, found.depth);
    let turned = |facts: &Facts| -> Option<usize> {
        let both = (0..2).map(|n| copies::turns(&found, facts, n)).collect::<Option<Vec<bool>>>()?;
        Some(both.into_iter().filter(|turns| *turns).count())
    };
    let fits = facts.iter().filter(|facts| zeros || depth.is_multiple_of(facts.depth));
    let fits = fits.filter(|facts| facts.panels.is_none() || large(facts));
    let turned: Vec<(usize, &Facts)> = fits.filter_map(|facts| Some((turned(facts)?, facts))).collect();
    let (fewest, first) = turned.iter().min_by_key(|(turns, _)| *turns)?;
    let like = |(turns, facts): &&(usize, &Facts)| {
        let kind = |facts: &Facts| (facts.panels, facts.together, reads_shared(facts));
        turns == fewest && kind(facts) == kind(first)
    };
    let facts = turned.iter().filter(like).map(|(_, facts)| (*facts).clone()).collect();
    Some((found, facts))
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

/// Writes the primitives of a product; false where it is none any more.
pub fn schedule(
    writer: &mut Writer,
    nest: &Nest,
    product: &Product,
    target: &Target,
) -> Result<bool, String> {
    let host = nest.stage;
    let axes = |stage: StageId| -> Vec<u64> {
        let s = &writer.tree.stages[stage];
        s.axes[..s.rank()].iter().map(|a| a.extent).collect()
    };
    let inlined = |operand: &Operand| {
        operand.stage.is_some_and(|stage| writer.tree.stages[stage].attach == Attach::Inline)
    };
    let plain = || {
        let found = best(&writer.tree, product.reduction, &product.facts);
        found.is_some_and(|(found, _)| !found.operands.iter().any(inlined))
    };
    if axes(host) != axes(product.reduction) || !(product.windows.is_some() || plain()) {
        return Ok(false);
    }
    match shared_out(&writer.tree, nest, product, target) {
        None => write(writer, nest, product, target),
        Some((axis, Shares::Split(parts))) => in_parts(writer, nest, product, (axis, parts), target),
        Some((depth, Shares::Streamed { axis, at, parts })) => {
            streamed(writer, nest, product, ((axis, at), (depth, parts)), target)
        }
    }
}

/// The axis of what is summed up that blocks share, and how they do, where that takes less time.
fn shared_out(tree: &Schedule, nest: &Nest, product: &Product, target: &Target) -> Option<(AxisId, Shares)> {
    let reduction = product.reduction;
    let s = &tree.stages[reduction];
    let extent = |axis: AxisId| s.axes[axis].extent;
    let may_be_divided = divide::may_be_divided(tree, nest.stage)
        && (reduction == nest.stage || recompute::may_be_recomputed(tree, reduction))
        && tree.readers(reduction).iter().all(|r| *r == nest.stage);
    let (axis, facts, extents, roles) = match &product.windows {
        Some(windows) => {
            let role = |a: AxisId| match windows.rows.contains(&a) {
                true => (extent(a) == windows.extents.rows).then_some((a, Role::Rows)),
                false => Some((a, Role::Others(extent(a)))),
            };
            let roles = (0..windows.columns.start).filter_map(role).collect();
            (windows.longest, product.facts.clone(), windows.extents, roles)
        }
        None => {
            let (found, facts) = best(tree, reduction, &product.facts)?;
            let extents = Extents::of(tree, reduction, &found, (reduction, 0));
            let mut roles = vec![(found.row, Role::Rows), (found.column, Role::Columns)];
            let others = (0..s.rank()).filter(|a| *a != found.row && *a != found.column);
            roles.extend(others.map(|a| (a, Role::Others(extent(a)))));
            (found.depth, facts, extents, roles)
        }
    };
    let along: &[(AxisId, Role)] = if may_be_divided { &roles } else { &[] };
    let work = Work { extents: &extents, axis: extent(axis), along, facts: &facts };
    Some((axis, work.shares(target)?))
}

/// Writes the primitives of a product each tile of which is computed in parts, that are added up by another launch.
fn in_parts(
    writer: &mut Writer,
    nest: &Nest,
    product: &Product,
    (axis, parts): (AxisId, u64),
    target: &Target,
) -> Result<bool, String> {
    let Some(partial) = parts::of(writer, product.reduction, axis, parts)? else {
        return write(writer, nest, product, target);
    };
    let windows = product.windows.as_ref().and_then(|_| windows::of(&writer.tree, partial, 1));
    let own = Nest { stage: partial, reduction: None };
    if windows.is_some() == product.windows.is_some() {
        let parts = Product { reduction: partial, windows, ..product.clone() };
        write(writer, &own, &parts, target)?;
    } else {
        product.sources.iter().try_for_each(|source| writer.inline(*source))?;
        elements::schedule(writer, &own, target)?;
    }
    parts::apart(writer, partial)?;
    elements::schedule(writer, nest, target)
}

/// Writes the primitives of a product whose tiles are computed whole up to a place along an axis, and in parts from there on.
fn streamed(
    writer: &mut Writer,
    nest: &Nest,
    product: &Product,
    ((axis, at), shared): ((AxisId, u64), (AxisId, u64)),
    target: &Target,
) -> Result<bool, String> {
    let name = |writer: &Writer, stage: StageId| format!("rest_of_{}", writer.tree.stages[stage].name);
    let rest = writer.divide(nest.stage, axis, at, &name(writer, nest.stage))?;
    let reduction = match nest.reduction {
        Some(reduction) => writer.recompute(reduction, &name(writer, reduction), rest)?,
        None => rest,
    };
    let mut sources = Vec::new();
    for source in &product.sources {
        sources.push(writer.recompute(*source, &name(writer, *source), reduction)?);
    }
    let first = product.of(&writer.tree, product.reduction, product.sources.clone());
    let last = product.of(&writer.tree, reduction, sources);
    let behind = Nest { stage: rest, reduction: nest.reduction.map(|_| reduction) };
    Ok(write(writer, nest, &first, target)? && in_parts(writer, &behind, &last, shared, target)?)
}

/// Writes the primitives of a product that is computed whole, or of its parts.
fn write(writer: &mut Writer, nest: &Nest, product: &Product, target: &Target) -> Result<bool, String> {
    let (host, windows) = (nest.stage, product.windows.as_ref());
    let sums = match nest.reduction {
        Some(reduction) => reduction,
        None => {
            let name = format!("sums_of_{}", writer.tree.stages[host].name);
            writer.cache_write(host, &name)?
        }
    };
    let (mut own, mut places) = (product.sources.clone(), None);
    if let Some(windows) = windows {
        let name = |n: usize| {
            let what = if n == windows.operand { "columns" } else { "rows" };
            format!("{what}_of_{}", writer.tree.stages[sums].name)
        };
        let (first, second) = (name(0), name(1));
        let copies = [(first.as_str(), windows.orders[0].as_slice()), (&second, &windows.orders[1])];
        own = writer.reindex(sums, &windows.groups, copies)?.to_vec();
        for source in &product.sources {
            writer.inline(*source)?;
        }
        let mut column = windows.columns.start;
        for next in windows.columns.clone().skip(1) {
            column = writer.fuse(host, column, next)?;
        }
        places = Some((windows.columns.start, column));
    }
    let (found, facts) = best(&writer.tree, sums, &product.facts)
        .ok_or("has a sum of products of which no product of matrices was made")?;
    // Axes that the host has as well say what is computed of them.
    let same = windows.map_or(writer.tree.stages[sums].rank(), |w| w.columns.start);
    let extents = Extents::of(&writer.tree, sums, &found, (host, same));
    let (facts, tile, step) = sizes::sizes(&extents, &facts, target)
        .ok_or("has a sum of products whose smallest tile is too large for this GPU")?;
    // The columns of the sums are, in the host, one loop over several axes.
    let place = |axis: AxisId| places.filter(|(of, _)| *of == axis).map_or(axis, |(_, fused)| fused);
    let rows_and_columns = [place(found.row), place(found.column)];
    let at = arrange::arrange(writer, host, &facts, rows_and_columns, tile)?;
    writer.compute_at(sums, host, at)?;
    writer.set_scope(sums, Scope::Fragment)?;
    let layout = arrange::fragment(&writer.tree, sums, (&found, &facts))?;
    writer.transform_layout(Handle::Stage(sums), layout)?;
    let (at, instruction) = arrange::sum_up(writer, sums, (&found, &facts), (tile, step))?;
    let s = &writer.tree.stages[sums];
    let (steps, windows) = (s.axes[found.depth].extent.div_ceil(step), s.op_axes() - s.rank() > 1);
    let tma = !windows && (0..2).all(|n| copies::is_by_tma((&found, &facts), (n, tile, step), target));
    let alone = reads_shared(&facts)
        && tile.sums(facts.extents()[2]) >= if tma { SUMS_OF_A_BLOCK } else { MOST_SUMS };
    let room =
        target.gpu.most_shared_bytes / if alone { 1 } else { 2 } - if tma { MBARRIER_BYTES } else { 0 };
    let wanted = if tma { SLOTS_OF_TMA } else { shared::wanted(target) };
    let slots = if windows { 1 } else { shared::slots_of(tile.bytes(&facts, step), steps, room, wanted) };
    for n in 0..2 {
        let copy = copies::copy(writer, sums, (sums, at), (&found, &facts, &own), (n, tile, step))?;
        if slots > 1 {
            writer.double_buffer(copy, slots)?;
            if tma {
                writer.bulk_copy(copy)?;
            }
        }
    }
    writer.tensorize(sums, instruction, &facts.name)?;
    Ok(true)
}
