//! `loop-pipeline`: what fills a buffer of several slots runs ahead of what reads it.
//!
//! ```text
//!   for k of K {                     asynchronous copies, n slots            through registers
//!     s[k mod n] = x[k]
//!     use s[k mod n]           =>    copy 0, ..., copy n-2                   s[0] = x[0]
//!   }                                for k of K {                            for k of K {
//!                                      wait for copy k                         if k+1 < K: r = x[k+1]
//!                                      if k+n-1 < K: copy k+n-1                use s[k mod n]
//!                                      use s[k mod n]                          if k+1 < K: s[(k+1) mod n] = r
//!                                    }                                       }
//! ```
//!
//! So memory is waited for while something is computed: the software pipelining of Lam ("Software Pipelining", 1988), with the
//! stages of a copy that CUTLASS has ("multistage"). One barrier a step is enough (`loop-insert-barriers` puts it): a slot is
//! filled again only after the step behind the one that read it has begun. A loop stays as it is where what fills the
//! buffer needs something that the loop makes, or also reads it. Boxes of tensors are copied by one thread for all (`tma`).

mod fills;
mod groups;
mod tma;

use super::barriers::AHEAD;
use super::{launches, result, within};
use fills::{Fills, MOST_REGISTER_BYTES};
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Compare;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec,
    Value, arguments, int_attr, nested_ops, op_key, ops_in, unit_attr, users,
};
use indexmap::IndexMap;

/// The pass.
pub struct LoopPipeline;

impl Pass for LoopPipeline {
    const NAME: &'static str = "loop-pipeline";
    const DESCRIPTION: &'static str = "Fill buffers of several slots ahead of what reads them";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "copy-bytes",
            description: "Bytes of the largest asynchronous copy to shared memory; 0 where there are none",
            kind: OptionKind::Int,
            initial: "0",
        },
        OptionSpec {
            name: "registers",
            description: "Registers of a core, which warps of a block can pass to each other",
            kind: OptionKind::Int,
            initial: "65536",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "copied", description: "Loops whose buffers asynchronous copies fill" },
        StatisticSpec { name: "fetched", description: "Loops whose buffers are filled through registers" },
        StatisticSpec {
            name: "tma-copies",
            description: "Loops whose buffers boxes of tensors (TMA) are copied to",
        },
    ];
    const DIALECTS: &'static [&'static str] = &["loop", "arith"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        if function.attr(KERNEL).is_none() {
            return Ok(());
        }
        let copy_bytes = cx.options.int("copy-bytes").max(0) as u64;
        let registers = cx.options.int("registers").max(0) as u64;
        for (around, buffers) in loops_in_turn(function)? {
            if tma::are_in(around) {
                fill_by_boxes(around, &buffers, threads_around(function, around), registers)?;
                cx.count(2, 1);
                continue;
            }
            let Some(fills) = Fills::of(around, &buffers) else { continue };
            let slots = slots(buffers[0]).unwrap_or(2);
            if copy_bytes > 0 && fills.are_copies(copy_bytes) {
                copy_ahead(around, &fills, slots);
                cx.count(0, 1);
            } else if fills.register_bytes() <= MOST_REGISTER_BYTES {
                fetch_ahead(around, &fills);
                cx.count(1, 1);
            } else {
                continue;
            }
            for op in buffers.iter().chain([&around]) {
                op.set_attr(AHEAD, unit_attr(op.context_ref()));
            }
        }
        Ok(())
    }
}

/// The threads of a block of the launch that an operation is in.
fn threads_around(function: Op, op: Op) -> [u64; 3] {
    let Some(body) = function.body(0) else { return [1; 3] };
    let (_, all) = launches::of(body);
    let of = all.into_iter().find(|launch| within(launch.ops.iter().copied()).any(|inner| inner == op));
    of.map_or([1; 3], |launch| launch.shape.block)
}

/// The number of slots of a buffer that the threads of a block share.
fn slots(op: Op) -> Option<u64> {
    let shared = launches::scope(op) == Some(Scope::Shared);
    op.int("slots").filter(|_| shared).and_then(|n| u64::try_from(n).ok())
}

