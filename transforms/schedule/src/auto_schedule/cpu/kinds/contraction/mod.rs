//! Contractions: matrix products, convolutions and what else sums products of elements of two tensors.
//!
//!     y[i, j] = sum_k  a[i, k] * b[k, j]
//!
//!     for jo  pack b[:, jo]          b's panel, [k][vectors * lanes], is read in order and stays in the near cache
//!       for io
//!         for k                      rows * vectors accumulators in registers:
//!           acc[r][v] += a[io + r, k] * b[k, jo][v]       each vector of b is used `rows` times, each element of a `vectors`
//!
//! (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008.) Panels too long for the near cache are packed
//! several at a time, a block that the second cache holds, and each tile of rows goes over all of them: `a` is read once a block.
//! The vectorized axis `v` is one that only one operand, the panel, varies along; the rows `u` are an axis of the other alone. Which axes those are and how many
//! rows and vectors a tile has comes out of a count of cycles: multiply-adds, loads, what tails waste, and what packing and
//! storing cost when they have to transpose (`model`; `packing` copies). For a convolution `v` is the row of pixels, or the
//! channels of the result.
//!
//! Rows of a transposed convolution's phases may be along two axes, as pixels are: a small image has few along each, and windows that
//! overlap share what they read (`reach`). There the innermost steps of the reduction, those of the kernel, are written out.

mod dot;
mod estimate;
mod groups;
mod kind;
mod model;
mod narrow;
mod packing;
mod padding;
mod panels;
mod prefetch_batch;
mod prefetch_panel;
mod prefetch_rows;
mod reach;
mod register_tile;
mod streams;

pub use estimate::Convolution;
pub use kind::Products;
pub use narrow::InLanes;
pub use packing::{copy_operand, copy_panels_at, copy_panels_before, panels};
pub use panels::{Panel, panel_of, schedule_panel};
pub use prefetch_panel::prefetch_for_epilogue;
pub(super) use prefetch_rows::serial_step;
pub use register_tile::{RegisterTile, tile_of, tile_of_vectors};

use crate::auto_schedule::cpu::parallel;
use crate::auto_schedule::fusion;
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use dot::Dot;
use fusion_dialects::indices::expr::Var;
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Machine;
use packing::{Panels, copy_panels, pack_rows, panels_in_order, panels_of_several};
use padding::Padding;

/// The decision: axes and the size of a tile of the result in registers.
struct Tile {
    vector: usize,
    rows: Option<usize>,
    /// Vectors of a tile.
    vectors: u64,
    /// Rows of a tile along that axis.
    height: u64,
    /// A second axis of rows, and how many of it a tile has.
    across: Option<(usize, u64)>,
    /// Which operand is the panel.
    panel: usize,
    /// True when the other operand is packed as well, so that the rows of a tile are neighbours.
    packs_rows: bool,
}

impl Tile {
    /// Rows of a tile along both axes.
    fn all_rows(&self) -> u64 {
        self.height * self.across.map_or(1, |(_, n)| n)
    }

    /// The axes that a tile has rows along.
    fn row_axes(&self) -> impl Iterator<Item = usize> {
        self.rows.into_iter().chain(self.across.map(|(axis, _)| axis))
    }

    /// True for a tile that is as another but for its rows, which are along an axis further inside: they lie side by side, where rows along
    /// an outer one are on a page each.
    fn lies_closer(&self, other: &Tile) -> bool {
        let alike = |tile: &Tile| (tile.vector, tile.vectors, tile.height, tile.packs_rows);
        let along_one = self.across.is_none() && other.across.is_none();
        along_one && alike(self) == alike(other) && self.rows > other.rows
    }

    /// True when a tile has rows along the axis.
    fn has_rows(&self, axis: usize) -> bool {
        self.row_axes().any(|a| a == axis)
    }
}

/// What is to be scheduled.
struct Contraction {
    operands: Vec<Operand>,
    /// Extents of the parallel axes; the last of them may be several that are one loop.
    extents: Vec<u64>,
    /// Number of axes that are the last one.
    fused: usize,
    /// The axis of channels that are in groups, which is one over the groups and one in a group here, and the extent of the
    /// latter: all channels of a group use the same data.
    groups: Option<(usize, u64)>,
    /// How many blocks of one axis are computed one after the other; extents are those of a block.
    blocks: u64,
    /// Steps of the reduction.
    depth: u64,
    /// Its axes of more than one step, the innermost first: their variables, and how many steps each has.
    steps: Vec<(usize, u64)>,
    /// Which of these steps add products with zeros of a padding.
    padding: Vec<Padding>,
    /// True when the sums are computed into memory, and not into what an epilogue uses.
    is_alone: bool,
    /// The axis along which results lie side by side, where they are stored in another order than theirs.
    innermost: Option<usize>,
    lanes: u64,
    /// How several products are added at once; a step is one of these then.
    dot: Option<Dot>,
}

