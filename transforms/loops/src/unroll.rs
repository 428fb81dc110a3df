//! `loop-unroll`: copies of the body in place of `unrolled` loops, with the loops inside jammed into one.
//!
//!     loop.for 2 unrolled {                              %b = loop.load B[..]
//!     ^(%u):                                             %a:2 = loop.for 768 serial iter(%z, %z) {
//!       %a = loop.for 768 serial iter(%z) {              ^(%k, %a0, %a1):
//!       ^(%k, %acc):                                       %b = loop.load B[%k]
//!         %b = loop.load B[%k]                             %x0 = loop.load A[%k]
//!         %x = loop.load A[%u * 768 + %k]          =>      %x1 = loop.load A[768 + %k]
//!         loop.yield %acc + %x * %b                        loop.yield %a0 + %x0 * %b, %a1 + %x1 * %b
//!       }                                                }
//!       loop.store %a, y[%u]                             loop.store %a#0, y[0]
//!     }                                                  loop.store %a#1, y[1]
//!
//! Accumulators become separate values of one reduction, and what does not depend on the index is computed, or loaded,
//! once. Where an iteration has used up what it loaded, all copies come up to there before what is next is loaded: no register
//! waits ([`Held`]). Loops are taken from the inside out, so that of two unrolled loops around a reduction the outer one jams what
//! the inner one gave.
//!
//! Each copy keeps the order of its own operations; only operations of different copies change places, which the schedule
//! allows by calling the iterations independent. A buffer that a body both writes and reads may still be scratch that every
//! iteration uses anew: then, and where the body makes buffers or meets barriers, the copies stand one behind the other.

use super::access::{Access, accesses, is_free};
use super::held::Held;
use super::iteration::{iteration, with_region};
use fusion_dialects::loops::{LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Type, Value,
    ValueLike, ValueMap, arguments, int_attr, key, kind_of, nested_ops, ops_in,
};
use std::collections::HashSet;

/// Loops that would become more operations than this stay loops.
const MAX_OPERATIONS: i64 = 4096;

/// Operations of an iteration in a jammed loop that stay together: with more, a processor would not see the next iteration's
/// while it waits for what these give.
const TOGETHER: usize = 48;

/// The pass.
pub struct LoopUnroll;

impl Pass for LoopUnroll {
    const NAME: &'static str = "loop-unroll";
    const DESCRIPTION: &'static str = "Replace unrolled loops by copies of their bodies, inner loops jammed";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "jammed", description: "Loops whose copies were interleaved" },
        StatisticSpec { name: "sequential", description: "Loops whose copies stand one behind the other" },
        StatisticSpec { name: "kept", description: "Loops too large to unroll" },
    ];
    const DIALECTS: &'static [&'static str] = &["arith"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        // Outermost first, turned around: a loop comes behind all loops inside it.
        for op in nested_ops(function).into_iter().rev() {
            if is(op, Loop::For) && matches!(loop_kind(op), LoopKind::Unrolled | LoopKind::VirtualThread) {
                let done = unroll(op);
                cx.count(done as usize, 1);
            }
        }
        Ok(())
    }
}

/// What became of a loop; the numbers are places in the list of statistics.
#[derive(Clone, Copy)]
enum Done {
    Jammed = 0,
    Sequential = 1,
    Kept = 2,
}

fn is(op: Op, wanted: Loop) -> bool {
    matches!(kind_of(op), Some(Kind::Loop(kind)) if kind == wanted)
}

fn unroll(op: Op) -> Done {
    let serial = int_attr(op.context_ref(), LoopKind::Serial as i64);
    let extent = op.int("extent").unwrap_or(0).max(0);
    let Some(body) = op.body(0) else { return Done::Kept };
    let Some(index) = arguments(body).first().copied() else { return Done::Kept };
    let size = i64::try_from(nested_ops(op).len()).unwrap_or(i64::MAX);
    if extent > 1 && extent.saturating_mul(size) > MAX_OPERATIONS {
        op.set_attr("kind", serial);
        return Done::Kept;
    }
    let scalars = Scalars { build: Build::before(op) };
    let indices: Vec<Value> = (0..extent).map(|u| scalars.index(u)).collect();
    if extent > 1 && op.operand_count() == 0 && may_jam(op, body, index) {
        jam(op, body, index, &indices);
        return Done::Jammed;
    }
    sequential(op, body, &indices);
    Done::Sequential
}

/// One whole iteration behind the other, the carried values from one to the next.
fn sequential<'c>(op: Op<'c>, body: Block<'c>, indices: &[Value<'c>]) {
    let build = Build::before(op);
    let hand_on = |carried: Vec<_>, index: &Value<'c>| iteration(&build, body, *index, &carried);
    let carried = indices.iter().fold(op.operand_values(), hand_on);
    op.replace_all_uses(&carried);
    op.erase();
}

