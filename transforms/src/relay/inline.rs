//! `relay-inline`: small functions, and those that are called once, stand where they are called.
//!
//! ```text
//!   func @sq(%a) { %0 = mul %a, %a; return %0 }        %1 = mul %x, %x
//!   %1 = relay.call @sq(%x)                       =>
//! ```
//! Functions that may call themselves stay calls, and so do kernels (`relay.primitive`). A polymorphic function is copied at the
//! types of the call. Closures whose `relay.fn` is known are treated alike. `fuel` bounds how many calls are replaced, so that
//! chains of small functions that double at each step end.

use super::effects::{Callee, callee_of, is};
use super::language::{
    applied_closure, copy_block, erase_unreached, functions, is_call, is_private, recursive_functions,
};
use fusion_dialects::relay::{Instance, Op as Relay, RECURSIVE};
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, Type, Value,
    ValueLike, ValueMap, arguments, nested_ops, users,
};

/// The pass.
pub struct RelayInline;

impl Pass for RelayInline {
    const NAME: &'static str = "relay-inline";
    const DESCRIPTION: &'static str = "Put small functions, and those called once, where they are called";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "size",
            description: "Most operations of a function that is called several times",
            kind: OptionKind::Int,
            initial: "8",
        },
        OptionSpec {
            name: "fuel",
            description: "Most calls replaced",
            kind: OptionKind::Int,
            initial: "10000",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "inlined", description: "Calls replaced" }];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let size = cx.options.int("size").max(0) as usize;
        let mut fuel = cx.options.int("fuel").max(0);
        while fuel > 0 {
            let Some(site) = next(module, size) else { break };
            site.rewrite();
            cx.count(0, 1);
            fuel -= 1;
        }
        erase_unreached(module);
        Ok(())
    }
}

/// A call and the body that takes its place.
struct Site<'c> {
    call: Op<'c>,
    of: Op<'c>,
    arguments: Vec<Value<'c>>,
}

/// The first call that is to be replaced.
fn next<'c>(module: Op<'c>, size: usize) -> Option<Site<'c>> {
    let functions = functions(module);
    let recursive = recursive_functions(module);
    let calls: Vec<&str> = functions.values().flat_map(|f| super::language::named_by(*f)).collect();
    let is_small = |of: Op<'c>| nested_ops(of).len() <= size + 1;
    let wanted = |op: Op<'c>| -> Option<Site<'c>> {
        let operands = op.operand_values();
        if is_call(op) {
            let name = op.text("callee")?;
            let of = *functions.get(name)?;
            let once = is_private(of) && calls.iter().filter(|n| **n == name).count() == 1;
            let fits = !recursive.contains(name)
                && of.attr("relay.primitive").is_none()
                && (once || is_small(of))
                && of.body(0).is_some_and(|body| arguments(body).len() == operands.len());
            return fits.then_some(Site { call: op, of, arguments: operands });
        }
        if is(op, Relay::Apply)
            && let Callee::Function(name) = callee_of(operands[0])
        {
            let of = *functions.get(name)?;
            let fits = !recursive.contains(name) && of.attr("relay.primitive").is_none() && is_small(of);
            let arguments = operands.get(1..)?.to_vec();
            return (fits && of.body(0).is_some()).then_some(Site { call: op, of, arguments });
        }
        let closure = applied_closure(op)?;
        let once = users(closure.result_values()[0]).len() == 1;
        let fits = closure.attr(RECURSIVE).is_none() && (once || is_small(closure));
        let arguments = operands.get(1..)?.to_vec();
        fits.then_some(Site { call: op, of: closure, arguments })
    };
    functions.values().flat_map(|f| nested_ops(*f)).find_map(wanted)
}

/// What the type variables and named extents of a body stand for in a call of it.
pub fn instance_at<'c>(of: Op<'c>, given: &[Value<'c>], taken: &[Value<'c>]) -> Instance<'c> {
    let mut instance = Instance::default();
    let Some(body) = of.body(0) else { return instance };
    let types = |values: &[Value<'c>]| values.iter().map(|v| v.r#type()).collect::<Vec<Type>>();
    for (declared, actual) in types(&arguments(body)).into_iter().zip(types(given)) {
        instance.matches(declared, actual);
    }
    let gives = super::language::terminator(body).map(|t| t.operand_values()).unwrap_or_default();
    for (declared, actual) in types(&gives).into_iter().zip(types(taken)) {
        instance.matches(declared, actual);
    }
    instance
}

impl<'c> Site<'c> {
    fn rewrite(&self) {
        let Some(body) = self.of.body(0) else { return };
        let instance = instance_at(self.of, &self.arguments, &self.call.result_values());
        let mut map = ValueMap::new();
        for (parameter, argument) in arguments(body).into_iter().zip(&self.arguments) {
            map.insert(parameter, *argument);
        }
        let given = copy_block(&Build::before(self.call), body, &mut map, &instance);
        self.call.replace_all_uses(&given);
        self.call.erase();
        if is(self.of, Relay::Fn) && self.of.result_values().iter().all(|v| fusion_dialects::unused(*v)) {
            self.of.erase();
        }
    }
}
