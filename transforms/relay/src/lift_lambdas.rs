//! `relay-lift-lambdas`: closures become functions of the module that take what they captured first.
//!
//! ```text
//!   %f = relay.fn { ^bb0(%a): mul %a, %y }         func.func private @main$lambda$0(%y, %a) { mul %a, %y }
//!   %r = relay.apply %f(%x)                  =>    %r = relay.call @main$lambda$0(%y, %x)
//! ```
//! Johnsson's lambda lifting ("Lambda lifting: transforming programs to recursive equations", 1985), for closures whose uses are
//! all calls. A closure that captures nothing is lifted whatever its uses are: as a value it is `relay.global`. One that is
//! stored or handed on with captured values stays; `relay-defunctionalise` makes data of it.

use super::effects::{enclosing_function, is};
use super::language::{Names, copy_block, free_values, functions, private_function};
use fusion_dialects::relay::{Instance, Op as Relay, RECURSIVE};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Type, Value, ValueLike,
    ValueMap, arguments, function_parts, key, nested_ops, parent_of, symbol_attr, users,
};

/// The pass.
pub struct RelayLiftLambdas;

impl Pass for RelayLiftLambdas {
    const NAME: &'static str = "relay-lift-lambdas";
    const DESCRIPTION: &'static str = "Make functions of closures that are only called";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "lifted", description: "Closures that became functions" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let mut names = Names::of(module);
        // Lifting one closure may leave another without captured values or with calls alone.
        loop {
            let mut lifted = 0;
            for function in functions(module).into_values() {
                for op in nested_ops(function).into_iter().rev().filter(|op| is(*op, Relay::Fn)) {
                    lifted += u64::from(lift(module, op, &mut names));
                }
            }
            cx.count(0, lifted);
            if lifted == 0 {
                return Ok(());
            }
        }
    }
}

/// True when all uses of a function value are calls of it.
fn only_called(function: Value) -> bool {
    users(function).into_iter().all(|user| {
        let operands = user.operand_values();
        is(user, Relay::Apply)
            && operands.iter().filter(|v| key(**v) == key(function)).count() == 1
            && key(operands[0]) == key(function)
    })
}

fn lift<'c>(module: Op<'c>, closure: Op<'c>, names: &mut Names) -> bool {
    let value = closure.result_values()[0];
    let (Some(body), Some((inputs, results))) = (closure.body(0), function_parts(value.r#type())) else {
        return false;
    };
    let captured = free_values(closure);
    let recursive = closure.attr(RECURSIVE).is_some();
    let own = arguments(body);
    let itself = own.first().copied().filter(|_| recursive);
    let as_value = captured.is_empty();
    let called = only_called(value) && itself.is_none_or(only_called);
    if !as_value && !called {
        return false;
    }
    let name = names.fresh(&format!("{}$lambda", home(closure)));
    let captured_types: Vec<Type> = captured.iter().map(|v| v.r#type()).collect();
    let takes = [captured_types, inputs].concat();
    let build = Build::before(closure);
    let region = build.region(&takes, |inner, parameters| {
        let mut map = ValueMap::new();
        let declared = captured.iter().copied().chain(own.iter().copied().skip(usize::from(recursive)));
        declared.zip(parameters).for_each(|(old, new)| map.insert(old, *new));
        if let Some(itself) = itself {
            // Calls of itself are rewritten when they are copied; what is left of it as a value is a global.
            if !users(itself).is_empty() {
                let attrs = [("function", symbol_attr(module.context_ref(), &name))];
                map.insert(itself, inner.value(Relay::Global.name(), &[], value.r#type(), &attrs));
            }
        }
        let given = copy_block(&inner, body, &mut map, &Instance::default());
        inner.op(Upstream::Return.name(), &given, &[], &[]);
    });
    let Some(function) = private_function(module, &name, &takes, &results, closure.location(), region) else {
        return false;
    };
    if recursive {
        let parameters = function.body(0).map(arguments).unwrap_or_default();
        let captured = &parameters[..captured.len()];
        for op in nested_ops(function) {
            if is(op, Relay::Global) && op.text("function") == Some(name.as_str()) {
                call_instead(op.result_values()[0], &name, captured);
                if op.result_values().iter().all(|v| fusion_dialects::unused(*v)) {
                    op.erase();
                }
            }
        }
    }
    call_instead(value, &name, &captured);
    if as_value && !fusion_dialects::unused(value) {
        let attrs = [("function", symbol_attr(module.context_ref(), &name))];
        let global = build.value(Relay::Global.name(), &[], value.r#type(), &attrs);
        closure.replace_all_uses(&[global]);
    }
    closure.erase();
    true
}

/// Calls of a function value become calls of the function, the captured values first.
fn call_instead<'c>(function: Value<'c>, name: &str, captured: &[Value<'c>]) {
    for call in users(function) {
        let operands = call.operand_values();
        let elsewhere = operands.iter().skip(1).any(|v| key(*v) == key(function));
        if !is(call, Relay::Apply) || key(operands[0]) != key(function) || elsewhere {
            continue;
        }
        let results: Vec<Type> = call.result_values().iter().map(|v| v.r#type()).collect();
        let given = [captured, &operands[1..]].concat();
        let attrs = [("callee", symbol_attr(call.context_ref(), name))];
        let made = Build::before(call).op(Relay::Call.name(), &given, &results, &attrs);
        call.replace_all_uses(&made.result_values());
        call.erase();
    }
}

/// The name of the function that an operation stands in.
fn home<'c>(op: Op<'c>) -> &'c str {
    let around = enclosing_function(op);
    let function = std::iter::successors(around, |op| parent_of(*op))
        .find(|op| matches!(op.kind(), Some(Kind::Upstream(Upstream::Func))));
    function.and_then(|f| f.text("sym_name")).unwrap_or("closure")
}
