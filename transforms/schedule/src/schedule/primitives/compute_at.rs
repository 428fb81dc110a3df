//! `compute_at`: computes, in each iteration of a loop of a consumer, what the rest of that iteration needs.
//!
//!     for i  for k  a[i] += x[i, k]               for i
//!     for i  y[i] = relu(a[i])            =>        a = 0 ; for k  a += x[i, k]
//!                                                   y[i] = relu(a)
//!
//! The loop may be one over what a reduction combines: then what one step of it reads is computed in that step, such as a copy of
//! a tile in memory that is near.
//!
//! How much that is follows by bound inference; a single element is a value, more are a local buffer.

use super::super::{Attach, AxisId, Handles, Schedule, StageId};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Op as Te, Parts};
use fusion_dialects::{Op, OpExt, kind_of};

/// Attaches a stage to a loop of a stage that reads it, directly or through others attached there or inlined.
pub fn compute_at(
    tree: &mut Schedule,
    stage: StageId,
    consumer: StageId,
    axis: AxisId,
) -> Result<(), String> {
    let name = tree.stages[stage].name.clone();
    let target = &tree.stages[consumer];
    target.place(axis)?;
    let op = tree.stages[stage].op;
    if !matches!(kind_of(op), Some(Kind::Te(Te::Compute))) && Parts::of(op).is_none() {
        return Err(format!("moves stage \"{name}\", a loop nest that does not compute in parts"));
    }
    if tree.results.contains(&stage) {
        return Err(format!("moves stage \"{name}\", a result of the kernel, into another's loop"));
    }
    if is_inside(tree, consumer, stage) {
        return Err(format!("computes stage \"{name}\" inside a loop that stands inside of it"));
    }
    // Every reader must be computed inside the same nest, or some would find nothing.
    for reader in tree.readers(stage) {
        if !is_inside(tree, reader, consumer) {
            return Err(format!(
                "computes stage \"{name}\" inside stage \"{}\", but stage \"{}\" reads it as well",
                tree.stages[consumer].name, tree.stages[reader].name
            ));
        }
    }
    let s = &mut tree.stages[stage];
    s.attach = Attach::At(consumer, axis);
    s.store = None;
    Ok(())
}

/// True when a stage is computed in a nest, or in another that is computed in it.
fn is_inside(tree: &Schedule, stage: StageId, nest: StageId) -> bool {
    stage == nest || matches!(tree.stages[stage].attach, Attach::At(other, _) if is_inside(tree, other, nest))
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let stage = handles.stage(operands[0])?;
    let (consumer, axis) = handles.axis(operands[1])?;
    if consumer == stage {
        return Err("computes a stage inside itself".into());
    }
    compute_at(tree, stage, consumer, axis)
}
