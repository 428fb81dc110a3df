//! Contractions: matrix products, convolutions and what else sums products of elements of two tensors.
//!
//!     y[i, j] = sum_k  a[i, k] * b[k, j]
//!
//!     for jo  pack b[:, jo]          b's panel, [k][vectors * lanes], is read in order and stays in the near cache
//!       for io
//!         for k                      rows * vectors accumulators in registers:
//!           acc[r][v] += a[io + r, k] * b[k, jo][v]       each vector of b is used `rows` times, each element of a `vectors`
//!
//! (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008.) The vectorized axis `v` is one that
//! only one operand, the panel, varies along; the rows `u` are an axis of the other alone. Which axes those are and how many
//! rows and vectors a tile has comes out of a count of cycles: multiply-adds, loads, what tails waste, and what packing and
//! storing cost when they have to transpose. For a convolution `v` is the row of pixels, or the channels of the result.

use super::fusion;
use super::machine::Machine;
use super::operands::{Operand, operands};
use super::placement::Nest;
use super::writer::Writer;
use crate::te::expr::flatten;
use crate::te::layout::{Digit, Layout};
use crate::te::schedule::{AxisId, Handle, StageId};
use fusion_dialects::{OpExt, tensor_type};

/// Cycles to store or pack an element when its vectors have to be transposed, and when not.
const TRANSPOSED: f64 = 0.7;
const STRAIGHT: f64 = 0.15;
/// Cycles to store an element on its own.
const SCATTERED: f64 = 2.0;
/// Cycles of a step of the reduction beside the arithmetic: the loop, and what the out-of-order window does not hide.
const STEP: f64 = 0.5;
/// A panel is copied when it is used for at least this many rows.
const WORTH_PACKING: u64 = 16;

/// The decision: axes and the size of a tile of the result in registers.
struct Tile {
    vector: usize,
    rows: Option<usize>,
    /// Vectors of a tile.
    vectors: u64,
    /// Rows of a tile.
    height: u64,
    /// Which operand is the panel.
    panel: usize,
    /// True when the other operand is packed as well, so that the rows of a tile are neighbours.
    packs_rows: bool,
}

/// What is to be scheduled.
struct Contraction {
    operands: Vec<Operand>,
    /// Extents of the parallel axes; the last of them may be several that are one loop.
    extents: Vec<u64>,
    /// Number of axes that are the last one.
    fused: usize,
    /// Steps of the reduction.
    depth: u64,
    lanes: u64,
}

/// Writes the schedule of a nest that is a contraction; `false` for others, for which nothing was written.
pub fn schedule(
    writer: &mut Writer,
    nest: &Nest,
    machine: &Machine,
    constant: &[bool],
) -> Result<bool, String> {
    let reduction = nest.reduction.unwrap_or(nest.stage);
    let Some(contraction) = recognize(writer, nest.stage, reduction, machine) else { return Ok(false) };
    let Some(tile) = contraction.best_tile(machine, constant, &|_, _| true) else { return Ok(false) };
    write(writer, nest, reduction, &contraction, &tile, constant)?;
    Ok(true)
}

/// The tile of a contraction in registers.
pub struct RegisterTile {
    /// Rows of a tile.
    pub height: u64,
    /// Its vectors.
    pub vectors: u64,
    /// Elements of a vector.
    pub lanes: u64,
}

impl RegisterTile {
    /// Columns of a tile.
    pub fn width(&self) -> u64 {
        self.vectors * self.lanes
    }
}

/// The best tile of a contraction with those axes of the result as vectors and rows.
pub fn tile_of(
    writer: &Writer,
    (stage, reduction): (StageId, StageId),
    machine: &Machine,
    constant: &[bool],
    (vector, rows): (usize, usize),
) -> Option<RegisterTile> {
    let contraction = recognize(writer, stage, reduction, machine).filter(|c| c.fused == 1)?;
    let tile = contraction.best_tile(machine, constant, &|v, u| v == vector && u == Some(rows))?;
    Some(RegisterTile { height: tile.height, vectors: tile.vectors, lanes: contraction.lanes })
}

