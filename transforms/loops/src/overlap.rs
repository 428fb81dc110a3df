//! `loop-overlap`: in a loop that is to be a pipeline, the last loop of an iteration runs beside what computes the next one.
//!
//!     loop.for n {pipelined} {            for i = 0:  e, s
//!     ^(%i):                              %s = loop.for n - 1 iter(s) {
//!       e = alloc                         ^(%i, %s):
//!       %s = loop.for K {                   %t = loop.for K {
//!         e[%k] = f(x[%i, %k])      =>        e[(%i + 1) mod 2, %k] = f(x[%i + 1, %k])
//!       }                                     y[%i, %k] = e[%i mod 2, %k] * %s
//!       loop.for K {                        }
//!         y[%i, %k] = e[%k] * %s            loop.yield %t
//!       }                                 }
//!     }                                   for i = n - 1:  y
//!
//! So stores wait for memory while something is computed: a software pipeline of two stages (Lam, "Software Pipelining", 1988). The last
//! loop and what follows it are the second stage; the last loop of the first has as many iterations, and they are joined. Buffers that
//! pass from one to the other have two slots, other values are carried, and what only depends on the index is computed in both.
//! A loop stays as it is where the first stage needs something that the second one makes, or its buffers are not its own.

use super::access::{Access, is_free};
use super::fuse::is_straight;
use super::iteration::joined;
use super::stream::LINE;
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop, PIPELINED, Scope, has_note, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Value, ValueLike, ValueMap,
    arguments, buffer_parts, defining_op, dtype_of, key, kind_of, nested_ops, ops_in,
};
use fusion_operators::DType;
use indexmap::IndexMap;
use std::collections::HashSet;

/// The pass.
pub struct LoopOverlap;

impl Pass for LoopOverlap {
    const NAME: &'static str = "loop-overlap";
    const DESCRIPTION: &'static str = "Run the last loop of an iteration beside what computes the next one";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "overlapped", description: "Loops whose iterations overlap" },
        StatisticSpec { name: "kept", description: "Loops that were to, and could not" },
    ];
    const DIALECTS: &'static [&'static str] = &["arith", "affine", "memref"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        for op in nested_ops(function) {
            if is_pipelined(op) {
                match Stages::of(op) {
                    Some(stages) => {
                        stages.overlap(op);
                        cx.count(0, 1);
                    }
                    None => cx.count(1, 1),
                }
            }
        }
        Ok(())
    }
}

/// True for a serial loop that a schedule makes a pipeline.
fn is_pipelined(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Loop(Loop::For)))
        && loop_kind(op) == LoopKind::Serial
        && has_note(op, PIPELINED)
}

/// The operations of an iteration.
struct Stages<'c> {
    /// Those before the first stage's last loop.
    before: Vec<Op<'c>>,
    computes: Op<'c>,
    /// Those behind it, and before the last loop.
    between: Vec<Op<'c>>,
    stores: Op<'c>,
    /// Those behind that.
    after: Vec<Op<'c>>,
    /// The buffers that pass from one stage to the other.
    passed: Vec<Op<'c>>,
    /// Operations of the first stage that depend on nothing but the index.
    again: Vec<Op<'c>>,
    /// What the second stage uses of the first one's other values.
    carried: Vec<Value<'c>>,
}

impl<'c> Stages<'c> {
    /// The stages of a loop that can overlap.
    fn of(op: Op<'c>) -> Option<Self> {
        let body = op.body(0)?;
        let mut before = ops_in(body);
        before.pop();
        if op.operand_count() > 0 || op.int("extent")? < 2 {
            return None;
        }
        let last = |ops: &[Op<'c>]| ops.iter().rposition(|op| is_straight(*op));
        let mut rest = before.split_off(last(&before)?);
        let after = rest.split_off(1);
        let mut between = before.split_off(last(&before)?);
        let (stores, computes) = (rest.pop()?, between.remove(0));
        if stores.int("extent") != computes.int("extent") {
            return None;
        }
        let mut stages = Stages {
            before,
            computes,
            between,
            stores,
            after,
            passed: Vec::new(),
            again: Vec::new(),
            carried: Vec::new(),
        };
        stages.split().then_some(stages)
    }

    fn first(&self) -> impl Iterator<Item = Op<'c>> {
        self.before.iter().chain([&self.computes]).chain(&self.between).copied()
    }

