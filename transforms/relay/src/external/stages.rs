//! Which annotated operators of a block may share a region.
//!
//! ```text
//!   a: npu   stage 0          An edge from one generator to another, or to none, raises the stage; any other edge does not lower it. A path
//!   |    \                    that leaves a region and comes back ends at a higher stage, so operators of one generator and one stage,
//!   y: -  \   x: -            joined by edges, never form a cycle with the rest.
//!   1      \  | 0
//!           c: npu   1        Stages begin as low as they can. From the end, those of operators that no generator has go up as far as they
//!                             can, and those of others where they meet a user there: a goes to 1 once y is at 2, and joins c.
//! ```
//! Both walks are linear in edges. The result is not always the fewest regions.

use super::COMPILER;
use crate::language::free_values;
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, OperationLike, defining_op, kind_of, op_key};
use std::collections::HashMap;

/// The operations of a block as a graph.
pub struct Graph<'c> {
    /// The operations, in order.
    pub ops: Vec<Op<'c>>,
    /// The code generator of each.
    compilers: Vec<Option<&'c str>>,
    /// What each needs to come before it.
    pub before: Vec<Vec<usize>>,
}

impl<'c> Graph<'c> {
    /// Of the operations of a block.
    pub fn of(ops: Vec<Op<'c>>) -> Self {
        let places: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
        let mut last = None;
        let mut before = Vec::with_capacity(ops.len());
        for (at, op) in ops.iter().enumerate() {
            let mut values = op.operand_values();
            if op.region_count() > 0 {
                values.extend(free_values(*op));
            }
            let made = values.into_iter().filter_map(defining_op);
            let mut needs: Vec<usize> = made.filter_map(|op| places.get(&op_key(op)).copied()).collect();
            // What may read or write memory keeps its order.
            if !is_pure(*op) {
                needs.extend(last);
                last = Some(at);
            }
            needs.sort_unstable();
            needs.dedup();
            before.push(needs);
        }
        let compilers = ops.iter().map(|op| op.text(COMPILER)).collect();
        Graph { ops, compilers, before }
    }

    /// The region of each operation, by the first operation in it; those without a generator are alone.
    pub fn regions(&self) -> Vec<usize> {
        let stages = self.stages();
        let mut first: Vec<usize> = (0..self.ops.len()).collect();
        for (at, before) in self.before.iter().enumerate() {
            for &from in before {
                if self.compilers[at].is_some() && self.alike(from, at) && stages[from] == stages[at] {
                    let (a, b) = (root(&mut first, from), root(&mut first, at));
                    first[a.max(b)] = a.min(b);
                }
            }
        }
        (0..first.len()).map(|at| root(&mut first, at)).collect()
    }

    fn stages(&self) -> Vec<usize> {
        let mut stages = vec![0; self.ops.len()];
        for (at, before) in self.before.iter().enumerate() {
            stages[at] = before.iter().map(|&from| stages[from] + self.step(from, at)).max().unwrap_or(0);
        }
        let end = stages.iter().max().map_or(0, |most| most + 1);
        // The highest stage that the users seen so far allow, and the lowest of those with the same generator.
        let mut highest = vec![end; self.ops.len()];
        let mut friend = vec![usize::MAX; self.ops.len()];
        for at in (0..self.ops.len()).rev() {
            let joins = self.compilers[at].is_none() || friend[at] == highest[at];
            if highest[at] > stages[at] && joins {
                stages[at] = highest[at];
            }
            for &from in &self.before[at] {
                highest[from] = highest[from].min(stages[at] - self.step(from, at).min(stages[at]));
                if self.alike(from, at) {
                    friend[from] = friend[from].min(stages[at]);
                }
            }
        }
        stages
    }

    fn alike(&self, a: usize, b: usize) -> bool {
        self.compilers[a] == self.compilers[b]
    }

    /// What an edge raises the stage by. Constants are everybody's.
    fn step(&self, from: usize, to: usize) -> usize {
        usize::from(!self.alike(from, to) && !is_constant(self.ops[from]))
    }
}

fn is_constant(op: Op) -> bool {
    matches!(kind_of(op), Some(Kind::Relay(Relay::Constant)))
}

fn is_pure(op: Op) -> bool {
    matches!(
        kind_of(op),
        Some(Kind::Operator(_) | Kind::Relay(Relay::Constant | Relay::Tuple | Relay::Get | Relay::Fn))
    )
}

/// The first of what something was joined with. Paths are halved on the way.
fn root(first: &mut [usize], mut at: usize) -> usize {
    while first[at] != at {
        first[at] = first[first[at]];
        at = first[at];
    }
    at
}
