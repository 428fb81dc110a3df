//! Windows: reductions of a few neighbours in one tensor, as in depthwise convolutions and pooling.
//!
//!     for c, y, x  p[c, y, x] = x padded            for c
//!     for c, y, x                             =>      for y, x  p[y, x] = x padded                   one plane
//!       for ky, kx  a += p[c, y + ky, x + kx]         for yo, xo
//!                                                       for yi (unrolled)  for xv (vectorized)
//!                                                         for ky, kx (unrolled)  a += p[yo R + yi + ky, ..]
//!
//! An element is used for a few results only, so that what counts is how often data goes through memory: the padded plane
//! of a channel is made just before it is read, and stays in the first caches. The rows of a tile share what they read of
//! it, and are as many chains of additions as the core needs to be busy.
//!
//! Where loads can leave lanes out there is no plane: a window reads the data itself, in the lanes in which there is some, and rows of a few
//! elements are vectors of which some lanes are left out.
//!
//!     row of 7, window of 3       . x0 x1 x2 x3 x4 x5 .      kx = 0: lane 0 is padding, lane 7 no result
//!                                x0 x1 x2 x3 x4 x5 x6 .      kx = 1
//!                                x1 x2 x3 x4 x5 x6  . .      kx = 2

use crate::auto_schedule::accesses::lanes;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::{Nest, operations_of_element};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::loops::MASKED_TAIL;
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Machine;
use std::collections::BTreeSet;

/// Windows of more elements are loops.
const MOST_TAPS: u64 = 49;
/// Elements combined in the body of the innermost loop, at most: what is multiplied with them stays in registers.
const MOST_BODY: u64 = 100;
/// The same of windows of which a tile of the fewest rows is in that: with more rows, a row of the data is used for more of the result. Of
/// 672 x 14 x 14 numbers and windows of 5 x 5 seven rows take 135 us on a core of Zen 4, two 157; of 7 x 7 windows the longer code takes longer.
const MOST_BODY_OF_ROWS: u64 = 200;
/// The same where they are multiplied with nothing: the code stays in the first cache.
const MOST_BODY_ALONE: u64 = 400;
/// With fewer rows in a body, the chains of additions keep the core waiting.
const FEWEST_ROWS: u64 = 4;
/// Rows of a tile: chains of additions of four cycles, two of which begin in each.
const MOST_ROWS: u64 = 8;
/// How far apart the elements of a vector may lie to be loaded whole and shuffled.
const FURTHEST: i64 = 4;
/// Shorter rows are not worth vectors.
const SHORTEST_ROW: u64 = 4;
/// Operations on an element of the data that are repeated for each step along a row, in place of storing what they give.
const MOST_REPEATED: usize = 2;
/// Elements below that many bytes have no masks.
const FEWEST_MASKED_BYTES: usize = 4;
/// What a plane may take: it stands on the stack of the thread that makes it.
const MOST_PLANE_BYTES: u64 = 512 << 10;

/// A reduction of that kind.
struct Windows {
    data: Operand,
    /// Extents of the result.
    extents: Vec<u64>,
    /// Axes of the result along which windows slide.
    sliding: BTreeSet<usize>,
    /// Steps of a window along each of its axes, whose variables are those behind the axes of the result.
    steps: Vec<u64>,
    /// Elements of a window.
    taps: u64,
    /// True when what is combined is multiplied with nothing.
    is_alone: bool,
    /// How far apart neighbours of the result read.
    apart: i64,
}

/// Inlines the padding of windows where masks do as well; it has no nest then.
pub fn inline_padding(writer: &mut Writer, nests: &mut Vec<Nest>, machine: &Machine) -> Result<(), String> {
    let reductions: Vec<StageId> = nests.iter().map(|n| n.reduction.unwrap_or(n.stage)).collect();
    for reduction in reductions.into_iter().filter(|_| machine.masks) {
        let tree = &writer.tree;
        let Some(windows) = recognize(tree, reduction) else { continue };
        let padding = windows.own_data(tree, nests, reduction);
        let padding = padding.filter(|&s| operations_of_element(tree, s).is_some_and(|n| n <= MOST_REPEATED));
        let padding = padding.filter(|_| windows.is_mostly_inside());
        if let Some(padding) = padding.filter(|_| can_mask(tree, reduction)) {
            writer.inline(padding)?;
            nests.retain(|n| n.stage != padding);
        }
    }
    Ok(())
}

