//! What estimates of kinds share: the work of nests, and what they read from memory and write.
//!
//!     seconds = roof(cycles / clock, bytes / bandwidth) + loop nests
//!
//! Memory is what stages read that others outside of the nests made, and what is read behind these: at the rate of the level that holds it.
//! What one nest of a match leaves for another stays near. (Williams, Waterman and Patterson, "Roofline", 2009.)

use super::accesses::{LANE_BYTES, shape_of};
use super::cpu::iterated::operations;
use super::kind::{Kernel, Seconds};
use super::operands::operands;
use super::placement::{Nest, inlined};
use crate::schedule::{Attach, Schedule, StageId};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, kind_of, ops_in, tensor_type};
use fusion_machine::roof;
use std::collections::BTreeMap;

/// Lines of a cache that a vector which begins anywhere lies in.
pub const LINES: f64 = 2.0;
/// Cycles in which a nest of loops begins and ends: a few branches that are not foreseen.
const NEST: f64 = 30.0;

/// Points of a stage's own loops, those of a reduction among them.
pub fn points(tree: &Schedule, stage: StageId) -> f64 {
    let s = &tree.stages[stage];
    s.axes[..s.op_axes()].iter().map(|a| a.extent as f64).product()
}

/// Operations of a point of a stage, with those of what is inlined into it.
pub fn operations_of_a_point(tree: &Schedule, stage: StageId) -> f64 {
    of_a_point(tree, stage, &mut vec![None; tree.stages.len()])
}

/// The same, where some are known already.
pub fn of_a_point(tree: &Schedule, stage: StageId, known: &mut [Option<f64>]) -> f64 {
    if let Some(operations) = known[stage] {
        return operations;
    }
    let s = &tree.stages[stage];
    let mut all = s.op.body(0).map_or(0.0, operations) + f64::from(u8::from(s.is_reduction()));
    for other in tree.read_by(stage) {
        if tree.stages[other].attach == Attach::Inline {
            all += of_a_point(tree, other, known);
        }
    }
    known[stage] = Some(all);
    all
}

/// Comparisons of indices that choose an element, in a stage and in what is inlined into it.
pub fn conditions(tree: &Schedule, stage: StageId) -> f64 {
    let compares = |op: &Op| matches!(kind_of(*op), Some(Kind::Upstream(Upstream::CmpI)));
    let body = tree.stages[stage].op.body(0).map(ops_in).unwrap_or_default();
    let own = body.iter().filter(|op| compares(op)).count() as f64;
    own + inlined(tree, stage).map(|read| conditions(tree, read)).sum::<f64>()
}

/// Cycles of the vectors of a stage, an operation each.
pub fn in_vectors(tree: &Schedule, stage: StageId, kernel: &Kernel) -> f64 {
    points(tree, stage) * operations_of_a_point(tree, stage).max(1.0) / lanes(tree, stage, kernel)
}

/// The same of what a nest makes of the results of a reduction inside of it.
pub fn epilogue(tree: &Schedule, nest: &Nest, kernel: &Kernel) -> f64 {
    nest.reduction.map_or(0.0, |_| in_vectors(tree, nest.stage, kernel))
}

/// Elements of a vector of a stage's results.
pub fn lanes(tree: &Schedule, stage: StageId, kernel: &Kernel) -> f64 {
    kernel.machine.lanes(element_bytes(tree, stage) as u64) as f64
}

/// Seconds of nests that take so many cycles of one core, with what they read and write.
pub fn seconds(tree: &Schedule, kernel: &Kernel, nests: &[StageId], cycles: f64) -> Seconds {
    let of = |stage: &StageId| kernel.nests.iter().find(|n| n.stage == *stage);
    let inside: Vec<StageId> = nests.iter().filter_map(of).flat_map(stages_of).collect();
    let begins = NEST * nests.len() as f64 / kernel.machine.clock;
    roof(cycles / kernel.machine.clock, memory(tree, kernel, &inside)) + begins
}

/// The stages that a nest computes.
pub fn stages_of(nest: &Nest) -> impl Iterator<Item = StageId> {
    nest.reduction.into_iter().chain([nest.stage])
}

/// Bytes of an element of a stage's results.
pub fn element_bytes(tree: &Schedule, stage: StageId) -> usize {
    let result = tree.stages[stage].op.result_values().first().copied();
    result.and_then(tensor_type).map_or(LANE_BYTES as usize, |t| t.dtype.size().max(1))
}

/// Seconds that stages read what others made, and write what others read.
fn memory(tree: &Schedule, kernel: &Kernel, inside: &[StageId]) -> Seconds {
    moved(tree, inside).into_iter().map(|bytes| kernel.machine.moving(bytes)).sum()
}

/// Bytes of each tensor that stages read of what others made, and that they write for others.
pub fn moved(tree: &Schedule, inside: &[StageId]) -> Vec<f64> {
    let mut all = Vec::new();
    for &stage in inside {
        let bytes = element_bytes(tree, stage) as f64;
        let is_read = |s: &StageId| inside.contains(s);
        let leaves = tree.results.contains(&stage) || !tree.readers(stage).iter().all(is_read);
        if leaves {
            all.push(shape_of(tree, stage).iter().map(|&n| n as f64).product::<f64>() * bytes);
        }
        let mut read: BTreeMap<(Option<usize>, Option<StageId>), f64> = BTreeMap::new();
        for operand in operands(tree, stage).unwrap_or_default() {
            if operand.stage.is_some_and(|s| inside.contains(&s)) {
                continue;
            }
            let size: f64 = operand.shape.iter().map(|&n| n as f64).product();
            let of_tensor = read.entry((operand.input, operand.stage)).or_default();
            *of_tensor = of_tensor.max(size.min(points(tree, stage)) * bytes);
        }
        all.extend(read.into_values());
    }
    all
}
