//! Makes a function of tensor code and calls it.

use super::{Extents, SEGMENT, extents, is_constant, used};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, Type, Value, ValueLike, ValueMap, defining_op,
    function_type, key, kind_of, nested_ops, op_key, ops_in, parent_of, relay, replace_uses, source_of,
    str_attr, symbol_attr, tensor_type, type_attr, unit_attr, unused, users,
};
use fusion_operators::Dim;
use fusion_relay_to_te::dynamic::{is_number, ranges};
use fusion_relay_to_te::tiles::TILE;
use fusion_te_to_loop::plan_memory::ENTRY;
use std::collections::{HashMap, HashSet};

/// What kernels are called while they are compared.
const NAMELESS: &str = "kernel";

/// Makes the kernels of a module.
pub struct Kernels<'c> {
    module: Op<'c>,
    body: Block<'c>,
    names: HashSet<&'c str>,
    /// Names of kernels by their text.
    known: HashMap<String, String>,
    next: usize,
}

impl<'c> Kernels<'c> {
    /// For a module; `None` when it has no body.
    pub fn new(module: Op<'c>) -> Option<Self> {
        let body = module.body(0)?;
        let names = ops_in(body).iter().filter_map(|op| op.text("sym_name")).collect();
        Some(Kernels { module, body, names, known: HashMap::new(), next: 0 })
    }

    /// How many were made.
    pub fn defined(&self) -> usize {
        self.known.len()
    }

