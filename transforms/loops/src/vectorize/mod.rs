//! `loop-vectorize`: the iterations of a vectorized loop side by side, as lanes of vectors.
//!
//!     loop.for 8 vectorized {                     %a = loop.load %x[%b] -> vector<8xf32>
//!     ^(%v):                                      %s = loop.load %w[%c] -> f32
//!       %i = affine.apply (d0 + d1)(%b, %v)   =>  %t = vector.broadcast %s
//!       %a = loop.load %x[%i] -> f32              %m = arith.mulf %a, %t : vector<8xf32>
//!       %s = loop.load %w[%c] -> f32              loop.store %m, %y[%b]
//!       %m = arith.mulf %a, %s
//!       loop.store %m, %y[%i]
//!     }
//!
//! 1. [`lanes`] says of every value of the body how its lanes relate: an index that grows by a constant from
//!    lane to lane (by 0 when it is the same in all lanes), or nothing one can say.
//! 2. [`rewrite`] builds the body once: what is the same in all lanes stays scalar; an index that grows by a
//!    constant is kept as that of lane 0, so that a growth of 1 is a contiguous access; all other values are vectors.
//!
//! A guard whose condition differs from lane to lane is a mask: its loads and stores touch the lanes that it lets through,
//! the rest of its body is computed in all lanes, and its results are selected.
//!
//! Where the loop is annotated with `masked_tail`, a number of lanes that is no power of two is rounded up to the next one, with a mask
//! of those that there are: a vector of 7 elements would be loaded in three pieces.
//!
//! Loops with bodies that have no such form run their iterations one after another: they become serial.

mod affine;
mod indices;
mod lanes;
mod masked;
mod rewrite;

use fusion_dialects::loops::{LoopKind, MASKED_TAIL, Op as Loop, has_note, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, ValueMap, arguments, int_attr, nested_ops,
    ops_in,
};
use lanes::Analysis;

/// The pass.
pub struct LoopVectorize;

impl Pass for LoopVectorize {
    const NAME: &'static str = "loop-vectorize";
    const DESCRIPTION: &'static str = "Turn vectorized loops into straight code on vectors";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "vectorized", description: "Loops turned into vector code" },
        StatisticSpec {
            name: "serialized",
            description: "Loops that run their iterations one after another",
        },
    ];
    const DIALECTS: &'static [&'static str] = &["arith", "affine", "vector"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let mut loops = nested_ops(function);
        loops.retain(|op| {
            matches!(op.kind(), Some(Kind::Loop(Loop::For))) && loop_kind(*op) == LoopKind::Vectorized
        });
        // From the inside out: an outer loop sees its inner ones done.
        for op in loops.into_iter().rev() {
            if vectorize(op).is_some() {
                cx.count(0, 1);
            } else {
                op.set_attr("kind", int_attr(op.context_ref(), LoopKind::Serial as i64));
                cx.count(1, 1);
            }
        }
        Ok(())
    }
}

/// Replaces a loop by its iterations side by side; `None` when its body has no such form, and then nothing changed.
fn vectorize(op: Op) -> Option<()> {
    let extent = op.int("extent").and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0)?;
    let body = op.body(0)?;
    if extent == 1 {
        inline(op);
        return Some(());
    }
    if !op.operand_values().is_empty() {
        return None;
    }
    let rounds = has_note(op, MASKED_TAIL);
    let whole = if rounds { extent.checked_next_power_of_two()? } else { extent };
    let analysis =
        Analysis::of(op, body, extent, whole).or_else(|| Analysis::of(op, body, extent, extent))?;
    rewrite::rewrite(op, body, &analysis);
    op.erase();
    Some(())
}

/// A loop of one iteration is its body.
fn inline(op: Op) {
    let Some(body) = op.body(0) else { return };
    let build = Build::before(op);
    let mut map = ValueMap::new();
    let zero = fusion_dialects::te::Scalars { build }.index(0);
    let inits = op.operand_values();
    for (argument, value) in arguments(body).into_iter().zip(std::iter::once(zero).chain(inits)) {
        map.insert(argument, value);
    }
    let mut ops = ops_in(body);
    let last = ops.pop();
    for inner in ops {
        map.clone_op(&build, inner);
    }
    let results: Vec<_> = last.map(|l| l.operand_values()).unwrap_or_default();
    op.replace_all_uses(&results.into_iter().map(|v| map.lookup(v)).collect::<Vec<_>>());
    op.erase();
}