/// True when all that a stage reads, and its result, can be read and written under masks.
fn can_mask(tree: &Schedule, stage: StageId) -> bool {
    let s = &tree.stages[stage];
    let tensors = accesses(s.op).into_iter().map(|a| a.tensor).chain(s.op.result_values());
    let mut types = tensors.map(tensor_type);
    types.all(|t| t.is_some_and(|t| t.dtype.size() >= FEWEST_MASKED_BYTES))
}

/// The kind.
pub struct InWindows;

impl Kind for InWindows {
    fn about(&self) -> About {
        About {
            name: "windows",
            matches: "a reduction of a few neighbours in one tensor: pools and depthwise convolutions",
            knobs: &[("rows", "rows of a tile")],
            formula: "steps of a window x vectors of the result x (multiply-adds, or loads)",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let of = |nest: &Nest| {
            let windows = recognize(tree, nest.reduction.unwrap_or(nest.stage))?;
            Some(Slides { nest: *nest, windows })
        };
        all(kernel.nests.iter().filter_map(of))
    }
}

struct Slides {
    nest: Nest,
    windows: Windows,
}

impl Match for Slides {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, _tree: &Schedule, _kernel: &Kernel) -> Vec<Knob> {
        let most = self.windows.row().map_or(1, |row| self.windows.extents[row].min(MOST_ROWS));
        vec![Knob { name: "rows", values: (1..=most as i64).collect() }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let machine = kernel.machine;
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        let (windows, lanes) = (&self.windows, traffic::lanes(tree, reduction, kernel));
        let rows = config.first().map_or(1.0, |rows| *rows as f64);
        let last = windows.extents.last().map_or(1.0, |&n| n as f64);
        let others = windows.extents.iter().map(|&n| n as f64).product::<f64>() / last;
        let vectors = others * (last / lanes).ceil();
        // Data that lies apart is loaded whole; what it is multiplied with is loaded once for the rows.
        let loads = traffic::LINES * windows.apart as f64 + if windows.is_alone { 0.0 } else { 1.0 / rows };
        // What lies in the padding is left out by masks.
        let each = 1.0 / machine.multiply_adds as f64;
        let waits = machine.latency as f64 / rows;
        let step = each.max(loads / machine.loads as f64).max(waits);
        let epilogue = traffic::epilogue(tree, &self.nest, kernel);
        let cycles = vectors * windows.taps as f64 * step + epilogue;
        Some(traffic::seconds(tree, kernel, &[self.nest.stage], cycles))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let rows = self.windows.row().map_or(1, |row| self.windows.rows(self.windows.extents[row]));
        let config = vec![rows as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let (nest, machine) = (&self.nest, kernel.machine);
        let reduction = nest.reduction.unwrap_or(nest.stage);
        let plane = self.windows.plane(&writer.tree, kernel.nests, reduction, machine);
        let rows = config.first().map_or(1, |rows| *rows as u64);
        let at = self.windows.write(writer, nest, (reduction, rows), machine)?;
        match (plane, at) {
            (Some(plane), Some(axis)) => writer.compute_at(plane, nest.stage, axis),
            _ => Ok(()),
        }
    }
}

fn recognize(tree: &Schedule, reduction: StageId) -> Option<Windows> {
    let s = &tree.stages[reduction];
    if !s.is_reduction() || s.op.result_values().len() != 1 {
        return None;
    }
    let (rank, own) = (s.rank(), s.op_axes());
    let extents: Vec<u64> = s.axes[..own].iter().map(|a| a.extent).collect();
    let steps = extents[rank..].to_vec();
    let taps: u64 = steps.iter().product();
    let last = rank.checked_sub(1)?;
    let combines = |e: &Expr| (rank..own).any(|k| extents[k] > 1 && e.mentions(k));
    let axes_in = |e: &Expr| (0..rank).filter(|&a| e.mentions(a)).collect::<BTreeSet<usize>>();
    let slides = |o: &Operand| o.indices.iter().any(|e| combines(e) && !axes_in(e).is_empty());
    let (mut data, rest): (Vec<Operand>, Vec<Operand>) =
        operands(tree, reduction)?.into_iter().partition(slides);
    let (Some(data), true) = (data.pop(), data.is_empty()) else { return None };
    let mut sliding = BTreeSet::new();
    for index in &data.indices {
        let axes = axes_in(index);
        match combines(index) {
            // One that goes over all of an axis is a sum over channels.
            true if axes.is_empty() || index.is_opaque() => return None,
            true => sliding.extend(axes),
            false if is_plain(index) => {}
            false => return None,
        }
    }
    let apart = data.indices.last().and_then(|e| e.coefficient(last))?;
    let inner = data.indices.iter().rev().skip(1).all(|e| !e.mentions(last));
    // Data that is used for several channels is better read for all of them at once.
    let used_once = (0..rank).all(|a| extents[a] == 1 || data.mentions(a));
    let fits = taps <= MOST_TAPS
        && used_once
        && extents[last] >= SHORTEST_ROW
        && sliding.contains(&last)
        && (1..=FURTHEST).contains(&apart)
        && inner
        && rest.iter().all(|o| !o.mentions(last));
    let is_alone = rest.is_empty();
    fits.then(|| Windows { data, extents: extents[..rank].to_vec(), sliding, steps, taps, is_alone, apart })
}

/// A constant, or an axis as it is.
fn is_plain(index: &Expr) -> bool {
    let mut terms = index.terms();
    match (terms.next(), terms.next()) {
        (None, _) => true,
        (Some((Atom::Var(_), 1)), None) => index.offset() == 0,
        _ => false,
    }
}

impl Windows {
    /// The stage that gives the data, for these windows alone.
    fn own_data(&self, tree: &Schedule, nests: &[Nest], reduction: StageId) -> Option<StageId> {
        let stage = self.data.stage?;
        let is_nest = nests.iter().any(|n| n.stage == stage && n.reduction.is_none());
        (is_nest
            && !tree.results.contains(&stage)
            && !tree.stages[stage].is_reduction()
            && tree.readers(stage) == [reduction])
        .then_some(stage)
    }