impl Contraction {
    /// Number of parallel axes before any were put together: reduction axes are the variables behind them.
    fn axes(&self) -> usize {
        self.extents.len() + self.fused - 1
    }

    /// Elements of a tile along the vectorized axis.
    fn width(&self, tile: &Tile) -> u64 {
        tile.vectors * self.lanes
    }

    /// The axis of the panel that is cut into panels of the tile's width, which the channels of a group must be a number of, and that width.
    fn panels_of(&self, tile: &Tile) -> Option<(usize, u64)> {
        let (panel, extent) = (&self.operands[tile.panel], self.extents[tile.vector]);
        if let Some(dimension) = panel.dimension(tile.vector, extent) {
            return Some((dimension, self.width(tile)));
        }
        let width = self.width(tile).min(extent);
        let whole = extent.is_multiple_of(width);
        panel.dimension_of_groups(tile.vector, extent).filter(|_| whole).map(|d| (d, width))
    }
}

/// The core as estimates of kinds count with it: what comes from memory is counted for all kinds alike.
fn beside_memory(machine: &Machine) -> Machine {
    Machine { constant_bytes: None, ..*machine }
}

/// The contraction with its last axes as one loop, or with a loop for each where that passes over so much padding that it is faster.
fn best_of(
    tree: &Schedule,
    stage: StageId,
    reduction: StageId,
    machine: &Machine,
    constant: &[bool],
) -> Option<Contraction> {
    let together = recognize(tree, stage, reduction, machine)?.in_dots(tree, reduction, machine, constant);
    if together.fused == 1 || together.padding.is_empty() {
        return Some(together);
    }
    let apart = recognize_with(tree, stage, reduction, machine, 1)?;
    let apart = apart.in_dots(tree, reduction, machine, constant);
    let cycles = |c: &Contraction| c.best(machine, constant, &|_| true).map(|(cycles, _)| cycles);
    let is_faster = match (cycles(&apart), cycles(&together)) {
        (Some(apart), Some(together)) => apart < together,
        (apart, _) => apart.is_some(),
    };
    Some(if is_faster { apart } else { together })
}

fn recognize(tree: &Schedule, stage: StageId, reduction: StageId, machine: &Machine) -> Option<Contraction> {
    let s = &tree.stages[reduction];
    let extents = &s.extents()[..s.rank()];
    let fused = fusion::last_axes(tree, stage, nest_reduction(stage, reduction), extents);
    recognize_with(tree, stage, reduction, machine, fused)
}

/// The contraction with so many last axes as one loop.
fn recognize_with(
    tree: &Schedule,
    stage: StageId,
    reduction: StageId,
    machine: &Machine,
    fused: usize,
) -> Option<Contraction> {
    let s = &tree.stages[reduction];
    if !s.is_reduction() || s.op.result_values().len() != 1 {
        return None;
    }
    let mut operands = operands(tree, reduction)?;
    let mut rank = s.rank();
    // Of a stage of which only a part is computed, what it reads goes along all of the axis.
    let mut extents: Vec<u64> = s.extents()[..rank].to_vec();
    let groups = groups::find(&operands, &extents[..(rank + 1).saturating_sub(fused)]);
    if let Some(groups) = groups {
        groups::separate(groups, &mut operands, &mut extents);
        rank += 1;
    }
    if fused > 1 {
        let axes = fusion::axes_in_terms_of_one(&extents, fused);
        operands.iter_mut().for_each(|o| o.fuse(&axes));
        let total = extents.split_off(rank - fused).iter().product();
        extents.push(total);
    }
    let depth = s.axes[s.rank()..].iter().map(|a| a.extent).product();
    let first = extents.len() + fused - 1;
    let steps = s.axes[s.rank()..].iter().enumerate().map(|(i, a)| (first + i, a.extent)).rev();
    let steps = steps.filter(|(_, n)| *n > 1).collect();
    let place = |axis: usize| {
        let behind_groups = groups.is_some_and(|(channels, _)| axis > channels);
        let place = axis + usize::from(behind_groups);
        if place < rank { place.min(extents.len() - 1) } else { place }
    };
    let padding = padding::find(tree, reduction, &place);
    let result = tree.stages[stage].op.result_values().first().copied().and_then(tensor_type)?;
    let lanes = machine.lanes(result.dtype.size() as u64);
    // Axes that are put together or taken apart lie as they are.
    let layout = tree.stages[stage].layout.as_ref().filter(|_| fused == 1 && groups.is_none());
    let innermost = layout.and_then(|layout| layout.digits().last()).map(|digit| digit.axis);
    (operands.len() == 2 && extents.iter().product::<u64>() > 0 && depth > 0).then_some(Contraction {
        operands,
        extents,
        fused,
        groups,
        blocks: 1,
        depth,
        steps,
        padding,
        is_alone: stage == reduction,
        innermost,
        lanes,
        dot: None,
    })
}

