//! Function values: code of their own, and the registers around them that they take along.

use super::{Compiler, empty};
use crate::InterpretError;
use crate::code::Code;
use fusion_dialects::{
    Op, OpExt, Value as Name, ValueLike, arguments, function_parts, key, nested_ops, relay,
};
use std::collections::{HashMap, HashSet};

impl<'c> Compiler<'_, 'c> {
    pub(super) fn closure(&mut self, op: Op<'c>) -> Result<Code<'c>, InterpretError> {
        let body = op.body(0).ok_or_else(|| InterpretError::at(op, "has an empty region"))?;
        let around = taken_from_around(op);
        let captures = around.iter().map(|name| self.register(op, *name)).collect::<Result<_, _>>()?;
        let mut inner = Compiler {
            symbols: self.symbols,
            tails: self.tails,
            extents: HashMap::new(),
            code: empty(op, "a function value".to_owned()),
        };
        inner.code.captures = captures;
        inner.code.recursive = op.attr(relay::RECURSIVE).is_some();
        let results = op.result_values().first().and_then(|r| function_parts(r.r#type())).map(|(_, r)| r);
        inner.whole(body, &around, results)?;
        Ok(inner.code)
    }
}

/// The values from around an operation that its regions use, in the order they do.
fn taken_from_around<'c>(op: Op<'c>) -> Vec<Name<'c>> {
    let inside = nested_ops(op);
    let mut own: HashSet<usize> = HashSet::new();
    for nested in inside.iter().copied().chain([op]) {
        if nested.kind().is_some() || nested.body(0).is_some() {
            let regions = fusion_dialects::OperationLike::region_count(&nested);
            own.extend((0..regions).filter_map(|r| nested.body(r)).flat_map(arguments).map(key));
        }
    }
    own.extend(inside.iter().flat_map(|o| o.result_values()).map(key));
    let mut found = Vec::new();
    for name in inside.iter().flat_map(|o| o.operand_values()) {
        if own.insert(key(name)) {
            found.push(name);
        }
    }
    found
}
