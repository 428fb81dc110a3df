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
    applied_closure, blocks, copy_ops, erase_unreached, functions, is_call, is_private, named_by,
    recursive_functions,
};
use fusion_dialects::relay::{Instance, Op as Relay, RECURSIVE};
use fusion_dialects::{
    BlockLike, Build, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext,
    StatisticSpec, Type, Value, ValueLike, ValueMap, arguments, ops_in, users,
};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};

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
        let mut inliner = Inliner::of(module, size, cx.options.int("fuel").max(0) as u64);
        // What a call leaves unused may leave a closure with one use, in front of it.
        while inliner.round() {}
        cx.count(0, inliner.replaced);
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

/// The pass at work.
struct Inliner<'c> {
    functions: IndexMap<&'c str, Op<'c>>,
    recursive: HashSet<&'c str>,
    /// How often each function is named.
    named: HashMap<&'c str, usize>,
    size: usize,
    fuel: u64,
    replaced: u64,
}

impl<'c> Inliner<'c> {
    fn of(module: Op<'c>, size: usize, fuel: u64) -> Self {
        let functions = functions(module);
        let mut named = HashMap::new();
        for name in functions.values().flat_map(|f| named_by(*f)) {
            *named.entry(name).or_default() += 1;
        }
        let recursive = recursive_functions(module);
        Inliner { functions, recursive, named, size, fuel, replaced: 0 }
    }

    /// Walks all functions once, what takes the place of a call included; false when nothing was replaced.
    fn round(&mut self) -> bool {
        let before = self.replaced;
        let functions: Vec<Op> = self.functions.values().copied().collect();
        let mut left: Vec<Op> = Vec::new();
        for function in functions {
            push(&mut left, inside(function));
            while let Some(op) = left.pop() {
                if self.replaced == self.fuel {
                    return false;
                }
                match self.site(op) {
                    Some(site) => {
                        for name in named_by(op) {
                            *self.named.entry(name).or_default() -= 1;
                        }
                        let copied = named_by(site.of);
                        let (made, moved) = site.rewrite();
                        if !moved {
                            copied.into_iter().for_each(|name| *self.named.entry(name).or_default() += 1);
                        }
                        push(&mut left, made);
                        self.replaced += 1;
                    }
                    None => push(&mut left, inside(op)),
                }
            }
        }
        self.replaced > before
    }

    fn is_small(&self, of: Op<'c>) -> bool {
        let most = self.size + 1;
        let (mut left, mut count) = (vec![of], 0);
        while let Some(op) = left.pop() {
            for block in blocks(op) {
                let mut next = block.first_operation();
                while let Some(op) = next {
                    count += 1;
                    if count > most {
                        return false;
                    }
                    left.push(op);
                    next = op.next_in_block();
                }
            }
        }
        true
    }

    /// What takes the place of a call, when the call is to be replaced.
    fn site(&self, op: Op<'c>) -> Option<Site<'c>> {
        let operands = op.operand_values();
        if is_call(op) {
            let name = op.text("callee")?;
            let of = *self.functions.get(name)?;
            let once = is_private(of) && self.named.get(name) == Some(&1);
            let fits = !self.recursive.contains(name)
                && of.attr("relay.primitive").is_none()
                && (once || self.is_small(of))
                && of.body(0).is_some_and(|body| arguments(body).len() == operands.len());
            return fits.then_some(Site { call: op, of, arguments: operands });
        }
        if !is(op, Relay::Apply) {
            return None;
        }
        if let Callee::Function(name) = callee_of(*operands.first()?) {
            let of = *self.functions.get(name)?;
            let fits =
                !self.recursive.contains(name) && of.attr("relay.primitive").is_none() && self.is_small(of);
            let arguments = operands.get(1..)?.to_vec();
            return (fits && of.body(0).is_some()).then_some(Site { call: op, of, arguments });
        }
        let closure = applied_closure(op)?;
        let once = users(closure.result_values()[0]).len() == 1;
        let fits = closure.attr(RECURSIVE).is_none() && (once || self.is_small(closure));
        let arguments = operands.get(1..)?.to_vec();
        fits.then_some(Site { call: op, of: closure, arguments })
    }
}

/// The operations in the regions of an operation, not those further inside.
fn inside<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    blocks(op).into_iter().flat_map(ops_in).collect()
}

/// Puts operations onto a stack, the first on top.
fn push<'c>(stack: &mut Vec<Op<'c>>, ops: Vec<Op<'c>>) {
    stack.extend(ops.into_iter().rev());
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
    /// Gives the operations that stand where the call stood, and whether the body stands nowhere else.
    fn rewrite(&self) -> (Vec<Op<'c>>, bool) {
        let Some(body) = self.of.body(0) else { return (Vec::new(), false) };
        let instance = instance_at(self.of, &self.arguments, &self.call.result_values());
        let mut map = ValueMap::new();
        for (parameter, argument) in arguments(body).into_iter().zip(&self.arguments) {
            map.insert(parameter, *argument);
        }
        let (made, given) = copy_ops(&Build::before(self.call), body, &mut map, &instance);
        self.call.replace_all_uses(&given);
        self.call.erase();
        let moved =
            is(self.of, Relay::Fn) && self.of.result_values().iter().all(|v| fusion_dialects::unused(*v));
        if moved {
            self.of.erase();
        }
        (made, moved)
    }
}
