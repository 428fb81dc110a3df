//! Instances of functions: which there are, their names, and the copies.

use super::closures;
use fusion_dialects::relay::{Instance, Op as Functional, TYPE_PARAMS};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, PassError, Type, TypeParts, ValueLike, ValueMap, arguments,
    function_parts, function_type, nested_ops, parts_of_type, set_type, str_attr, symbol_attr, top_level,
    type_attr, type_key, type_of_attr, type_parts,
};
use fusion_operators::Dim;
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet, VecDeque};

/// What a use chooses: the types of type variables and the known extents of named ones, in order of their names.
pub type Choice = (Vec<(String, usize)>, Vec<(String, u64)>);

/// Instances of a function that are made before there are thought to be infinitely many.
const MOST_INSTANCES: usize = 1_000;
/// Constructors in a type of an instance, and how deep they are nested.
const MOST_SIZE: usize = 4_096;
const MOST_DEPTH: usize = 64;

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

/// True when a type has type variables.
pub fn has_variable(ty: Type) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        if !seen.insert(type_key(ty)) {
            continue;
        }
        if matches!(type_parts(ty), TypeParts::Var(_)) {
            return true;
        }
        stack.extend(parts_of_type(ty));
    }
    false
}

/// What of an instance is put in place: types, and extents that are known.
pub fn chosen<'c>(mut instance: Instance<'c>) -> (Instance<'c>, Choice) {
    instance.dims.retain(|_, dim| matches!(dim, Dim::Static(_)));
    instance.types.sort_keys();
    instance.dims.sort_keys();
    let types = instance.types.iter().map(|(name, ty)| (name.clone(), type_key(*ty))).collect();
    let dims = instance.dims.iter().filter_map(|(name, dim)| Some((name.clone(), dim.known()?))).collect();
    (instance, (types, dims))
}

/// Puts what was chosen into the types of all values in an operation.
pub fn put<'c>(op: Op<'c>, instance: &Instance<'c>) {
    let mut known: HashMap<usize, Type<'c>> = HashMap::new();
    let context = op.context_ref();
    let mut replaced =
        |ty: Type<'c>| *known.entry(type_key(ty)).or_insert_with(|| instance.apply(context, ty));
    let mut ops = nested_ops(op);
    ops.push(op);
    for op in ops {
        let blocks = (0..op.region_count()).filter_map(|i| op.body(i));
        for value in op.result_values().into_iter().chain(blocks.flat_map(arguments)) {
            let (old, new) = (value.r#type(), replaced(value.r#type()));
            if old != new {
                set_type(value, new);
            }
        }
    }
}

/// Refuses a type that is so large that there is no end of instances.
pub fn bounded<'c>(at: Op<'c>, what: &str, instance: &Instance<'c>) -> Result<(), PassError<'c>> {
    let mut size = 0;
    let mut stack: Vec<(Type, usize)> = instance.types.values().map(|ty| (*ty, 1)).collect();
    while let Some((ty, depth)) = stack.pop() {
        size += 1;
        if size > MOST_SIZE || depth > MOST_DEPTH {
            let message = format!(
                "needs {what} at a type of more than {MOST_SIZE} parts or {MOST_DEPTH} levels: it uses itself at ever larger types, and so has no end of instances; write the types of its parameters"
            );
            return Err(PassError::at(at, message));
        }
        stack.extend(parts_of_type(ty).into_iter().map(|ty| (ty, depth + 1)));
    }
    Ok(())
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
