//! `loop-spread`: nests that no schedule knows, those of a `te.extern`, get blocks and threads by the loops that their writer calls
//! independent.
//!
//! ```text
//!   loop.for 300 { ^(%u):                               loop.for 1 block_x {  loop.for 256 thread_x {      %c = the thread's number
//!     loop.for 256 independent { ^(%c):       =>          loop.for 300 { ^(%u):
//!       %r[at[%u, %c], %c] += x[%u, %c]                     %r[at[%u, %c], %c] += x[%u, %c]
//! ```
//!
//! Iterations of such a loop write nothing that another one reads or writes, whatever the other loops of the nest are at. So it may
//! become the outermost one, and what stands between is done by each thread anew, as long as it writes nothing. Updates of one
//! element stay in their order, which atomic operations would not keep. Where more elements are written than there are such iterations,
//! each of these has several threads, which have some of the elements each (`owners`), if that is possible.
//!
//! What fills or reads a buffer of a block or a thread stays as it is: all blocks of its launch do that.

use super::launches::{is_bound, scope};
use super::owners::{self, Owners};
use super::{may_write, outside_in, result, within};
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{INDEPENDENT, LoopKind, Loops, Op as Loop, Scope, has_note, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Compare;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec,
    Value, ValueMap, key, op_key, ops_in,
};
use fusion_loops::iteration::iteration;
use std::ops::RangeInclusive;

/// Threads that are whole warps on all GPUs.
const WARPS: u64 = 64;

/// The pass.
pub struct LoopSpread;

impl Pass for LoopSpread {
    const NAME: &'static str = "loop-spread";
    const DESCRIPTION: &'static str = "Bind nests without a schedule by their independent loops";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "threads",
            description: "Threads of a block",
            kind: OptionKind::Int,
            initial: "256",
        },
        OptionSpec {
            name: "cores",
            description: "Cores that are to have blocks, of fewer threads where there is little to do",
            kind: OptionKind::Int,
            initial: "1",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "spread", description: "Number of nests that got blocks and threads" }];
    const DIALECTS: &'static [&'static str] = &["loop", "arith", "affine"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let [threads, cores] = ["threads", "cores"].map(|name| cx.options.int(name).max(1) as u64);
        let Some(body) = function.body(0).filter(|_| function.attr(KERNEL).is_some()) else { return Ok(()) };
        let all = ops_in(body);
        let together = of_one_launch(&all);
        for (place, nest) in all.into_iter().enumerate().filter(|(_, op)| is_loop(*op)) {
            let bound = within([nest]).any(is_bound) || nest.result_count() > 0;
            if bound || together.iter().any(|range| range.contains(&place)) {
                continue;
            }
            let chosen = independent(nest);
            let owners = owners::find(nest, &chosen, iterations(&extents(nest, &chosen)));
            if owners.is_some() || !chosen.is_empty() {
                spread(nest, &chosen, owners.as_ref(), (threads, cores));
                cx.count(0, 1);
            }
        }
        Ok(())
    }
}

/// The places from the first to the last use of each buffer that a block or a thread has for itself: one launch, of which every block
/// needs all that is in the buffer.
fn of_one_launch(all: &[Op]) -> Vec<RangeInclusive<usize>> {
    let own = all.iter().filter(|op| scope(**op).is_some_and(|s| s != Scope::Global));
    let uses = |buffer: Value| {
        let uses =
            |op: &Op| within([*op]).any(|op| op.operand_values().iter().any(|v| key(*v) == key(buffer)));
        let mut places = (0..all.len()).filter(|place| uses(&all[*place]));
        let first = places.next()?;
        Some(first..=places.next_back().unwrap_or(first))
    };
    own.filter_map(|op| result(*op).and_then(uses)).collect()
}

fn is_loop(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Loop(Loop::For)))
}

/// The places, among all operations of a nest, of the loops that may go outside: all that the nest writes is written in them.
fn independent(nest: Op) -> Vec<usize> {
    let all = outside_in(nest);
    let writes: Vec<Op> = all.iter().copied().filter(|op| may_write(*op)).collect();
    let may_go = |op: &Op| {
        // Lanes of a processor's vector are threads here.
        let kind = matches!(loop_kind(*op), LoopKind::Serial | LoopKind::Vectorized);
        let plain = is_loop(*op) && op.result_count() == 0 && kind;
        has_note(*op, INDEPENDENT) && plain && op.int("extent").is_some_and(|n| n > 0)
    };
    let holds = |op: &Op| {
        let inside: Vec<usize> = within([*op]).map(op_key).collect();
        writes.iter().all(|write| inside.contains(&op_key(*write)))
    };
    (0..all.len()).filter(|&place| may_go(&all[place]) && holds(&all[place])).collect()
}

/// Iterations of each of the chosen loops.
fn extents(nest: Op, chosen: &[usize]) -> Vec<u64> {
    let all = outside_in(nest);
    chosen.iter().map(|&place| all[place].int("extent").unwrap_or(1).max(1) as u64).collect()
}

/// Iterations of several loops together.
fn iterations(extents: &[u64]) -> u64 {
    extents.iter().fold(1u64, |n, e| n.saturating_mul(*e))
}

/// A thread for each iteration of the chosen loops together, and each owner of what is written there.
fn spread(nest: Op, chosen: &[usize], owners: Option<&Owners>, (threads, cores): (u64, u64)) {
    let extents = extents(nest, chosen);
    let all = iterations(&extents).saturating_mul(owners.map_or(1, Owners::number));
    let threads = threads.min(all.div_ceil(cores).next_multiple_of(WARPS)).min(all.next_multiple_of(32));
    let blocks = all.div_ceil(threads);
    let loops = Loops { build: Build::before(nest) };
    loops.for_(blocks, LoopKind::BlockX, &[], |outer, block, _| {
        outer.for_(threads, LoopKind::ThreadX, &[], |inner, thread, _| {
            let s = inner.scalars();
            let number = s.index_add(s.index_affine(block, threads as i64, 0), thread);
            match all.is_multiple_of(threads) {
                true => copy(inner, nest, (chosen, &extents), owners, number),
                false => {
                    let there = s.index_compare(Compare::Less, number, s.index(all as i64));
                    inner.guard(there, |l| copy(l, nest, (chosen, &extents), owners, number));
                }
            }
            Vec::new()
        });
        Vec::new()
    });
    nest.erase();
}

/// The nest with one iteration of each of the chosen loops, of which the last one goes on with the number, and one owner.
fn copy<'c>(
    loops: &Loops<'c>,
    nest: Op<'c>,
    (chosen, extents): (&[usize], &[u64]),
    owners: Option<&Owners>,
    number: Value<'c>,
) {
    let s = loops.scalars();
    let (mut left, mut indices) = (number, Vec::new());
    for (place, extent) in extents.iter().enumerate().rev() {
        if place == 0 && owners.is_none() {
            indices.push(left);
        } else {
            indices.push(s.index_mod(left, *extent as i64));
            left = s.index_div(left, *extent as i64);
        }
    }
    indices.reverse();
    let cloned = ValueMap::new().clone_op(&loops.build, nest);
    let all = outside_in(cloned);
    if let Some(owners) = owners {
        owners.restrict(cloned, left);
    }
    // Inner ones first: what is moved out of a loop goes with it.
    for (&place, &index) in chosen.iter().zip(&indices).rev() {
        once(all[place], index);
    }
}

/// One iteration of a loop in its place.
fn once<'c>(op: Op<'c>, index: Value<'c>) {
    let Some(body) = op.body(0) else { return };
    iteration(&Build::before(op), body, index, &[]);
    op.erase();
}
