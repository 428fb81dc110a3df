//! `bind`: iterations become blocks of a grid, warps or threads of a block, lanes of a warp, or virtual threads.
//!
//!     for i in 0..64                        block_x i
//!       for j in 0..32  body(i, j)    =>      thread_x j  body(i, j)
//!
//! A reduction loop may be shared by threads, which combine what each of them has: those of x, or those of y, where each x combines values of its
//! own.
//!
//! Warps and lanes are threads by another name, for schedules that hand rows to warps: what lanes combine needs no shared memory
//! and no barrier (NVIDIA, "CUDA C++ Programming Guide", warp shuffle functions).
//!
//!     for i in 0..8                         warp i
//!       for k in 0..32  y[i] += x[i, k] =>    lane k  y[i] = all_reduce(x[i, k])
//!
//! A block has as many threads as warps times the threads of one, 32 or 64 by the target; lanes beyond a loop's end are idle.
//! `warp` and `thread_y`, and `lane` and `thread_x`, number the same threads.
//!
//! Virtual threads are interleaved in one thread, so that one can load while another computes (Chen et al., "TVM", 2018,
//! section 4.4): their bodies are copied and jammed as those of an unrolled loop. Blocks and threads are a GPU's.

use super::super::{AxisId, Handles, Schedule, StageId};
use super::unroll::MOST_COPIES;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::module::target_given;
use fusion_dialects::{Op, OpExt};

/// Marks a loop.
pub fn bind(tree: &mut Schedule, stage: StageId, axis: AxisId, kind: LoopKind) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    let place = s.place(axis)?;
    if s.axes[axis].reduce && !kind.is_thread() {
        return Err(format!("binds a reduction axis of stage \"{}\", whose iterations would race", s.name));
    }
    if s.axes[axis].reduce && kind == LoopKind::Warp {
        return Err(format!(
            "shares a reduction of stage \"{}\" among warps, which cannot exchange what they have; bind the loop to lane or \
             to thread_x",
            s.name
        ));
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
    } else if s.leaves.iter().any(|&l| l != axis && s.axes[l].kind.binding() == kind.binding()) {
        return Err(format!("binds two loops of stage \"{}\" to the same blocks or threads", s.name));
    }
    s.axes[axis].kind = kind;
    Ok(())
}

/// There are as many threads in a block, warps in one and lanes in a warp as the target has, where that is known.
fn fits(tree: &Schedule, stage: StageId, axis: AxisId, kind: LoopKind) -> Result<(), String> {
    let Some(target) = target_given(tree.kernel).map_err(|error| error.message)? else { return Ok(()) };
    if !target.is_gpu() && kind != LoopKind::VirtualThread {
        return Err(format!(
            "binds a loop of stage \"{}\" to the blocks or threads of a GPU, which {}, a CPU, has not; use te.parallel, \
             te.vectorize or te.unroll",
            tree.stages[stage].name, target.name
        ));
    }
    if !target.is_gpu() || !kind.is_thread() {
        return Ok(());
    }
    let gpu = &target.gpu;
    let threads = gpu.block_threads;
    let (most, whats, what) = match kind {
        LoopKind::Lane => (gpu.warp, "lanes", format!("a warp of {} has {} lanes", target.name, gpu.warp)),
        LoopKind::Warp => {
            let most = threads / gpu.warp;
            let warp = gpu.warp;
            (
                most,
                "warps",
                format!("a block of {} has at most {most}, {threads} threads by {warp}", target.name),
            )
        }
        _ => (threads, "threads", format!("a block of {} has at most {threads}", target.name)),
    };
    let s = &tree.stages[stage];
    let extent = s.axes[axis].extent;
    if extent <= most {
        return Ok(());
    }
    let kernel = tree.kernel.text("sym_name").unwrap_or_default();
    Err(format!(
        "binds a loop of {extent} iterations of stage \"{}\" of kernel @{kernel} to {whats}, but {what}; split it by {most} or less first",
        s.name,
    ))
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let kind = op.int("binding").and_then(LoopKind::from_number).ok_or("binds to nothing")?;
    fits(tree, stage, axis, kind)?;
    bind(tree, stage, axis, kind)
}
