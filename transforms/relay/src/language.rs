//! What passes over the language share: free values, copies at other types, names, functions made and taken away.

use super::effects::{Callee, callee_of, is};
use super::infer_types::graph::components;
use fusion_dialects::relay::{Instance, Op as Relay, TYPE_PARAMS};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Build, Context, Op, OpExt, OperationLike, Region, Type, TypeParts, Value, ValueLike, ValueMap,
    argument_owner, arguments, defining_op, function_type, key, nested_ops, op_key, ops_in, parent_of,
    set_type, str_attr, texts_attr, top_level, type_attr, type_parts,
};
use indexmap::{IndexMap, IndexSet};
use std::collections::HashSet;

/// The functions of a module, by name.
pub fn functions<'c>(module: Op<'c>) -> IndexMap<&'c str, Op<'c>> {
    let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
    functions.into_iter().filter_map(|f| Some((f.text("sym_name")?, f))).collect()
}

/// True for a call of a function of the module, by either operation.
pub fn is_call(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Relay(Relay::Call) | Kind::Upstream(Upstream::Call)))
}

/// The blocks of an operation's regions.
pub fn blocks<'c>(op: Op<'c>) -> Vec<Block<'c>> {
    (0..op.region_count()).filter_map(|region| op.body(region)).collect()
}

/// The last operation of a block.
pub fn terminator<'c>(block: Block<'c>) -> Option<Op<'c>> {
    ops_in(block).last().copied()
}

/// The values from around an operation that its regions use, in the order they do.
pub fn free_values<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    let inside = nested_ops(op);
    let arguments_of = |op: Op<'c>| blocks(op).into_iter().flat_map(arguments).map(key);
    let mut known: HashSet<usize> = inside.iter().copied().chain([op]).flat_map(arguments_of).collect();
    known.extend(inside.iter().flat_map(|o| o.result_values()).map(key));
    let operands = inside.iter().flat_map(|o| o.operand_values());
    operands.filter(|value| known.insert(key(*value))).collect()
}

/// Copies the operations of a block, its terminator not, and gives what the terminator's operands became.
pub fn copy_block<'c>(
    build: &Build<'c>,
    block: Block<'c>,
    map: &mut ValueMap<'c>,
    instance: &Instance<'c>,
) -> Vec<Value<'c>> {
    copy_ops(build, block, map, instance).1
}

/// As [`copy_block`], with the copies.
pub fn copy_ops<'c>(
    build: &Build<'c>,
    block: Block<'c>,
    map: &mut ValueMap<'c>,
    instance: &Instance<'c>,
) -> (Vec<Op<'c>>, Vec<Value<'c>>) {
    let ops = ops_in(block);
    let Some((last, rest)) = ops.split_last() else { return (Vec::new(), Vec::new()) };
    let mut copies = Vec::new();
    for op in rest {
        let copy = map.clone_op(build, *op);
        retype(copy, instance);
        copies.push(copy);
    }
    (copies, last.operand_values().into_iter().map(|value| map.lookup(value)).collect())
}

/// Replaces type variables and named extents in the types of an operation and all that is in it.
pub fn retype<'c>(op: Op<'c>, instance: &Instance<'c>) {
    if instance.types.is_empty() && instance.dims.is_empty() {
        return;
    }
    each_type(op, &|ty| instance.apply(op.context_ref(), ty));
}

/// Changes the types of the values that an operation and all in it give and take.
pub fn each_type<'c>(op: Op<'c>, change: &impl Fn(Type<'c>) -> Type<'c>) {
    for op in nested_ops(op).into_iter().chain([op]) {
        let values = op.result_values().into_iter().chain(blocks(op).into_iter().flat_map(arguments));
        for value in values {
            let (old, new) = (value.r#type(), change(value.r#type()));
            if old != new {
                set_type(value, new);
            }
        }
    }
}

/// The type variables of types, in the order they are met.
pub fn variables<'c>(types: impl IntoIterator<Item = Type<'c>>) -> IndexSet<&'c str> {
    let mut found = IndexSet::new();
    let mut work: Vec<Type<'c>> = types.into_iter().collect();
    work.reverse();
    while let Some(ty) = work.pop() {
        match type_parts(ty) {
            TypeParts::Var(name) => {
                found.insert(name);
            }
            TypeParts::Tuple(parts) | TypeParts::Adt(_, parts) => work.extend(parts.into_iter().rev()),
            TypeParts::Function(inputs, results) => work.extend(inputs.into_iter().chain(results).rev()),
            TypeParts::Ref(value) => work.push(value),
            TypeParts::Tensor(_) | TypeParts::Hole | TypeParts::Other => {}
        }
    }
    found
}

