//! `bind`: iterations become blocks of a grid, threads of a block, or virtual threads.
//!
//!     for i in 0..64                        block_x i
//!       for j in 0..32  body(i, j)    =>      thread_x j  body(i, j)
//!
//! A reduction loop may be shared by threads, which combine what each of them has.
//!
//! Virtual threads are interleaved in one thread, so that one can load while another computes (Chen et al., "TVM", 2018,
//! section 4.4): their bodies are copied and jammed as those of an unrolled loop. Blocks and threads are a GPU's.

use super::super::{AxisId, Handles, Schedule, StageId};
use super::unroll::MOST_COPIES;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::{Op, OpExt};

/// Marks a loop.
pub fn bind(tree: &mut Schedule, stage: StageId, axis: AxisId, kind: LoopKind) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    let place = s.place(axis)?;
    if s.axes[axis].reduce && !kind.is_thread() {
        return Err(format!("binds a reduction axis of stage \"{}\", whose iterations would race", s.name));
    }
    if !s.axes[axis].reduce && s.leaves[..place].iter().any(|&l| s.axes[l].reduce) {
        return Err(format!(
            "binds a loop of stage \"{}\" that stands inside a reduction; reorder it first",
            s.name
        ));
    }
    if kind == LoopKind::VirtualThread {
        if s.axes[axis].extent > MOST_COPIES {
            return Err(format!(
                "makes {} virtual threads, at most {MOST_COPIES} take turns in one; split the loop first",
                s.axes[axis].extent
            ));
        }
    } else if s.leaves.iter().any(|&l| l != axis && s.axes[l].kind == kind) {
        return Err(format!("binds two loops of stage \"{}\" to the same blocks or threads", s.name));
    }
    s.axes[axis].kind = kind;
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let kind = op.int("binding").and_then(LoopKind::from_number).ok_or("binds to nothing")?;
    bind(tree, stage, axis, kind)
}
