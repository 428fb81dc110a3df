//! `relay-to-graph-form`: the program as a graph of values: pure ones are shared, dead ones are gone, and regions hold only what
//! must stand in them.
//!
//! ```text
//!   relay.if %c {                                   %one = relay.constant 1
//!     %one = relay.constant 1                       relay.if %c {
//!     %y = relay.add %x, %one ...            =>       %y = relay.add %x, %one ...
//!   }
//! ```
//! What is pure, cannot fail and costs nothing (constants, tuples, projections, constructors, functions of the module) leaves the
//! branches, loops and closures whose own values it does not use, as in Relay's ToGraphNormalForm, where a `let` without an effect
//! is only sharing. Operators stay in their branch: computing them for nothing is not for free. Then `relay-cse` and `relay-dce`
//! do their part until nothing changes.

use super::basic_block_form::is_free;
use super::cse::share;
use super::dce::erase_dead;
use super::language::{functions, is_inside};
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, Pass, PassError, RunContext, StatisticSpec, nested_ops, parent_of};

/// The pass.
pub struct RelayToGraphForm;

impl Pass for RelayToGraphForm {
    const NAME: &'static str = "relay-to-graph-form";
    const DESCRIPTION: &'static str =
        "Share pure values, take away dead ones, and empty regions of what can stand outside";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "moved", description: "Operations moved out of a region" },
        StatisticSpec { name: "gone", description: "Operations shared or dead" },
    ];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        for function in functions(module).into_values() {
            // What an operation uses has moved before it does.
            for op in nested_ops(function).into_iter().filter(|op| is_free(*op)) {
                while let Some(around) = leaves(op) {
                    op.move_before_op(around);
                    cx.count(0, 1);
                }
            }
        }
        loop {
            let gone = share(module) + erase_dead(module);
            cx.count(1, gone);
            if gone == 0 {
                return Ok(());
            }
        }
    }
}

/// The operation whose region an operation can leave.
fn leaves<'c>(op: Op<'c>) -> Option<Op<'c>> {
    use Relay::{Fn, If, Match, While};
    let around = parent_of(op)?;
    let is_scope = matches!(around.kind(), Some(Kind::Relay(If | Match | While | Fn)));
    let free = op.operand_values().into_iter().all(|value| !is_inside(value, around));
    (is_scope && free).then_some(around)
}
