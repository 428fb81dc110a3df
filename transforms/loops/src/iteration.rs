//! One iteration of a loop, copied to another place: its body with a value in place of the index, and of what the iteration
//! before it handed on.

use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, Region, Type, Value, ValueLike, ValueMap, arguments, index_type,
    kind_of, ops_in,
};

/// Copies an iteration; gives what it hands to the next.
pub fn iteration<'c>(
    build: &Build<'c>,
    body: Block<'c>,
    index: Value<'c>,
    carried: &[Value<'c>],
) -> Vec<Value<'c>> {
    iteration_with(build, &mut ValueMap::new(), body, index, carried)
}

/// The same, where other values stand for some that the body uses.
pub fn iteration_with<'c>(
    build: &Build<'c>,
    map: &mut ValueMap<'c>,
    body: Block<'c>,
    index: Value<'c>,
    carried: &[Value<'c>],
) -> Vec<Value<'c>> {
    for (argument, value) in arguments(body).into_iter().zip([&[index], carried].concat()) {
        map.insert(argument, value);
    }
    let mut handed = Vec::new();
    for inner in ops_in(body) {
        if matches!(kind_of(inner), Some(Kind::Loop(Loop::Yield))) {
            handed = inner.operand_values().into_iter().map(|value| map.lookup(value)).collect();
        } else {
            map.clone_op(&build.at(inner.location()), inner);
        }
    }
    handed
}

/// One loop of several of as many iterations: in each of its iterations those of all, one behind the other, with what stands for the
/// values that they use. The maps know its results as those of the loops. It has the attributes of the first.
pub fn joined<'c>(build: &Build<'c>, loops: &mut [(Op<'c>, &mut ValueMap<'c>)]) -> Option<Op<'c>> {
    let &(first, _) = loops.first()?;
    let operands: Vec<Vec<Value>> = loops
        .iter()
        .map(|(op, map)| op.operand_values().into_iter().map(|value| map.lookup(value)).collect())
        .collect();
    let types: Vec<Type> = operands.iter().flatten().map(|value| value.r#type()).collect();
    let inputs = [&[index_type(build.context())], types.as_slice()].concat();
    let region = build.region(&inputs, |inner, given| {
        let (index, mut carried) = (given[0], &given[1..]);
        let mut handed = Vec::new();
        for ((op, map), operands) in loops.iter_mut().zip(&operands) {
            let (own, others) = carried.split_at(operands.len());
            carried = others;
            handed.extend(
                op.body(0).into_iter().flat_map(|body| iteration_with(&inner, map, body, index, own)),
            );
        }
        inner.op(Loop::Yield.name(), &handed, &[], &[]);
    });
    let new = with_region(build, first, &operands.concat(), &types, region);
    let mut results = new.result_values().into_iter();
    for (op, map) in loops {
        for old in op.result_values() {
            if let Some(new) = results.next() {
                map.insert(old, new);
            }
        }
    }
    Some(new)
}

/// An operation of the same name and attributes as another one, with that region.
pub fn with_region<'c>(
    build: &Build<'c>,
    like: Op<'c>,
    operands: &[Value<'c>],
    types: &[Type<'c>],
    region: Region<'c>,
) -> Op<'c> {
    let attributes: Vec<_> = like.attributes().collect();
    let attributes: Vec<_> = attributes
        .iter()
        .map(|(name, value)| (name.as_string_ref().as_str().unwrap_or_default(), *value))
        .collect();
    build.op_with_regions(&like.full_name(), operands, types, &attributes, vec![region])
}