/// Names that the symbols of a module do not have.
pub struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// For a module.
    pub fn of(module: Op) -> Self {
        let symbols = module.body(0).map(ops_in).unwrap_or_default();
        Names { taken: symbols.into_iter().filter_map(|op| op.text("sym_name")).map(str::to_owned).collect() }
    }

    /// A new name that begins so.
    pub fn fresh(&mut self, stem: &str) -> String {
        let numbered = (0..).map(|n| format!("{stem}${n}"));
        let name = numbered.into_iter().find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }
}

/// A private function at the end of a module, with type parameters for the type variables in it.
pub fn private_function<'c>(
    module: Op<'c>,
    name: &str,
    inputs: &[Type<'c>],
    results: &[Type<'c>],
    at: fusion_dialects::Location<'c>,
    body: Region<'c>,
) -> Option<Op<'c>> {
    let context: &'c Context = module.context_ref();
    let build = Build::at_end(context, module.body(0)?, at);
    let variables = variables(inputs.iter().chain(results).copied());
    let names: Vec<&str> = variables.into_iter().collect();
    let mut attrs = vec![
        ("sym_name", str_attr(context, name)),
        ("function_type", type_attr(function_type(context, inputs, results))),
        ("sym_visibility", str_attr(context, "private")),
    ];
    if !names.is_empty() {
        attrs.push((TYPE_PARAMS, texts_attr(context, &names)));
    }
    Some(build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![body]))
}

/// True for functions that only the module sees.
pub fn is_private(function: Op) -> bool {
    function.text("sym_visibility") == Some("private")
}

/// The functions that an operation and all in it name.
pub fn named_by<'c>(op: Op<'c>) -> Vec<&'c str> {
    let name = |op: Op<'c>| match op.kind() {
        Some(Kind::Relay(Relay::Call) | Kind::Upstream(Upstream::Call)) => op.text("callee"),
        Some(Kind::Relay(Relay::Global)) => op.text("function"),
        _ => None,
    };
    nested_ops(op).into_iter().chain([op]).filter_map(name).collect()
}

/// Takes away the private functions that nothing public leads to; says how many.
pub fn erase_unreached(module: Op) -> u64 {
    let functions = functions(module);
    let mut work: Vec<&str> =
        functions.iter().filter(|(_, f)| !is_private(**f)).map(|(name, _)| *name).collect();
    let others = module.body(0).map(ops_in).unwrap_or_default();
    let others = others.into_iter().filter(|op| !matches!(op.kind(), Some(Kind::Upstream(Upstream::Func))));
    work.extend(others.flat_map(named_by));
    let mut reached: HashSet<&str> = HashSet::new();
    while let Some(name) = work.pop() {
        if let (true, Some(function)) = (reached.insert(name), functions.get(name)) {
            work.extend(named_by(*function));
        }
    }
    let gone: Vec<Op> =
        functions.iter().filter(|(name, _)| !reached.contains(*name)).map(|(_, f)| *f).collect();
    gone.iter().for_each(|function| function.erase());
    gone.len() as u64
}

/// The functions that may call themselves, at once or through others.
pub fn recursive_functions<'c>(module: Op<'c>) -> HashSet<&'c str> {
    let functions = functions(module);
    let callees = |f: &Op<'c>| named_by(*f).into_iter().filter_map(|name| functions.get_index_of(name));
    let calls: Vec<Vec<usize>> = functions.values().map(|f| callees(f).collect()).collect();
    let recursive = |component: &Vec<usize>| match component[..] {
        [one] => calls[one].contains(&one),
        _ => true,
    };
    let found = components(&calls).into_iter().filter(recursive).flatten();
    found.filter_map(|f| functions.get_index(f).map(|(name, _)| *name)).collect()
}

/// The closure that a call of a value calls, where it is known and not called by its own body.
pub fn applied_closure<'c>(op: Op<'c>) -> Option<Op<'c>> {
    if !is(op, Relay::Apply) {
        return None;
    }
    match callee_of(*op.operand_values().first()?) {
        Callee::Closure(closure) => Some(closure),
        Callee::Function(_) | Callee::Unknown(_) => None,
    }
}

/// True for values that are made in a region of an operation, or given to one.
pub fn is_inside<'c>(value: Value<'c>, around: Op<'c>) -> bool {
    let inside = |op: Op<'c>| {
        std::iter::successors(parent_of(op), |op| parent_of(*op)).any(|p| op_key(p) == op_key(around))
    };
    match defining_op(value) {
        Some(op) => inside(op),
        None => argument_owner(value).is_some_and(|owner| op_key(owner) == op_key(around) || inside(owner)),
    }
}
