//! Stores a result at the end of another stage's work.
//!
//!     a[i, j] += x[i, k] * w[k, j]      result        a[i, j] += x[i, k] * w[k, j]       in registers
//!     b[i, j] = relu(a[i, j])           result   =>   (b, c)[i, j] = relu(a[i, j]), a[i, j]     both results
//!
//! A result of the kernel has loops of its own. A contraction is to be computed in those of its epilogue, and what goes
//! over rows that are reduced in those of the last stage over these rows: so that stage stores it as well.

use super::{Stages, is_elementwise, reads_at_own_point, reads_once, results, return_of};
use crate::auto_schedule::fits_lanes;
use crate::schedule::{Schedule, StageId};
use fusion_dialects::te::{Kernel, Scalar, Scalars};
use fusion_dialects::{Build, OpExt, key, tensor_type};

/// Bytes of a row that stay in the first-level cache until the end.
const MOST_ROW_BYTES: u64 = 32 << 10;

/// The stage at whose end a result is better stored.
pub fn end_of(tree: &Stages, stage: StageId) -> Option<StageId> {
    if !tree.facts[stage].is_result || tree.facts[stage].results != 1 {
        return None;
    }
    if tree.stages[stage].is_reduction() && !reads_once(tree, stage) {
        return end_of_contraction(tree, stage);
    }
    end_of_rows(tree, stage)
}

/// The elementwise result that all that reads a contraction ends in.
fn end_of_contraction(tree: &Schedule, stage: StageId) -> Option<StageId> {
    let ends = epilogues(tree, stage, &|s| tree.results.contains(&s))?;
    let [end] = ends[..] else { return None };
    (results(tree, end) < super::MOST_RESULTS).then_some(end)
}

/// The elementwise stages that read a stage at their own point, through others of that kind, up to those at which `ends`;
/// `None` when something else reads it.
pub fn epilogues(tree: &Schedule, stage: StageId, ends: &dyn Fn(StageId) -> bool) -> Option<Vec<StageId>> {
    let shape = tree.stages[stage].op.ints("axes");
    let mut found = Vec::new();
    let mut open = vec![stage];
    let mut seen = vec![false; tree.stages.len()];
    while let Some(next) = open.pop() {
        for consumer in tree.consumers(next) {
            let fits = is_elementwise(tree, consumer)
                && tree.stages[consumer].op.ints("axes") == shape
                && reads_at_own_point(tree, consumer, next);
            if !fits {
                return None;
            }
            if !ends(consumer) {
                // What several ways lead to is looked at once.
                if !std::mem::replace(&mut seen[consumer], true) {
                    open.push(consumer);
                }
            } else if !found.contains(&consumer) {
                found.push(consumer);
            }
        }
    }
    Some(found)
}

/// The elementwise result over the same points that comes after reductions of the stage's rows.
fn end_of_rows(tree: &Stages, stage: StageId) -> Option<StageId> {
    let readers = tree.consumers(stage);
    let reduced = |&s: &StageId| tree.stages[s].is_reduction();
    let in_rows = |&s: &StageId| {
        let element =
            tensor_type(tree.stages[stage].op.result_values()[0]).map_or(4, |t| t.dtype.size() as u64);
        let (rank, own) = (tree.stages[s].rank(), tree.stages[s].op_axes());
        let row: u64 = tree.stages[s].axes[rank..own].iter().map(|a| a.extent).product();
        fits_lanes(tree, s) && reads_once(tree, s) && rank > 0 && row * element <= MOST_ROW_BYTES
    };
    let facts = tree.facts[stage];
    if !facts.is_elementwise
        || !readers.iter().any(reduced)
        || !readers.iter().filter(|s| reduced(s)).all(in_rows)
    {
        return None;
    }
    (stage + 1..tree.stages.len()).rev().find(|&end| {
        let last = tree.facts[end];
        last.is_elementwise
            && last.is_result
            && last.points == facts.points
            && last.results < super::MOST_RESULTS
            // Nobody but the caller sees the result, so that it may come last.
            && readers.iter().all(|&r| super::reaches(tree, r, end))
    })
}

/// Adds a stage's result to those of another, which reads it at its own point.
pub fn store(tree: &Schedule, stage: StageId, end: StageId) {
    let (of, at) = (tree.stages[stage].op, tree.stages[end].op);
    let (Some(tensor), Some(last)) = (of.result_values().first().copied(), return_of(tree)) else { return };
    let Some(ty) = tensor_type(tensor) else { return };
    let name = of.text("name").unwrap_or_default();
    let copied = Kernel::new(Build::before(at)).compute(
        &format!("{name}_stored"),
        &ty,
        |s: &Scalars, axes| -> Scalar { s.load(tensor, axes) },
    );
    for (i, operand) in last.operand_values().into_iter().enumerate() {
        if key(operand) == key(tensor) {
            last.set_operand_value(i, copied);
        }
    }
}
