//! Copies of a contraction's operands in the order in which tiles read them.

use super::{Contraction, RegisterTile};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::writer::Writer;
use crate::layout::{Digit, Layout};
use crate::schedule::{AxisId, Handle, StageId};
use fusion_dialects::indices::expr::{Atom, Expr, Var};
use fusion_machine::dot4::TOGETHER;

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
        Some(dimension) => {
            let panels = Panels { dimension, width: tile.width(), at_once: 1, fours: None };
            let layout = panels.layout(panel.shape.len())?;
            copy_panels(writer, host, panel, (panels, layout), tile.lanes, at).map(|_| ())
        }
        None => Ok(()),
    }
}

/// Copies all panels of an operand, of one vector along its last axis, before anything of the stage is computed.
pub fn copy_panels_before(
    writer: &mut Writer,
    stage: StageId,
    operand: &Operand,
    lanes: u64,
) -> Result<(), String> {
    copy_panels_at(writer, (stage, None), operand, operand.shape.len() - 1, lanes)
}

/// Copies the panels of an operand, of one vector along an axis of it, at a loop of a stage.
pub fn copy_panels_at(
    writer: &mut Writer,
    (stage, at): (StageId, Option<AxisId>),
    operand: &Operand,
    dimension: usize,
    lanes: u64,
) -> Result<(), String> {
    let panels = Panels { dimension, width: lanes, at_once: 1, fours: None };
    let layout = panels.layout(operand.shape.len())?;
    copy_panels(writer, stage, operand, (panels, layout), lanes, at).map(|_| ())
}

/// [`panels`] of an operand in the order of a nest's loops: outermost the axes that no step of the reduction goes along, which select
/// panels, and the phases of others. When an axis is indexed `r + s k`, with steps `k` of the reduction and an `r < s` that is
/// given by other axes, a nest reads every s-th element, which then are neighbours.
pub(super) fn panels_in_order(
    operand: &Operand,
    dimension: usize,
    width: u64,
    is_step: &dyn Fn(&Var) -> bool,
) -> Result<Layout, String> {
    let rank = operand.shape.len();
    let plain = panels(rank, dimension, width)?;
    let (mut selecting, mut rest) = (Vec::new(), Vec::new());
    for digit in plain.digits() {
        let index = Some(&operand.indices[digit.axis]).filter(|_| digit.axis != dimension);
        match index.and_then(|e| stride_of(e, is_step)) {
            Some(stride) => {
                selecting.push(Digit { axis: digit.axis, unit: 1, base: Some(stride) });
                rest.push(Digit { axis: digit.axis, unit: stride, base: None });
            }
            None if index.is_some_and(|e| varies_without(e, is_step)) => selecting.push(*digit),
            None => rest.push(*digit),
        }
    }
    Layout::new(rank, [selecting, rest].concat())
}

/// True when an index varies, and along no step.
fn varies_without(index: &Expr, is_step: &dyn Fn(&Var) -> bool) -> bool {
    let at_first_step = index.substitute(&|v| is_step(&v).then(|| Expr::constant(0)));
    index.terms().next().is_some() && at_first_step == *index
}

/// The `s` of an index `r + s k` with steps `k` and `r < s`.
fn stride_of(index: &Expr, is_step: &dyn Fn(&Var) -> bool) -> Option<u64> {
    let step = |atom: &Atom| matches!(atom, Atom::Var(v) if is_step(v));
    let stride = index.terms().find(|(atom, c)| step(atom) && *c > 1)?.1;
    let phase = index.modulo(stride);
    let rest = index.minus(&index.div(stride).times(stride));
    let varies = phase.terms().next().is_some() && !phase.terms().any(|(atom, _)| step(atom));
    (varies && phase == rest).then_some(stride as u64)
}

/// [`panels`] along `n` neighbouring axes of a tensor from `first` on that are one loop; `None` when a panel is no number of
/// whole rows of the inner ones.
pub(super) fn panels_of_several(shape: &[u64], (first, n): (usize, usize), width: u64) -> Option<Layout> {
    let inner: u64 = shape.get(first + 1..first + n)?.iter().product();
    let rows = (inner > 0 && width.is_multiple_of(inner)).then(|| width / inner)?;
    let plain = |axis| Digit { axis, unit: 1, base: None };
    let mut digits = vec![Digit { axis: first, unit: rows, base: None }];
    digits.extend((0..shape.len()).filter(|a| !(first..first + n).contains(a)).map(plain));
    digits.push(Digit { axis: first, unit: 1, base: Some(rows) });
    digits.extend((first + 1..first + n).map(plain));
    Layout::new(shape.len(), digits).ok()
}

