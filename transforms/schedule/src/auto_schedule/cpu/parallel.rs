//! Which loops run on several threads: the outermost of each nest that takes long enough to be shared.
//!
//!     for jo in 0..8  for io ...      =>      for jo in 0..8 (parallel)  for io ...
//!
//! What is computed inside a nest is computed by the thread that has the iteration. Whether it pays is in
//! [`threads`](super::super::threads).

use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::accesses::shape_of;
use crate::auto_schedule::cpu::even_shares::EvenShares;
use crate::auto_schedule::operands::operands;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{Attach, AxisId, Schedule, StageId};
use crate::threads::worth_threads;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, Value, kind_of, tensor_type};
use fusion_machine::Machine;

/// Marks the outermost loops of all nests that are worth it.
pub fn parallelize(writer: &mut Writer, machine: &Machine) -> Result<(), String> {
    for stage in 0..writer.tree.stages.len() {
        if writer.tree.stages[stage].attach != Attach::Root {
            continue;
        }
        let s = &writer.tree.stages[stage];
        if s.leaves.iter().any(|&l| s.axes[l].kind == LoopKind::Parallel) {
            continue;
        }
        let Some(axis) = outermost(&writer.tree, stage) else { continue };
        let extent = s.axes[axis].extent;
        let (operations, bytes) = match kind_of(s.op) {
            Some(Kind::Te(Te::Compute)) => work(&writer.tree, stage),
            _ => work_by_hand(s.op),
        };
        if worth_threads(operations, bytes, extent) {
            match EvenShares::find(&writer.tree, stage, axis, machine.cores) {
                Some(shares) => shares.write(writer, stage)?,
                None => writer.parallel(stage, axis)?,
            }
        }
    }
    Ok(())
}

/// Marks loops inside of a nest that is worth it, in place of its outermost one.
pub fn share(writer: &mut Writer, nest: StageId, loops: &[(StageId, AxisId)]) -> Result<(), String> {
    let (operations, bytes) = work(&writer.tree, nest);
    if worth_threads(operations, bytes, 2) {
        loops.iter().try_for_each(|&(stage, axis)| writer.parallel(stage, axis))?;
    }
    Ok(())
}

/// The first loop of more than one iteration, when it is a plain one.
fn outermost(tree: &Schedule, stage: StageId) -> Option<AxisId> {
    let s = &tree.stages[stage];
    let first = s.leaves.iter().copied().find(|&l| s.axes[l].extent > 1)?;
    (!s.axes[first].reduce && s.axes[first].kind == LoopKind::Serial).then_some(first)
}

/// Operations of a nest with all that is computed in it, and bytes that it reads and writes.
fn work(tree: &Schedule, nest: StageId) -> (f64, f64) {
    let (mut operations, mut bytes) = (0.0, 0.0);
    let mut known = vec![None; tree.stages.len()];
    for stage in 0..tree.stages.len() {
        if stage != nest && !is_inside(tree, stage, nest) {
            continue;
        }
        let s = &tree.stages[stage];
        let points = traffic::points(tree, stage);
        operations += points * traffic::of_a_point(tree, stage, &mut known);
        let size = |shape: &[u64], element: f64| shape.iter().map(|&n| n as f64).product::<f64>() * element;
        let element =
            s.op.result_values()
                .first()
                .copied()
                .and_then(tensor_type)
                .map_or(LANE_BYTES as f64, |t| t.dtype.size() as f64);
        if stage == nest {
            bytes += size(&shape_of(tree, stage), element);
        }
        for operand in operands(tree, stage).unwrap_or_default() {
            let inside = operand.stage.is_some_and(|read| is_inside(tree, read, nest));
            if !inside {
                bytes += size(&operand.shape, element).min(points * element);
            }
        }
    }
    (operations, bytes)
}

/// The same for a nest written by hand, whose tensors are all that is looked at: a few operations for each element.
fn work_by_hand(op: Op) -> (f64, f64) {
    let tensors = [op.operand_values(), op.result_values()].concat();
    let of = |v: &Value| tensor_type(*v).and_then(|t| t.bytes()).unwrap_or(0) as f64;
    let bytes = tensors.iter().map(of).sum::<f64>();
    (bytes, bytes)
}

/// True for stages that are computed in a nest, or where one that is reads them.
fn is_inside(tree: &Schedule, stage: StageId, nest: StageId) -> bool {
    match tree.stages[stage].attach {
        Attach::At(other, _) => other == nest || is_inside(tree, other, nest),
        _ => false,
    }
}
