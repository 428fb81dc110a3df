//! Moves a group into a function and calls it.

use super::graph::operator_of;
use super::pieces::without_pieces;
use fusion_dialects::module::target_of;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, Type, Value, ValueLike, ValueMap, defining_op,
    function_type, is_splat, key, op_key, relay, replace_uses, str_attr, symbol_attr, tensor_type, top_level,
    type_attr, unit_attr, unused,
};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The attribute of a function that is one group.
pub const PRIMITIVE: &str = "relay.primitive";

/// Operators beyond this many are not in the name of their function.
const MOST_NAMED: usize = 8;

/// Makes the functions of a module's groups.
pub struct Outliner<'c> {
    module: Op<'c>,
    body: Block<'c>,
    names: HashSet<String>,
    /// Name of the function of each group that was seen, by [`describe`].
    known: HashMap<String, String>,
    /// Whether pieces of memory are views of the program around groups.
    views: bool,
}

impl<'c> Outliner<'c> {
    /// For a module; `None` when it has no body.
    pub fn new(module: Op<'c>) -> Option<Self> {
        let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
        let names = functions.iter().filter_map(|f| f.text("sym_name")).map(str::to_owned).collect();
        let views = target_of(module).is_ok_and(|target| !target.is_gpu());
        Some(Outliner { module, body: module.body(0)?, names, known: HashMap::new(), views })
    }

    /// Calls the group in the place of its last operation, and gives the name of its function and the values that stand for the
    /// results, which are results of the group's operations. Pieces of what comes from outside stay there.
    pub fn outline(&mut self, ops: &[Op<'c>], results: &[Value<'c>]) -> (String, Vec<Value<'c>>) {
        let kept = if self.views { without_pieces(ops) } else { ops.to_vec() };
        let inside: HashSet<usize> = kept.iter().flat_map(|op| op.result_values()).map(key).collect();
        let computed: Vec<Value> = results.iter().copied().filter(|v| inside.contains(&key(*v))).collect();
        let (name, values) = self.outline_all(&kept, &computed);
        let mut values = values.into_iter();
        let stands = |value: &Value<'c>| match inside.contains(&key(*value)) {
            true => values.next().unwrap_or(*value),
            false => *value,
        };
        (name, results.iter().map(stands).collect())
    }

    fn outline_all(&mut self, ops: &[Op<'c>], results: &[Value<'c>]) -> (String, Vec<Value<'c>>) {
        let Some(&last) = ops.last() else { return (String::new(), Vec::new()) };
        let (arguments, constants) = inputs(ops);
        let group = describe(ops, &arguments, results);
        let name = match self.known.get(&group) {
            Some(name) => name.clone(),
            None => {
                let name = self.fresh_name(ops);
                self.define(&name, ops, &arguments, &constants, results);
                self.known.insert(group, name.clone());
                name
            }
        };
        let callee = symbol_attr(last.context_ref(), &name);
        let call =
            Build::before(last).op(Upstream::Call.name(), &arguments, &types(results), &[("callee", callee)]);
        let values = call.result_values();
        for (old, new) in results.iter().zip(&values) {
            replace_uses(*old, *new);
        }
        for op in ops.iter().rev() {
            op.erase();
        }
        for constant in constants {
            if constant.result_values().into_iter().all(unused) {
                constant.erase();
            }
        }
        (name, values)
    }

    fn fresh_name(&mut self, ops: &[Op<'c>]) -> String {
        let named: Vec<_> =
            ops.iter().filter_map(|op| operator_of(*op)).map(|o| o.name).take(MOST_NAMED).collect();
        let rest = if ops.len() > MOST_NAMED { "_etc" } else { "" };
        let base = format!("fused_{}{rest}", named.join("_"));
        let mut names = (0..).map(|n| format!("{base}_{n}"));
        let name = names.find(|name| !self.names.contains(name)).unwrap_or(base);
        self.names.insert(name.clone());
        name
    }

    fn define(
        &self,
        name: &str,
        ops: &[Op<'c>],
        outside: &[Value<'c>],
        constants: &[Op<'c>],
        given: &[Value<'c>],
    ) {
        let (Some(last), context) = (ops.last(), self.module.context_ref()) else { return };
        let build = Build::at_end(context, self.body, last.location());
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
            ("sym_name", str_attr(context, name)),
            ("sym_visibility", str_attr(context, "private")),
            ("function_type", type_attr(function_type(context, &inputs, &results))),
            (PRIMITIVE, unit_attr(context)),
        ];
        build.op_with_regions(Upstream::Func.name(), &[], &[], &attributes, vec![body]);
    }
}

fn types<'c>(values: &[Value<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|v| v.r#type()).collect()
}

/// The values a group takes from outside, and the constants that are copied into it.
fn inputs<'c>(ops: &[Op<'c>]) -> (Vec<Value<'c>>, Vec<Op<'c>>) {
    let mut seen: HashSet<usize> = ops.iter().flat_map(|op| op.result_values()).map(key).collect();
    let (mut arguments, mut constants) = (Vec::new(), Vec::new());
    for value in ops.iter().flat_map(|op| op.operand_values()) {
        if seen.insert(key(value)) {
            match small_constant(value) {
                Some(constant) => constants.push(constant),
                None => arguments.push(value),
            }
        }
    }
    (arguments, constants)
}

/// True for constants that are copied into each function that needs them, and erased outside when nothing there needs them.
pub fn is_copied(value: Value) -> bool {
    small_constant(value).is_some()
}

/// The constant a value is, when one number says all of it.
fn small_constant<'c>(value: Value<'c>) -> Option<Op<'c>> {
    let op = defining_op(value).filter(|op| matches!(op.kind(), Some(Kind::Relay(relay::Op::Constant))))?;
    let tiny = tensor_type(value)?.elements().is_some_and(|n| n <= 1);
    (tiny || is_splat(op.attr("value")?)).then_some(op)
}

/// A text that is the same for groups that compute the same of their arguments.
fn describe<'c>(ops: &[Op<'c>], arguments: &[Value<'c>], results: &[Value<'c>]) -> String {
    let mut text = String::new();
    let mut places: HashMap<usize, String> =
        arguments.iter().enumerate().map(|(i, v)| (key(*v), format!("a{i}"))).collect();
    let mut write = |part: std::fmt::Arguments| text.write_fmt(part).unwrap_or_default();
    for ty in types(arguments) {
        write(format_args!("{ty}, "));
    }
    for (at, op) in ops.iter().enumerate() {
        write(format_args!("\n{}", op.full_name()));
        for value in op.operand_values() {
            match (places.get(&key(value)), small_constant(value).and_then(|op| op.attr("value"))) {
                (Some(place), _) => write(format_args!(" {place}")),
                (None, Some(constant)) => write(format_args!(" {constant}")),
                // Reached by nothing: operands are arguments, constants or results of the group.
                (None, None) => write(format_args!(" {}", op_key(*op))),
            }
        }
        for (name, value) in op.attributes() {
            write(format_args!(" {}={value}", name.as_string_ref().as_str().unwrap_or_default()));
        }
        for (i, result) in op.result_values().into_iter().enumerate() {
            write(format_args!(" {}", result.r#type()));
            places.insert(key(result), format!("r{at}.{i}"));
        }
    }
    for result in results {
        write(format_args!("\n{}", places.get(&key(*result)).map_or("", |place| place)));
    }
    text
}
