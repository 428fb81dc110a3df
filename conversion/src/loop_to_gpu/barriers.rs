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
//! a loop with fewer iterations than threads) it is put before what is guarded.

use super::launches::{self, binding, is_bound, scope};
use super::result;
use crate::te_to_loop::lower::KERNEL;
use fusion_dialects::loops::{Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, key, nested_ops, ops_in,
};
use std::collections::HashSet;

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
            let mut walk =
                Walk { shared: &shared, threads: launch.shape.block, since: Accesses::default(), made: 0 };
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
    written: HashSet<usize>,
}

impl Accesses {
    /// True when one of two accesses to the same buffer writes.
    fn conflicts(&self, later: &Accesses) -> bool {
        later.read.iter().any(|b| self.written.contains(b))
            || later.written.iter().any(|b| self.read.contains(b) || self.written.contains(b))
    }

    fn add(&mut self, more: &Accesses) {
        self.read.extend(&more.read);
        self.written.extend(&more.written);
    }
}

struct Walk<'a> {
    /// Buffers of the block.
    shared: &'a HashSet<usize>,
    /// Threads of the block.
    threads: [u64; 3],
    /// What happened since the last barrier.
    since: Accesses,
    made: u64,
}

impl Walk<'_> {
    fn through(&mut self, ops: &[Op]) {
        for op in ops {
            if matches!(op.kind(), Some(Kind::Loop(Loop::Barrier))) {
                self.since = Accesses::default();
                continue;
            }
            if let Some(body) = self.run_by_all(*op) {
                let again = !is_bound(*op) && op.int("extent").is_some_and(|n| n > 1);
                self.through(&ops_in(body));
                if again {
                    self.through(&ops_in(body));
                }
                continue;
            }
            let here = self.accesses(*op);
            if self.since.conflicts(&here) {
                Build::before(*op).op(Loop::Barrier.name(), &[], &[], &[]);
                self.made += 1;
                self.since = Accesses::default();
            }
            self.since.add(&here);
        }
    }

    /// The body of a loop that all threads go through together.
    fn run_by_all<'c>(&self, op: Op<'c>) -> Option<fusion_dialects::Block<'c>> {
        if !matches!(op.kind(), Some(Kind::Loop(Loop::For))) {
            return None;
        }
        let all = match binding(loop_kind(op)) {
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
                Some(Kind::Loop(Loop::Store | Loop::Scatter | Loop::StoreStrided)) => {
                    found.written.extend(shared(1))
                }
                Some(Kind::Upstream(Upstream::MaskedLoad | Upstream::MaskedGather)) => {
                    found.read.extend(shared(0))
                }
                Some(Kind::Upstream(Upstream::MaskedStore | Upstream::MaskedScatter)) => {
                    found.written.extend(shared(0))
                }
                _ => {}
            }
        }
        found
    }
}
