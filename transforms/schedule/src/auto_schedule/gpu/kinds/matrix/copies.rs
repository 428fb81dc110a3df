//! Copies of a product's operands in shared memory: their order, and which threads copy what.

use super::super::contraction::Contraction;
use super::Tile;
use crate::auto_schedule::gpu::lanes::ACCESS_BYTES;
use crate::auto_schedule::operands::Operand;
use crate::auto_schedule::writer::Writer;
use crate::intrinsics::{Facts, Together};
use crate::layout::{Align, Digit, Layout};
use crate::schedule::primitives::bulk_copy::can_copy;
use crate::schedule::{Attach, AxisId, Handle, Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::indices::expr::{Atom, flatten};
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::tensor_type;
use fusion_machine::Target;

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
pub fn turns(found: &Contraction, facts: &Facts, n: usize) -> Option<bool> {
    let dim = together(found, facts, n)?;
    Some(dim.is_some_and(|dim| dim + 1 != found.operands[n].shape.len()))
}

/// A copy of an operand in shared memory, by all threads of the block at a loop of a stage; a stage that is nothing else is computed there.
pub fn copy(
    writer: &mut Writer,
    sums: StageId,
    (stage, at): (StageId, AxisId),
    (found, facts, own): (&Contraction, &Facts, &[StageId]),
    (n, tile, step): (usize, Tile, u64),
) -> Result<StageId, String> {
    let operand = &found.operands[n];
    let copy = match operand.stage.filter(|s| own.contains(s)) {
        Some(source) => source,
        None => {
            let name = format!("{}_of_{}", ["rows", "columns"][n], writer.tree.stages[sums].name);
            let source = operand.handle().ok_or("reads a tensor that nobody gives")?;
            writer.cache_read(source, &name, (sums, operand.read))?
        }
    };
    writer.compute_at(copy, stage, at)?;
    writer.set_scope(copy, Scope::Shared)?;
    let rank = operand.shape.len();
    let last = rank - 1;
    let whole = |axis| Digit { axis, unit: 1, base: None };
    let access = ACCESS_BYTES / facts.dtype.size() as u64;
    if let (Some(panels), Some(Some(dim))) = (facts.panels, together(found, facts, n)) {
        let panel = Digit { axis: dim, unit: panels, base: None };
        let line = Digit { axis: dim, unit: 1, base: Some(panels) };
        let lines = (0..rank).filter(|d| *d != dim).map(whole);
        let digits = [panel].into_iter().chain(lines).chain([line]).collect();
        writer.transform_layout(Handle::Stage(copy), Layout::new(rank, digits)?)?;
        writer.storage_swizzle(copy)?;
    } else {
        if let Some(Some(dim)) = together(found, facts, n).filter(|dim| *dim != Some(last)) {
            let digits = (0..rank).filter(|d| *d != dim).chain([dim]).map(whole).collect();
            writer.transform_layout(Handle::Stage(copy), Layout::new(rank, digits)?)?;
        }
        if rank > 1 {
            writer.storage_align(copy, Align { dim: rank - 2, factor: 2 * access, offset: access })?;
        }
    }
    // Elements that lie together in memory and in the copy go in one access: fewer of rows that begin at odd places.
    let along = match dim_of(operand, found.depth) {
        Some((dim, 1)) if dim == last => step,
        _ => [tile.rows, tile.columns][n],
    };
    let straight = turns(found, facts, n) == Some(false);
    let whole =
        |width: &u64| straight && along.is_multiple_of(*width) && lies_together(&writer.tree, copy, *width);
    let mut halves = std::iter::successors(Some(access), |width| Some(width / 2).filter(|width| *width > 1));
    let width = halves.find(whole).unwrap_or(1);
    share(writer, copy, (tile.warps, facts.extents()[2]), width)?;
    Ok(copy)
}

/// True where a copy of an operand is a box of an argument at each step, in panels as instructions read them.
pub fn is_by_tma(
    (found, facts): (&Contraction, &Facts),
    (n, tile, step): (usize, Tile, u64),
    target: &Target,
) -> bool {
    let operand = &found.operands[n];
    let size = facts.dtype.size() as u64;
    let Some(panels) = facts.panels.filter(|panels| panels * size == target.gpu.bulk_bytes) else {
        return false;
    };
    let own = dim_of(operand, if n == 0 { found.row } else { found.column });
    let (Some((own, 1)), Some((deep, 1))) = (own, dim_of(operand, found.depth)) else { return false };
    let mut extents = vec![1; operand.shape.len()];
    extents[own] = [tile.rows, tile.columns][n];
    extents[deep] = step;
    if let Some(last) = extents.last_mut() {
        *last = panels;
    }
    operand.input.is_some()
        && !operand.is_fused
        && own != deep
        && turns(found, facts, n) == Some(false)
        && can_copy(&operand.shape, &extents, size)
}

/// True when elements along the last axis of a stage, that many from a multiple of their number on, are read from as many that lie
/// together in memory, from a multiple of their number on.
fn lies_together(tree: &Schedule, stage: StageId, width: u64) -> bool {
    let s = &tree.stages[stage];
    let last = s.rank() - 1;
    let extent = s.axes[last].extent;
    let width = width as i64;
    let aligned = |access: fusion_dialects::indices::Access| {
        let inlined = tree.giving(access.tensor).is_some_and(|s| tree.stages[s].attach == Attach::Inline);
        let shape = tensor_type(access.tensor).and_then(|t| t.shape()).filter(|_| !inlined)?;
        let indices: Vec<_> = access.indices.into_iter().collect::<Option<_>>()?;
        let place = flatten(&indices, &shape);
        let step = place.coefficient(last).filter(|step| *step == 1)?;
        let is_last = |atom: &Atom| matches!(atom, Atom::Var(v) if v.id == last);
        let rest = place.terms().all(|(atom, c)| is_last(atom) || c % width == 0);
        (rest && place.offset() % width == 0).then_some(step)
    };
    let read = accesses(s.op);
    !read.is_empty() && extent as i64 % width == 0 && read.into_iter().all(|a| aligned(a).is_some())
}

/// Has all threads of a block compute a stage, neighbours what lies together.
pub fn share(
    writer: &mut Writer,
    copy: StageId,
    ([down, along], lanes): ([u64; 2], u64),
    width: u64,
) -> Result<(), String> {
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
    let (_, inner) = writer.split(copy, all, down * along * lanes)?;
    let (z, inner) = writer.split(copy, inner, along * lanes)?;
    let (y, x) = writer.split(copy, inner, lanes)?;
    for (axis, kind) in [(z, LoopKind::ThreadZ), (y, LoopKind::ThreadY), (x, LoopKind::ThreadX)] {
        writer.bind(copy, axis, kind)?;
    }
    Ok(())
}
