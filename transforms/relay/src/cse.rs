//! `relay-cse`: a value that was computed already is not computed again.
//!
//! ```text
//!   %a = relay.exp %x                       %a = relay.exp %x
//!   %v = relay.ref.read %r                  %v = relay.ref.read %r
//!   ... if %c { %b = relay.exp %x ... }     ... if %c { ... %a ... }
//!   %w = relay.ref.read %r                  ... %v ...            as long as nothing between may write
//! ```
//! Beyond upstream's: calls of functions that are pure by [`super::effects`], and reads of cells, which are the same as long as
//! the version of memory is; a version ends at each operation that may write. Cells and what may make them are never shared:
//! two cells are two.

use super::effects::Effects;
use super::language::{blocks, functions};
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::{Kind, Upstream, is_relay};
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, TypeLike, ValueLike,
    attr_key, key, ops_in,
};
use std::collections::HashMap;

/// The pass.
pub struct RelayCse;

impl Pass for RelayCse {
    const NAME: &'static str = "relay-cse";
    const DESCRIPTION: &'static str = "Compute each value once, effects respected";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "shared", description: "Operations taken away" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        cx.count(0, share(module));
        Ok(())
    }
}

/// Shares values in all functions; says how many operations went.
pub fn share(module: Op) -> u64 {
    let effects = Effects::of(module);
    let mut sharing = Sharing { effects: &effects, versions: 0, count: 0 };
    for body in functions(module).into_values().filter_map(|f| f.body(0)) {
        let version = sharing.next_version();
        sharing.block(body, &mut Scope { known: Vec::new() }, version);
    }
    sharing.count
}

/// What makes two operations compute the same: name, operands, attributes, result types, and the version of memory that is read.
pub type Key = (String, Vec<usize>, Vec<(String, usize)>, Vec<usize>, Option<u64>);

/// The key of an operation without regions.
pub fn key_of(op: Op, version: Option<u64>) -> Key {
    let attrs = op
        .attributes()
        .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or_default().to_owned(), attr_key(value)));
    let operands = op.operand_values().into_iter().map(key).collect();
    let types = op.result_values().into_iter().map(|v| v.r#type().to_raw().ptr as usize).collect();
    (op.full_name(), operands, attrs.collect(), types, version)
}

/// True for operations that may be shared as far as their kind goes.
pub fn is_shareable(op: Op) -> bool {
    let known = match op.kind() {
        Some(Kind::Relay(Relay::Yield | Relay::Data | Relay::RefNew)) => false,
        Some(kind) if is_relay(kind) => true,
        Some(Kind::Upstream(Upstream::Call | Upstream::ArithConstant)) => true,
        _ => false,
    };
    known && op.region_count() == 0 && !op.result_values().is_empty()
}

struct Scope<'c> {
    known: Vec<HashMap<Key, Op<'c>>>,
}

struct Sharing<'a, 'c> {
    effects: &'a Effects<'c>,
    versions: u64,
    count: u64,
}

impl<'c> Sharing<'_, 'c> {
    fn next_version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    fn block(&mut self, block: Block<'c>, scope: &mut Scope<'c>, mut version: u64) {
        scope.known.push(HashMap::new());
        for op in ops_in(block) {
            let effect = self.effects.of_op(op);
            if is_shareable(op) && !effect.makes && !effect.writes {
                let key = key_of(op, effect.reads.then_some(version));
                let known = scope.known.iter().rev().find_map(|level| level.get(&key));
                if let Some(known) = known {
                    op.replace_all_uses(&known.result_values());
                    op.erase();
                    self.count += 1;
                } else if let Some(level) = scope.known.last_mut() {
                    level.insert(key, op);
                }
                continue;
            }
            let runs_once = matches!(op.kind(), Some(Kind::Relay(Relay::If | Relay::Match)));
            for inner in blocks(op) {
                let inside = if runs_once { version } else { self.next_version() };
                self.block(inner, scope, inside);
            }
            if effect.writes {
                version = self.next_version();
            }
        }
        scope.known.pop();
    }
}