/// Packs the operand of a contraction that varies along the axis `vector` into panels, at a loop of `host`, unless it lies so.
pub fn copy_operand(
    writer: &mut Writer,
    (host, at): (StageId, Option<AxisId>),
    (stage, reduction): (StageId, StageId),
    vector: usize,
    tile: &RegisterTile,
) -> Result<(), String> {
    let Some(operands) = operands(&writer.tree, reduction) else { return Ok(()) };
    let extent = writer.tree.stages[stage].axes[vector].extent;
    let Some(panel) = operands.iter().find(|o| o.mentions(vector)) else { return Ok(()) };
    match panel.dimension(vector, extent) {
        Some(dimension) => copy_panel(writer, host, panel, (dimension, tile.width()), tile.lanes, at),
        None => Ok(()),
    }
}

fn recognize(writer: &Writer, stage: StageId, reduction: StageId, machine: &Machine) -> Option<Contraction> {
    let s = &writer.tree.stages[reduction];
    if !s.is_reduction() || s.op.result_values().len() != 1 {
        return None;
    }
    let mut operands = operands(&writer.tree, reduction)?;
    let rank = s.rank();
    let mut extents: Vec<u64> = s.axes[..rank].iter().map(|a| a.extent).collect();
    let fused = fusion::last_axes(&writer.tree, stage, nest_reduction(stage, reduction), &extents);
    if fused > 1 {
        let axes = fusion::axes_in_terms_of_one(&extents, fused);
        operands.iter_mut().for_each(|o| o.fuse(&axes));
        let total = extents.split_off(rank - fused).iter().product();
        extents.push(total);
    }
    let depth = s.axes[rank..].iter().map(|a| a.extent).product();
    let result = writer.tree.stages[stage].op.result_values().first().copied().and_then(tensor_type)?;
    let lanes = machine.lanes(result.dtype.size() as u64);
    (operands.len() == 2 && extents.iter().product::<u64>() > 0 && depth > 0).then_some(Contraction {
        operands,
        extents,
        fused,
        depth,
        lanes,
    })
}

/// The reduction, when it is a stage of its own.
fn nest_reduction(stage: StageId, reduction: StageId) -> Option<StageId> {
    (stage != reduction).then_some(reduction)
}

impl Contraction {
    fn best_tile(
        &self,
        machine: &Machine,
        constant: &[bool],
        allowed: &dyn Fn(usize, Option<usize>) -> bool,
    ) -> Option<Tile> {
        let mut best: Option<(f64, Tile)> = None;
        for vector in 0..self.extents.len() {
            let along: Vec<usize> = (0..2).filter(|&o| self.operands[o].mentions(vector)).collect();
            let [panel] = along[..] else { continue };
            if self.extents[vector] < 4 || !self.can_be_vectors(panel, vector, constant) {
                continue;
            }
            let other = 1 - panel;
            let is_row = |&a: &usize| self.operands[other].mentions(a) && !self.operands[panel].mentions(a);
            let mut rows: Vec<Option<usize>> = (0..self.extents.len()).filter(is_row).map(Some).collect();
            if rows.is_empty() {
                rows.push(None);
            }
            for rows in rows.into_iter().filter(|rows| allowed(vector, *rows)) {
                let most = self.extents[vector].div_ceil(self.lanes).min(if rows.is_none() { 16 } else { 8 });
                for vectors in 1..=most {
                    let room = (machine.registers - 1).saturating_sub(vectors) / vectors;
                    let most = rows.map_or(1, |u| self.extents[u]).min(room);
                    for (height, packs_rows) in (1..=most).flat_map(|h| [(h, false), (h, true)]) {
                        let tile = Tile { vector, rows, vectors, height, panel, packs_rows };
                        if packs_rows && self.row_dimension(&tile).is_none() {
                            continue;
                        }
                        let cycles = self.cycles(&tile, machine, constant);
                        if best.as_ref().is_none_or(|(least, _)| cycles < *least) {
                            best = Some((cycles, tile));
                        }
                    }
                }
            }
        }
        best.map(|(_, tile)| tile)
    }

    /// True when the panel is read in vectors along the axis, as it is or packed.
    fn can_be_vectors(&self, panel: usize, vector: usize, constant: &[bool]) -> bool {
        self.stride(panel, vector) == Some(1) || self.packable(panel, vector, constant)
    }

    /// Distance in memory of an operand's elements along an axis.
    fn stride(&self, operand: usize, axis: usize) -> Option<i64> {
        let o = &self.operands[operand];
        flatten(&o.indices, &o.shape).coefficient(axis)
    }

