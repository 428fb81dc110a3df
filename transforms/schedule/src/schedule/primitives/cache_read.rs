//! `cache_read`: readers read a copy, which is a stage with loops, a place and a layout of its own.
//!
//!     for j  for k  y[j] += x[k] * w[k, j]      =>      for k, j  c[k, j] = w[k, j]
//!                                                       for j  for k  y[j] += x[k] * c[k, j]
//!
//! With `transform_layout` the copy is packed, with `compute_at` only the part that is needed next is copied
//! (Chen et al., "TVM", 2018, section 4.2).
//!
//! A stage that reads a tensor at several places reads the copy at all of them, or with `read` at one, by its number among the loads in the
//! stage's text: each place can have a copy of its own.
//!
//!     y[i, j] += x[i, k] * x[j, k]      read 1      =>      y[i, j] += x[i, k] * c[j, k]

use super::super::{Attach, Handle, Handles, Schedule, StageId};
use fusion_dialects::indices::loads;
use fusion_dialects::te::Kernel;
use fusion_dialects::{Build, Op, OpExt, Value, key, nested_ops, tensor_type};

/// Puts a copy of a stage's result or an argument before its first reader; gives the copy's stage. With no
/// readers named, all read the copy. With the number of a load of the only reader, that load alone does.
pub fn cache_read<'c>(
    tree: &mut Schedule<'c>,
    source: Handle,
    name: &str,
    readers: &[StageId],
    read: Option<usize>,
) -> Result<StageId, String> {
    let tensor = tensor_of(tree, source)?;
    if tree.named(name).is_some() {
        return Err(format!("makes a stage \"{name}\", but the kernel has one of that name"));
    }
    let reading: Vec<StageId> =
        (0..tree.stages.len()).filter(|&s| reads(tree.stages[s].op, tensor)).collect();
    if let Some(&other) = readers.iter().find(|r| !reading.contains(r)) {
        return Err(format!("is for stage \"{}\", which does not read that tensor", tree.stages[other].name));
    }
    let chosen = if readers.is_empty() { &reading } else { readers };
    if let Some(&other) = chosen.iter().find(|r| tree.stages[**r].tensorized.is_some()) {
        return Err(format!(
            "has stage \"{}\" read a copy, whose loops are an intrinsic already; copy first",
            tree.stages[other].name
        ));
    }
    let load = read.map(|read| load_of(tree, tensor, readers, read)).transpose()?;
    let Some(first) = tree.in_order().into_iter().find(|s| chosen.contains(s)) else {
        return Err("copies a tensor that no stage reads".into());
    };
    let Some(ty) = tensor_type(tensor) else { return Err("copies a value that is no tensor".into()) };
    let before = tree.stages[first].op;
    let copy = Kernel::new(Build::before(before)).compute(name, &ty, |s, indices| s.load(tensor, indices));
    match load {
        Some(load) => load.set_operand_value(0, copy),
        None => chosen.iter().for_each(|&reader| read_instead(tree.stages[reader].op, tensor, copy)),
    }
    let Some(op) = fusion_dialects::defining_op(copy) else { return Err("has no copy".into()) };
    Ok(tree.add(op))
}

/// The tensor that is read: an argument, or what a stage with one result gives.
pub fn tensor_of<'c>(tree: &Schedule<'c>, source: Handle) -> Result<Value<'c>, String> {
    match source {
        Handle::Input(input) => Ok(tree.inputs[input]),
        Handle::Stage(stage) => {
            let s = &tree.stages[stage];
            if s.attach == Attach::Inline {
                return Err(format!("copies stage \"{}\", which is inlined and has no memory", s.name));
            }
            if s.is_narrowed() {
                return Err(format!("copies stage \"{}\", of which only a part is computed", s.name));
            }
            match s.op.result_values()[..] {
                [result] => Ok(result),
                _ => Err(format!("copies stage \"{}\", which has several results", s.name)),
            }
        }
        Handle::Axis(..) => Err("copies a loop; name a stage or an argument".into()),
    }
}

/// The load of that number of the only reader, which reads the tensor.
fn load_of<'c>(
    tree: &Schedule<'c>,
    tensor: Value<'c>,
    readers: &[StageId],
    read: usize,
) -> Result<Op<'c>, String> {
    let [reader] = *readers else {
        return Err(format!(
            "is for read {read} of {} stages; name the one stage whose read it is",
            readers.len()
        ));
    };
    let all = loads(tree.stages[reader].op);
    let here = reads_of(&all, tensor);
    match all.get(read).filter(|_| here.contains(&read)) {
        Some(load) => Ok(*load),
        None => Err(format!(
            "is for read {read} of stage \"{}\", which reads that tensor by {here:?} of its {} reads; name one of these",
            tree.stages[reader].name,
            all.len()
        )),
    }
}

/// The numbers of the loads that read a tensor.
pub fn reads_of(loads: &[Op], tensor: Value) -> Vec<usize> {
    let is_of = |load: &Op| load.operand_values().first().is_some_and(|v| key(*v) == key(tensor));
    (0..loads.len()).filter(|n| is_of(&loads[*n])).collect()
}

fn reads(op: Op, tensor: Value) -> bool {
    let uses = |op: Op| op.operand_values().into_iter().any(|v| key(v) == key(tensor));
    uses(op) || nested_ops(op).into_iter().any(uses)
}

/// Has all loads of a stage read another tensor of the same shape.
pub(super) fn read_instead<'c>(stage: Op<'c>, tensor: Value<'c>, copy: Value<'c>) {
    for op in std::iter::once(stage).chain(nested_ops(stage)) {
        for (i, operand) in op.operand_values().into_iter().enumerate() {
            if key(operand) == key(tensor) {
                op.set_operand_value(i, copy);
            }
        }
    }
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let source = handles.source(operands[0])?;
    let readers = operands[1..].iter().map(|v| handles.stage(*v)).collect::<Result<Vec<_>, _>>()?;
    let read = op.int("read").map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let copy = cache_read(tree, source, op.text("name").unwrap_or_default(), &readers, read)?;
    handles.define(&op.result_values(), &[Handle::Stage(copy)]);
    Ok(())
}
