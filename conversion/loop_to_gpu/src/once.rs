//! `loop-store-once`: what several threads would write to one place of shared memory, one of them writes.
//!
//!     shared %s                                  shared %s
//!     for 16 thread_x { %s[x] = v }     =>       for 16 thread_x { if thread_y = 0 { %s[x] = v } }      in blocks of 16 x 16 threads
//!
//! A nest that fills a buffer is run by all threads of the block. Loops bound to threads share its iterations; along a dimension
//! of the block to which none is bound, all threads do the same.

use super::launches::{self, scope};
use super::{put_under, within};
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Compare;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Value, defining_op, op_key,
};

/// The pass.
pub struct StoreOnce;

const DIMENSIONS: [LoopKind; 3] = [LoopKind::ThreadX, LoopKind::ThreadY, LoopKind::ThreadZ];

impl Pass for StoreOnce {
    const NAME: &'static str = "loop-store-once";
    const DESCRIPTION: &'static str = "Have one thread write what several would";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "guarded", description: "Number of stores that some threads do not make" }];
    const DIALECTS: &'static [&'static str] = &["loop", "arith"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0).filter(|_| function.attr(KERNEL).is_some()) else { return Ok(()) };
        let (_, launches) = launches::of(body);
        for launch in launches {
            for store in within(launch.ops).filter(is_store).collect::<Vec<_>>() {
                let shared_by = repeated(store, launch.shape.block);
                if !shared_by.is_empty() {
                    guard(store, &shared_by, launch.shape.block);
                    cx.count(0, 1);
                }
            }
        }
        Ok(())
    }
}

fn is_store(op: &Op) -> bool {
    matches!(op.kind(), Some(Kind::Loop(Loop::Store | Loop::StoreStrided | Loop::Scatter)))
}

/// The dimensions along which all threads make a store to shared memory.
fn repeated(store: Op, threads: [u64; 3]) -> Vec<usize> {
    let buffer = store.operand_values().get(1).copied().and_then(defining_op);
    let Some(buffer) = buffer.filter(|op| scope(*op) == Some(Scope::Shared)) else { return Vec::new() };
    let home = buffer.parent_operation().map(op_key);
    let around = std::iter::successors(store.parent_operation(), |op| op.parent_operation());
    let mut shared = [false; 3];
    for op in around.take_while(|op| Some(op_key(*op)) != home) {
        match op.kind() {
            Some(Kind::Loop(Loop::For)) => {
                if let Some((true, which)) = loop_kind(op).binding() {
                    shared[which] = true;
                }
            }
            Some(Kind::Loop(Loop::Guard)) => {
                for which in op.operand_values().first().map(|c| asked(*c)).unwrap_or_default() {
                    shared[which] = true;
                }
            }
            _ => {}
        }
    }
    (0..3).filter(|&which| threads[which] > 1 && !shared[which]).collect()
}

/// The dimensions whose number of the thread a condition asks for.
fn asked(condition: Value) -> Vec<usize> {
    let (mut open, mut found) = (vec![condition], Vec::new());
    while let Some(value) = open.pop() {
        let Some(op) = defining_op(value) else { continue };
        if let (Some(Kind::Loop(Loop::ThreadIndex)), Some((true, which))) =
            (op.kind(), loop_kind(op).binding())
        {
            found.push(which);
        }
        open.extend(op.operand_values());
    }
    found
}

fn guard(store: Op, dimensions: &[usize], threads: [u64; 3]) {
    let loops = Loops { build: Build::before(store) };
    let scalars = loops.scalars();
    let first = |which: &usize| {
        let index = loops.thread_index(threads[*which], DIMENSIONS[*which]);
        scalars.index_compare(Compare::Equal, index, scalars.index(0))
    };
    let all = dimensions.iter().map(first).reduce(|a, b| scalars.and(a, b));
    let Some(all) = all else { return };
    put_under(store, all, &[store]);
}
