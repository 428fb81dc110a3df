//! One iteration of a loop, copied to another place: its body with a value in place of the index, and of what the iteration
//! before it handed on.

use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Block, Build, OpExt, OperationLike, Value, ValueMap, arguments, kind_of, ops_in};

/// Copies an iteration; gives what it hands to the next.
pub fn iteration<'c>(
    build: &Build<'c>,
    body: Block<'c>,
    index: Value<'c>,
    carried: &[Value<'c>],
) -> Vec<Value<'c>> {
    let mut map = ValueMap::new();
    for (argument, value) in arguments(body).into_iter().zip([&[index], carried].concat()) {
        map.insert(argument, value);
    }
    let mut handed = Vec::new();
    for inner in ops_in(body) {
        if matches!(kind_of(inner), Some(Kind::Loop(Loop::Yield))) {
            handed = inner.operand_values().into_iter().map(|value| map.lookup(value)).collect();
        } else {
            map.clone_op(&build.at(inner.location()), inner);
        }
    }
    handed
}
