//! `loop-fuse`: loops that follow each other become one where an iteration of the second reads what that iteration of the first stores.
//!
//!     loop.for 16 {                                    %s = loop.for 16 iter(%z) {
//!     ^(%k):                                           ^(%k, %a):
//!       loop.store %v, e[64 %k]                          loop.store %v, e[64 %k]
//!     }                                          =>      %e = loop.load e[64 %k]
//!     %s = loop.for 16 iter(%z) {                        loop.yield %a + %e
//!     ^(%k, %a):                                       }
//!       %e = loop.load e[64 %k]
//!       loop.yield %a + %e
//!     }
//!
//! A row is gone through once less, and the sum has something to do beside: exponentials of a softmax and their sum. Of each buffer
//! that one of the loops writes and the other one reads or writes, iteration `k` must touch nothing outside of `step * k + [from, from + step)`,
//! which is then its own. (Kennedy and McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop Fusion and Distribution", 1993.)

use super::access::{Access, is_free};
use super::iteration::joined;
use fusion_dialects::loops::{ANNOTATIONS, LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Affine, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Value, ValueLike,
    ValueMap, affine_map_of, arguments, attr_key, defining_op, key, kind_of, nested_ops, op_key, ops_in,
    vector_parts,
};
use std::collections::HashSet;

/// The pass.
pub struct LoopFuse;

impl Pass for LoopFuse {
    const NAME: &'static str = "loop-fuse";
    const DESCRIPTION: &'static str = "Make one loop of two where the second reads what the first stores";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "fused", description: "Loops that became part of the one before" }];
    const DIALECTS: &'static [&'static str] = &["loop"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let inner: Vec<Op> = nested_ops(function).into_iter().filter(|op| is_straight(*op)).collect();
        let mut before: Option<Op> = None;
        for second in inner {
            let fused =
                before.filter(|first| first.block() == second.block()).and_then(|first| fuse(first, second));
            cx.count(0, fused.is_some().into());
            before = fused.or(Some(second));
        }
        Ok(())
    }
}

/// True for a serial loop without loops inside, all of whose effects are loads and stores.
pub fn is_straight(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Loop(Loop::For)))
        && loop_kind(op) == LoopKind::Serial
        && op.body(0).is_some_and(|body| {
            ops_in(body).into_iter().all(|inner| {
                let known = matches!(kind_of(inner), Some(Kind::Loop(Loop::Prefetch | Loop::Yield)));
                known || is_free(inner) || Access::of(inner).is_some()
            })
        })
}

/// Makes one loop of two, where that may be and pays.
fn fuse<'c>(first: Op<'c>, second: Op<'c>) -> Option<Op<'c>> {
    let same = |name: &str| first.attr(name).map(attr_key) == second.attr(name).map(attr_key);
    if !same("extent") || !same(ANNOTATIONS) || !meet(first, second) {
        return None;
    }
    between(first, second)?.into_iter().for_each(|op| op.move_before_op(first));
    let mut maps = [ValueMap::new(), ValueMap::new()];
    let [of_first, of_second] = &mut maps;
    let one = joined(&Build::before(first), &mut [(first, of_first), (second, of_second)])?;
    for (op, map) in [first, second].into_iter().zip(&maps) {
        let results: Vec<Value> = op.result_values().into_iter().map(|old| map.lookup(old)).collect();
        op.replace_all_uses(&results);
        op.erase();
    }
    Some(one)
}

/// What stands between two loops of a block, where all of it may stand before the first.
fn between<'c>(first: Op<'c>, second: Op<'c>) -> Option<Vec<Op<'c>>> {
    let behind = ops_in(first.block()?).into_iter().skip_while(|op| op_key(*op) != op_key(first)).skip(1);
    let between: Vec<Op> = behind.take_while(|op| op_key(*op) != op_key(second)).collect();
    let made: HashSet<usize> = first.result_values().into_iter().map(key).collect();
    let reads = |op: Op| op.operand_values().into_iter().any(|value| made.contains(&key(value)));
    let moves = |op: &Op<'c>| is_free(*op) || matches!(kind_of(*op), Some(Kind::Loop(Loop::Alloc)));
    (between.iter().all(|op| moves(op) && !reads(*op)) && !reads(second)).then_some(between)
}