/// All iterations side by side.
fn jam<'c>(op: Op<'c>, body: Block<'c>, index: Value<'c>, indices: &[Value<'c>]) {
    let mut copies = Copies {
        maps: vec![ValueMap::new(); indices.len()],
        varying: HashSet::from([key(index)]),
        stored: accesses(op).filter(|a| a.writes).map(|a| key(a.buffer)).collect(),
        inside: 0,
    };
    for (map, value) in copies.maps.iter_mut().zip(indices) {
        map.insert(index, *value);
    }
    copies.block(&Build::before(op), body);
    op.erase();
}

/// True when operations of different iterations may change places, given that iterations are independent.
fn may_jam<'c>(op: Op<'c>, body: Block<'c>, index: Value<'c>) -> bool {
    let inside = nested_ops(op);
    let known = inside.iter().all(|inner| match kind_of(*inner) {
        // What reads two buffers, or copies, is more than an access says; what waits has its place.
        Some(Kind::Loop(kind)) => !matches!(
            kind,
            Loop::Alloc
                | Loop::Barrier
                | Loop::MultiplyShared
                | Loop::CopyTensor
                | Loop::MbarrierInit
                | Loop::MbarrierExpect
                | Loop::MbarrierArrive
                | Loop::MbarrierWait
                | Loop::Registers
        ),
        _ => is_free(*inner) || Access::of(*inner).is_some(),
    });
    if !known {
        return false;
    }
    // Buffers that are chosen inside may be any buffer.
    let made: HashSet<usize> = inside.iter().flat_map(|o| values_of(*o)).map(key).collect();
    let accesses: Vec<Access> = accesses(op).collect();
    if accesses.iter().any(|a| made.contains(&key(a.buffer))) {
        return false;
    }
    // What is written and read must be the iteration's own: at this level, at an index that goes with the loop's.
    let buffers = |writes: bool| -> HashSet<usize> {
        accesses.iter().filter(|a| a.writes == writes).map(|a| key(a.buffer)).collect()
    };
    let (written, read) = (buffers(true), buffers(false));
    let varying = varying_in(body, index);
    accesses
        .iter()
        .filter(|a| written.contains(&key(a.buffer)) && read.contains(&key(a.buffer)))
        .all(|access| access.op.block().is_some_and(|b| b == body) && varying.contains(&key(access.index)))
}

/// Results, and arguments of the blocks inside.
fn values_of<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    let mut values = op.result_values();
    values.extend(op.body(0).into_iter().flat_map(arguments));
    values
}

/// The values of a block that depend on one of its arguments.
fn varying_in<'c>(body: Block<'c>, argument: Value<'c>) -> HashSet<usize> {
    let mut varying = HashSet::from([key(argument)]);
    for op in ops_in(body) {
        if uses(op, &varying) {
            varying.extend(op.result_values().into_iter().map(key));
        }
    }
    varying
}

/// True when an operation, or one inside it, uses one of those values.
fn uses(op: Op, values: &HashSet<usize>) -> bool {
    let used = |op: Op| op.operand_values().into_iter().any(|v| values.contains(&key(v)));
    used(op) || nested_ops(op).into_iter().any(used)
}

/// The iterations while they are copied side by side.
struct Copies<'c> {
    /// One iteration, one map.
    maps: Vec<ValueMap<'c>>,
    /// Values that may differ from one iteration to another.
    varying: HashSet<usize>,
    /// Buffers that are written in the loop.
    stored: HashSet<usize>,
    /// Number of jammed loops around.
    inside: usize,
}

