//! What adds nothing to a sum of products: products with elements that are zero.
//!
//!     y[i] += x[i, k] * w[k]        beyond the end of k, where both are read beyond their ends
//!     y[i] += p[i + k] * w[k]       where p[j] = x[j - 1] if 1 <= j < 9 else 0, and i + k is outside of 1..9
//!
//! The weights are taken to be finite: 0 * inf is not added either.

use super::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{Access, accesses, needed_for, put};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Op, OpExt, Value, ValueLike, array_elements, attr_of, defining_op, kind_of, ops_in, tensor_type,
};
use fusion_operators::Attr;

/// True when what a reduction combines beyond the end of an axis is 0 in a sum: a product of two elements, each read with
/// that axis as an index by itself, so that both are beyond the end of what is read and count as 0.
pub fn sums_zeros(op: Op, axis: AxisId) -> bool {
    let extents = [op.ints("axes").unwrap_or_default(), op.ints("reduce").unwrap_or_default()].concat();
    let Some(&extent) = extents.get(axis) else { return false };
    let along = |access: &Access| {
        let shape = tensor_type(access.tensor).and_then(|t| t.shape()).unwrap_or_default();
        let whole = Expr::var(axis, extent.max(0) as u64);
        access.indices.iter().zip(shape).any(|(i, n)| i.as_ref() == Some(&whole) && n as i64 == extent)
    };
    let read = accesses(op);
    sums_products(op) && read.len() == 2 && read.iter().all(along)
}

/// What must not be negative, in terms of the axes of a stage, for what it adds to a sum to be more than a product with the zeros of
/// a padding; nothing for a stage that is no sum of products.
pub fn unless_padding(tree: &Schedule, stage: StageId) -> Vec<Expr> {
    let s = &tree.stages[stage];
    if !sums_products(s.op) {
        return Vec::new();
    }
    let of_access = |access: Access| match tree.giving(access.tensor) {
        Some(read) => at(&unless_zero(tree, read), &access.indices),
        None => Vec::new(),
    };
    accesses(s.op).into_iter().flat_map(of_access).collect()
}

/// What must not be negative, in terms of the axes of a stage, for its element not to be 0: the conditions of a load that gives 0 where one
/// of them does not hold.
fn unless_zero(tree: &Schedule, stage: StageId) -> Vec<Expr> {
    let op = tree.stages[stage].op;
    let is_compute = matches!(kind_of(op), Some(Kind::Te(Te::Compute))) && !tree.stages[stage].is_reduction();
    let body = op.body(0).filter(|_| is_compute).map(ops_in).unwrap_or_default();
    let given = body.last().map(|end| end.operand_values()).unwrap_or_default();
    let Some(load) = given.first().and_then(|v| defining_op(*v)) else { return Vec::new() };
    let copied = accesses(op).into_iter().next();
    match (kind_of(load), &load.operand_values()[..]) {
        (Some(Kind::Te(Te::LoadIf)), [.., condition, otherwise]) if is_zero(*otherwise) => {
            needed_for(op, *condition)
        }
        (Some(Kind::Te(Te::Load)), [tensor, ..]) => match (tree.giving(*tensor), copied) {
            (Some(read), Some(access)) => at(&unless_zero(tree, read), &access.indices),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Expressions of axes at a point, as far as it is known.
fn at(all: &[Expr], point: &[Option<Expr>]) -> Vec<Expr> {
    all.iter().filter_map(|e| put(e, point)).collect()
}

/// True for a reduction that sums up products of elements it reads, or these themselves.
fn sums_products(op: Op) -> bool {
    let is =
        |op: &Op, kinds: &[Upstream]| matches!(kind_of(*op), Some(Kind::Upstream(k)) if kinds.contains(&k));
    let combiner = op.body(1).map(ops_in).unwrap_or_default();
    let adds = matches!(&combiner[..], [sum, _] if is(sum, &[Upstream::AddF, Upstream::AddI]));
    let starts_at_zero =
        op.attr("init").map(array_elements).unwrap_or_default().into_iter().all(|n| match attr_of(n) {
            Some(Attr::Float(number)) => number == 0.0,
            Some(Attr::Int(number)) => number == 0,
            _ => false,
        });
    let body = op.body(0).map(ops_in).unwrap_or_default();
    let scalar = |op: &&Op| op.result_values().iter().any(|v| v.r#type().to_string() != "index");
    let products = body.iter().filter(scalar).filter(|op| is(op, &[Upstream::MulF, Upstream::MulI])).count();
    let plain = body.iter().filter(scalar).all(|op| {
        is(op, &[Upstream::MulF, Upstream::MulI, Upstream::ExtF])
            || matches!(kind_of(*op), Some(Kind::Te(Te::Load)))
    });
    adds && starts_at_zero && products == 1 && plain
}

fn is_zero(value: Value) -> bool {
    let number = defining_op(value).and_then(|op| op.attr("value")).and_then(attr_of);
    matches!(number, Some(Attr::Float(number)) if number == 0.0) || matches!(number, Some(Attr::Int(0)))
}
