//! Reads the index arithmetic of a `te.compute` as expressions.
//!
//! The body computes indices with `arith` operations on `index`. Sums, multiples by constants, quotients and
//! remainders become [`Expr`]; anything else is opaque.

pub mod expr;
mod write;

use crate::rows::{Kind, Upstream};
use crate::te::{Op as Te, Scalars};
use crate::{Affine, Op, OpExt, Value, ValueLike, arguments, is_index_type, key, kind_of, ops_in};
use expr::{Atom, Expr};
use std::collections::HashMap;
pub use write::{Indices, RANGED};

/// A load in the body of a stage.
pub struct Access<'c> {
    /// The tensor read.
    pub tensor: Value<'c>,
    /// Its indices; `None` for those that depend on data or on more than index arithmetic.
    pub indices: Vec<Option<Expr>>,
    /// True when it is made only where a condition holds.
    pub is_conditional: bool,
}

/// The value of an index operation from those of its operands; `None` when it is none that is understood.
pub fn index_op<'c>(op: Op<'c>, operand: &mut dyn FnMut(Value<'c>) -> Option<Expr>) -> Option<Expr> {
    let Some(Kind::Upstream(kind)) = kind_of(op) else { return None };
    let is_index = op.result_values().first().is_some_and(|v| is_index_type(v.r#type()));
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

/// The value of an affine expression from those of its inputs; `None` for products of two of them and divisors that are no number above 0.
pub fn affine(e: &Affine, inputs: &[Expr]) -> Option<Expr> {
    let side = |e: &Affine| affine(e, inputs);
    let positive = |e: &Affine| side(e)?.as_constant().filter(|n| *n > 0);
    Some(match e {
        Affine::Input(i) => inputs.get(*i)?.clone(),
        Affine::Constant(c) => Expr::constant(*c),
        Affine::Add(a, b) => side(a)?.plus(&side(b)?),
        Affine::Mul(a, b) => match (side(a)?, side(b)?) {
            (a, b) if b.as_constant().is_some() => a.times(b.as_constant()?),
            (a, b) => b.times(a.as_constant()?),
        },
        Affine::Mod(a, b) => side(a)?.modulo(positive(b)?),
        Affine::FloorDiv(a, b) => side(a)?.div(positive(b)?),
        Affine::CeilDiv(a, b) => {
            let by = positive(b)?;
            side(a)?.plus(&Expr::constant(by - 1)).div(by)
        }
    })
}

fn not_negative(e: &Expr) -> bool {
    e.range().is_some_and(|(low, _)| low >= 0)
}

/// The tensor and the indices of a load, conditional or not.
pub fn load_of<'c>(op: Op<'c>) -> Option<(Value<'c>, Vec<Value<'c>>)> {
    let operands = op.operand_values();
    match kind_of(op) {
        Some(Kind::Te(Te::Load)) => Some((operands[0], operands[1..].to_vec())),
        Some(Kind::Te(Te::LoadIf)) => Some((operands[0], operands[1..operands.len() - 2].to_vec())),
        _ => None,
    }
}

/// What the comparisons of indices in the body of a stage ask: those expressions of its axes, not to be negative.
/// Comparisons that are not of that kind are left out.
pub fn conditions(compute: Op) -> Vec<Expr> {
    let known = indices_of(compute);
    let asked = |op| match comparison(op, &mut |v| value_of(v, &known)) {
        Some(Comparison::NotNegative(e)) => Some(e),
        _ => None,
    };
    compute.body(0).map(ops_in).unwrap_or_default().into_iter().filter_map(asked).collect()
}

/// The same of one condition in that body: what must not be negative for it to hold.
pub fn needed_for(compute: Op, condition: Value) -> Vec<Expr> {
    let known = indices_of(compute);
    let mut open = vec![condition];
    let mut found = Vec::new();
    while let Some(op) = open.pop().and_then(crate::defining_op) {
        if let Some(Comparison::NotNegative(e)) = comparison(op, &mut |v| value_of(v, &known)) {
            found.push(e);
        } else if matches!(kind_of(op), Some(Kind::Upstream(Upstream::AndI))) {
            open.extend(op.operand_values().into_iter().rev());
        }
    }
    found
}

/// The index expressions in the body of a stage.
fn indices_of(compute: Op) -> HashMap<usize, Expr> {
    let mut known = axes_of(compute);
    for op in compute.body(0).map(ops_in).unwrap_or_default() {
        if let Some(value) = index_op(op, &mut |v| value_of(v, &known)) {
            known.insert(key(op.result_values()[0]), value);
        }
    }
    known
}

/// What a comparison of indices asks.
pub enum Comparison {
    /// That this is not negative.
    NotNegative(Expr),
    /// That this is 0, or is not.
    Zero(Expr, bool),
}

impl Comparison {
    /// The outcome, when the ranges of the variables leave only one.
    pub fn decided(&self) -> Option<bool> {
        match self {
            Comparison::NotNegative(e) => match e.range()? {
                (low, _) if low >= 0 => Some(true),
                (_, high) if high < 0 => Some(false),
                _ => None,
            },
            Comparison::Zero(e, wanted) => match e.range()? {
                (0, 0) => Some(*wanted),
                (low, high) if low > 0 || high < 0 => Some(!wanted),
                _ => None,
            },
        }
    }
}

/// A comparison of two indices that are understood; signed, as indices are.
pub fn comparison<'c>(op: Op<'c>, operand: &mut dyn FnMut(Value<'c>) -> Option<Expr>) -> Option<Comparison> {
    if !matches!(kind_of(op), Some(Kind::Upstream(Upstream::CmpI))) {
        return None;
    }
    let operands = op.operand_values();
    if !is_index_type(operands.first()?.r#type()) {
        return None;
    }
    let (a, b) = (operand(operands[0])?, operand(operands[1])?);
    let minus_one = |e: Expr| e.plus(&Expr::constant(-1));
    // The numbers of arith's predicates: eq, ne, slt, sle, sgt, sge.
    match op.int("predicate")? {
        0 => Some(Comparison::Zero(a.minus(&b), true)),
        1 => Some(Comparison::Zero(a.minus(&b), false)),
        2 => Some(Comparison::NotNegative(minus_one(b.minus(&a)))),
        3 => Some(Comparison::NotNegative(b.minus(&a))),
        4 => Some(Comparison::NotNegative(minus_one(a.minus(&b)))),
        5 => Some(Comparison::NotNegative(a.minus(&b))),
        _ => None,
    }
}

/// The axes of a stage as variables.
fn axes_of(compute: Op) -> HashMap<usize, Expr> {
    let extents =
        [compute.ints("axes").unwrap_or_default(), compute.ints("reduce").unwrap_or_default()].concat();
    let axes = compute.body(0).map(arguments).unwrap_or_default();
    let axes = axes.into_iter().zip(extents).enumerate();
    axes.map(|(i, (axis, extent))| (key(axis), Expr::var(i, extent.max(0) as u64))).collect()
}

/// All loads of a stage, in the order of its text.
pub fn loads<'c>(compute: Op<'c>) -> Vec<Op<'c>> {
    let inside = compute.body(0).map(ops_in).unwrap_or_default();
    inside.into_iter().filter(|op| load_of(*op).is_some()).collect()
}

