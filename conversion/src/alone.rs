//! Kernels as programs of their own, so that each can be timed by itself.
//!
//! ```text
//!   @main(%x) {                                     @main(%0: tensor<1x8xf32>) {
//!     %w = relay.constant ...                         %1 = relay.constant dense<0.01>
//!     %y = call @fused_relu_0(%x)            =>       %2 = call @fused_dense_0(%0, %1)
//!     %z = call @fused_dense_0(%y, %w)                return %2
//!   }                                               }
//! ```
//!
//! Constants stay constants, so that they are laid out as in the model, but with one element for all: time does not depend on it,
//! and the texts stay small.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, Value, ValueLike, defining_op, kind_of, nested_ops, relay, source_of, tensor_type, top_level,
};
use fusion_operators::dtype::Class;
use fusion_relay::fuse_ops::PRIMITIVE;
use fusion_te_to_loop::plan_memory::ENTRY;
use indexmap::IndexMap;
use std::collections::HashMap;

/// The program of each kernel that `@main` calls, by the kernel's name.
pub fn programs(module: Op) -> IndexMap<String, String> {
    let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let by_name: HashMap<&str, Op> =
        functions.iter().filter_map(|f| Some((f.text("sym_name")?, *f))).collect();
    let mut programs = IndexMap::new();
    let Some(main) = by_name.get(ENTRY) else { return programs };
    for call in nested_ops(*main) {
        let Some(name) =
            call.text("callee").filter(|_| matches!(kind_of(call), Some(Kind::Upstream(Upstream::Call))))
        else {
            continue;
        };
        let function = by_name.get(name).filter(|f| f.attr(PRIMITIVE).is_some());
        if let Some(function) = function.filter(|_| !programs.contains_key(name))
            && let Some(program) = program(name, call, *function)
        {
            programs.insert(name.to_owned(), program);
        }
    }
    programs
}

/// The program of one; none where it takes or gives what is no tensor.
fn program(name: &str, call: Op, function: Op) -> Option<String> {
    let (mut arguments, mut constants) = (Vec::new(), String::new());
    for (number, operand) in call.operand_values().into_iter().enumerate() {
        let tensor = tensor_type(operand)?;
        let ty = operand.r#type();
        if is_constant(operand) {
            let element = match tensor.dtype.class() {
                Class::Float => "0.01",
                Class::Bool => "false",
                Class::String => "\"\"",
                _ => "0",
            };
            constants += &format!("  %v{number} = relay.constant dense<{element}> : {ty}\n");
        } else {
            arguments.push(format!("%v{number}: {ty}"));
        }
    }
    let types =
        |values: &[Value]| values.iter().map(|v| v.r#type().to_string()).collect::<Vec<_>>().join(", ");
    let (operands, results) = (call.operand_values(), call.result_values());
    results.iter().map(|r| tensor_type(*r)).collect::<Option<Vec<_>>>()?;
    let passed: Vec<String> = (0..operands.len()).map(|n| format!("%v{n}")).collect();
    let given: Vec<String> = (0..results.len()).map(|n| format!("%r{n}")).collect();
    let (passed, given, from, to) = (passed.join(", "), given.join(", "), types(&operands), types(&results));
    Some(format!(
        "{}\nfunc.func @{ENTRY}({}) -> ({to}) {{\n{constants}  {given} = call @{name}({passed}) : ({from}) -> ({to})\n  \
         return {given} : {to}\n}}\n",
        source_of(function, false),
        arguments.join(", "),
    ))
}

fn is_constant(value: Value) -> bool {
    defining_op(value).is_some_and(|op| matches!(kind_of(op), Some(Kind::Relay(relay::Op::Constant))))
}
