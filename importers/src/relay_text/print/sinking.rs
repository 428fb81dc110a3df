//! Which nodes would be read as nodes of an inner block.
//!
//! A graph variable is evaluated in the innermost block that has all its uses. What is needed in one branch or function
//! alone, but stands in front of it, is therefore bound by `let`.

use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, TypeParts, Value, ValueLike, op_key, parent_of, type_parts, users,
};

/// True where all uses of an operation are in one block that is not its own.
pub fn sinks(op: Op) -> bool {
    let Some(around) = parent_of(op).map(op_key) else { return false };
    let mut first = None;
    let mut values = op.result_values();
    while let Some(value) = values.pop() {
        for user in users(value) {
            if let Some(alias) = alias(user) {
                values.push(alias);
                continue;
            }
            let Some(found) = inner(user, around) else { return false };
            if *first.get_or_insert(found) != found {
                return false;
            }
        }
    }
    first.is_some()
}

/// The result of an operation for which nothing is written but its operand.
fn alias<'c>(op: Op<'c>) -> Option<Value<'c>> {
    let result = op.result_values().first().copied()?;
    match op.kind() {
        Some(Kind::Relay(Relay::Instantiate)) => Some(result),
        Some(Kind::Relay(Relay::Ascribe)) if matches!(type_parts(result.r#type()), TypeParts::Hole) => {
            Some(result)
        }
        _ => None,
    }
}

/// The operation of a block that a user is in, and in which of its regions; `None` for the block's own operations.
fn inner(user: Op, around: usize) -> Option<(usize, usize)> {
    let mut op = user;
    let mut found = None;
    loop {
        let parent = parent_of(op)?;
        if op_key(parent) == around {
            return found;
        }
        // Both regions of a loop are written in one function.
        let region = match parent.kind() {
            Some(Kind::Relay(Relay::While)) => 0,
            _ => {
                let block = op.block().map(|block| block.to_raw().ptr);
                (0..parent.region_count())
                    .position(|i| parent.body(i).map(|body| body.to_raw().ptr) == block)
                    .unwrap_or_default()
            }
        };
        found = Some((op_key(parent), region));
        op = parent;
    }
}
