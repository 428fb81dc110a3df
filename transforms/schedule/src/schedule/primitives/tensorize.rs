//! `tensorize`: the inner loops of a stage are done by an intrinsic.
//!
//!     for io, jo, ko                                        for io, jo, ko
//!       for i  for j  for k   c[..] += a[..] * b[..]   =>     @tile(c + .., a + .., b + ..)
//!
//! Intrinsics are declared: what they compute, and how, are both read from a `te.intrinsic` (Chen et al., "TVM", 2018,
//! section 4.3; Feng et al., "TensorIR", 2023). Where fewer iterations are left over, the loops stay. Those of `te/intrinsics`
//! need not be written down.

use super::super::{AxisId, Handles, Schedule, StageId, intrinsic};
use crate::intrinsics;
use fusion_dialects::{Op, OpExt, OperationLike};

/// Replaces the loops from one inwards.
pub fn tensorize<'c>(
    tree: &mut Schedule<'c>,
    stage: StageId,
    axis: AxisId,
    declared: Op<'c>,
) -> Result<(), String> {
    let s = &tree.stages[stage];
    if s.tensorized.is_some() {
        return Err(format!("replaces loops of stage \"{}\" a second time", s.name));
    }
    let tensorized = intrinsic::of(tree, stage, axis, declared)?;
    intrinsic::check(tree, stage, &tensorized)?;
    tree.stages[stage].tensorized = Some(tensorized);
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let name = op.text("intrinsic").unwrap_or_default();
    let module = op.parent_operation().and_then(|schedule| schedule.parent_operation());
    let module = module.ok_or("is in no module")?;
    let declared = intrinsics::declare(module, name)?;
    tensorize(tree, stage, axis, declared)
}
