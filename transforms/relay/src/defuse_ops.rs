//! `relay-defuse-ops`: kernels stand again where they are called, operator by operator.
//!
//! ```text
//!   func @fused_add_relu_0(%a, %b) {relay.primitive}        %0 = add %x, %y
//!   %1 = call @fused_add_relu_0(%x, %y)                =>   %1 = relu %0
//! ```
//! The inverse of `relay-fuse-ops`, up to views and constants, which it leaves outside or copies: what was fused can be looked at, changed
//! and fused in another way. TVM has it as `DefuseOps`. Functions that are no kernels are `relay-inline`'s.

use super::fuse_ops::PRIMITIVE;
use super::inline::instance_at;
use super::language::{copy_block, functions, is_call, is_private, named_by};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, ValueMap, arguments, nested_ops,
};
use std::collections::HashSet;

/// The pass.
pub struct DefuseOps;

impl Pass for DefuseOps {
    const NAME: &'static str = "relay-defuse-ops";
    const DESCRIPTION: &'static str = "Put the operators of kernels where the kernels are called";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "defused", description: "Calls of kernels replaced" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let kernels: Vec<(&str, Op)> =
            functions(module).into_iter().filter(|(_, f)| f.attr(PRIMITIVE).is_some()).collect();
        let named: HashSet<&str> = kernels.iter().map(|(name, _)| *name).collect();
        for (name, kernel) in &kernels {
            if let Some(op) = nested_ops(*kernel).into_iter().find(|op| is_call(*op)) {
                return Err(PassError::at(
                    op,
                    format!("stands in the kernel @{name}, which may call nothing"),
                ));
            }
        }
        let functions = functions(module);
        for call in nested_ops(module).into_iter().filter(|op| is_call(*op)) {
            let of =
                call.text("callee").filter(|name| named.contains(name)).and_then(|name| functions.get(name));
            let Some((of, body)) = of.and_then(|of| Some((*of, of.body(0)?))) else { continue };
            let given = call.operand_values();
            let mut map = ValueMap::new();
            arguments(body).into_iter().zip(&given).for_each(|(inner, outer)| map.insert(inner, *outer));
            let instance = instance_at(of, &given, &call.result_values());
            let values = copy_block(&Build::before(call), body, &mut map, &instance);
            call.replace_all_uses(&values);
            call.erase();
            cx.count(0, 1);
        }
        let left: HashSet<&str> = named_by(module).into_iter().collect();
        kernels
            .iter()
            .filter(|(name, f)| is_private(*f) && !left.contains(name))
            .for_each(|(_, f)| f.erase());
        Ok(())
    }
}
