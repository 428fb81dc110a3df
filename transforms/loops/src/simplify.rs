//! `loop-simplify`: takes away loops, guards and buffers that do nothing.
//!
//!     loop.for 0 iter(%a) {...}            %a
//!     loop.for 1 { ^(%i) f(%i) }      =>   f(0)
//!     loop.guard %true {...}               its body
//!     loop.guard %false else(%a) {...}     %a
//!     loop.alloc without uses              nothing
//!     loop.prefetch %a[%i], twice          loop.prefetch %a[%i]
//!
//! Loops bound to a GPU's blocks and threads stay: their kind says how the kernel is launched.

use fusion_dialects::loops::{LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Value,
    arguments, attr_of, defining_op, key, nested_ops, op_key, ops_in, replace_uses, unused,
};
use fusion_operators::Attr;
use std::collections::HashSet;

/// The pass.
pub struct LoopSimplify;

impl Pass for LoopSimplify {
    const NAME: &'static str = "loop-simplify";
    const DESCRIPTION: &'static str = "Take away loops, guards and buffers that do nothing";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "removed", description: "Operations taken away" }];
    const DIALECTS: &'static [&'static str] = &["arith"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        // Innermost first: what is inlined or freed is not visited again.
        for op in nested_ops(function).into_iter().rev() {
            let gone = match op.kind() {
                Some(Kind::Loop(Loop::For)) => simplify_loop(op),
                Some(Kind::Loop(Loop::Guard)) => simplify_guard(op),
                Some(Kind::Loop(Loop::Alloc)) if unused(op.result_values()[0]) => {
                    op.erase();
                    true
                }
                _ => false,
            };
            cx.count(0, gone.into());
        }
        let mut places = HashSet::new();
        for op in nested_ops(function) {
            if matches!(op.kind(), Some(Kind::Loop(Loop::Prefetch))) {
                // The loop around it stands for the block.
                let around = op.parent_operation().map(op_key);
                let operands: Vec<usize> = op.operand_values().into_iter().map(key).collect();
                if !places.insert((around, operands)) {
                    op.erase();
                    cx.count(0, 1);
                }
            }
        }
        Ok(())
    }
}

fn simplify_loop(op: Op) -> bool {
    use LoopKind::{Parallel, Serial, Unrolled, Vectorized, VirtualThread};
    if !matches!(loop_kind(op), Serial | Parallel | Unrolled | Vectorized | VirtualThread) {
        return false;
    }
    match op.int("extent") {
        Some(0) => {
            op.replace_all_uses(&op.operand_values());
            op.erase();
            true
        }
        Some(1) => inline_once(op),
        _ => false,
    }
}

/// Replaces a loop of one iteration by its body.
pub(super) fn inline_once(op: Op) -> bool {
    let Some(body) = op.body(0) else { return false };
    let zero = Scalars { build: Build::before(op) }.index(0);
    let values: Vec<Value> = [zero].into_iter().chain(op.operand_values()).collect();
    for (argument, value) in arguments(body).into_iter().zip(values) {
        replace_uses(argument, value);
    }
    inline(op, body)
}

fn simplify_guard(op: Op) -> bool {
    let operands = op.operand_values();
    match operands.first().copied().and_then(constant_condition) {
        Some(false) => {
            op.replace_all_uses(&operands[1..]);
            op.erase();
            true
        }
        Some(true) => op.body(0).is_some_and(|body| inline(op, body)),
        None => false,
    }
}

fn constant_condition(value: Value) -> Option<bool> {
    let op = defining_op(value)?;
    if !matches!(op.kind(), Some(Kind::Upstream(Upstream::ArithConstant))) {
        return None;
    }
    let attr: Attribute = op.attr("value")?;
    match attr_of(attr)? {
        Attr::Bool(known) => Some(known),
        Attr::Int(number) => Some(number != 0),
        _ => None,
    }
}

/// Moves a body in front of its operation, whose results become what it yields.
fn inline<'c>(op: Op<'c>, body: Block<'c>) -> bool {
    let ops = ops_in(body);
    let Some((last, rest)) = ops.split_last() else { return false };
    for inner in rest {
        inner.move_before_op(op);
    }
    op.replace_all_uses(&last.operand_values());
    op.erase();
    true
}