/// True when the second loop reads what the first stores, and of what one of them writes each iteration has elements of its own.
fn meet<'c>(first: Op<'c>, second: Op<'c>) -> bool {
    let (Some(one), Some(two)) = (Touched::of(first), Touched::of(second)) else { return false };
    let shared: Vec<usize> = one.buffers().intersection(&two.buffers()).copied().collect();
    let written: Vec<usize> =
        shared.into_iter().filter(|b| one.writes.contains(b) || two.writes.contains(b)).collect();
    let pays = written.iter().any(|b| one.writes.contains(b) && two.reads.contains(b));
    pays && written.iter().all(|b| are_own(one.windows_of(*b).chain(two.windows_of(*b))))
}

/// The buffers of a loop.
struct Touched {
    reads: HashSet<usize>,
    writes: HashSet<usize>,
    /// Each access: its buffer, and what it touches there.
    windows: Vec<(usize, Option<Window>)>,
}

impl Touched {
    fn of(op: Op) -> Option<Touched> {
        let body = op.body(0)?;
        let index = *arguments(body).first()?;
        let all: Vec<Access> = ops_in(body).into_iter().filter_map(Access::of).collect();
        let of = |writes: bool| all.iter().filter(|a| a.writes == writes).map(|a| key(a.buffer)).collect();
        let windows = all.iter().map(|a| (key(a.buffer), Window::of(a, index))).collect();
        Some(Touched { reads: of(false), writes: of(true), windows })
    }

    fn buffers(&self) -> HashSet<usize> {
        self.reads.union(&self.writes).copied().collect()
    }

    fn windows_of(&self, buffer: usize) -> impl Iterator<Item = Option<Window>> {
        self.windows.iter().filter(move |(of, _)| *of == buffer).map(|(_, window)| *window)
    }
}

/// Elements `step * k + from` up to `step * k + to` in iteration `k`.
#[derive(Clone, Copy)]
struct Window {
    step: i64,
    from: i64,
    to: i64,
}

impl Window {
    fn of(access: &Access, index: Value) -> Option<Window> {
        let operands = access.op.operand_values();
        let value = match kind_of(access.op) {
            Some(Kind::Loop(Loop::Load)) => *access.op.result_values().first()?,
            Some(Kind::Loop(Loop::Store)) => *operands.first()?,
            _ => return None,
        };
        let lanes = vector_parts(value.r#type()).map_or(1, |(_, lanes)| lanes);
        let (step, from) = linear(access.index, index)?;
        Some(Window { step, from, to: from.checked_add(i64::try_from(lanes).ok()?)? })
    }
}

/// True when the windows of an iteration together are no longer than the step to the next, and each is as long as the others: a
/// part of a longer vector would be taken out of its bits, word by word.
fn are_own(windows: impl Iterator<Item = Option<Window>>) -> bool {
    let Some(all) = windows.collect::<Option<Vec<Window>>>() else { return false };
    let (Some(from), Some(to)) = (all.iter().map(|w| w.from).min(), all.iter().map(|w| w.to).max()) else {
        return true;
    };
    let like_first = |w: &Window| w.step == all[0].step && w.to - w.from == all[0].to - all[0].from;
    all.iter().all(|w| like_first(w) && w.step >= to.saturating_sub(from))
}

/// The factor of an index in a value, and what is added, where nothing else is in it.
fn linear(value: Value, index: Value) -> Option<(i64, i64)> {
    if key(value) == key(index) {
        return Some((1, 0));
    }
    let op = defining_op(value)?;
    match op.kind() {
        Some(Kind::Upstream(Upstream::ArithConstant)) => Some((0, op.int("value")?)),
        Some(Kind::Upstream(Upstream::AffineApply)) => {
            linear_map(&op.attr("map").and_then(affine_map_of)?, &op.operand_values(), index)
        }
        _ => None,
    }
}

fn linear_map(e: &Affine, operands: &[Value], index: Value) -> Option<(i64, i64)> {
    let side = |e: &Affine| linear_map(e, operands, index);
    match e {
        Affine::Input(i) => linear(*operands.get(*i)?, index),
        Affine::Constant(c) => Some((0, *c)),
        Affine::Add(a, b) => {
            let (a, b) = (side(a)?, side(b)?);
            Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
        }
        Affine::Mul(a, b) => {
            let (of, by) = match (side(a)?, side(b)?) {
                (of, (0, by)) | ((0, by), of) => (of, by),
                _ => return None,
            };
            Some((of.0.checked_mul(by)?, of.1.checked_mul(by)?))
        }
        Affine::Mod(..) | Affine::FloorDiv(..) | Affine::CeilDiv(..) => None,
    }
}