/// `[panel][the other axes][width]`; panels of one have no axis for their width.
pub fn panels(rank: usize, dimension: usize, width: u64) -> Result<Layout, String> {
    let mut digits = vec![Digit { axis: dimension, unit: width, base: None }];
    let others = (0..rank).filter(|&axis| axis != dimension);
    digits.extend(others.map(|axis| Digit { axis, unit: 1, base: None }));
    digits.extend((width > 1).then_some(Digit { axis: dimension, unit: 1, base: Some(width) }));
    Layout::new(rank, digits)
}

/// Lays the other operand out by rows of a tile: at compile time, or in a copy made beforehand.
pub(super) fn pack_rows(
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
    let copy = writer.cache_read(source, "rows", (operand.reader, operand.read))?;
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

/// How an operand is cut into panels.
pub(super) struct Panels {
    /// The axis of the operand that is cut.
    pub dimension: usize,
    /// Elements of it in a panel.
    pub width: u64,
    /// Panels that are copied at a time.
    pub at_once: u64,
    /// The axis of which four lie together, if any.
    pub fours: Option<usize>,
}

impl Panels {
    /// The order of an operand of that rank that is cut so.
    pub(super) fn layout(&self, rank: usize) -> Result<Layout, String> {
        panels(rank, self.dimension, self.width)
    }
}

/// Copies panels before the loops over their rows; gives the copy and its loop over several panels, when there is one.
pub(super) fn copy_panels(
    writer: &mut Writer,
    stage: StageId,
    panel: &Operand,
    (panels_of, layout): (Panels, Layout),
    lanes: u64,
    at: Option<AxisId>,
) -> Result<Option<(StageId, AxisId)>, String> {
    let Panels { dimension, width, at_once, fours } = panels_of;
    let Some(source) = panel.handle() else { return Ok(None) };
    let copy = writer.cache_read(source, "panel", (panel.reader, panel.read))?;
    let rank = panel.shape.len();
    writer.transform_layout(Handle::Stage(copy), layout)?;
    let axes = writer.tree.stages[copy].leaves.clone();
    let mut order: Vec<AxisId> = (0..rank).filter(|&a| a != dimension).map(|a| axes[a]).collect();
    let contiguous = (0..rank).rev().find(|&a| panel.shape[a] > 1).unwrap_or(dimension);
    let (mut inner, mut transposed) = (Vec::new(), None);
    if contiguous != dimension && panel.shape[contiguous] > lanes {
        // Vectors across the panel, as many as they have lanes: the code generator transposes the block.
        let (outer, copies) = writer.split(copy, axes[contiguous], lanes)?;
        writer.unroll(copy, copies)?;
        let place = order.iter().position(|&a| a == axes[contiguous]).unwrap_or(0);
        order[place] = outer;
        inner.push(copies);
        transposed = Some(place);
    }
    if let Some(four) = fours.filter(|_| transposed.is_none())
        && panel.shape[four] > TOGETHER
        && let Some(place) = order.iter().position(|&a| a == axes[four])
    {
        // Four vectors are interleaved: the code generator shuffles them.
        let (outer, together) = writer.split(copy, axes[four], TOGETHER)?;
        writer.unroll(copy, together)?;
        order[place] = outer;
        inner.push(together);
        transposed = Some(place);
    }
    let mut along = axes[dimension];
    let mut several = None;
    if at_once > 1 {
        let (outer, one) = writer.split(copy, along, width)?;
        order.insert(0, outer);
        (several, along) = (Some((copy, outer)), one);
        transposed = transposed.map(|place| place + 1);
    }
    if writer.tree.stages[copy].axes[along].extent > lanes {
        let (outer, vector) = writer.split(copy, along, lanes)?;
        // The rows of a transposed block are read to their ends.
        order.insert(transposed.unwrap_or(order.len()), outer);
        along = vector;
    }
    inner.push(along);
    writer.vectorize(copy, along)?;
    order.extend(inner);
    if order != writer.tree.stages[copy].leaves {
        writer.reorder(copy, &order)?;
    }
    if let Some(axis) = at {
        writer.compute_at(copy, stage, axis)?;
    }
    Ok(several)
}
