//! `loop-bind-warps`: warps of a block become threads in y, their lanes threads in x.
//!
//! ```text
//!   loop.for 4 warp { ^(%w):                    loop.for 4 thread_y { ^(%w):                     warps of 32 threads
//!     loop.for 24 lane { ^(%l): body }    =>      loop.for 32 thread_x { ^(%l): if %l < 24 { body } }
//!     rest                                        if thread_x = 0 { rest }                       where nothing in it has lanes
//!   }                                           }
//! ```
//!
//! A GPU numbers the threads of a block along x first and cuts them into warps in that order (NVIDIA, "CUDA C++ Programming Guide",
//! thread hierarchy). So blocks are as long as a warp in x: thread 32 w + l is lane l of warp w, and what lanes combine (`reduce`)
//! stays within a warp. All that comes later knows threads alone, so that barriers follow from what they read and write and
//! not from whether a GPU runs the lanes of a warp in step.

use super::launches;
use super::{put_under, within};
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Compare;
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, Value, arguments,
    defining_op, int_attr, key, ops_in,
};
use std::collections::HashSet;

/// The pass.
pub struct BindWarps;

impl Pass for BindWarps {
    const NAME: &'static str = "loop-bind-warps";
    const DESCRIPTION: &'static str = "Make threads of warps and of their lanes";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "warp",
        description: "Threads of a warp",
        kind: OptionKind::Int,
        initial: "32",
    }];
    const STATISTICS: &'static [StatisticSpec] = &[StatisticSpec {
        name: "bound",
        description: "Number of loops over warps and lanes that were bound",
    }];
    const DIALECTS: &'static [&'static str] = &["loop", "arith"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0).filter(|_| function.attr(KERNEL).is_some()) else { return Ok(()) };
        let warp = cx.options.int("warp").max(1) as u64;
        let kernel = function.text("sym_name").unwrap_or_default();
        let (anew, launches) = launches::of(body);
        for launch in launches {
            let all: Vec<Op> = within(launch.ops).collect();
            if !all.iter().any(|op| is_of_warps(*op)) {
                continue;
            }
            for op in &all {
                check(*op, warp, kernel)?;
            }
            for op in all.into_iter().filter(|op| is_of_warps(*op)) {
                bind(op, warp, kernel)?;
                cx.count(0, 1);
            }
        }
        for op in anew.into_iter().filter(|op| is_of_warps(*op)) {
            check(op, warp, kernel)?;
            bind(op, warp, kernel)?;
        }
        Ok(())
    }
}

/// True for loops over warps and lanes, and for what asks for the number of a lane or combines values of lanes.
fn is_of_warps(op: Op) -> bool {
    let bound = matches!(op.kind(), Some(Kind::Loop(Loop::For | Loop::ThreadIndex | Loop::AllReduce)));
    bound && matches!(loop_kind(op), LoopKind::Warp | LoopKind::Lane)
}

/// There are as many lanes as a warp has threads, and nothing else is as long in x.
fn check<'c>(op: Op<'c>, warp: u64, kernel: &str) -> Result<(), PassError<'c>> {
    let extent = op.int("extent").unwrap_or(0) as u64;
    match (op.kind(), loop_kind(op)) {
        (Some(Kind::Loop(Loop::AllReduce)), LoopKind::Lane) if extent != warp => Err(PassError::at(
            op,
            format_args!(
                "of kernel @{kernel} shares a reduction among {extent} lanes, but all {warp} threads of a warp combine what they \
                 have; split the reduction by {warp}"
            ),
        )),
        (Some(Kind::Loop(Loop::For | Loop::ThreadIndex)), LoopKind::Lane) if extent > warp => {
            Err(PassError::at(
                op,
                format_args!(
                    "of kernel @{kernel} binds {extent} iterations to the lanes of a warp, which has {warp} threads; split the loop by {warp}"
                ),
            ))
        }
        (Some(Kind::Loop(Loop::For | Loop::ThreadIndex | Loop::AllReduce)), LoopKind::ThreadX)
            if extent > warp =>
        {
            Err(PassError::at(
                op,
                format_args!(
                    "of kernel @{kernel} binds {extent} iterations to thread_x where other loops of the same blocks are bound to warps \
                     and lanes, so that x is {warp} long; bind it to warp and lane too"
                ),
            ))
        }
        (Some(Kind::Loop(Loop::For)), LoopKind::ThreadX) if extent < warp => {
            no_barriers(&body_of(op), (extent, warp), kernel)
        }
        _ => Ok(()),
    }
}

