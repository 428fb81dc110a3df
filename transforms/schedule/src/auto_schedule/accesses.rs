//! What the memory accesses of a nest look like: row-major offsets in terms of the nest's axes.

use crate::schedule::{Attach, Schedule, StageId};
use fusion_dialects::indices::expr::{Expr, flatten};
use fusion_dialects::indices::{accesses, constant, index_op, load_of, put};
use fusion_dialects::{OpExt, Value, arguments, key, ops_in, tensor_type};
use fusion_operators::TensorType;
use std::collections::HashMap;

/// Bytes of a lane of a vector: narrower elements are widened to it where they are computed with. What kinds of processors keep near is counted in lanes.
pub const LANE_BYTES: u64 = 4;
/// The first variable of reduction axes of an attached stage, which no axis of the stage itself has.
const REDUCED: usize = 1000;

/// Offsets of all loads from memory and stores of a nest: of the stage itself, of what is inlined into it
/// and of `attached`. `None` for an offset that depends on data. Variable `i` is axis `i` of the stage, parallel
/// axes first; reduction axes of an attached stage come behind them.
pub fn offsets(tree: &Schedule, stage: StageId, attached: Option<StageId>) -> Vec<Option<Expr>> {
    let axes = own_axes(tree, stage);
    let (own, shape) = (&axes[..tree.stages[stage].rank()], shape_of(tree, stage));
    let stored = match &tree.stages[stage].layout {
        None => flatten(own, &shape),
        Some(layout) => layout.offset(own, &shape),
    };
    let mut found = vec![Some(stored)];
    let axes: Vec<Option<Expr>> = axes.into_iter().map(Some).collect();
    loads(tree, stage, &axes, attached, &mut found);
    found
}

/// True when along an axis every load from memory of a stage, and of what is inlined into it, stays where it is or goes on to the next
/// element, also where another index depends on data, or reads an element that data chooses each time:
///
///     for i, j  y[i, j] = x[p[i], j]      x goes on along j: p[i] stays as it is
///     for i, j  y[i, j] = x[p[i, j], j]   p goes on along j, x has to be asked for each element in any case
pub fn go_on_along(tree: &Schedule, stage: StageId, axis: usize) -> bool {
    let axes: Vec<Place> = own_axes(tree, stage).into_iter().map(Place::Known).collect();
    loads_go_on(tree, stage, &axes, axis)
}

/// An index, as it depends on one axis.
#[derive(Clone)]
enum Place {
    /// In terms of the axes.
    Known(Expr),
    /// Depends on data, which is the same all along the axis.
    Fixed,
    /// Depends on data, another for each element.
    Chosen,
    /// May be anything.
    Varies,
}

impl Place {
    fn stays(&self, axis: usize) -> bool {
        match self {
            Place::Known(e) => !e.mentions(axis) && !e.is_opaque(),
            Place::Fixed => true,
            Place::Chosen | Place::Varies => false,
        }
    }
}

fn loads_go_on(tree: &Schedule, stage: StageId, axes: &[Place], axis: usize) -> bool {
    let op = tree.stages[stage].op;
    let Some(body) = op.body(0) else { return false };
    let mut known: HashMap<usize, Place> = HashMap::new();
    for (argument, place) in arguments(body).into_iter().zip(axes) {
        known.insert(key(argument), place.clone());
    }
    for op in ops_in(body) {
        // What is not computed in the body is the same for all elements.
        let place = |v: &Value| known.get(&key(*v)).cloned().unwrap_or(Place::Fixed);
        if let Some((tensor, indices)) = load_of(op) {
            let at: Vec<Place> = indices.iter().map(&place).collect();
            let inlined = stage_of(tree, tensor).filter(|s| tree.stages[*s].attach == Attach::Inline);
            let goes_on = match inlined {
                Some(read) => loads_go_on(tree, read, &at, axis),
                None => step(tensor, &at, axis).is_some_and(|step| step == 0 || step == 1),
            };
            // A condition that differs along the axis would make an access of each element.
            let rest = &op.operand_values()[1 + indices.len()..];
            if !goes_on || !rest.iter().all(|v| place(v).stays(axis)) {
                return false;
            }
        }
        let stays = op.operand_values().iter().all(|v| place(v).stays(axis));
        let expression = index_op(op, &mut |v| match known.get(&key(v)) {
            Some(Place::Known(e)) => Some(e.clone()),
            Some(_) => None,
            None => constant(v),
        });
        let chosen = || op.operand_values().iter().any(|v| matches!(place(v), Place::Chosen));
        let of_results = match expression {
            Some(e) => Place::Known(e),
            None if stays => Place::Fixed,
            None if load_of(op).is_some() || chosen() => Place::Chosen,
            None => Place::Varies,
        };
        for result in op.result_values() {
            known.insert(key(result), of_results.clone());
        }
    }
    true
}

/// How far a load goes on along an axis, in elements of the tensor; none where that differs from element to element.
fn step(tensor: Value, at: &[Place], axis: usize) -> Option<i64> {
    let shape = tensor_type(tensor)?.shape()?;
    if at.iter().any(|place| matches!(place, Place::Chosen)) {
        return Some(0);
    }
    let mut step = 0;
    for (d, place) in at.iter().enumerate() {
        step += match place {
            _ if place.stays(axis) => 0,
            Place::Known(e) if !e.is_opaque() => {
                e.coefficient(axis)? * shape.get(d + 1..)?.iter().product::<u64>() as i64
            }
            _ => return None,
        };
    }
    Some(step)
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
pub fn stage_of<'c>(tree: &Schedule<'c>, tensor: Value<'c>) -> Option<StageId> {
    tree.giving(tensor)
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
                let first = REDUCED;
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

/// Elements of a vector of a stage's results; narrow ones are widened to four bytes.
pub fn lanes(tree: &Schedule, stage: StageId, vector_bytes: u64) -> u64 {
    let result = tree.stages[stage].op.result_values().first().copied().and_then(tensor_type);
    vector_bytes / result.map_or(LANE_BYTES, |t| t.dtype.size() as u64).max(LANE_BYTES)
}
