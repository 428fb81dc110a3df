//! `relay-dce`: operations whose values nobody uses go, where nobody can tell; so do functions that nothing calls.
//!
//! ```text
//!   %r = relay.ref.new %x        no use                    gone
//!   relay.ref.write %r, %y       only writes of %r         gone, with the cell
//!   %v = relay.call @f(%x)       @f is pure, %v unused     gone
//! ```
//! Beyond what upstream's canonicalizer takes away: calls of functions that are pure by [`super::effects`], reads and
//! allocations without uses, cells that are written and never read, and private functions out of reach.

use super::effects::{Effects, is};
use super::language::{blocks, erase_unreached, functions};
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::{Kind, Upstream, is_relay};
use fusion_dialects::{
    Block, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, key, ops_in, unused, users,
};

/// The pass.
pub struct RelayDce;

impl Pass for RelayDce {
    const NAME: &'static str = "relay-dce";
    const DESCRIPTION: &'static str =
        "Take away what is not used and has no effect, and functions nothing calls";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "operations", description: "Operations taken away" },
        StatisticSpec { name: "functions", description: "Functions taken away" },
    ];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        cx.count(0, erase_dead(module));
        cx.count(1, erase_unreached(module));
        Ok(())
    }
}

/// Takes away dead operations of all functions; says how many.
pub fn erase_dead(module: Op) -> u64 {
    let mut count = 0;
    loop {
        let effects = Effects::of(module);
        let bodies = functions(module).into_values().filter_map(|f| f.body(0));
        let gone: u64 = bodies.map(|body| in_block(&effects, body)).sum();
        count += gone;
        if gone == 0 {
            return count;
        }
    }
}

/// From the last operation to the first, so that one pass takes whole chains.
fn in_block<'c>(effects: &Effects<'c>, block: Block<'c>) -> u64 {
    let mut count = 0;
    for op in ops_in(block).into_iter().rev() {
        if is_candidate(op) && op.result_values().iter().all(|v| unused(*v)) && effects.of_op(op).may_go() {
            op.erase();
            count += 1;
            continue;
        }
        if is_dead_cell(op) {
            let writes = users(op.result_values()[0]);
            count += 1 + writes.len() as u64;
            // A write names its cell once, and no write is the terminator of a block.
            writes.into_iter().for_each(OpExt::erase);
            op.erase();
            continue;
        }
        count += blocks(op).into_iter().map(|inner| in_block(effects, inner)).sum::<u64>();
    }
    count
}

/// Operations of the language that give values; terminators and what other dialects do stay.
fn is_candidate(op: Op) -> bool {
    match op.kind() {
        Some(Kind::Relay(Relay::Yield | Relay::Data)) => false,
        Some(kind) if is_relay(kind) => true,
        Some(Kind::Upstream(Upstream::Call | Upstream::ArithConstant)) => true,
        _ => false,
    }
}

/// A cell that is written and never read.
fn is_dead_cell(op: Op) -> bool {
    if !is(op, Relay::RefNew) {
        return false;
    }
    let cell = op.result_values()[0];
    users(cell).into_iter().all(|user| {
        let values = user.operand_values();
        is(user, Relay::RefWrite) && values.get(1).is_some_and(|v| key(*v) != key(cell))
    })
}
