//! Calls: unfolded, made to a copy, or left.
//!
//! ```text
//!   does not call itself, or branches are decided by what is known, and fuel is left     the body, in the call's place
//!   calls itself else                                                                   a copy for what is known
//!   no body, or a function nobody knows                                                 stays
//! ```
//! Which parameters decide is found once a function: those that the conditions of branches around its calls are computed from.

use super::eval::{Evaluator, Frame, Outcome, frame_of, operands, result_types};
use super::value::{Closure, Environment, Shared};
use crate::language::{blocks, is_call, terminator};
use fusion_dialects::relay::{Instance, Op as Relay, RECURSIVE};
use fusion_dialects::rows::Kind;
use fusion_dialects::{Build, Op, OpExt, PassError, Value, ValueLike, arguments, key, nested_ops, op_key};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

impl<'c> Evaluator<'c> {
    pub(super) fn call(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        name: &'c str,
        given: Vec<Shared<'c>>,
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let function = self.functions.get(name).copied();
        let body = function.filter(|f| f.attr("relay.primitive").is_none()).and_then(|f| f.body(0));
        let (Some(function), Some(_)) = (function, body) else {
            let all = if is_call(op) { given } else { operands(op, frame)? };
            return self.stays(build, op, &all, frame);
        };
        let recursive = self.recursive.contains(name);
        if self.unfolds(op, function, recursive, &given, &format!("@{name}"))? {
            let instance = self.instance(Instance::default(), function, &given, op, frame);
            return self.unfold(build, function, Environment::default(), instance, &given);
        }
        let wanted = super::special::Wanted { function, name, closure: None, given };
        self.specialised_call(build, op, wanted, frame)
    }

    pub(super) fn apply(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        closure: &Rc<Closure<'c>>,
        given: Vec<Shared<'c>>,
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let recursive = closure.op.attr(RECURSIVE).is_some();
        let arguments = if recursive { given.clone() } else { given[1..].to_vec() };
        if self.unfolds(op, closure.op, recursive, &arguments, "the function value")? {
            let start = Instance::clone(&closure.instance);
            let instance = self.instance(start, closure.op, &arguments, op, frame);
            let environment = frame_of(closure, Instance::default()).environment;
            return self.unfold(build, closure.op, environment, instance, &arguments);
        }
        if recursive {
            let wanted = super::special::Wanted {
                function: closure.op,
                name: "closure",
                closure: Some(closure.clone()),
                given,
            };
            return self.specialised_call(build, op, wanted, frame);
        }
        self.stays(build, op, &given, frame)
    }