/// The loops whose iterations use buffers in turn, each with these buffers.
fn loops_in_turn<'c>(function: Op<'c>) -> Result<Vec<(Op<'c>, Vec<Op<'c>>)>, PassError<'c>> {
    let mut found: IndexMap<usize, (Op<'c>, Vec<Op<'c>>)> = IndexMap::new();
    for buffer in nested_ops(function).into_iter().filter(|op| slots(*op).is_some()) {
        let Some(around) = loop_of(buffer) else { continue };
        let (_, buffers) = found.entry(op_key(around)).or_insert((around, Vec::new()));
        buffers.push(buffer);
        let (first, this) = (slots(buffers[0]).unwrap_or(0), slots(buffer).unwrap_or(0));
        if first != this {
            return Err(PassError::at(
                buffer,
                format_args!(
                    "has {this} slots, another buffer of the same loop has {first}; give both the same number, by te.double_buffer"
                ),
            ));
        }
    }
    Ok(found.into_values().collect())
}

/// The serial loop that has all uses of a buffer.
fn loop_of<'c>(buffer: Op<'c>) -> Option<Op<'c>> {
    let home = buffer.block()?;
    let beside = |op: Op<'c>| {
        std::iter::successors(Some(op), |o| o.parent_operation())
            .find(|o| o.block().is_some_and(|b| b == home))
    };
    let mut around = users(result(buffer)?).into_iter().map(beside);
    let first = around.next()??;
    let same = around.all(|op| op.is_some_and(|op| op == first));
    let is_loop = matches!(first.kind(), Some(Kind::Loop(Loop::For))) && loop_kind(first) == LoopKind::Serial;
    (same && is_loop && first.int("extent").is_some_and(|n| n >= 2)).then_some(first)
}

/// The index of an iteration so many later, and whether there is one.
fn later<'c>(
    loops: &Loops<'c>,
    around: Op<'c>,
    by: u64,
) -> Option<(Value<'c>, fusion_dialects::te::Scalar<'c>)> {
    let index = around.body(0).and_then(|b| arguments(b).first().copied())?;
    let s = loops.scalars();
    let next = s.index_affine(index, 1, by as i64);
    Some((next, s.index_compare(Compare::Less, next, s.index(around.int("extent")?))))
}

/// Fills by asynchronous copies, all slots but one ahead.
fn copy_ahead<'c>(around: Op<'c>, fills: &Fills<'c>, slots: u64) {
    let extent = around.int("extent").unwrap_or(0) as u64;
    let commit = |build: &Build<'c>| build.op(Loop::CopyCommit.name(), &[], &[], &[]);
    let before = Build::before(around);
    for step in 0..slots - 1 {
        if step < extent {
            let index = Loops { build: before }.scalars().index(step as i64);
            fills.copy(&before, index);
        }
        commit(&before);
    }
    let Some(first) = around.body(0).and_then(|b| ops_in(b).first().copied()) else { return };
    let build = Build::before(first);
    let groups = int_attr(build.context(), slots as i64 - 2);
    build.op(Loop::CopyWait.name(), &[], &[], &[("groups", groups)]);
    let loops = Loops { build };
    if let Some((next, exists)) = later(&loops, around, slots - 1).filter(|_| slots - 1 < extent) {
        loops.guard(exists, |inside| fills.copy(&inside.build, next));
    }
    commit(&build);
    fills.erase();
}

/// Fills through registers, one step ahead.
fn fetch_ahead<'c>(around: Op<'c>, fills: &Fills<'c>) {
    let before = Build::before(around);
    let zero = Loops { build: before }.scalars().index(0);
    fills.repeat(&before, zero);
    let registers = fills.registers(&before);
    let ops = around.body(0).map(ops_in).unwrap_or_default();
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else { return };
    for (place, fetches) in [(first, true), (last, false)] {
        let loops = Loops { build: Build::before(*place) };
        if let Some((next, exists)) = later(&loops, around, 1) {
            loops.guard(exists, |inside| match fetches {
                true => fills.fetch(&inside.build, next, &registers),
                false => fills.put(&inside.build, next, &registers),
            });
        }
    }
    fills.erase();
}

/// Fills the buffers of a loop ahead by boxes of tensors. `threads` are those of a block.
fn fill_by_boxes<'c>(
    around: Op<'c>,
    buffers: &[Op<'c>],
    threads: [u64; 3],
    registers: u64,
) -> Result<(), PassError<'c>> {
    let tma = tma::TmaLoop::of(around, buffers)?;
    if !groups::divide(&tma, threads, registers) {
        tma.ahead(threads);
        around.set_attr(AHEAD, unit_attr(around.context_ref()));
    }
    for op in &tma.buffers {
        op.set_attr(AHEAD, unit_attr(op.context_ref()));
    }
    Ok(())
}