    /// True when the axis is an axis of the tensor as well, so that a layout can have it last.
    fn packable(&self, panel: usize, vector: usize, constant: &[bool]) -> bool {
        self.operands[panel].dimension(vector, self.extents[vector]).is_some()
            && (self.operands[panel].is_constant(constant) || self.reuse(panel) >= WORTH_PACKING)
    }

    /// How often an element of an operand is used over the parallel axes.
    fn reuse(&self, operand: usize) -> u64 {
        let axes = (0..self.extents.len()).filter(|&a| !self.operands[operand].mentions(a));
        axes.map(|a| self.extents[a]).product()
    }

    /// True when the panel is copied: rows far apart fall on few sets of the caches, and on a page each.
    fn is_copied(&self, tile: &Tile, constant: &[bool]) -> bool {
        let panel = &self.operands[tile.panel];
        let far = self.extents[tile.vector] * 4 >= 1024 && self.reuse(tile.panel) >= 2 * WORTH_PACKING;
        !panel.is_constant(constant)
            && panel.dimension(tile.vector, self.extents[tile.vector]).is_some()
            && (self.stride(tile.panel, tile.vector) != Some(1) || far)
    }

    /// True when rows and steps of the reduction go along one axis of a tensor, as a window slides: steps written out would
    /// share elements, and want registers for them.
    fn slides(&self, tile: &Tile, step: usize) -> bool {
        let Some(rows) = tile.rows else { return false };
        self.operands[1 - tile.panel].indices.iter().any(|e| e.mentions(rows) && e.mentions(step))
    }

    /// The axis of the tensor that the rows of a tile are, when it can be laid out by them.
    fn row_dimension(&self, tile: &Tile) -> Option<usize> {
        let rows = tile.rows.filter(|_| tile.height > 1)?;
        self.operands[1 - tile.panel].dimension(rows, self.extents[rows])
    }

    /// True when the rows of a tile push each other out of the first-level cache: they are so far apart that they fall on
    /// few of its sets.
    fn rows_conflict(&self, tile: &Tile, machine: &Machine) -> bool {
        let Some(rows) = tile.rows.filter(|_| !tile.packs_rows) else { return false };
        let distance = self.stride(1 - tile.panel, rows).map_or(0, |n| n.unsigned_abs() * 4);
        if distance == 0 || !distance.is_multiple_of(machine.line) {
            return false;
        }
        let sets = machine.first_sets / gcd(distance / machine.line, machine.first_sets);
        tile.height.div_ceil(sets) > machine.first_ways / 2
    }