    /// A call that stays as it is.
    pub(super) fn stays(
        &mut self,
        build: &Build<'c>,
        op: Op<'c>,
        given: &[Shared<'c>],
        frame: &Frame<'c>,
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        let results = self.emit(build, op, given, frame)?;
        self.after_call(op);
        Ok(results)
    }

    /// What a call may have done to cells.
    pub fn after_call(&mut self, op: Op<'c>) {
        if self.effects.of_op(op).writes {
            self.store.forget();
        }
    }

    /// Whether a call is replaced by what it does.
    fn unfolds(
        &mut self,
        op: Op<'c>,
        function: Op<'c>,
        recursive: bool,
        given: &[Shared<'c>],
        what: &str,
    ) -> Outcome<'c, bool> {
        let is_decided = !recursive || {
            let deciding = self.deciding(function);
            !deciding.is_empty() && deciding.iter().all(|at| given.get(*at).is_some_and(|v| v.is_static()))
        };
        if recursive && self.limits.strict && is_endless(function) {
            let why = format!(
                "calls {what}, which calls itself whatever it is given; add a case that ends the recursion"
            );
            return Err(PassError::at(op, why));
        }
        let may = self.fuel > 0 && self.depth < self.limits.depth;
        if recursive && is_decided && !may && self.limits.strict {
            return Err(PassError::at(
                op,
                format!(
                    "calls {what} again and again on values that are known: the recursion does not end within {} unfolded calls, {} deep; \
                     add a case that ends it, or allow more by the options fuel and depth",
                    self.limits.fuel, self.limits.depth
                ),
            ));
        }
        Ok(is_decided && may)
    }

    fn unfold(
        &mut self,
        build: &Build<'c>,
        function: Op<'c>,
        mut environment: Environment<'c>,
        instance: Instance<'c>,
        given: &[Shared<'c>],
    ) -> Outcome<'c, Vec<Shared<'c>>> {
        self.fuel -= 1;
        self.unfolded += 1;
        self.depth += 1;
        let body = function.body(0).ok_or_else(|| PassError::at(function, "has no body"))?;
        for (name, value) in arguments(body).into_iter().zip(given) {
            environment.bind(name, value.clone());
        }
        let mut frame = Frame { environment, instance: Rc::new(instance) };
        // Each call within another takes some kilobytes.
        let results = stacker::maybe_grow(256 << 10, 4 << 20, || self.block(build, body, &mut frame));
        self.depth -= 1;
        results
    }

    /// What the type variables and named extents of a function stand for in a call.
    pub fn instance(
        &self,
        mut instance: Instance<'c>,
        function: Op<'c>,
        given: &[Shared<'c>],
        op: Op<'c>,
        frame: &Frame<'c>,
    ) -> Instance<'c> {
        let Some(body) = function.body(0) else { return instance };
        for (name, value) in arguments(body).into_iter().zip(given) {
            instance.matches(name.r#type(), value.ty);
        }
        let gives = terminator(body).map(|t| t.operand_values()).unwrap_or_default();
        for (name, ty) in gives.into_iter().zip(result_types(op, frame)) {
            instance.matches(name.r#type(), ty);
        }
        instance
    }

    /// The parameters that the branches around a function's calls depend on.
    fn deciding(&mut self, function: Op<'c>) -> BTreeSet<usize> {
        if let Some(known) = self.deciding.get(&op_key(function)) {
            return known.clone();
        }
        let found = deciding(function);
        self.deciding.insert(op_key(function), found.clone());
        found
    }
}

/// True for functions without branches that call themselves.
fn is_endless(function: Op) -> bool {
    let inside = nested_ops(function);
    let branches = |op: &Op| matches!(op.kind(), Some(Kind::Relay(Relay::If | Relay::Match)));
    let calls_itself = |op: &Op| is_call(*op) && op.text("callee") == function.text("sym_name");
    function.text("sym_name").is_some() && !inside.iter().any(branches) && inside.iter().any(calls_itself)
}

fn deciding(function: Op) -> BTreeSet<usize> {
    let mut from: HashMap<usize, BTreeSet<usize>> = HashMap::new();
    let parameters = function.body(0).map(arguments).unwrap_or_default();
    for (at, parameter) in parameters.iter().enumerate() {
        from.insert(key(*parameter), BTreeSet::from([at]));
    }
    let inside = nested_ops(function);
    // Values depend on what they are computed from; what a region gives reaches the results of its operation.
    loop {
        let mut changed = false;
        for op in &inside {
            let of = |values: Vec<Value>, from: &HashMap<usize, BTreeSet<usize>>| -> BTreeSet<usize> {
                values.iter().filter_map(|v| from.get(&key(*v))).flatten().copied().collect()
            };
            let mut sources = of(op.operand_values(), &from);
            let entering: Vec<usize> = blocks(*op).into_iter().flat_map(arguments).map(key).collect();
            let yields = blocks(*op).into_iter().filter_map(terminator).flat_map(|t| t.operand_values());
            let entered = sources.clone();
            sources.extend(of(yields.collect(), &from));
            let results = op.result_values().into_iter().map(key).map(|k| (k, &sources));
            for (name, sources) in results.chain(entering.into_iter().map(|k| (k, &entered))) {
                let known = from.entry(name).or_default();
                let before = known.len();
                known.extend(sources);
                changed |= known.len() > before;
            }
        }
        if !changed {
            break;
        }
    }
    let calls = |op: &Op| {
        nested_ops(*op).into_iter().any(|o| is_call(o) || matches!(o.kind(), Some(Kind::Relay(Relay::Apply))))
    };
    let branches = inside
        .iter()
        .filter(|op| matches!(op.kind(), Some(Kind::Relay(Relay::If | Relay::Match))) && calls(op));
    let decided = branches.filter_map(|op| op.operand_values().first().copied());
    decided.filter_map(|value| from.get(&key(value))).flatten().copied().collect()
}