    fn second(&self) -> impl Iterator<Item = Op<'c>> {
        [&self.stores].into_iter().chain(&self.after).copied()
    }

    /// Says what passes from one stage to the other; false where something does that cannot.
    fn split(&mut self) -> bool {
        let (Some(one), Some(two)) = (Touched::of(self.first()), Touched::of(self.second())) else {
            return false;
        };
        if two.writes.iter().any(|b| one.reads.contains(b) || one.writes.contains(b)) {
            return false;
        }
        let made: HashSet<usize> = self.first().flat_map(|op| op.result_values()).map(key).collect();
        let mut again: HashSet<usize> = HashSet::new();
        let mut of_index = Vec::new();
        for op in self.first() {
            let known = |v: &Value<'c>| !made.contains(&key(*v)) || again.contains(&key(*v));
            if is_free(op) && op.operand_values().iter().all(known) {
                again.extend(op.result_values().into_iter().map(key));
                of_index.push(op);
            }
        }
        self.again = of_index;
        let is_alloc = |op: &Op<'c>| matches!(op.kind(), Some(Kind::Loop(Loop::Alloc)));
        let mut passing: IndexMap<usize, Value<'c>> = IndexMap::new();
        for value in self.second().flat_map(uses) {
            if made.contains(&key(value)) && !again.contains(&key(value)) {
                passing.insert(key(value), value);
            }
        }
        let (buffers, carried): (Vec<Value>, Vec<Value>) =
            passing.into_values().partition(|value| buffer_parts(value.r#type()).is_some());
        self.carried = carried;
        self.passed = buffers.iter().filter_map(|value| defining_op(*value)).filter(is_alloc).collect();
        // What else the first stage writes lies outside, where the next iteration would write over it.
        self.passed.len() == buffers.len()
            && two.reads.iter().all(|b| !one.writes.contains(b) || made.contains(b))
    }

    /// Puts the pipeline in place of the loop.
    fn overlap(&self, op: Op<'c>) {
        let Some(index) = op.body(0).and_then(|body| arguments(body).first().copied()) else { return };
        let n = op.int("extent").unwrap_or(0);
        let build = Build::before(op);
        let loops = Loops { build };
        let slots: Option<Vec<Slots>> = self.passed.iter().map(|alloc| Slots::of(&loops, *alloc)).collect();
        let Some(slots) = slots else { return };
        let at = |build: &Build<'c>, value: Value<'c>| {
            let mut map = ValueMap::new();
            map.insert(index, value);
            slots.iter().for_each(|s| s.take(build, value, &mut map));
            map
        };
        let mut map = at(&build, loops.scalars().index(0));
        copy(&build, &mut map, self.before.iter().chain([&self.computes]).chain(&self.between));
        let first = self.carried_in(&map);
        let last = loops.for_(n as u64 - 1, LoopKind::Serial, &first, |inner, i, carried| {
            let build = &inner.build;
            let next = inner.scalars().index_affine(i, 1, 1);
            let (mut ahead, mut behind) = (at(build, next), at(build, i));
            copy(build, &mut behind, &self.again);
            self.carry(&mut behind, carried);
            copy(build, &mut ahead, &self.before);
            joined(build, &mut [(self.computes, &mut ahead), (self.stores, &mut behind)]);
            copy(build, &mut ahead, &self.between);
            copy(build, &mut behind, &self.after);
            self.carried_in(&ahead)
        });
        let mut map = at(&build, loops.scalars().index(n - 1));
        copy(&build, &mut map, &self.again);
        self.carry(&mut map, &last);
        copy(&build, &mut map, [&self.stores].into_iter().chain(&self.after));
        op.erase();
    }

    fn carried_in(&self, map: &ValueMap<'c>) -> Vec<Value<'c>> {
        self.carried.iter().map(|value| map.lookup(*value)).collect()
    }

    fn carry(&self, map: &mut ValueMap<'c>, values: &[Value<'c>]) {
        for (old, new) in self.carried.iter().zip(values) {
            map.insert(*old, *new);
        }
    }
}

fn copy<'o, 'c: 'o>(build: &Build<'c>, map: &mut ValueMap<'c>, ops: impl IntoIterator<Item = &'o Op<'c>>) {
    for op in ops {
        // A buffer with slots is made already.
        if op.result_values().iter().all(|result| map.get(*result).is_none()) || op.result_values().is_empty()
        {
            map.clone_op(&build.at(op.location()), *op);
        }
    }
}

/// The values that an operation uses, and those inside it.
fn uses<'c>(op: Op<'c>) -> impl Iterator<Item = Value<'c>> {
    [op].into_iter().chain(nested_ops(op)).flat_map(|op| op.operand_values())
}

/// Buffers of some operations.
#[derive(Default)]
struct Touched {
    reads: HashSet<usize>,
    writes: HashSet<usize>,
}

impl Touched {
    /// `None` where an effect is not known.
    fn of<'c>(ops: impl Iterator<Item = Op<'c>>) -> Option<Touched> {
        let mut touched = Touched::default();
        for op in ops.flat_map(|op| [op].into_iter().chain(nested_ops(op))) {
            match Access::of(op) {
                Some(access) if access.writes => drop(touched.writes.insert(key(access.buffer))),
                Some(access) => drop(touched.reads.insert(key(access.buffer))),
                None if is_free(op) => {}
                None => match kind_of(op)? {
                    Kind::Loop(Loop::For | Loop::Guard | Loop::Yield | Loop::Alloc | Loop::Prefetch) => {}
                    _ => return None,
                },
            }
        }
        Some(touched)
    }
}

/// A buffer of two slots in place of one that an iteration makes anew.
struct Slots<'c> {
    old: Value<'c>,
    both: Value<'c>,
    bytes: u64,
}

impl<'c> Slots<'c> {
    fn of(loops: &Loops<'c>, alloc: Op<'c>) -> Option<Self> {
        let old = *alloc.result_values().first()?;
        let (element, elements) = buffer_parts(old.r#type())?;
        let bytes = elements.checked_mul(dtype_of(element)?.size() as u64)?.next_multiple_of(LINE);
        let scope = alloc.int("scope").and_then(Scope::from_number)?;
        let both = loops.alloc(bytes.checked_mul(2)?, DType::I8, scope).value;
        Some(Slots { old, both, bytes })
    }

    /// The slot of an iteration.
    fn take(&self, build: &Build<'c>, index: Value<'c>, map: &mut ValueMap<'c>) {
        let scalars = Scalars { build: *build };
        let offset = scalars.index_affine(scalars.index_mod(index, 2), self.bytes as i64, 0);
        map.insert(self.old, build.value("memref.view", &[self.both, offset], self.old.r#type(), &[]));
    }
}
