//! `set_scope`: the memory that the buffer of a stage is in.
//!
//!     a: alloc global      =>      a: alloc shared
//!
//! Global and local memory are what a CPU has; shared memory and fragments are a GPU's (Chen et al., "TVM", 2018, section
//! 4.2), and refused where code for a CPU is made.

use super::super::{Attach, Handles, Schedule, StageId};
use fusion_dialects::loops::Scope;
use fusion_dialects::module::target_given;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, kind_of};

/// Says where a stage is kept.
pub fn set_scope(tree: &mut Schedule, stage: StageId, scope: Scope) -> Result<(), String> {
    let s = &tree.stages[stage];
    if s.attach == Attach::Inline {
        return Err(format!("gives stage \"{}\" a place, which is inlined and has no memory", s.name));
    }
    if tree.results.contains(&stage) && scope != Scope::Global {
        return Err(format!(
            "keeps stage \"{}\", a result of the kernel, elsewhere than in global memory; use te.cache_write first",
            s.name
        ));
    }
    if matches!(kind_of(s.op), Some(Kind::Te(Te::Extern))) && scope != Scope::Global {
        return Err(format!("keeps stage \"{}\", a loop nest, elsewhere than in global memory", s.name));
    }
    tree.stages[stage].scope = Some(scope);
    Ok(())
}

/// The target has such memory, where it is known.
fn fits(tree: &Schedule, stage: StageId, scope: Scope) -> Result<(), String> {
    let what = match scope {
        Scope::Global | Scope::Local => return Ok(()),
        Scope::Shared => "memory that a block of threads shares",
        Scope::Fragment => "fragments",
    };
    match target_given(tree.kernel).map_err(|error| error.message)? {
        Some(target) if !target.is_gpu() => Err(format!(
            "keeps stage \"{}\" in {what}, which {}, a CPU, has not; use global or local memory",
            tree.stages[stage].name, target.name
        )),
        _ => Ok(()),
    }
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    let scope = op.int("scope").and_then(Scope::from_number).ok_or("names no memory")?;
    fits(tree, stage, scope)?;
    set_scope(tree, stage, scope)
}