/// The reduction, when it is a stage of its own.
fn nest_reduction(stage: StageId, reduction: StageId) -> Option<StageId> {
    (stage != reduction).then_some(reduction)
}

/// The loops of a tiled nest, where others are put into.
struct Loops {
    /// The innermost loop that selects what is packed; none when all of it is packed beforehand.
    packing: Option<AxisId>,
    /// The innermost loop over several products, each with panels of its own.
    batch: Option<AxisId>,
    /// The vector.
    vector: AxisId,
    /// Over tiles of rows.
    rows: Option<AxisId>,
    /// The same, where these go over the panels of a block.
    sharing: Option<AxisId>,
}

/// Writes the loops.
fn write(
    writer: &mut Writer,
    nest: &Nest,
    reduction: StageId,
    contraction: &Contraction,
    tile: &Tile,
    machine: &Machine,
    constant: &[bool],
) -> Result<Loops, String> {
    let stage = nest.stage;
    let panel = &contraction.operands[tile.panel];
    lay_out(writer, contraction, tile, constant)?;
    let rank = contraction.extents.len();
    if let Some((axis, extent)) = contraction.groups {
        let channels = writer.tree.stages[stage].leaves[axis];
        writer.split(stage, channels, extent)?;
    }
    fusion::fuse_last(writer, stage, rank + contraction.fused - 1, contraction.fused)?;
    let copied = contraction.is_copied(tile, constant);
    let at_once = contraction.panels_at_once(tile, machine, copied);
    let loops = tile_loops(writer, stage, contraction, tile, at_once)?;

    let s = &writer.tree.stages[reduction];
    let steps = s.leaves.iter().rev().filter(|&&l| s.axes[l].reduce && s.axes[l].extent > 1).copied();
    for step in steps.take(contraction.written_out(tile, machine)).collect::<Vec<_>>() {
        writer.unroll(reduction, step)?;
    }
    contraction.skip_padding(writer, reduction, tile, machine)?;
    if nest.reduction.is_some() {
        writer.compute_at(reduction, stage, loops.vector)?;
    }
    let dimension = panel.dimension(tile.vector, contraction.extents[tile.vector]);
    let mut copies = None;
    if let (true, Some(dimension)) = (copied, dimension) {
        let fours = contraction.fours_of(tile);
        let panels = Panels { dimension, width: contraction.width(tile), at_once, fours };
        let layout = contraction.with_fours(tile, panels.layout(panel.shape.len())?)?;
        copies = copy_panels(writer, stage, panel, (panels, layout), contraction.lanes, loops.packing)?;
    }
    contraction.write_dots(writer, reduction)?;
    if let Some(rows) = loops.sharing {
        let shared: Vec<_> = copies.into_iter().chain([(stage, rows)]).collect();
        parallel::share(writer, stage, &shared)?;
    }
    Ok(loops)
}

/// Lays constant operands out in the order in which tiles read them, and copies rows that are to be neighbours.
fn lay_out(
    writer: &mut Writer,
    contraction: &Contraction,
    tile: &Tile,
    constant: &[bool],
) -> Result<(), String> {
    let panel = &contraction.operands[tile.panel];
    let (width, extent) = (contraction.width(tile), contraction.extents[tile.vector]);
    if let (Some(input), true) = (panel.input, panel.is_constant(constant)) {
        if let Some((dimension, width)) = contraction.panels_of(tile) {
            let is_step = |v: &Var| v.id >= contraction.axes();
            let layout = contraction.with_fours(tile, panels_in_order(panel, dimension, width, &is_step)?)?;
            // Pieces of a product read one weight.
            if writer.tree.input_layouts[input].as_ref() != Some(&layout) {
                writer.transform_layout(Handle::Input(input), layout)?;
            }
        }
        if let Some(several) = panel.together(tile.vector, extent)
            && let Some(layout) = panels_of_several(&panel.shape, several, width)
        {
            writer.transform_layout(Handle::Input(input), layout)?;
        }
    }
    match contraction.row_dimension(tile).filter(|_| tile.packs_rows) {
        Some(dimension) => {
            let rows = &contraction.operands[1 - tile.panel];
            pack_rows(writer, rows, (dimension, tile.height), contraction, constant)
        }
        None => Ok(()),
    }
}

