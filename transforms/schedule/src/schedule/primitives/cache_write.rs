//! `cache_write`: a stage is computed into a buffer of its own, and only copied to where it belongs.
//!
//!     for i  for k  y[i] += x[i, k]      =>      for i  for k  c[i] += x[i, k]
//!                                                for i  y[i] = c[i]
//!
//! With `compute_at` at a loop of the copy, the buffer is a tile, or registers (Chen et al., "TVM", 2018, section 4.2).

use super::super::{Attach, Handle, Handles, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Kernel, Op as Te};
use fusion_dialects::{Build, Op, OpExt, kind_of, replace_uses, str_attr, tensor_type};

/// Splits a stage into one that computes, which is given, and one that copies, which takes its name, place and handles.
pub fn cache_write(tree: &mut Schedule, stage: StageId, name: &str) -> Result<StageId, String> {
    let s = &tree.stages[stage];
    if !matches!(kind_of(s.op), Some(Kind::Te(Te::Compute))) || s.op.result_values().len() != 1 {
        return Err(format!("caches stage \"{}\", which is no te.compute of one result", s.name));
    }
    let touched = s.axes.iter().any(|a| a.kind != LoopKind::Serial) || !s.notes.is_empty();
    let arranged =
        s.layout.is_some() || s.scope.is_some() || !s.prefetches.is_empty() || s.tensorized.is_some();
    let used = (0..s.axes.len()).any(|a| tree.attached_to(stage, a).is_some());
    if s.attach != Attach::Root || touched || arranged || used || !s.relations.is_empty() {
        return Err(format!("caches stage \"{}\" after other primitives; cache it first", s.name));
    }
    if tree.named(name).is_some() {
        return Err(format!("makes a stage \"{name}\", but the kernel has one of that name"));
    }
    let (op, old, part, into) = (s.op, s.name.clone(), s.part(), s.into);
    let result = op.result_values()[0];
    let Some(ty) = tensor_type(result) else { return Err("caches a value that is no tensor".into()) };
    let copied = Kernel::new(Build::after(op)).compute(&old, &ty, |s, indices| s.load(result, indices));
    let Some(copy) = fusion_dialects::defining_op(copied) else { return Err("has no copy".into()) };
    replace_uses(result, copied);
    // The copy itself goes on reading what is computed.
    for load in fusion_dialects::nested_ops(copy) {
        for (i, operand) in load.operand_values().into_iter().enumerate() {
            if fusion_dialects::key(operand) == fusion_dialects::key(copied) {
                load.set_operand_value(i, result);
            }
        }
    }
    op.set_attr("name", str_attr(op.context_ref(), name));
    // The stage's handles go on naming the stage of that name: the copy.
    let computing = tree.stages.len();
    tree.add(copy);
    tree.stages.swap(stage, computing);
    tree.stages[computing].name = name.to_owned();
    // Where the stage is a part of a result, the copy is.
    tree.stages[computing].into = None;
    tree.stages[stage].narrow_as(&part);
    tree.stages[stage].into = into;
    tree.moved(result, copied);
    tree.refresh();
    Ok(computing)
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    let made = cache_write(tree, stage, op.text("name").unwrap_or_default())?;
    handles.define(&op.result_values(), &[Handle::Stage(made)]);
    Ok(())
}
