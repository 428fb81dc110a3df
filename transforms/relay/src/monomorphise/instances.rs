//! Instances of functions: which there are, their names, and the copies.

use super::choices::{Choice, bounded, chosen, has_variable, put};
use super::closures;
use fusion_dialects::relay::{Instance, Op as Functional, TYPE_PARAMS};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, PassError, ValueLike, ValueMap, function_parts, function_type, nested_ops, str_attr,
    symbol_attr, top_level, type_attr, type_of_attr,
};
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet, VecDeque};

/// Instances of a function that are made before there are thought to be infinitely many.
const MOST_INSTANCES: usize = 1_000;

struct Functions<'c> {
    /// By name. Copies are added.
    functions: IndexMap<String, Op<'c>>,
    names: HashSet<String>,
    copies: HashMap<(String, Choice), String>,
    /// How many copies of each function there are.
    counts: HashMap<String, usize>,
    waiting: VecDeque<Op<'c>>,
    made: usize,
}

/// Copies functions and closures; how many of each.
pub fn run<'c>(module: Op<'c>) -> Result<(usize, usize), PassError<'c>> {
    let found = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
    let named = found.iter().filter_map(|op| Some((op.text("sym_name")?.to_owned(), *op)));
    let everything = top_level(module, |_| true);
    let mut state = Functions {
        functions: named.collect(),
        names: everything.iter().filter_map(|op| op.text("sym_name").map(str::to_owned)).collect(),
        copies: HashMap::new(),
        counts: HashMap::new(),
        waiting: found.iter().copied().filter(|op| !is_polymorphic(*op)).collect(),
        made: 0,
    };
    let mut closures_made = 0;
    while let Some(function) = state.waiting.pop_front() {
        closures_made += closures::specialise(function)?;
        for op in nested_ops(function) {
            state.rewrite(op)?;
        }
    }
    state.erase(module);
    Ok((state.made, closures_made))
}

fn is_polymorphic(function: Op) -> bool {
    let ty = function.attr("function_type").and_then(type_of_attr);
    function.attr(TYPE_PARAMS).is_some() || ty.is_some_and(has_variable)
}

impl<'c> Functions<'c> {
    /// Has a use of a function use the instance it chooses.
    fn rewrite(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let (attr, used) = match op.kind() {
            Some(Kind::Relay(Functional::Call)) => {
                let types = |values: Vec<fusion_dialects::Value<'c>>| {
                    values.into_iter().map(|v| v.r#type()).collect::<Vec<_>>()
                };
                let (inputs, results) = (types(op.operand_values()), types(op.result_values()));
                ("callee", function_type(op.context_ref(), &inputs, &results))
            }
            Some(Kind::Relay(Functional::Global)) => ("function", op.result_values()[0].r#type()),
            _ => return Ok(()),
        };
        let name = op.text(attr).unwrap_or_default();
        let Some(&function) = self.functions.get(name) else {
            return Err(PassError::at(
                op,
                format!("violates constraint C1: the module has no function @{name}"),
            ));
        };
        let Some(declared) = function.attr("function_type").and_then(type_of_attr) else { return Ok(()) };
        let mut instance = Instance::default();
        if !instance.matches(declared, used) {
            let message = format!("violates constraint C2: uses @{name}, of type {declared}, as {used}");
            return Err(PassError::at(op, message));
        }
        let (instance, choice) = chosen(instance);
        if choice == Choice::default() && !is_polymorphic(function) {
            return Ok(());
        }
        if instance.types.values().any(|ty| has_variable(*ty)) {
            let message =
                format!("uses @{name} at a type with type variables, {used}; run relay-infer-types before");
            return Err(PassError::at(op, message));
        }
        let key = (name.to_owned(), choice);
        let copy = match self.copies.get(&key) {
            Some(copy) => copy.clone(),
            None => {
                bounded(op, &format!("@{name}"), &instance)?;
                let copy = self.copy(op, name, function, &instance)?;
                self.copies.insert(key, copy.clone());
                copy
            }
        };
        op.set_attr(attr, symbol_attr(op.context_ref(), &copy));
        Ok(())
    }

    fn copy(
        &mut self,
        used: Op<'c>,
        name: &str,
        function: Op<'c>,
        instance: &Instance<'c>,
    ) -> Result<String, PassError<'c>> {
        if function.body(0).is_none() {
            let message = format!("needs an instance of @{name}, which is declared without a body");
            return Err(PassError::at(used, message));
        }
        // Copies of copies count as copies of what was written.
        let origin = name.rsplit_once('$').filter(|(origin, _)| self.counts.contains_key(*origin));
        let origin = origin.map_or(name, |(origin, _)| origin).to_owned();
        let count = self.counts.entry(origin.clone()).or_default();
        if *count >= MOST_INSTANCES {
            let message = format!(
                "needs more than {MOST_INSTANCES} instances of @{origin}: it uses itself at ever new types; write the types of its parameters"
            );
            return Err(PassError::at(used, message));
        }
        let mut copied = format!("{origin}${}", *count + 1);
        *count += 1;
        while !self.names.insert(copied.clone()) {
            *count += 1;
            copied = format!("{origin}${count}");
        }
        let context = function.context_ref();
        let copy = ValueMap::new().clone_op(&Build::after(function), function);
        copy.set_attr("sym_name", str_attr(context, &copied));
        copy.set_attr("sym_visibility", str_attr(context, "private"));
        copy.remove_attr(TYPE_PARAMS);
        put(copy, instance);
        if let Some(ty) = function.attr("function_type").and_then(type_of_attr)
            && function_parts(ty).is_some()
        {
            copy.set_attr("function_type", type_attr(instance.apply(context, ty)));
        }
        self.functions.insert(copied.clone(), copy);
        self.waiting.push_back(copy);
        self.made += 1;
        Ok(copied)
    }

    /// Erases functions with type parameters that nothing uses: those that others of their sort alone use as well.
    fn erase(&self, module: Op<'c>) {
        let (polymorphic, kept): (Vec<Op>, Vec<Op>) =
            top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)))
                .into_iter()
                .partition(|op| is_polymorphic(*op));
        let mut used: HashSet<String> = HashSet::new();
        for op in kept.into_iter().flat_map(nested_ops) {
            let attr = match op.kind() {
                Some(Kind::Relay(Functional::Call) | Kind::Upstream(Upstream::Call)) => "callee",
                Some(Kind::Relay(Functional::Global)) => "function",
                _ => continue,
            };
            used.extend(op.text(attr).map(str::to_owned));
        }
        for op in polymorphic {
            if op.text("sym_name").is_none_or(|name| !used.contains(name)) {
                op.erase();
            }
        }
    }
}
