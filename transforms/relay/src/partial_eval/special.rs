//! Copies of functions for static arguments.
//!
//! ```text
//!   map(inc, %xs)     =>     map$special$0(%xs)      where the body of inc stands in the copy, and map(inc, %rest) is
//!                                                    map$special$0(%rest)
//! ```
//! A copy takes the dynamic parts of its arguments, in order. Calls with equal static parts share one. Inside a copy of a function,
//! a call of the same function whose static parts have changed is generalised first: arguments that differ become dynamic. Each
//! such step leaves less static, so there are finitely many copies, whatever the arguments count.

use super::eval::{Evaluator, Frame, Outcome, frame_of, result_types};
use super::value::{Closure, Environment, Known, Partial, Shared, describe, rebuild};
use crate::language::private_function;
use fusion_dialects::relay::{Instance, Op as Relay, RECURSIVE};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, PassError, Type, Value, ValueLike, arguments, op_key, symbol_attr,
};
use std::rc::Rc;

/// A call that is to be one of a copy.
pub struct Wanted<'c> {
    /// The function, or the `relay.fn`.
    pub function: Op<'c>,
    /// What the copy's name begins with.
    pub name: &'c str,
    /// The closure, whose captured values are further arguments.
    pub closure: Option<Rc<Closure<'c>>>,
    /// The arguments; of a closure, itself first.
    pub given: Vec<Shared<'c>>,
}

impl<'c> Evaluator<'c> {
    /// Calls a copy for the static arguments; where there are none, or too many copies, the function itself.
    pub fn specialised_call(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        wanted: Wanted<'c>,
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let Wanted { function, name, closure, mut given } = wanted;
        let described = |value: &Shared<'c>| {
            let (mut text, mut leaves) = (String::new(), Vec::new());
            describe(value, &mut text, &mut leaves).map(|()| (text, leaves))
        };
        let mut parts: Vec<_> = given.iter().map(described).collect();
        let open = self.copies.open.iter().rev().find(|(of, _)| *of == op_key(function));
        let differ: Vec<usize> = match open {
            None => Vec::new(),
            Some((_, before)) => {
                let changed = |at: &usize| parts[*at].as_ref().map(|p| &p.0) != before.get(*at);
                (usize::from(closure.is_some())..given.len()).filter(changed).collect()
            }
        };
        let large: Vec<usize> = (0..given.len()).filter(|at| parts[*at].is_none()).collect();
        for at in differ.into_iter().chain(large) {
            let value = self.residual(build, &given[at])?;
            given[at] = Partial::dynamic(value, given[at].ty, self.scopes.last().copied().unwrap_or(0));
            parts[at] = described(&given[at]);
        }
        let parts: Vec<(String, Vec<Shared<'c>>)> = parts.into_iter().flatten().collect();
        let is_static = closure.is_some() || given.iter().any(|v| v.is_static());
        let key = format!(
            "{}:{}",
            op_key(function),
            parts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("|")
        );
        let known = self.copies.names.get(&key).cloned();
        let room = self.copies.count() < self.limits.specialisations && self.depth < self.limits.depth;
        let results = result_types(op, frame);
        if parts.len() != given.len() || !is_static || (known.is_none() && !room) {
            return self.original_call(build, op, function, name, closure, &given, results);
        }
        let leaves: Vec<Shared<'c>> = parts.iter().flat_map(|(_, leaves)| leaves.clone()).collect();
        let values = self.residuals(build, &leaves)?;
        let copy = match known {
            Some(copy) => copy,
            None => {
                let copy = self.names.fresh(&format!("{name}$special"));
                self.copies.names.insert(key, copy.clone());
                self.copies.open.push((op_key(function), parts.into_iter().map(|(text, _)| text).collect()));
                self.depth += 1;
                let made = stacker::maybe_grow(256 << 10, 4 << 20, || {
                    self.copy(&copy, op, function, closure.as_ref(), &given, &values, frame)
                });
                self.depth -= 1;
                self.copies.open.pop();
                made?;
                copy
            }
        };
        let callee = ("callee", symbol_attr(build.context(), &copy));
        let call = build.op(Relay::Call.name(), &values, &results, &[callee]);
        self.after_call(op);
        Ok(self.made(call))
    }

    /// A call of the function as it is.
    #[allow(clippy::too_many_arguments)]
    fn original_call(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        function: Op<'c>,
        name: &'c str,
        closure: Option<Rc<Closure<'c>>>,
        given: &[Shared<'c>],
        results: Vec<Type<'c>>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let values = self.residuals(build, given)?;
        let call = if closure.is_some() {
            build.op(Relay::Apply.name(), &values, &results, &[])
        } else {
            if !self.reached.contains(&name) {
                self.reached.push(name);
            }
            let callee = function.text("sym_name").unwrap_or_default();
            build.op(
                Relay::Call.name(),
                &values,
                &results,
                &[("callee", symbol_attr(build.context(), callee))],
            )
        };
        self.after_call(op);
        Ok(self.made(call))
    }

    /// Makes a copy: the body, evaluated with the static parts as they are and the dynamic ones as parameters.
    #[allow(clippy::too_many_arguments)]
    fn copy(
        &mut self,
        name: &str,
        op: Op<'c>,
        function: Op<'c>,
        closure: Option<&Rc<Closure<'c>>>,
        given: &[Shared<'c>],
        leaves: &[Value<'c>],
        frame: &Frame<'c>,
    ) -> Outcome<'c, ()> {
        let body = function.body(0).ok_or_else(|| PassError::at(function, "has no body"))?;
        let block = self.module.body(0).ok_or_else(|| PassError::at(self.module, "has no body"))?;
        let types: Vec<Type> = leaves.iter().map(|v| v.r#type()).collect();
        let results = result_types(op, frame);
        let build = Build::at_end(self.module.context_ref(), block, function.location());
        let start = closure.map_or_else(Instance::default, |c| Instance::clone(&c.instance));
        let recursive = function.attr(RECURSIVE).is_some();
        let own = if closure.is_some() && !recursive { &given[1..] } else { given };
        let instance = self.instance(start, function, own, op, frame);
        let given = given.to_vec();
        let is_closure = closure.is_some();
        let region = self.isolated(&build, &types, |this, inner, parameters| {
            let mut parameters = parameters.into_iter();
            let given: Vec<Shared<'c>> = given.iter().map(|v| rebuild(v, &mut parameters)).collect();
            // A closure's captured values are parts of itself, which is its first argument.
            let environment = match &given.first().map(|v| &v.known) {
                Some(Known::Closure(closure)) if is_closure => {
                    frame_of(closure, Instance::default()).environment
                }
                _ => Environment::default(),
            };
            let mut frame = Frame { environment, instance: Rc::new(instance) };
            let first = usize::from(is_closure && !recursive);
            for (name, value) in arguments(body).into_iter().zip(&given[first..]) {
                frame.environment.bind(name, value.clone());
            }
            let values = this.block(&inner, body, &mut frame)?;
            this.give(&inner, &values, &results)
        })?;
        let made = private_function(self.module, name, &types, &results, function.location(), region);
        made.map(|_| ()).ok_or_else(|| PassError::at(self.module, "has no body"))
    }
}