fn bind<'c>(op: Op<'c>, warp: u64, kernel: &str) -> Result<(), PassError<'c>> {
    let context = op.context_ref();
    let (lane, is_loop) = (loop_kind(op) == LoopKind::Lane, matches!(op.kind(), Some(Kind::Loop(Loop::For))));
    let inner = if is_loop { body_of(op) } else { Vec::new() };
    let extent = op.int("extent").unwrap_or(0);
    if let Some(&first) = inner.first() {
        let loops = Loops { build: Build::before(first) };
        let index = op.body(0).and_then(|body| arguments(body).first().copied());
        if let Some(index) = index.filter(|_| lane && (extent as u64) < warp) {
            no_barriers(&inner, (extent as u64, warp), kernel)?;
            keep(&loops, index, extent, &inner);
            op.set_attr("extent", int_attr(context, warp as i64));
        } else if !lane && !within(inner.iter().copied()).any(is_in_x) {
            // One lane does what is said of a warp alone.
            no_barriers(&inner, (1, warp), kernel)?;
            keep(&loops, loops.thread_index(warp, LoopKind::ThreadX), 1, &inner);
        }
    }
    let kind = if lane { LoopKind::ThreadX } else { LoopKind::ThreadY };
    op.set_attr("kind", int_attr(context, kind as i64));
    Ok(())
}

/// What some lanes do alone fills no shared memory that it reads: not all threads would come to the barrier between the two.
fn no_barriers<'c>(ops: &[Op<'c>], (lanes, warp): (u64, u64), kernel: &str) -> Result<(), PassError<'c>> {
    let all: Vec<Op> = within(ops.iter().copied()).collect();
    let shared = |op: &Op, at: usize| {
        let buffer = op.operand_values().get(at).copied();
        let is_shared = |b: &Value| defining_op(*b).and_then(launches::scope) == Some(Scope::Shared);
        buffer.filter(is_shared).map(key)
    };
    let read = |op: &Op| match op.kind() {
        Some(Kind::Loop(Loop::Load | Loop::Gather | Loop::LoadStrided)) => shared(op, 0),
        _ => None,
    };
    let read: HashSet<usize> = all.iter().filter_map(read).collect();
    let fills = |op: &&Op| match op.kind() {
        Some(Kind::Loop(Loop::Store | Loop::Scatter | Loop::StoreStrided)) => {
            shared(op, 1).is_some_and(|buffer| read.contains(&buffer))
        }
        _ => false,
    };
    match all.iter().find(fills) {
        None => Ok(()),
        Some(store) => Err(PassError::at(
            *store,
            format_args!(
                "of kernel @{kernel} fills shared memory that is read in the same loop over {lanes} of the {warp} lanes of a warp, where \
                 not all threads come to the barrier between the two; compute the stage at a loop outside of the lanes, or bind a loop of \
                 {warp} iterations to them"
            ),
        )),
    }
}

/// What a loop repeats.
fn body_of(op: Op) -> Vec<Op> {
    let ops = op.body(0).map(ops_in).unwrap_or_default();
    ops.into_iter().filter(|op| !matches!(op.kind(), Some(Kind::Loop(Loop::Yield)))).collect()
}

/// True for what the threads of a warp have each for themselves.
fn is_in_x(op: Op) -> bool {
    launches::is_bound(op) && loop_kind(op).binding() == Some((true, 0))
}

/// Puts operations under the condition that a number is below another.
fn keep<'c>(loops: &Loops<'c>, index: Value<'c>, below: i64, ops: &[Op<'c>]) {
    let scalars = loops.scalars();
    let condition = scalars.index_compare(Compare::Less, index, scalars.index(below));
    if let Some(&first) = ops.first() {
        put_under(first, condition, ops);
    }
}