    /// The axis whose rows a tile has several of.
    fn row(&self) -> Option<usize> {
        let last = self.extents.len() - 1;
        self.sliding.iter().rev().copied().find(|&a| a != last && self.extents[a] > 1)
    }

    /// Elements combined in the body of the innermost loop, at most.
    fn most_body(&self) -> u64 {
        match self.is_alone {
            true => MOST_BODY_ALONE,
            false if self.has_more_rows() => MOST_BODY_OF_ROWS,
            false => MOST_BODY,
        }
    }

    /// True for windows that are multiplied, and so small that a tile has more than the fewest rows.
    fn has_more_rows(&self) -> bool {
        !self.is_alone && FEWEST_ROWS * self.taps <= MOST_BODY
    }

    /// True when tiles of whole windows have more rows than a window reaches beyond: those that may lie in the padding, which each
    /// load would ask for beside its mask, are the fewer.
    fn is_mostly_inside(&self) -> bool {
        let Some(row) = self.row() else { return true };
        let rank = self.extents.len();
        let along =
            |step: &usize| self.data.indices.iter().any(|e| e.mentions(row) && e.mentions(rank + step));
        let beyond: u64 = (0..self.steps.len()).filter(along).map(|s| self.steps[s] - 1).sum();
        let (extent, rows) = (self.extents[row], self.rows(self.extents[row]));
        // Of all rows in one tile it is known which lie in the padding.
        let all = self.apart == 1 && rows == extent;
        let most = if self.has_more_rows() && !all { MOST_BODY } else { self.most_body() };
        rows > beyond && rows * self.taps <= most
    }