    /// An estimate of the time.
    fn cycles(&self, tile: &Tile, machine: &Machine, constant: &[bool]) -> f64 {
        let width = tile.vectors * self.lanes;
        let panel = &self.operands[tile.panel];
        let packed = panel.dimension(tile.vector, self.extents[tile.vector]).is_some();
        // Vectors that begin anywhere lie in two lines of the cache.
        let lines = if packed { 1 } else { 2 };
        let far = self.depth * width * 4 > machine.first_cache / 2;
        let conflict = self.rows_conflict(tile, machine);
        let step = |vectors: u64, height: u64| {
            let work = (vectors * height).div_ceil(machine.multiply_adds);
            let loads = (vectors * lines + height).div_ceil(machine.loads);
            let bytes = if far { vectors * machine.vector_bytes / machine.near_bytes } else { 0 };
            let again = if conflict { 2 * height } else { 0 };
            work.max(loads).max(bytes).max(machine.latency) as f64 + STEP + again as f64
        };
        let n = self.extents[tile.vector];
        let m = tile.rows.map_or(1, |u| self.extents[u]);
        let (whole, rest) = (n / width, (n % width).div_ceil(self.lanes));
        let (blocks, last) = (m / tile.height, m % tile.height);
        let column = |vectors: u64| {
            let full = blocks as f64 * step(vectors, tile.height);
            full + if last > 0 { step(vectors, last) } else { 0.0 }
        };
        let plane = whole as f64 * column(tile.vectors) + if rest > 0 { column(rest) } else { 0.0 };
        let elements: u64 = self.extents.iter().product();
        let planes = (elements / (n * m)) as f64;
        let contiguous = |axis: usize| self.extents[axis + 1..].iter().all(|&e| e == 1);
        let storing = elements as f64
            * match tile.rows {
                _ if contiguous(tile.vector) => STRAIGHT,
                Some(rows) if contiguous(rows) => TRANSPOSED,
                _ => SCATTERED,
            };
        let packing = match self.is_copied(tile, constant) {
            false => 0.0,
            true => {
                let straight = self.stride(tile.panel, tile.vector) == Some(1);
                panel.shape.iter().product::<u64>() as f64 * if straight { STRAIGHT } else { TRANSPOSED }
            }
        };
        let other = &self.operands[1 - tile.panel];
        let rows = match tile.packs_rows && !other.is_constant(constant) {
            true => other.shape.iter().product::<u64>() as f64 * TRANSPOSED,
            false => 0.0,
        };
        plane * planes * self.depth as f64 + storing + packing + rows
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn write(
    writer: &mut Writer,
    nest: &Nest,
    reduction: StageId,
    contraction: &Contraction,
    tile: &Tile,
    constant: &[bool],
) -> Result<(), String> {
    let stage = nest.stage;
    let panel = &contraction.operands[tile.panel];
    let width = tile.vectors * contraction.lanes;
    let extent = contraction.extents[tile.vector];
    let dimension = panel.dimension(tile.vector, extent);
    if let (Some(dimension), true, Some(input)) = (dimension, panel.is_constant(constant), panel.input) {
        writer.transform_layout(Handle::Input(input), panels(panel.shape.len(), dimension, width)?)?;
    }
    if let Some(dimension) = contraction.row_dimension(tile).filter(|_| tile.packs_rows) {
        pack_rows(
            writer,
            &contraction.operands[1 - tile.panel],
            (dimension, tile.height),
            contraction,
            constant,
        )?;
    }
    let rank = contraction.extents.len();
    fusion::fuse_last(writer, stage, rank + contraction.fused - 1, contraction.fused)?;
    let axes: Vec<AxisId> = writer.tree.stages[stage].leaves[..rank].to_vec();
    let (blocks, block) = match extent > width {
        true => {
            let (outer, inner) = writer.split(stage, axes[tile.vector], width)?;
            (Some(outer), inner)
        }
        false => (None, axes[tile.vector]),
    };
    let mut register = Vec::new();
    let mut row_blocks = None;
    if let Some(rows) = tile.rows {
        let (outer, inner) = match contraction.extents[rows] > tile.height {
            true => {
                let (outer, inner) = writer.split(stage, axes[rows], tile.height)?;
                (Some(outer), inner)
            }
            false => (None, axes[rows]),
        };
        writer.unroll(stage, inner)?;
        register.push(inner);
        row_blocks = outer;
    }
    let lanes = contraction.lanes.min(extent);
    let vector = match width.min(extent) > lanes {
        true => {
            let (copies, vector) = writer.split(stage, block, lanes)?;
            writer.unroll(stage, copies)?;
            register.push(copies);
            vector
        }
        false => block,
    };
    writer.vectorize(stage, vector)?;
    register.push(vector);

    // What selects a panel is outside of what goes over all rows with it.
    let others = (0..rank).filter(|&a| a != tile.vector && Some(a) != tile.rows);
    let (selecting, rest): (Vec<usize>, Vec<usize>) = others.partition(|&a| panel.mentions(a));
    let mut order: Vec<AxisId> = selecting.iter().map(|&a| axes[a]).collect();
    order.extend(blocks);
    let at = order.last().copied();
    order.extend(rest.iter().map(|&a| axes[a]));
    order.extend(row_blocks);
    order.extend(&register);
    let own = writer.tree.stages[stage].leaves.clone();
    order.extend(own.iter().filter(|&&l| writer.tree.stages[stage].axes[l].reduce));
    if order != own {
        writer.reorder(stage, &order)?;
    }
    let steps = writer.tree.stages[reduction].leaves.clone();
    let innermost = steps.iter().rev().find(|&&l| writer.tree.stages[reduction].axes[l].extent > 1);
    if let Some(&last) = innermost
        && let a = &writer.tree.stages[reduction].axes[last]
        && a.reduce
        && steps.len() - writer.tree.stages[reduction].rank() > 1
        && a.extent * tile.vectors * tile.height <= 256
        && a.extent <= 8
        && nest.reduction.is_some()
        && !contraction.slides(tile, last)
    {
        writer.unroll(reduction, last)?;
    }
    if nest.reduction.is_some() {
        writer.compute_at(reduction, stage, vector)?;
    }
    if let (true, Some(dimension)) = (contraction.is_copied(tile, constant), dimension) {
        copy_panel(writer, stage, panel, (dimension, width), contraction.lanes, at)?;
    }
    Ok(())
}

/// `[panel][the other axes][width]`.
fn panels(rank: usize, dimension: usize, width: u64) -> Result<Layout, String> {
    let mut digits = vec![Digit { axis: dimension, unit: width, base: None }];
    let others = (0..rank).filter(|&axis| axis != dimension);
    digits.extend(others.map(|axis| Digit { axis, unit: 1, base: None }));
    digits.push(Digit { axis: dimension, unit: 1, base: Some(width) });
    Layout::new(rank, digits)
}

/// Lays the other operand out by rows of a tile: at compile time, or in a copy made beforehand.
fn pack_rows(
    writer: &mut Writer,
    operand: &Operand,
    (dimension, height): (usize, u64),
    contraction: &Contraction,
    constant: &[bool],
) -> Result<(), String> {
    let rank = operand.shape.len();
    let layout = panels(rank, dimension, height)?;
    if let (Some(input), true) = (operand.input, operand.is_constant(constant)) {
        return writer.transform_layout(Handle::Input(input), layout);
    }
    let Some(source) = operand.handle() else { return Ok(()) };
    let copy = writer.cache_read(source, "rows", &[operand.reader])?;
    writer.transform_layout(Handle::Stage(copy), layout)?;
    let axes = writer.tree.stages[copy].leaves.clone();
    let (blocks, rows) = writer.split(copy, axes[dimension], height.min(contraction.lanes))?;
    let mut order: Vec<AxisId> = (0..rank).map(|a| if a == dimension { blocks } else { axes[a] }).collect();
    writer.unroll(copy, rows)?;
    let contiguous = (0..rank).rev().find(|&a| operand.shape[a] > 1 && a != dimension);
    let vector = match contiguous {
        Some(a) if operand.shape[a] > contraction.lanes => {
            let (outer, vector) = writer.split(copy, axes[a], contraction.lanes)?;
            order[a] = outer;
            Some(vector)
        }
        _ => None,
    };
    order.push(rows);
    if let Some(vector) = vector {
        writer.vectorize(copy, vector)?;
        order.push(vector);
    }
    writer.reorder(copy, &order)
}

/// Copies each panel before the loops over its rows.
fn copy_panel(
    writer: &mut Writer,
    stage: StageId,
    panel: &Operand,
    (dimension, width): (usize, u64),
    lanes: u64,
    at: Option<AxisId>,
) -> Result<(), String> {
    let Some(source) = panel.handle() else { return Ok(()) };
    let copy = writer.cache_read(source, "panel", &[panel.reader])?;
    let rank = panel.shape.len();
    writer.transform_layout(Handle::Stage(copy), panels(rank, dimension, width)?)?;
    let axes = writer.tree.stages[copy].leaves.clone();
    let mut order: Vec<AxisId> = (0..rank).filter(|&a| a != dimension).map(|a| axes[a]).collect();
    let contiguous = (0..rank).rev().find(|&a| panel.shape[a] > 1).unwrap_or(dimension);
    let mut inner = Vec::new();
    if contiguous != dimension && panel.shape[contiguous] > lanes {
        // Vectors across the panel, as many as they have lanes: the code generator transposes the block.
        let (outer, copies) = writer.split(copy, axes[contiguous], lanes)?;
        writer.unroll(copy, copies)?;
        let place = order.iter().position(|&a| a == axes[contiguous]).unwrap_or(0);
        order[place] = outer;
        inner.push(copies);
    }
    if panel.shape[dimension] > lanes {
        let (outer, vector) = writer.split(copy, axes[dimension], lanes)?;
        order.push(outer);
        inner.push(vector);
    } else {
        inner.push(axes[dimension]);
    }
    if let Some(&vector) = inner.last() {
        writer.vectorize(copy, vector)?;
    }
    order.extend(inner);
    if order != writer.tree.stages[copy].leaves {
        writer.reorder(copy, &order)?;
    }
    match at {
        Some(axis) => writer.compute_at(copy, stage, axis),
        None => Ok(()),
    }
}
