//! `relay-to-basic-block-form`: what several branches compute is computed before them, once.
//!
//! ```text
//!   relay.if %c {                          %e = relay.exp %x
//!     %a = relay.exp %x ...                relay.if %c {
//!   } else {                       =>        ... %e ...
//!     %b = relay.exp %x ...                } else { ... %e ... }
//!   }
//! ```
//! In basic-block normal form a value is bound in the block that dominates all of its uses, and no expression stands in two blocks
//! of one branching (Relay's ToBasicBlockNormalForm). An expression goes out when all branches compute it: then nothing is
//! computed that was not before. One that cannot fail and costs nothing (a constant, a tuple, a projection, a constructor, a
//! function of the module) goes out when two branches have it. Effects stay, and so does what reads cells behind them.

use super::cse::{Key, is_shareable, key_of};
use super::effects::Effects;
use super::language::{blocks, functions, is_inside};
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, Pass, PassError, RunContext, StatisticSpec, nested_ops, ops_in};
use indexmap::IndexMap;

/// The pass.
pub struct RelayToBasicBlockForm;

impl Pass for RelayToBasicBlockForm {
    const NAME: &'static str = "relay-to-basic-block-form";
    const DESCRIPTION: &'static str = "Compute what several branches share before them";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "shared", description: "Expressions moved before a branching" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let effects = Effects::of(module);
        let is_branching = |op: &Op| matches!(op.kind(), Some(Kind::Relay(Relay::If | Relay::Match)));
        for function in functions(module).into_values() {
            // Innermost first: what went out of one branching may go out of the one around it.
            for op in nested_ops(function).into_iter().rev().filter(is_branching) {
                while share(&effects, op) {
                    cx.count(0, 1);
                }
            }
        }
        Ok(())
    }
}

/// True for operations of the functional side that cost nothing and always have a value.
pub fn is_free(op: Op) -> bool {
    use Relay::*;
    matches!(
        op.kind(),
        Some(Kind::Relay(Constant | Tuple | Get | Construct | Global | Instantiate | Ascribe))
    )
}

/// Moves one expression out of the branches that compute it; false when there is none.
fn share<'c>(effects: &Effects<'c>, branching: Op<'c>) -> bool {
    let branches = blocks(branching);
    let mut found: IndexMap<Key, Vec<(usize, Op<'c>)>> = IndexMap::new();
    for (branch, block) in branches.iter().enumerate() {
        let own: Vec<Op> = ops_in(*block);
        let outside = |op: &Op<'c>| op.operand_values().into_iter().all(|value| !is_inside(value, branching));
        for op in own.into_iter().filter(|op| is_shareable(*op) && effects.of_op(*op).is_none()) {
            if outside(&op) {
                found.entry(key_of(op, None)).or_default().push((branch, op));
            }
        }
    }
    let wanted = |ops: &&Vec<(usize, Op<'c>)>| {
        let mut places: Vec<usize> = ops.iter().map(|(branch, _)| *branch).collect();
        places.dedup();
        places.len() > 1 && (places.len() == branches.len() || is_free(ops[0].1))
    };
    let Some(ops) = found.values().find(wanted) else { return false };
    let (_, first) = ops[0];
    first.move_before_op(branching);
    for (_, other) in &ops[1..] {
        other.replace_all_uses(&first.result_values());
        other.erase();
    }
    true
}