/// All loads of a stage, with indices in terms of its axes: variable `i` is axis `i`, parallel axes first.
pub fn accesses<'c>(compute: Op<'c>) -> Vec<Access<'c>> {
    let known = indices_of(compute);
    let access = |op: Op<'c>| {
        let (tensor, indices) = load_of(op)?;
        let indices = indices.iter().map(|v| value_of(*v, &known)).collect();
        let is_conditional = matches!(kind_of(op), Some(Kind::Te(Te::LoadIf)));
        Some(Access { tensor, indices, is_conditional })
    };
    loads(compute).into_iter().filter_map(access).collect()
}

/// The expression of a value: known, or a constant that was moved out of the body.
fn value_of(value: Value, known: &HashMap<usize, Expr>) -> Option<Expr> {
    known.get(&key(value)).cloned().or_else(|| constant(value))
}

/// The expression of a value that is a constant.
pub fn constant(value: Value) -> Option<Expr> {
    let op = crate::defining_op(value)?;
    matches!(kind_of(op), Some(Kind::Upstream(Upstream::ArithConstant)))
        .then(|| op.int("value"))?
        .map(Expr::constant)
}

/// An expression over axes at a point: variable `i` becomes `axes[i]`. `None` when it needs one that is not known.
pub fn put(e: &Expr, axes: &[Option<Expr>]) -> Option<Expr> {
    let unknown = axes.iter().enumerate().any(|(i, a)| a.is_none() && e.mentions(i));
    (!unknown).then(|| e.substitute(&|v| axes.get(v.id).cloned().flatten()))
}

/// Builds the value of an expression, whose variables have those values.
pub fn value_at<'c>(s: &Scalars<'c>, e: &Expr, variable: &dyn Fn(usize) -> Option<Value<'c>>) -> Value<'c> {
    let mut sum = None;
    for (atom, c) in e.terms() {
        let value = match atom {
            Atom::Var(v) => variable(v.id),
            Atom::Div(e, n) => Some(s.index_div(value_at(s, e, variable), *n)),
            Atom::Mod(e, n) => Some(s.index_mod(value_at(s, e, variable), *n)),
            Atom::Opaque(_) => None,
        };
        let Some(value) = value else { continue };
        let term = s.index_affine(value, c, 0);
        sum = Some(sum.map_or(term, |sum| s.index_add(sum, term)));
    }
    match sum {
        None => s.index(e.offset()),
        Some(sum) => s.index_affine(sum, 1, e.offset()),
    }
}
