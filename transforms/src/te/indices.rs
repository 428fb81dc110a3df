//! Reads the index arithmetic of a `te.compute` as expressions.
//!
//! The body computes indices with `arith` operations on `index`. Sums, multiples by constants, quotients and
//! remainders become [`Expr`]; anything else is opaque.

use super::expr::Expr;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, Value, ValueLike, arguments, key, kind_of, ops_in};
use std::collections::HashMap;

/// A load in the body of a stage.
pub struct Access<'c> {
    /// The tensor read.
    pub tensor: Value<'c>,
    /// Its indices; `None` for those that depend on data or on more than index arithmetic.
    pub indices: Vec<Option<Expr>>,
}

/// The value of an index operation from those of its operands; `None` when it is none that is understood.
pub fn index_op<'c>(op: Op<'c>, operand: &mut dyn FnMut(Value<'c>) -> Option<Expr>) -> Option<Expr> {
    let Some(Kind::Upstream(kind)) = kind_of(op) else { return None };
    let is_index = op.result_values().first().is_some_and(|v| v.r#type().to_string() == "index");
    if !is_index {
        return None;
    }
    if kind == Upstream::ArithConstant {
        return op.int("value").map(Expr::constant);
    }
    let values = op.operand_values();
    let (a, b) = (operand(*values.first()?)?, operand(*values.get(1)?)?);
    let positive = |e: &Expr| e.as_constant().filter(|&n| n > 0);
    match kind {
        Upstream::AddI => Some(a.plus(&b)),
        Upstream::SubI => Some(a.minus(&b)),
        Upstream::MulI => match (a.as_constant(), b.as_constant()) {
            (_, Some(n)) => Some(a.times(n)),
            (Some(n), _) => Some(b.times(n)),
            _ => None,
        },
        Upstream::FloorDivSI => positive(&b).map(|n| a.div(n)),
        // Unsigned operations mean the same as long as the dividend is not negative.
        Upstream::DivUI => positive(&b).filter(|_| not_negative(&a)).map(|n| a.div(n)),
        Upstream::RemUI => positive(&b).filter(|_| not_negative(&a)).map(|n| a.modulo(n)),
        _ => None,
    }
}

fn not_negative(e: &Expr) -> bool {
    e.range().is_some_and(|(low, _)| low >= 0)
}

/// All loads of a stage, with indices in terms of its axes: variable `i` is axis `i`, parallel axes first.
pub fn accesses<'c>(compute: Op<'c>) -> Vec<Access<'c>> {
    let Some(body) = compute.body(0) else { return Vec::new() };
    let extents =
        [compute.ints("axes").unwrap_or_default(), compute.ints("reduce").unwrap_or_default()].concat();
    let mut known: HashMap<usize, Expr> = HashMap::new();
    for (i, (axis, extent)) in arguments(body).into_iter().zip(extents).enumerate() {
        known.insert(key(axis), Expr::var(i, extent.max(0) as u64));
    }
    let mut found = Vec::new();
    for op in ops_in(body) {
        if matches!(kind_of(op), Some(Kind::Te(Te::Load))) {
            let operands = op.operand_values();
            let indices = operands[1..].iter().map(|v| value_of(*v, &known)).collect();
            found.push(Access { tensor: operands[0], indices });
        } else if let Some(value) = index_op(op, &mut |v| value_of(v, &known)) {
            known.insert(key(op.result_values()[0]), value);
        }
    }
    found
}

/// The expression of a value: known, or a constant that was moved out of the body.
fn value_of(value: Value, known: &HashMap<usize, Expr>) -> Option<Expr> {
    if let Some(e) = known.get(&key(value)) {
        return Some(e.clone());
    }
    let op = fusion_dialects::defining_op(value)?;
    matches!(kind_of(op), Some(Kind::Upstream(Upstream::ArithConstant)))
        .then(|| op.int("value"))?
        .map(Expr::constant)
}

/// An expression over axes at a point: variable `i` becomes `axes[i]`. `None` when it needs one that is not known.
pub fn put(e: &Expr, axes: &[Option<Expr>]) -> Option<Expr> {
    let unknown = axes.iter().enumerate().any(|(i, a)| a.is_none() && e.mentions(i));
    (!unknown).then(|| e.substitute(&|v| axes.get(v.id).cloned().flatten()))
}
