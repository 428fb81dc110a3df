//! `loop-share`: nests that no schedule knows, those of a `te.extern`, are shared by threads where their writer calls the outermost loop
//! independent.
//!
//! ```text
//!   loop.for 64 serial {independent} {             loop.for 64 parallel {
//!     loop.for 5000 { ... %y[%line, ..] ... }  =>    loop.for 5000 { ... %y[%line, ..] ... }
//! ```
//!
//! Iterations of such a loop write nothing that another one reads or writes, whatever the other loops of the nest are at. Sharing costs some
//! microseconds where threads sleep, so that little work stays on one of them (`te/threads.rs`). GPUs have `loop-spread`.

use crate::te_to_loop::lower::KERNEL;
use fusion_dialects::loops::{INDEPENDENT, LoopKind, Op as Loop, has_note, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, int_attr, nested_ops, ops_in,
};
use fusion_schedule::threads::worth_threads;

/// Operations on vectors that a scalar one takes as long as: nests by hand are mostly scalars, and wait for what they read.
const SCALAR: f64 = 16.0;

/// The pass.
pub struct LoopShare;

impl Pass for LoopShare {
    const NAME: &'static str = "loop-share";
    const DESCRIPTION: &'static str = "Share the iterations of nests without a schedule among threads";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "shared", description: "Number of nests that threads share" }];
    const DIALECTS: &'static [&'static str] = &["loop"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0).filter(|_| function.attr(KERNEL).is_some()) else { return Ok(()) };
        for nest in ops_in(body).into_iter().filter(|op| may_be_shared(*op)) {
            let extent = nest.int("extent").and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
            if worth_threads(operations(nest) * SCALAR, 0.0, extent) {
                nest.set_attr("kind", int_attr(nest.context_ref(), LoopKind::Parallel as i64));
                cx.count(0, 1);
            }
        }
        Ok(())
    }
}

fn may_be_shared(nest: Op) -> bool {
    let is_shared = |op: &Op| {
        matches!(op.kind(), Some(Kind::Loop(Loop::For | Loop::Upto))) && loop_kind(*op) == LoopKind::Parallel
    };
    matches!(nest.kind(), Some(Kind::Loop(Loop::For)))
        && nest.result_count() == 0
        && loop_kind(nest) == LoopKind::Serial
        && has_note(nest, INDEPENDENT)
        && !nested_ops(nest).iter().any(is_shared)
}

/// Operations that a nest runs, or about so many: the lanes of a vector are one, and loops of unknown length have an iteration.
fn operations(op: Op) -> f64 {
    let inside: f64 = op.body(0).map(ops_in).unwrap_or_default().into_iter().map(operations).sum();
    match op.kind() {
        Some(Kind::Loop(Loop::For)) if loop_kind(op) == LoopKind::Vectorized => inside,
        Some(Kind::Loop(Loop::For)) => inside * op.int("extent").unwrap_or(0) as f64,
        Some(Kind::Loop(Loop::Upto | Loop::Guard)) => inside,
        _ => 1.0,
    }
}