impl<'c> Copies<'c> {
    /// Copies a block up to its end; gives the values it ends with, those of the first iteration first. Between loops,
    /// the operations of an iteration stay together: what they pass on to each other is needed for a short while only.
    fn block(&mut self, build: &Build<'c>, block: Block<'c>) -> Vec<Value<'c>> {
        let mut last = Vec::new();
        let mut straight = Vec::new();
        // Outside of loops that are jammed, iterations stay together anyway.
        let mut held = (self.inside > 0).then(|| Held::at_start_of(block));
        // How many of these leave an iteration with no more values than it carries.
        let mut settled = 0;
        for (place, op) in ops_in(block).into_iter().enumerate() {
            let here = build.at(op.location());
            if held.as_mut().is_some_and(|held| held.has_settled(place)) {
                settled = straight.len();
            }
            if is(op, Loop::Yield) {
                self.each_iteration(build, straight.drain(..));
                last = self.each(&op.operand_values());
            } else if self.is_uniform(op) {
                self.each_iteration(build, straight.drain(..std::mem::take(&mut settled)));
                self.once(&here, op);
            } else if let Some(shared) = self.shared_operands(op) {
                self.each_iteration(build, straight.drain(..));
                settled = 0;
                self.merge(&here, op, shared);
                held.iter_mut().for_each(|held| held.add(op.result_values()));
            } else {
                self.vary(&op.result_values());
                held.iter_mut().for_each(|held| held.add(op.result_values()));
                straight.push(op);
            }
        }
        last
    }

    /// Of an operation that becomes one of all iterations: how many of its first operands stay.
    fn shared_operands(&self, op: Op<'c>) -> Option<usize> {
        match kind_of(op) {
            Some(Kind::Loop(Loop::For)) => Some(0),
            Some(Kind::Loop(Loop::Guard | Loop::Upto)) if !self.varies(op.operand_values().first()) => {
                Some(1)
            }
            _ => None,
        }
    }

    /// Copies operations without loops, all of an iteration before those of the next.
    fn each_iteration(&mut self, build: &Build<'c>, ops: impl Iterator<Item = Op<'c>>) {
        let ops: Vec<Op> = ops.collect();
        let together = if self.inside > 0 { TOGETHER } else { ops.len().max(1) };
        for ops in ops.chunks(together) {
            for map in &mut self.maps {
                for op in ops {
                    map.clone_op(&build.at(op.location()), *op);
                }
            }
        }
    }

    /// Copies an operation that is the same in all iterations.
    fn once(&mut self, build: &Build<'c>, op: Op<'c>) {
        let Some((first, others)) = self.maps.split_first_mut() else { return };
        let copy = first.clone_op(build, op);
        for map in others {
            for (old, new) in op.result_values().into_iter().zip(copy.result_values()) {
                map.insert(old, new);
            }
        }
    }

    /// Makes one loop or guard of all copies: its first `shared` operands stay, the others stand there once a copy,
    /// and so do its results and its block's arguments behind the index.
    fn merge(&mut self, build: &Build<'c>, op: Op<'c>, shared: usize) {
        let (Some(body), operands) = (op.body(0), op.operand_values()) else { return };
        let (same, own) = operands.split_at(shared.min(operands.len()));
        let own = self.each(own);
        let types: Vec<Type> = own.iter().map(|v| v.r#type()).collect();
        let taken = arguments(body);
        let index = if is(op, Loop::Guard) { 0 } else { taken.len().min(1) };
        let (index, carried) = taken.split_at(index);
        let inputs: Vec<Type> = index
            .iter()
            .map(|v| v.r#type())
            .chain(types.iter().copied().take(carried.len() * self.maps.len()))
            .collect();
        let region = build.region(&inputs, |inner, given| {
            let (new_index, given) = given.split_at(index.len());
            for map in &mut self.maps {
                for (old, new) in index.iter().zip(new_index) {
                    map.insert(*old, *new);
                }
            }
            self.spread(carried, given);
            self.inside += index.len();
            let next = self.block(&inner, body);
            self.inside -= index.len();
            inner.op(Loop::Yield.name(), &next, &[], &[]);
        });
        let same: Vec<Value> =
            same.iter().map(|v| self.maps.first().map_or(*v, |map| map.lookup(*v))).collect();
        let new = with_region(build, op, &[same, own].concat(), &types, region);
        self.spread(&op.result_values(), &new.result_values());
    }

    /// Those values in each iteration, the first iteration first.
    fn each(&self, values: &[Value<'c>]) -> Vec<Value<'c>> {
        self.maps.iter().flat_map(|map| values.iter().map(|v| map.lookup(*v))).collect()
    }

    /// The opposite of `each`: says what stands for the values in each iteration.
    fn spread(&mut self, values: &[Value<'c>], new: &[Value<'c>]) {
        if values.is_empty() {
            return;
        }
        for (map, new) in self.maps.iter_mut().zip(new.chunks(values.len())) {
            for (old, new) in values.iter().zip(new) {
                map.insert(*old, *new);
            }
        }
        self.vary(values);
    }

    fn vary(&mut self, values: &[Value<'c>]) {
        self.varying.extend(values.iter().map(|v| key(*v)));
    }

    fn varies(&self, value: Option<&Value<'c>>) -> bool {
        value.is_some_and(|v| self.varying.contains(&key(*v)))
    }

    /// True when all iterations compute the same and nothing is written.
    fn is_uniform(&self, op: Op<'c>) -> bool {
        let repeatable = |op: Op<'c>| match kind_of(op) {
            Some(Kind::Loop(Loop::For | Loop::Upto | Loop::Guard | Loop::Yield)) => true,
            Some(Kind::Loop(Loop::ThreadIndex | Loop::MultiplyMatrix)) => true,
            kind => match Access::of(op) {
                Some(access) => !access.writes && !self.stored.contains(&key(access.buffer)),
                None => !matches!(kind, Some(Kind::Loop(_))) && is_free(op),
            },
        };
        !uses(op, &self.varying) && repeatable(op) && nested_ops(op).into_iter().all(repeatable)
    }
}
