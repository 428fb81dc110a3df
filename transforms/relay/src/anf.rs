//! `relay-to-anf`: each pure value is computed in the innermost scope that encloses all of its uses.
//!
//! ```text
//!   %e = relay.exp %x                     relay.if %c {
//!   relay.if %c {                           %e = relay.exp %x
//!     relay.yield %e                =>      relay.yield %e
//!   } else { relay.yield %x }             } else { relay.yield %x }
//! ```
//! SSA names every operand already; what A-normal form (Flanagan et al. 1993) adds to it is where the `let` of a value that
//! several places share stands: in the scope of their lowest common ancestor, before the first of them (Relay's
//! ToANormalForm). Scopes are the branches of `relay.if` and `relay.match`. What would be computed more often there, in the
//! bodies of loops and closures, stays outside; effects stay where they are, in their order.

use super::cse::is_shareable;
use super::effects::Effects;
use super::language::functions;
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, nested_ops, op_key, parent_of,
    users,
};
use std::collections::HashMap;

/// The pass.
pub struct RelayToAnf;

impl Pass for RelayToAnf {
    const NAME: &'static str = "relay-to-anf";
    const DESCRIPTION: &'static str = "Compute each pure value in the innermost scope around its uses";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "moved", description: "Operations moved into a branch" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let effects = Effects::of(module);
        for function in functions(module).into_values() {
            // Users are placed before what they use.
            for op in nested_ops(function).into_iter().rev() {
                let moves =
                    (is_shareable(op) || super::effects::is(op, Relay::Fn)) && effects.of_op(op).is_none();
                if moves && let Some(before) = place(op) {
                    op.move_before_op(before);
                    cx.count(0, 1);
                }
            }
        }
        Ok(())
    }
}

/// A scope, as its operation and region; the place of an operation in it.
type Step<'c> = ((usize, usize), Op<'c>);

/// The scopes around an operation from the outside in, from a given block on, as long as each runs at most once.
fn path<'c>(op: Op<'c>, from: Op<'c>) -> Vec<Step<'c>> {
    let home = parent_of(from).map(op_key);
    let mut steps = Vec::new();
    let mut at = op;
    while let Some(parent) = parent_of(at) {
        let region = region_of(parent, at);
        steps.push(((op_key(parent), region), at));
        if Some(op_key(parent)) == home && same_block(at, from) {
            break;
        }
        at = parent;
    }
    steps.reverse();
    let once = |op: Op| matches!(op.kind(), Some(Kind::Relay(Relay::If | Relay::Match)));
    // Beyond an operation that is no branch nothing is computed as often as outside.
    let mut kept = Vec::new();
    for step in steps {
        kept.push(step);
        if !once(step.1) {
            break;
        }
    }
    kept
}

fn same_block(a: Op, b: Op) -> bool {
    match (a.block(), b.block()) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

fn region_of<'c>(parent: Op<'c>, child: Op<'c>) -> usize {
    let holds = |region: &usize| parent.body(*region).is_some_and(|b| child.block() == Some(b));
    (0..parent.region_count()).find(holds).unwrap_or(0)
}

/// Where an operation is to stand, when that is another scope.
fn place<'c>(op: Op<'c>) -> Option<Op<'c>> {
    let users: Vec<Op> = op.result_values().into_iter().flat_map(users).collect();
    let paths: Vec<Vec<Step>> = users.into_iter().map(|user| path(user, op)).collect();
    let first = paths.first()?;
    let common = (0..first.len())
        .take_while(|at| paths.iter().all(|p| p.get(*at).is_some_and(|s| s.0 == first[*at].0)))
        .count();
    let depth = common.checked_sub(1).filter(|depth| *depth > 0)?;
    let places: HashMap<usize, Op> = paths.iter().map(|p| (op_key(p[depth].1), p[depth].1)).collect();
    let block = first[depth].1.block()?;
    fusion_dialects::ops_in(block).into_iter().find(|o| places.contains_key(&op_key(*o)))
}
