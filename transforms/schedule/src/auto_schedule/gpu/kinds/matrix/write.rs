//! The primitives of a product by matrix instructions: computed whole, in parts that are added up, or whole up to a place.

use super::super::elements;
use super::sizes::{self, Extents};
use super::{MBARRIER_BYTES, MOST_SUMS, SLOTS_OF_TMA, SUMS_OF_A_BLOCK};
use super::{Product, arrange, best, copies, reads_shared, windows};
use crate::auto_schedule::gpu::shared;
use crate::auto_schedule::parts;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, StageId};
use fusion_dialects::loops::Scope;
use fusion_machine::Target;

/// The tile that is asked for, where one is, and the GPU.
pub struct Wanted<'t> {
    pub tile: Option<[u64; 2]>,
    pub target: &'t Target,
}

/// Writes the primitives of a product each tile of which is computed in parts, that are added up by another launch.
pub fn in_parts(
    writer: &mut Writer,
    nest: &Nest,
    product: &Product,
    (axis, parts): (AxisId, u64),
    wanted: &Wanted,
) -> Result<(), String> {
    let Some(partial) = parts::of(writer, product.reduction, axis, parts)? else {
        return whole(writer, nest, product, wanted);
    };
    let target = wanted.target;
    let windows = product.windows.as_ref().and_then(|_| windows::of(&writer.tree, partial, 1));
    let own = Nest { stage: partial, reduction: None };
    if windows.is_some() == product.windows.is_some() {
        let parts = Product { reduction: partial, windows, ..product.clone() };
        whole(writer, &own, &parts, wanted)?;
    } else {
        product.sources.iter().try_for_each(|source| writer.inline(*source))?;
        elements::schedule(writer, &own, target)?;
    }
    parts::apart(writer, partial)?;
    elements::schedule(writer, nest, target)
}

/// Writes the primitives of a product whose tiles are computed whole up to a place along an axis, and in parts from there on.
pub fn streamed(
    writer: &mut Writer,
    nest: &Nest,
    product: &Product,
    ((axis, at), shared): ((AxisId, u64), (AxisId, u64)),
    wanted: &Wanted,
) -> Result<(), String> {
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
    whole(writer, nest, &first, wanted)?;
    in_parts(writer, &behind, &last, shared, wanted)
}

/// Writes the primitives of a product that is computed whole, or of its parts.
pub fn whole(writer: &mut Writer, nest: &Nest, product: &Product, wanted: &Wanted) -> Result<(), String> {
    let target = wanted.target;
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
    let (facts, tile, step) = sizes::sizes(&extents, &facts, target, wanted.tile)
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
    writer.tensorize(sums, instruction, &facts.name)
}
