//! What conversions share: a map from old values to new ones, copies through it, and the check that
//! nothing of the source dialect is left.

use super::build::Build;
use super::ir::{
    Block, BlockLike, Op, OpExt, OperationLike, Value, ValueLike, arguments, key, nested_ops, ops_in,
};
use super::pass::PassError;
use crate::rows::Kind;
use melior::ir::RegionLike;
use mlir_sys::*;
use std::collections::HashMap;

/// From the values of the function being converted to those that stand for them.
#[derive(Default, Clone)]
pub struct ValueMap<'c> {
    // Only looked up, never iterated: its order cannot leak.
    map: HashMap<usize, Value<'c>>,
}

impl<'c> ValueMap<'c> {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which value stands for `old`.
    pub fn insert(&mut self, old: Value<'c>, new: Value<'c>) {
        self.map.insert(key(old), new);
    }

    /// The value that stands for `old`, when there is one.
    pub fn get(&self, old: Value<'c>) -> Option<Value<'c>> {
        self.map.get(&key(old)).copied()
    }

    /// The value that stands for `old`, or `old` itself when it was not replaced.
    pub fn lookup(&self, old: Value<'c>) -> Value<'c> {
        self.get(old).unwrap_or(old)
    }

    /// Copies an operation with its regions, its operands taken through the map, and maps its results.
    pub fn clone_op(&mut self, build: &Build<'c>, op: Op<'c>) -> Op<'c> {
        // SAFETY: the copy is detached and inserted right away; operands are replaced in range.
        let copy = unsafe { melior::ir::operation::Operation::from_raw(mlirOperationClone(op.to_raw())) };
        let copy = build.insert(copy);
        self.remap(op, copy);
        copy
    }

    // Walks original and copy side by side, so that values inside regions are mapped as well.
    fn remap(&mut self, old: Op<'c>, new: Op<'c>) {
        for (i, operand) in old.operand_values().into_iter().enumerate() {
            if let Some(value) = self.get(operand) {
                new.set_operand_value(i, value);
            }
        }
        for (a, b) in old.result_values().into_iter().zip(new.result_values()) {
            self.insert(a, b);
        }
        for (from, to) in old.regions().zip(new.regions()) {
            let blocks = |first: Option<Block<'c>>| std::iter::successors(first, |b| b.next_in_region());
            for (from, to) in blocks(from.first_block()).zip(blocks(to.first_block())) {
                for (a, b) in arguments(from).into_iter().zip(arguments(to)) {
                    self.insert(a, b);
                }
                for (a, b) in ops_in(from).into_iter().zip(ops_in(to)) {
                    self.remap(a, b);
                }
            }
        }
        debug_assert!(
            old.result_values().iter().zip(new.result_values()).all(|(a, b)| a.r#type() == b.r#type())
        );
    }
}

impl<'c> Build<'c> {
    /// Puts a detached operation at this place.
    pub fn insert(&self, op: melior::ir::operation::Operation<'c>) -> Op<'c> {
        match self.anchor() {
            Some(before) => self.block().insert_operation_before(before, op),
            None => self.block().append_operation(op),
        }
    }
}

/// Fails, naming the first offender and its location, when an operation under `root` is of a kind the
/// conversion should have replaced.
pub fn none_left<'c>(
    root: Op<'c>,
    conversion: &str,
    is_source: impl Fn(Kind) -> bool,
) -> Result<(), PassError<'c>> {
    match nested_ops(root).into_iter().find(|op| op.kind().is_some_and(&is_source)) {
        None => Ok(()),
        Some(op) => Err(PassError::new(
            op.location(),
            format!("'{}' op has no conversion in {conversion}", op.full_name()),
        )),
    }
}
