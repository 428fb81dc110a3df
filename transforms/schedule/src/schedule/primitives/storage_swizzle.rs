//! `storage_swizzle`: what lies below each other in shared memory falls on different banks, without padding.
//!
//!     lines of 128 bytes, groups of 16        line 0    0 1 2 3 4 5 6 7
//!                                             line 1    1 0 3 2 5 4 7 6
//!                                             line 2    2 3 0 1 6 7 4 5          group g of line l is at g xor (l mod 8)
//!
//! Shared memory serves 128 bytes at a time, those at the same place of its lines one after another: 8 groups below each other are now
//! at 8 places (NVIDIA, "PTX ISA", swizzling modes of 128 bytes, as matrix instructions and bulk copies know it). Indices stay what they were:
//! where accesses become addresses, groups are exchanged.

use super::super::{Handles, Schedule, StageId};
use super::storage_align::own_layout;
use fusion_dialects::loops::Scope;
use fusion_dialects::{Op, OpExt};

/// Exchanges groups of a stage's elements.
pub fn storage_swizzle(tree: &mut Schedule, stage: StageId) -> Result<(), String> {
    let layout = own_layout(tree, stage, "swizzles")?;
    let s = &mut tree.stages[stage];
    if s.scope != Some(Scope::Shared) {
        return Err(format!(
            "swizzles stage \"{}\", which is not in memory that a block shares; use te.set_scope to shared first",
            s.name
        ));
    }
    s.layout = Some(layout.with_swizzle());
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    storage_swizzle(tree, stage)
}
