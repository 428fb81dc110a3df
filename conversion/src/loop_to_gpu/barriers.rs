//! `loop-insert-barriers`: all threads of a block wait for each other where one reads what another wrote.
//!
//!     for k {                               for k {
//!       shared[thread] = x[..]                barrier                 against the reads of the step before
//!       acc += shared[..]           =>        shared[thread] = x[..]
//!     }                                       barrier
//!                                             acc += shared[..]
//!                                           }
//!
//! Along the order in which a thread runs, a buffer of the block is read and written. Between two accesses of which one writes
//! there must be a barrier; one is put before the later access unless there is one already. Loops are gone through twice,
//! so that a step meets the accesses of the step before. A barrier is a barrier for all: where not all threads come (a guard,
//! a loop with fewer iterations than threads) it is put before what is guarded. One for what comes in a serial loop is put before
//! the loop.
//!
//! A store that writes another place each time (`places`) needs no barrier against itself.
//!
//! An asynchronous copy writes where its thread waits for it, but what it writes to must not be in use from where it begins. In a
//! loop whose slots `loop-pipeline` fills ahead, the accesses of one step are to different slots: only a later step meets them. A box of a
//! tensor needs no barrier before it is read, as all who read it wait for its mbarrier; mbarriers are made before a barrier.

use super::launches::{self, is_bound, scope};
use super::places::writes_apart;
use super::result;
use crate::te_to_loop::lower::KERNEL;
use fusion_dialects::loops::tensor_copy::TensorCopy;
use fusion_dialects::loops::{Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, defining_op, key, nested_ops, op_key,
    ops_in,
};
use std::collections::{HashMap, HashSet};

/// On loops each step of which fills slots that only later steps read, and on the buffers that have these slots.
pub const AHEAD: &str = "loop.ahead";

/// The pass.
pub struct InsertBarriers;

impl Pass for InsertBarriers {
    const NAME: &'static str = "loop-insert-barriers";
    const DESCRIPTION: &'static str = "Make threads wait where one reads what another wrote";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "barriers", description: "Number of barriers inserted" }];
    const DIALECTS: &'static [&'static str] = &["loop"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0).filter(|_| function.attr(KERNEL).is_some()) else { return Ok(()) };
        let shared: HashSet<usize> = nested_ops(function)
            .into_iter()
            .filter(|op| scope(*op) == Some(Scope::Shared))
            .filter_map(|op| result(op).map(key))
            .collect();
        if shared.is_empty() {
            return Ok(());
        }
        let (_, launches) = launches::of(body);
        for launch in launches {
            let mut walk = Walk {
                shared: &shared,
                threads: launch.shape.block,
                since: Accesses::default(),
                copied: HashSet::new(),
                in_turn: HashSet::new(),
                step: Accesses::default(),
                made: 0,
            };
            walk.through(&launch.ops);
            cx.count(0, walk.made);
        }
        Ok(())
    }
}

/// Buffers that were read and written.
#[derive(Clone, Default)]
struct Accesses {
    read: HashSet<usize>,
    /// With the store that wrote each, where it is one that writes another place each time.
    written: HashMap<usize, Option<usize>>,
    /// Those that asynchronous copies begin to write.
    copied: HashSet<usize>,
    /// Those that boxes of tensors (TMA) are copied to, which are there for all who wait for their mbarriers.
    boxes: HashSet<usize>,
}

impl Accesses {
    /// True when one of two accesses to the same buffer writes.
    fn conflicts(&self, later: &Accesses) -> bool {
        let touched = |b: &usize| self.read.contains(b) || self.written.contains_key(b);
        let overwrites = |(buffer, store): (&usize, &Option<usize>)| {
            let same = store.is_some() && self.written.get(buffer) == Some(store);
            self.read.contains(buffer) || (self.written.contains_key(buffer) && !same)
        };
        later.read.iter().any(|b| self.written.contains_key(b))
            || later.copied.iter().chain(&later.boxes).any(touched)
            || later.written.iter().any(overwrites)
    }

    /// Notes that a buffer is written, by that store alone where it is known.
    fn write(&mut self, buffer: usize, store: Option<usize>) {
        let by = self.written.entry(buffer).or_insert(store);
        if *by != store {
            *by = None;
        }
    }

    /// Those of the buffers that `of` has, and the others.
    fn split(self, of: &HashSet<usize>) -> (Accesses, Accesses) {
        let (mut inside, mut others) = (Accesses::default(), Accesses::default());
        let mut side = |buffer: usize, note: &dyn Fn(&mut Accesses)| {
            note(if of.contains(&buffer) { &mut inside } else { &mut others });
        };
        for buffer in self.read {
            side(buffer, &|a| {
                a.read.insert(buffer);
            });
        }
        for (buffer, store) in self.written {
            side(buffer, &|a| a.write(buffer, store));
        }
        (inside, others)
    }

    fn add(&mut self, more: &Accesses) {
        self.read.extend(&more.read);
        for (buffer, store) in &more.written {
            self.write(*buffer, *store);
        }
    }
}