/// Splits the loops of the result by the tile and puts them in order, with so many panels in a block.
fn tile_loops(
    writer: &mut Writer,
    stage: StageId,
    contraction: &Contraction,
    tile: &Tile,
    at_once: u64,
) -> Result<Loops, String> {
    let rank = contraction.extents.len();
    let (width, extent) = (contraction.width(tile), contraction.extents[tile.vector]);
    let axes: Vec<AxisId> = writer.tree.stages[stage].leaves[..rank].to_vec();
    let (mut panels, block) = split_above(writer, stage, axes[tile.vector], width)?;
    let mut blocks = None;
    if let Some(all) = panels.filter(|_| at_once > 1) {
        let (outer, inner) = split_above(writer, stage, all, at_once)?;
        (blocks, panels) = (outer, Some(inner));
    }
    let mut register = Vec::new();
    let mut row_blocks = None;
    if let Some(rows) = tile.rows {
        let (outer, inner) = split_above(writer, stage, axes[rows], tile.height)?;
        writer.unroll(stage, inner)?;
        register.push(inner);
        row_blocks = outer;
    }
    let mut across_blocks = None;
    if let Some((across, height)) = tile.across {
        let (outer, inner) = split_above(writer, stage, axes[across], height)?;
        writer.unroll(stage, inner)?;
        register.insert(0, inner);
        across_blocks = outer;
    }
    let (copies, vector) = split_above(writer, stage, block, contraction.lanes.min(extent))?;
    if let Some(copies) = copies {
        writer.unroll(stage, copies)?;
        register.push(copies);
    }
    writer.vectorize(stage, vector)?;
    register.push(vector);

    // What selects a panel is outside of what goes over all rows with it.
    let panel = &contraction.operands[tile.panel];
    let others = (0..rank).filter(|&a| a != tile.vector && !tile.has_rows(a));
    let (selecting, rest): (Vec<usize>, Vec<usize>) = others.partition(|&a| panel.mentions(a));
    let mut order: Vec<AxisId> = selecting.iter().map(|&a| axes[a]).collect();
    let several = |a: &&usize| contraction.extents[**a] > 1;
    let batch = selecting.iter().rev().find(several).map(|&a| axes[a]);
    order.extend(if at_once > 1 { blocks } else { panels });
    let packing = order.last().copied();
    order.extend(rest.iter().map(|&a| axes[a]));
    order.extend(across_blocks);
    order.extend(row_blocks);
    order.extend(panels.filter(|_| at_once > 1));
    order.extend(&register);
    let own = writer.tree.stages[stage].leaves.clone();
    order.extend(own.iter().filter(|&&l| writer.tree.stages[stage].axes[l].reduce));
    if order != own {
        writer.reorder(stage, &order)?;
    }
    // Threads share the blocks, and each reads no more than its own; where these are few, the rows of each.
    let outside = selecting.iter().chain(&rest).map(|&a| axes[a]).chain(across_blocks).next();
    let trips = |axis: AxisId| writer.tree.stages[stage].axes[axis].extent;
    let few = |rows: AxisId| blocks.is_some_and(|blocks| trips(blocks) < trips(rows));
    let sharing = row_blocks.filter(|&rows| outside.is_none() && few(rows));
    Ok(Loops { packing, batch, vector, rows: row_blocks, sharing })
}

/// Splits a loop that is longer than the factor.
pub(super) fn split_above(
    writer: &mut Writer,
    stage: StageId,
    axis: AxisId,
    factor: u64,
) -> Result<(Option<AxisId>, AxisId), String> {
    match writer.tree.stages[stage].axes[axis].extent > factor {
        true => writer.split(stage, axis, factor).map(|(outer, inner)| (Some(outer), inner)),
        false => Ok((None, axis)),
    }
}
