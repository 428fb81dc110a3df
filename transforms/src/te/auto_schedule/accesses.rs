//! What the memory accesses of a nest look like: row-major offsets in terms of the nest's axes.

use crate::te::expr::{Expr, flatten};
use crate::te::indices::{accesses, put};
use crate::te::schedule::{Attach, Schedule, StageId};
use fusion_dialects::{OpExt, Value, defining_op, op_key, tensor_type};
use fusion_operators::TensorType;

/// Row-major offsets of all loads from memory and stores of a nest: of the stage itself, of what is inlined into it
/// and of `attached`. `None` for an offset that depends on data. Variable `i` is axis `i` of the stage, parallel
/// axes first; reduction axes of an attached stage come behind them.
pub fn offsets(tree: &Schedule, stage: StageId, attached: Option<StageId>) -> Vec<Option<Expr>> {
    let axes = own_axes(tree, stage);
    let mut found = vec![Some(flatten(&axes[..tree.stages[stage].rank()], &shape_of(tree, stage)))];
    let axes: Vec<Option<Expr>> = axes.into_iter().map(Some).collect();
    loads(tree, stage, &axes, attached, &mut found);
    found
}

/// Variables for the axes of a stage.
fn own_axes(tree: &Schedule, stage: StageId) -> Vec<Expr> {
    let s = &tree.stages[stage];
    let extents = [s.op.ints("axes").unwrap_or_default(), s.op.ints("reduce").unwrap_or_default()].concat();
    extents.iter().enumerate().map(|(i, &n)| Expr::var(i, n.max(0) as u64)).collect()
}

/// Extents of a stage's results.
pub fn shape_of(tree: &Schedule, stage: StageId) -> Vec<u64> {
    let first = tree.stages[stage].op.result_values().first().copied();
    first.and_then(tensor_type).as_ref().and_then(TensorType::shape).unwrap_or_default()
}

/// The stage that gives a tensor.
pub fn stage_of(tree: &Schedule, tensor: Value) -> Option<StageId> {
    let op = defining_op(tensor)?;
    tree.stages.iter().position(|s| op_key(s.op) == op_key(op))
}

fn loads(
    tree: &Schedule,
    stage: StageId,
    axes: &[Option<Expr>],
    attached: Option<StageId>,
    found: &mut Vec<Option<Expr>>,
) {
    for access in accesses(tree.stages[stage].op) {
        let at: Vec<Option<Expr>> =
            access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, axes))).collect();
        let source = stage_of(tree, access.tensor);
        match source {
            Some(read) if tree.stages[read].attach == Attach::Inline => {
                loads(tree, read, &at, attached, found)
            }
            Some(read) if Some(read) == attached => {
                let mut inner = at;
                let reduced = tree.stages[read].op.ints("reduce").unwrap_or_default();
                let first = 1000;
                inner.extend(
                    reduced.iter().enumerate().map(|(i, &n)| Some(Expr::var(first + i, n.max(0) as u64))),
                );
                loads(tree, read, &inner, attached, found);
            }
            _ => {
                let shape =
                    tensor_type(access.tensor).as_ref().and_then(TensorType::shape).unwrap_or_default();
                let known: Option<Vec<Expr>> = at.into_iter().collect();
                found.push(known.map(|indices| flatten(&indices, &shape)));
            }
        }
    }
}
