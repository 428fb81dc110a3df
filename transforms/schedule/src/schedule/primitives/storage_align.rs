//! `storage_align`: neighbours along an axis lie k * factor + offset elements apart.
//!
//!     dim 0 by 16 offset 4
//!
//!     rows of 32 elements, one behind the other      =>      rows of 32 elements, 36 apart
//!
//! Rows a power of two apart fall on few sets of a cache, or on one bank of a GPU's shared memory (TVM's primitive of that
//! name). Of an axis of the array in memory, when the stage is laid out.

use super::super::{Attach, Handles, Schedule, StageId};
use crate::layout::{Align, Layout};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, kind_of};

/// Spreads a stage's elements.
pub fn storage_align(tree: &mut Schedule, stage: StageId, align: Align) -> Result<(), String> {
    let layout = own_layout(tree, stage, "spreads")?;
    let s = &tree.stages[stage];
    let dims = layout.digits().len();
    if align.dim >= dims {
        return Err(format!("names axis {} of stage \"{}\", which has {dims} in memory", align.dim, s.name));
    }
    tree.stages[stage].layout = Some(layout.aligned(align));
    Ok(())
}

/// The layout of a stage whose memory is its own; `does` says what is about to change.
pub(super) fn own_layout(tree: &Schedule, stage: StageId, does: &str) -> Result<Layout, String> {
    let s = &tree.stages[stage];
    if s.attach == Attach::Inline {
        return Err(format!("{does} stage \"{}\", which is inlined and has no memory", s.name));
    }
    if tree.results.contains(&stage) {
        return Err(format!(
            "{does} stage \"{}\", a result of the kernel, which is given row-major; use te.cache_write first",
            s.name
        ));
    }
    let is_nest = |op: Op| matches!(kind_of(op), Some(Kind::Te(Te::Extern)));
    if is_nest(s.op) || tree.consumers(stage).iter().any(|&c| is_nest(tree.stages[c].op)) {
        return Err(format!(
            "{does} stage \"{}\", which a loop nest written by hand reads or writes row-major",
            s.name
        ));
    }
    Ok(s.layout.clone().unwrap_or_else(|| Layout::row_major(s.rank())))
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    let number =
        |name: &str, otherwise: u64| op.int(name).map_or(otherwise, |n| u64::try_from(n).unwrap_or(u64::MAX));
    let align = Align {
        dim: usize::try_from(number("dim", 0)).unwrap_or(usize::MAX),
        factor: number("factor", 1),
        offset: number("offset", 0),
    };
    storage_align(tree, stage, align)
}
