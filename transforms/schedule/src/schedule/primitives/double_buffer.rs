//! `double_buffer`: two buffers take turns, or as many as it says.
//!
//!     for i                                  a: two buffers
//!       a = what this i needs of x     =>    for i
//!       y[i] = f(a)                            a[i mod 2] = what this i needs of x
//!                                              y[i] = f(a[i mod 2])
//!
//! So what fills one buffer need not wait for what reads the other (Chen et al., "TVM", 2018, section 4.4). With more of them a
//! GPU fills several ahead (`loop-pipeline`).

use super::super::{Attach, Handles, Schedule, StageId};
use fusion_dialects::{Op, OpExt};

/// More buffers than this are more memory for nothing.
pub const MOST_BUFFERS: u64 = 16;

/// Gives a stage as many buffers.
pub fn double_buffer(tree: &mut Schedule, stage: StageId, buffers: u64) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    if !matches!(s.attach, Attach::At(..)) {
        return Err(format!(
            "doubles the buffer of stage \"{}\", which is not filled again and again; use te.compute_at first",
            s.name
        ));
    }
    if s.store.is_some() {
        return Err(format!(
            "doubles the buffer of stage \"{}\", which te.store_at keeps in one place",
            s.name
        ));
    }
    if !(2..=MOST_BUFFERS).contains(&buffers) {
        return Err(format!(
            "has {buffers} buffers of stage \"{}\" take turns; write 2 to {MOST_BUFFERS}",
            s.name
        ));
    }
    s.buffers = buffers;
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let stage = handles.stage(op.operand_values()[0])?;
    let buffers = op.int("count").map_or(2, |n| u64::try_from(n).unwrap_or(0));
    double_buffer(tree, stage, buffers)
}