    /// Calls these operations, which stand one after another, as a kernel.
    pub fn outline(&mut self, ops: &[Op<'c>]) {
        let Some(&last) = ops.last() else { return };
        let (arguments, constants) = inputs(ops);
        let given = outputs(ops);
        let name = self.define(ops, &arguments, &constants, &given);
        let callee = symbol_attr(last.context_ref(), &name);
        let call =
            Build::before(last).op(Upstream::Call.name(), &arguments, &types(&given), &[("callee", callee)]);
        for (old, new) in given.iter().zip(call.result_values()) {
            replace_uses(*old, new);
        }
        for op in ops.iter().rev() {
            op.erase();
        }
        for constant in constants {
            if constant.result_values().into_iter().all(unused) {
                constant.erase();
            }
        }
    }

    fn define(
        &mut self,
        ops: &[Op<'c>],
        outside: &[Value<'c>],
        constants: &[Op<'c>],
        given: &[Value<'c>],
    ) -> String {
        let context = self.module.context_ref();
        let location = ops.first().map_or(self.module.location(), |op| op.location());
        let build = Build::at_end(context, self.body, location);
        let (inputs, results) = (types(outside), types(given));
        let body = build.region(&inputs, |inner, arguments| {
            let mut map = ValueMap::new();
            outside.iter().zip(arguments).for_each(|(old, new)| map.insert(*old, *new));
            for op in constants.iter().chain(ops) {
                map.clone_op(&inner.at(op.location()), *op);
            }
            let values: Vec<_> = given.iter().map(|v| map.lookup(*v)).collect();
            inner.op(Upstream::Return.name(), &values, &[], &[]);
        });
        let attributes: [(&str, Attribute); 4] = [
            ("sym_name", str_attr(context, NAMELESS)),
            ("sym_visibility", str_attr(context, "private")),
            ("function_type", type_attr(function_type(context, &inputs, &results))),
            (SEGMENT, unit_attr(context)),
        ];
        let function = build.op_with_regions(Upstream::Func.name(), &[], &[], &attributes, vec![body]);
        if let Some(around) = ops.first().and_then(|op| parent_of(*op)) {
            let closures = std::iter::successors(Some(around), |op| parent_of(*op));
            // Names of a closure are its own.
            let known = closures.take_while(|op| !matches!(kind_of(*op), Some(Kind::Relay(relay::Op::Fn))));
            if let Some(main) = known.into_iter().find(|op| op.text("sym_name") == Some(ENTRY)) {
                ranges::copy(main, function);
            }
        }
        let content = source_of(function, false);
        if let Some(known) = self.known.get(&content) {
            function.erase();
            return known.clone();
        }
        let name = self.fresh_name();
        function.set_attr("sym_name", str_attr(context, &name));
        self.known.insert(content, name.clone());
        name
    }

    fn fresh_name(&mut self) -> String {
        loop {
            let name = format!("kernel_{}", self.next);
            self.next += 1;
            if !self.names.contains(name.as_str()) {
                return name;
            }
        }
    }
}

fn types<'c>(values: &[Value<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|v| v.r#type()).collect()
}

/// The values operations take from outside, and the constants that are copied to them: all, or where extents are dynamic those that
/// are one number.
fn inputs<'c>(ops: &[Op<'c>]) -> (Vec<Value<'c>>, Vec<Op<'c>>) {
    let mut seen: HashSet<usize> = HashSet::new();
    let mut define = |op: Op<'c>| {
        seen.extend(op.result_values().into_iter().map(key));
        for block in (0..op.region_count()).filter_map(|i| op.body(i)) {
            seen.extend(fusion_dialects::arguments(block).into_iter().map(key));
        }
    };
    for op in ops {
        define(*op);
        if op.region_count() > 0 {
            nested_ops(*op).into_iter().for_each(&mut define);
        }
    }
    let dynamic = ops.iter().any(|op| extents(*op) == Some(Extents::Dynamic));
    let (mut arguments, mut constants) = (Vec::new(), Vec::new());
    for value in ops.iter().flat_map(|op| used(*op)) {
        if seen.insert(key(value)) {
            match defining_op(value).filter(|op| is_constant(*op)) {
                // Schedules lay out constants of known extents; others are what is passed.
                Some(constant) if !dynamic || is_number(constant) || is_of_tiles(constant) => {
                    constants.push(constant);
                }
                _ => arguments.push(value),
            }
        }
    }
    arguments.extend(bearers_of_names(ops, &arguments));
    (arguments, constants)
}

/// True for constants that tiles of known extents alone take.
fn is_of_tiles(constant: Op) -> bool {
    let takers = constant.result_values().into_iter().flat_map(users);
    takers.into_iter().all(|user| user.attr(TILE).is_some())
}

/// What the function around takes of which an extent has a name that the operations' attributes have and nothing else they take: the
/// kernel learns the number from its shape.
fn bearers_of_names<'c>(ops: &[Op<'c>], arguments: &[Value<'c>]) -> Vec<Value<'c>> {
    let named = |value: Value<'c>| {
        let dims = tensor_type(value).map(|ty| ty.dims).unwrap_or_default();
        dims.into_iter().filter_map(|dim| if let Dim::Symbol(name) = dim { Some(name) } else { None })
    };
    let mut known: HashSet<String> = arguments.iter().flat_map(|v| named(*v)).collect();
    let mut wanted: Vec<String> = Vec::new();
    for op in ops {
        wanted.extend(op.attrs().names().into_iter().map(str::to_owned));
    }
    if wanted.iter().all(|name| known.contains(name)) {
        return Vec::new();
    }
    let is_function =
        |op: &Op| matches!(kind_of(*op), Some(Kind::Upstream(Upstream::Func) | Kind::Relay(relay::Op::Fn)));
    let around = std::iter::successors(ops.first().copied(), |op| parent_of(*op)).filter(is_function);
    let takes = around.filter_map(|function| function.body(0)).flat_map(fusion_dialects::arguments);
    let mut found = Vec::new();
    for value in takes {
        let new: Vec<String> =
            named(value).filter(|name| wanted.contains(name) && !known.contains(name)).collect();
        if !new.is_empty() {
            known.extend(new);
            found.push(value);
        }
    }
    found
}

/// The results that others use.
fn outputs<'c>(ops: &[Op<'c>]) -> Vec<Value<'c>> {
    let inside: HashSet<usize> = ops.iter().map(|op| op_key(*op)).collect();
    let leaves = |user: Op<'c>| {
        !std::iter::successors(Some(user), |op| parent_of(*op)).any(|op| inside.contains(&op_key(op)))
    };
    let results = ops.iter().flat_map(|op| op.result_values());
    results.filter(|v| users(*v).into_iter().any(leaves)).collect()
}
