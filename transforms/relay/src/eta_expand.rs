//! `relay-eta-expand`: functions of the module as values become closures that call them.
//!
//! ```text
//!   %f = relay.global @g : (A) -> B        %f = relay.fn { ^bb0(%a: A): %0 = relay.call @g(%a); relay.yield %0 }
//! ```
//! Passes that look for `relay.fn` then see all function values. Constructors are no values in the IR: who needs one as a
//! function writes such a closure around `relay.construct`. With `parameters`, function values whose origin is not known
//! and that are handed on become closures too, as `fn(a) { f(a) }`.

use super::effects::{Callee, callee_of, is};
use super::language::is_call;
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, TypeParts, Value,
    ValueLike, function_parts, nested_ops, symbol_attr, top_level, type_parts,
};

/// The pass.
pub struct RelayEtaExpand;

impl Pass for RelayEtaExpand {
    const NAME: &'static str = "relay-eta-expand";
    const DESCRIPTION: &'static str = "Make closures of functions that are used as values";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "parameters",
        description: "Wrap function values whose origin is not known where they are handed on",
        kind: OptionKind::Flag,
        initial: "false",
    }];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "expanded", description: "Closures made" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
        for op in functions.into_iter().flat_map(nested_ops) {
            if is(op, Relay::Global) {
                if let Some(closure) = expand_global(op) {
                    op.replace_all_uses(&[closure]);
                    op.erase();
                    cx.count(0, 1);
                }
                continue;
            }
            let hands_on = is_call(op) || is(op, Relay::Apply) || is(op, Relay::Construct);
            if !cx.options.flag("parameters") || !hands_on {
                continue;
            }
            let first = usize::from(is(op, Relay::Apply));
            for (index, value) in op.operand_values().into_iter().enumerate().skip(first) {
                if matches!(callee_of(value), Callee::Unknown(_))
                    && let Some(closure) = expand_value(op, value)
                {
                    op.set_operand_value(index, closure);
                    cx.count(0, 1);
                }
            }
        }
        Ok(())
    }
}

fn expand_global<'c>(op: Op<'c>) -> Option<Value<'c>> {
    let ty = op.result_values()[0].r#type();
    let (inputs, results) = function_parts(ty)?;
    let (build, callee) = (Build::before(op), op.text("function")?);
    let callee = ("callee", symbol_attr(op.context_ref(), callee));
    let body = build.region(&inputs, |inner, arguments| {
        let call = inner.op(Relay::Call.name(), arguments, &results, &[callee]);
        inner.op(Relay::Yield.name(), &call.result_values(), &[], &[]);
    });
    Some(build.op_with_regions(Relay::Fn.name(), &[], &[ty], &[], vec![body]).result_values()[0])
}

fn expand_value<'c>(before: Op<'c>, function: Value<'c>) -> Option<Value<'c>> {
    let ty = function.r#type();
    let TypeParts::Function(inputs, results) = type_parts(ty) else { return None };
    let build = Build::before(before);
    let body = build.region(&inputs, |inner, arguments| {
        let operands = [&[function], arguments].concat();
        let call = inner.op(Relay::Apply.name(), &operands, &results, &[]);
        inner.op(Relay::Yield.name(), &call.result_values(), &[], &[]);
    });
    Some(build.op_with_regions(Relay::Fn.name(), &[], &[ty], &[], vec![body]).result_values()[0])
}
