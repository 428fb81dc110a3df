//! Which functions of a module a pass changed, by comparing it with a copy made before.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    AttributeLike, Op, OpExt, OperationLike, ValueLike, arguments, key, nested_ops, op_key, ops_in, relay,
    te, top_level,
};
use indexmap::IndexMap;
use std::collections::HashMap;

/// The functions and kernels of a module, by name.
pub fn functions<'c>(module: Op<'c>) -> IndexMap<&'c str, Op<'c>> {
    let callable = |kind| matches!(kind, Kind::Upstream(Upstream::Func) | Kind::Te(te::Op::Kernel));
    top_level(module, callable).into_iter().filter_map(|f| Some((f.text("sym_name")?, f))).collect()
}

/// Whether two functions take and give values of the same types.
pub fn same_type(a: Op, b: Op) -> bool {
    let ty = |f: Op| f.attr("function_type").map(|ty| ty.to_string());
    ty(a) == ty(b)
}

/// The names a function calls.
pub fn callees<'c>(function: Op<'c>) -> Vec<&'c str> {
    let callee = |op: Op<'c>| match op.kind() {
        Some(Kind::Upstream(Upstream::Call) | Kind::Relay(relay::Op::Call)) => op.text("callee"),
        Some(Kind::Relay(relay::Op::Global)) => op.text("function"),
        Some(Kind::Te(te::Op::Call)) => op.text("kernel"),
        _ => None,
    };
    nested_ops(function).into_iter().filter_map(callee).collect()
}

/// Whether two operations of one context are the same, with all that is in them; where they come from does not count.
pub fn same(a: Op, b: Op) -> bool {
    let mut values = HashMap::new();
    same_with(a, b, &mut values)
}

fn same_with(a: Op, b: Op, values: &mut HashMap<usize, usize>) -> bool {
    if op_key(a) == op_key(b) {
        return true;
    }
    let (x, y) = (a.operand_values(), b.operand_values());
    // A value from outside is the same one.
    let same_value = |(x, y): (&_, &_)| values.get(&key(*x)).copied().unwrap_or(key(*x)) == key(*y);
    if a.name() != b.name() || x.len() != y.len() || !x.iter().zip(&y).all(same_value) {
        return false;
    }
    // Attributes and types are unique in a context.
    let attributes =
        |op: Op| op.attributes().map(|(_, value)| value.to_raw().ptr as usize).collect::<Vec<_>>();
    let (results, others) = (a.result_values(), b.result_values());
    let same_types =
        results.len() == others.len() && results.iter().zip(&others).all(|(r, s)| r.r#type() == s.r#type());
    if !same_types || attributes(a) != attributes(b) {
        return false;
    }
    values.extend(results.iter().zip(&others).map(|(r, s)| (key(*r), key(*s))));
    (0..a.region_count().max(b.region_count())).all(|region| match (a.body(region), b.body(region)) {
        (None, None) => true,
        (Some(from), Some(to)) => {
            let (x, y) = (arguments(from), arguments(to));
            let same_types = x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| x.r#type() == y.r#type());
            values.extend(x.iter().zip(&y).map(|(x, y)| (key(*x), key(*y))));
            let (x, y) = (ops_in(from), ops_in(to));
            same_types && x.len() == y.len() && x.into_iter().zip(y).all(|(x, y)| same_with(x, y, values))
        }
        _ => false,
    })
}
