//! Makes one stage of two over the same points.

use super::{needed_between, return_of};
use crate::schedule::{Schedule, StageId};
use fusion_dialects::indices::load_of;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, Value, ValueLike, ValueMap, arguments, array_attr, array_elements,
    key, ops_in, str_attr, users,
};
use std::collections::HashMap;

/// Makes one stage of two, where the second may read the first at its own point. Results of the first that only the second
/// read are gone.
pub fn join(tree: &Schedule, first: StageId, second: StageId) {
    let (a, b) = (tree.stages[first].op, tree.stages[second].op);
    for op in needed_between(tree, a, b) {
        op.move_before_op(a);
    }
    let returned: Vec<usize> =
        return_of(tree).map(|op| op.operand_values()).unwrap_or_default().into_iter().map(key).collect();
    let inside_b: Vec<Op> = fusion_dialects::nested_ops(b);
    let outside = |v: &Value| returned.contains(&key(*v)) || users(*v).iter().any(|u| !inside_b.contains(u));
    let kept: Vec<bool> = a.result_values().iter().map(outside).collect();
    let merged = build(a, b, &kept);
    let results = merged.result_values();
    let own = kept.iter().filter(|k| **k).count();
    let mut given = results[..own].iter();
    for (old, kept) in a.result_values().into_iter().zip(&kept) {
        if *kept && let Some(new) = given.next() {
            fusion_dialects::replace_uses(old, *new);
        }
    }
    b.replace_all_uses(&results[own..]);
    b.erase();
    a.erase();
}

/// Those of the values that are kept.
fn of_kept<T: Copy>(values: &[T], kept: &[bool]) -> Vec<T> {
    values.iter().zip(kept).filter(|(_, k)| **k).map(|(v, _)| *v).collect()
}

fn build<'c>(a: Op<'c>, b: Op<'c>, kept: &[bool]) -> Op<'c> {
    let build = Build::before(a);
    let context = build.context();
    let types: Vec<_> =
        of_kept(&a.result_values(), kept).iter().chain(&b.result_values()).map(|v| v.r#type()).collect();
    let init: Vec<Attribute> =
        [a, b].iter().flat_map(|op| op.attr("init").map(array_elements)).flatten().collect();
    let name = [a, b].map(|op| op.text("name").unwrap_or_default()).join("_");
    let inputs: Vec<_> = a.body(0).map(arguments).unwrap_or_default().iter().map(|v| v.r#type()).collect();
    let body = build.region(&inputs, |inner, axes| {
        let mut map = ValueMap::new();
        let first =
            a.body(0).map(|block| copy(&inner, block, axes, &mut map, &HashMap::new())).unwrap_or_default();
        let read: HashMap<usize, Value> =
            a.result_values().iter().map(|v| key(*v)).zip(first.iter().copied()).collect();
        let second = b.body(0).map(|block| copy(&inner, block, axes, &mut map, &read)).unwrap_or_default();
        let values = [of_kept(&first, kept), second].concat();
        inner.op(Te::Yield.name(), &values, &[], &[]);
    });
    let combiner = match (a.body(1), b.body(1)) {
        (Some(first), Some(second)) => combiner(&build, first, second),
        _ => fusion_dialects::Region::new(),
    };
    let kept_attrs = ["axes", "reduce"].into_iter().filter_map(|n| Some((n, a.attr(n)?)));
    let attrs: Vec<_> = kept_attrs
        .chain([("name", str_attr(context, &name)), ("init", array_attr(context, &init))])
        .collect();
    build.op_with_regions(Te::Compute.name(), &[], &types, &attrs, vec![body, combiner])
}

/// Both combiners: the values so far of both, then the new ones.
fn combiner<'c>(build: &Build<'c>, first: Block<'c>, second: Block<'c>) -> fusion_dialects::Region<'c> {
    let (a, b) = (arguments(first), arguments(second));
    let (m, n) = (a.len() / 2, b.len() / 2);
    let inputs: Vec<_> = [&a[..m], &b[..n], &a[m..], &b[n..]].concat().iter().map(|v| v.r#type()).collect();
    build.region(&inputs, |inner, given| {
        let (so_far, new) = given.split_at(m + n);
        let mut map = ValueMap::new();
        let none = HashMap::new();
        let of_a = copy(&inner, first, &[&so_far[..m], &new[..m]].concat(), &mut map, &none);
        let of_b = copy(&inner, second, &[&so_far[m..], &new[m..]].concat(), &mut map, &none);
        inner.op(Te::Yield.name(), &[of_a, of_b].concat(), &[], &[]);
    })
}

/// Copies a block up to its end, with the given values as its arguments; gives what it yields. Loads of tensors whose
/// element is known here are that element.
fn copy<'c>(
    build: &Build<'c>,
    block: Block<'c>,
    given: &[Value<'c>],
    map: &mut ValueMap<'c>,
    known: &HashMap<usize, Value<'c>>,
) -> Vec<Value<'c>> {
    for (argument, value) in arguments(block).into_iter().zip(given) {
        map.insert(argument, *value);
    }
    let mut ops = ops_in(block);
    let last = ops.pop();
    for op in ops {
        match load_of(op).and_then(|(tensor, _)| known.get(&key(tensor))) {
            Some(element) => map.insert(op.result_values()[0], *element),
            None => drop(map.clone_op(&build.at(fusion_dialects::OperationLike::location(&op)), op)),
        }
    }
    last.map(|op| op.operand_values()).unwrap_or_default().into_iter().map(|v| map.lookup(v)).collect()
}