struct Walk<'a> {
    /// Buffers of the block.
    shared: &'a HashSet<usize>,
    /// Threads of the block.
    threads: [u64; 3],
    /// What happened since the last barrier.
    since: Accesses,
    /// What asynchronous copies write that are under way.
    copied: HashSet<usize>,
    /// The buffers whose slots the steps of a loop around use in turn.
    in_turn: HashSet<usize>,
    /// What happened to them in this step since the last barrier.
    step: Accesses,
    made: u64,
}

impl Walk<'_> {
    fn through(&mut self, ops: &[Op]) {
        for op in ops {
            match op.kind() {
                Some(Kind::Loop(Loop::Barrier)) => {
                    (self.since, self.step) = Default::default();
                    continue;
                }
                Some(Kind::Loop(Loop::CopyWait)) => {
                    self.copied.iter().for_each(|buffer| self.since.write(*buffer, None));
                    if op.int("groups") == Some(0) {
                        self.copied.clear();
                    }
                    continue;
                }
                _ => {}
            }
            if let Some(body) = self.run_by_all(*op) {
                let again = !is_bound(*op) && op.int("extent").is_some_and(|n| n > 1);
                if again && self.since.conflicts(&self.accesses(*op)) {
                    self.barrier(*op);
                }
                let outside = self.in_turn.clone();
                let ahead = op.attr(AHEAD).is_some();
                if ahead {
                    self.in_turn.extend(self.slots_in(*op));
                }
                for _ in 0..if again { 2 } else { 1 } {
                    self.through(&ops_in(body));
                    // What happened in a step, the next one meets.
                    if ahead {
                        let step = std::mem::take(&mut self.step);
                        self.since.add(&step);
                    }
                }
                self.in_turn = outside;
                continue;
            }
            let here = self.accesses(*op);
            if self.since.conflicts(&here) {
                self.barrier(*op);
            }
            self.copied.extend(&here.copied);
            let (step, others) = here.split(&self.in_turn);
            self.since.add(&others);
            self.step.add(&step);
        }
    }

    /// Puts a barrier.
    fn barrier(&mut self, before: Op) {
        Build::before(before).op(Loop::Barrier.name(), &[], &[], &[]);
        self.made += 1;
        (self.since, self.step) = Default::default();
    }

    /// The buffers that a loop fills ahead.
    fn slots_in(&self, op: Op) -> Vec<usize> {
        let buffers = nested_ops(op).into_iter().flat_map(|op| op.operand_values());
        let in_turn = |v: &fusion_dialects::Value| {
            self.shared.contains(&key(*v)) && defining_op(*v).is_some_and(|op| op.attr(AHEAD).is_some())
        };
        buffers.filter(in_turn).map(key).collect()
    }

    /// The body of a loop that all threads go through together.
    fn run_by_all<'c>(&self, op: Op<'c>) -> Option<fusion_dialects::Block<'c>> {
        if !matches!(op.kind(), Some(Kind::Loop(Loop::For))) {
            return None;
        }
        let all = match loop_kind(op).binding() {
            Some((true, which)) => op.int("extent").is_some_and(|n| n as u64 == self.threads[which]),
            _ => true,
        };
        all.then(|| op.body(0)).flatten()
    }

    /// All accesses in an operation.
    fn accesses(&self, op: Op) -> Accesses {
        let mut found = Accesses::default();
        for op in nested_ops(op).into_iter().chain([op]) {
            let operands = op.operand_values();
            let shared = |at: usize| operands.get(at).map(|v| key(*v)).filter(|b| self.shared.contains(b));
            match op.kind() {
                Some(Kind::Loop(Loop::Load | Loop::Gather | Loop::LoadStrided | Loop::LoadMatrix)) => {
                    found.read.extend(shared(0))
                }
                Some(Kind::Loop(Loop::MultiplyShared)) => {
                    found.read.extend([0, 2].into_iter().filter_map(shared))
                }
                Some(Kind::Loop(Loop::Store)) => {
                    let alone = writes_apart(op).then(|| op_key(op));
                    shared(1).into_iter().for_each(|buffer| found.write(buffer, alone));
                }
                Some(Kind::Loop(Loop::Scatter | Loop::StoreStrided)) => {
                    shared(1).into_iter().for_each(|buffer| found.write(buffer, None));
                }
                Some(Kind::Loop(Loop::CopyAsync)) => found.copied.extend(shared(2)),
                Some(Kind::Loop(Loop::CopyTensor)) => {
                    if let Some(copy) = TensorCopy::of(op) {
                        let shared = |v| Some(key(v)).filter(|b| self.shared.contains(b));
                        found.boxes.extend(shared(copy.buffer));
                        found.read.extend(copy.mbarrier.and_then(|(mbarriers, _)| shared(mbarriers)));
                    }
                }
                Some(Kind::Loop(Loop::MbarrierInit)) => {
                    shared(0).into_iter().for_each(|buffer| found.write(buffer, None));
                }
                Some(Kind::Loop(Loop::MbarrierExpect | Loop::MbarrierArrive | Loop::MbarrierWait)) => {
                    found.read.extend(shared(0))
                }
                Some(Kind::Upstream(Upstream::MaskedLoad | Upstream::MaskedGather)) => {
                    found.read.extend(shared(0))
                }
                Some(Kind::Upstream(Upstream::MaskedStore | Upstream::MaskedScatter)) => {
                    shared(0).into_iter().for_each(|buffer| found.write(buffer, None));
                }
                _ => {}
            }
        }
        found
    }
}
