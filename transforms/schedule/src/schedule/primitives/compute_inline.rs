//! `compute_inline`: computes a stage's elements where they are used; it has no loops and no memory of its own.
//!
//!     for i  a[i] = x[i] + 1
//!     for i  y[i] = a[i] * 2      =>      for i  y[i] = (x[i] + 1) * 2

use super::super::{Attach, Handles, Schedule, StageId};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, kind_of};

/// Inlines a stage into all its consumers.
pub fn compute_inline(tree: &mut Schedule, stage: StageId) -> Result<(), String> {
    let s = &tree.stages[stage];
    if s.is_reduction() {
        return Err(format!("inlines stage \"{}\", a reduction; use te.compute_at", s.name));
    }
    if !matches!(kind_of(s.op), Some(Kind::Te(Te::Compute))) {
        return Err(format!("inlines stage \"{}\", which is a loop nest", s.name));
    }
    if tree.results.contains(&stage) {
        return Err(format!("inlines stage \"{}\", a result of the kernel", s.name));
    }
    let nest = tree
        .consumers(stage)
        .into_iter()
        .find(|&c| matches!(kind_of(tree.stages[c].op), Some(Kind::Te(Te::Extern))));
    if let Some(consumer) = nest {
        return Err(format!(
            "inlines stage \"{}\" into stage \"{}\", a loop nest, which reads memory",
            s.name, tree.stages[consumer].name
        ));
    }
    if let Some(attached) = (0..tree.stages.len())
        .find(|&s| matches!(tree.stages[s].attach, Attach::At(of, _) | Attach::After(of, _) if of == stage))
    {
        return Err(format!(
            "inlines stage \"{}\", in whose loops stage \"{}\" is computed",
            tree.stages[stage].name, tree.stages[attached].name
        ));
    }
    if s.layout.is_some() || s.scope.is_some() || s.buffers > 1 || s.store.is_some() {
        return Err(format!("inlines stage \"{}\", whose memory other primitives arranged", s.name));
    }
    tree.stages[stage].attach = Attach::Inline;
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    compute_inline(tree, stage)
}
