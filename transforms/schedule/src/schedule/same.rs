//! Whether two blocks compute the same of what they read.
//!
//!     %a = load ; %b = load ; %c = mulf %b, %a        ~        %x = load ; %y = load ; %z = mulf %x, %y
//!
//! What they yield is compared from there back to what is read: the n-th element that one reads stands for the n-th of the other. Factors
//! and terms may come in either order, which changes no bit; operations may stand in any order.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Attribute, Block, Op, OpExt, OperationLike, Value, ValueLike, arguments, defining_op, key, kind_of,
    ops_in,
};
use std::collections::HashMap;

/// Compares what two blocks yield; says how the first differs.
pub fn same_block<'c>(own: Block<'c>, given: Block<'c>) -> Result<(), String> {
    let mut pairs: HashMap<usize, usize> = HashMap::new();
    for (a, b) in arguments(own).into_iter().zip(arguments(given)) {
        if a.r#type() != b.r#type() {
            return Err(format!("takes {} in place of {}", a.r#type(), b.r#type()));
        }
        pairs.insert(key(a), key(b));
    }
    let read = |block: Block<'c>| {
        let loads = |op: &Op| matches!(kind_of(*op), Some(Kind::Te(Te::Load)));
        ops_in(block).into_iter().filter(loads).flat_map(|op| op.result_values()).collect::<Vec<_>>()
    };
    for (a, b) in read(own).into_iter().zip(read(given)) {
        pairs.insert(key(a), key(b));
    }
    let yielded = |block: Block<'c>| ops_in(block).last().map(|op| op.operand_values()).unwrap_or_default();
    let (own, given) = (yielded(own), yielded(given));
    if own.len() != given.len() {
        return Err(format!("gives {} values in place of {}", own.len(), given.len()));
    }
    own.into_iter().zip(given).try_for_each(|(a, b)| same_value(a, b, &pairs))
}

fn same_value<'c>(a: Value<'c>, b: Value<'c>, pairs: &HashMap<usize, usize>) -> Result<(), String> {
    if let Some(pair) = pairs.get(&key(a)) {
        return if *pair == key(b) {
            Ok(())
        } else {
            Err("gives another of the elements that it takes".into())
        };
    }
    if constant(a).is_some() && constant(a) == constant(b) {
        return Ok(());
    }
    let Some(x) = defining_op(a) else { return Err("gives a value of another stage".into()) };
    let y = defining_op(b).ok_or_else(|| format!("has {} in place of an element", x.full_name()))?;
    if x.full_name() != y.full_name() {
        return Err(format!("has {} in place of {}", x.full_name(), y.full_name()));
    }
    let (left, right) = (x.operand_values(), y.operand_values());
    if left.is_empty() || left.len() != right.len() || attributes(x) != attributes(y) {
        return Err(format!("has another {}", x.full_name()));
    }
    let pairwise =
        |right: &[Value<'c>]| left.iter().zip(right).try_for_each(|(a, b)| same_value(*a, *b, pairs));
    pairwise(&right).or_else(|why| {
        let turned: Vec<Value> = right.iter().rev().copied().collect();
        if commutes(x) && left.len() == 2 && pairwise(&turned).is_ok() { Ok(()) } else { Err(why) }
    })
}

/// True for what is the same with its two operands in each other's place.
pub fn commutes(op: Op) -> bool {
    use Upstream::{AddF, AddI, MulF, MulI};
    matches!(kind_of(op), Some(Kind::Upstream(MulF | AddF | MulI | AddI)))
}

fn constant(value: Value) -> Option<Attribute> {
    let op = defining_op(value)?;
    matches!(kind_of(op), Some(Kind::Upstream(Upstream::ArithConstant))).then(|| op.attr("value"))?
}

/// How an operation rounds is no part of what it computes.
pub fn attributes(op: Op) -> Vec<(String, String)> {
    let all = op.attributes().filter_map(|(name, value)| {
        Some((name.as_string_ref().as_str().ok()?.to_owned(), value.to_string()))
    });
    let mut all: Vec<_> = all.filter(|(name, _)| name != "fastmath").collect();
    all.sort();
    all
}