    /// The stage to compute plane by plane.
    fn plane(
        &self,
        tree: &Schedule,
        nests: &[Nest],
        reduction: StageId,
        machine: &Machine,
    ) -> Option<StageId> {
        let stage = self.own_data(tree, nests, reduction)?;
        let element = tensor_type(*tree.stages[stage].op.result_values().first()?)?.dtype.size() as u64;
        let plane = self.data.indices.iter().zip(&self.data.shape).filter(|(e, _)| !is_plain(e));
        let bytes = plane.map(|(_, n)| n).product::<u64>() * element.max(1);
        (bytes <= MOST_PLANE_BYTES.min(machine.second_cache / 2)).then_some(stage)
    }

    /// Writes the primitives; gives the loop over planes.
    fn write(
        &self,
        writer: &mut Writer,
        nest: &Nest,
        (reduction, rows): (StageId, u64),
        machine: &Machine,
    ) -> Result<Option<AxisId>, String> {
        let (stage, rank) = (nest.stage, self.extents.len());
        let last = rank - 1;
        let axes: Vec<AxisId> = writer.tree.stages[stage].leaves[..rank].to_vec();
        let outside = (0..rank).filter(|a| !self.sliding.contains(a));
        let mut order: Vec<AxisId> = outside.map(|a| axes[a]).collect();
        let at = order.last().copied();
        let row = self.row();
        let others = self.sliding.iter().filter(|&&a| a != last && Some(a) != row);
        order.extend(others.map(|&a| axes[a]));
        let mut register = Vec::new();
        if let Some(row) = row {
            let mut inner = axes[row];
            if self.extents[row] > rows {
                let (outer, block) = writer.split(stage, inner, rows)?;
                order.push(outer);
                inner = block;
            }
            writer.unroll(stage, inner)?;
            register.push(inner);
        }
        let lanes = lanes(&writer.tree, stage, machine.vector_bytes);
        let mut vector = axes[last];
        if self.extents[last] > lanes {
            let (outer, inner) = writer.split(stage, vector, lanes)?;
            order.push(outer);
            vector = inner;
        }
        writer.vectorize(stage, vector)?;
        let rest = self.extents[last] % lanes;
        let has_tail = rest > 2 && !rest.is_power_of_two();
        if machine.masks && has_tail && [stage, reduction].iter().all(|&s| can_mask(&writer.tree, s)) {
            writer.mark(stage, vector, MASKED_TAIL)?;
        }
        order.extend(register);
        order.push(vector);
        let own = writer.tree.stages[stage].leaves.clone();
        order.extend(own.iter().filter(|&&l| writer.tree.stages[stage].axes[l].reduce));
        if order != own {
            writer.reorder(stage, &order)?;
        }
        let steps = writer.tree.stages[reduction].leaves.clone();
        let steps = steps.into_iter().filter(|&l| {
            let axis = &writer.tree.stages[reduction].axes[l];
            axis.reduce && axis.extent > 1
        });
        let mut body = rows;
        for step in steps.collect::<Vec<_>>().into_iter().rev() {
            body *= writer.tree.stages[reduction].axes[step].extent;
            if body > self.most_body() {
                break;
            }
            writer.unroll(reduction, step)?;
        }
        if nest.reduction.is_some() {
            writer.compute_at(reduction, stage, vector)?;
        }
        Ok(at)
    }

    /// Rows of a tile: a divisor near the most there is code for. Where that is code for too few whole windows, it is code for
    /// some rows of the windows.
    fn rows(&self, extent: u64) -> u64 {
        let whole = (self.most_body() / self.taps).min(MOST_ROWS);
        let most = if whole < FEWEST_ROWS { MOST_ROWS } else { whole };
        if extent <= most {
            return extent;
        }
        (most.div_ceil(2)..=most).rev().find(|&n| extent.is_multiple_of(n)).unwrap_or(most)
    }
}
