//! Elementwise operators: unary, binary with NumPy broadcasting, comparison, logic, select, cast.
//!
//! `y[i] = f(x0[i'], x1[i''], ...)` where `i'` is `i` with broadcast axes at 0.

use crate::operator::Related;
use crate::operator::cost::{free, one_each, ten_each};
use crate::reference::EvalError;
use crate::reference::elementwise::{cast, map, map_int, modulo, power, select, shift, zip};
use crate::relation::{broadcast, broadcast_all, broadcast_to_bool, same_as_first, same_dtype};
use crate::{Call, DType, FusionKind, Operator, TensorType, operators, require};

const fn unary(
    name: &'static str,
    cost: crate::operator::Cost,
    reference: crate::operator::Reference,
) -> Operator {
    Operator {
        name,
        arity: (1, 1),
        relation: same_as_first,
        fusion: FusionKind::Elementwise,
        cost,
        reference,
    }
}

/// A function of floats only. C1: the operand is a float tensor.
const fn float_unary(
    name: &'static str,
    cost: crate::operator::Cost,
    reference: crate::operator::Reference,
) -> Operator {
    Operator { relation: float_only, ..unary(name, cost, reference) }
}

const fn binary(
    name: &'static str,
    cost: crate::operator::Cost,
    reference: crate::operator::Reference,
) -> Operator {
    Operator { name, arity: (2, 2), relation: broadcast, fusion: FusionKind::Broadcast, cost, reference }
}

const fn compare(name: &'static str, reference: crate::operator::Reference) -> Operator {
    Operator { relation: broadcast_to_bool, ..binary(name, one_each, reference) }
}

const fn logical(name: &'static str, reference: crate::operator::Reference) -> Operator {
    Operator { relation: bool_broadcast, ..binary(name, one_each, reference) }
}

const fn bitwise(name: &'static str, reference: crate::operator::Reference) -> Operator {
    Operator { relation: int_broadcast, ..binary(name, one_each, reference) }
}

fn float_only(call: &Call) -> Related {
    let ty = &call.operands[0];
    require!(ty.dtype.is_float(), C 1, "the operand must be a float tensor, found {ty}");
    same_as_first(call)
}

/// C1: the operand is a float tensor. The result is boolean.
fn float_to_bool(call: &Call) -> Related {
    Ok(vec![float_only(call)?[0].with_dtype(DType::Bool)])
}

/// C1, C2 as [`broadcast`]. C3: the operands are boolean.
fn bool_broadcast(call: &Call) -> Related {
    let result = broadcast(call)?;
    require!(result[0].dtype == DType::Bool, C 3, "operands must be boolean (i1), found {}", result[0].dtype);
    Ok(result)
}

/// C1, C2 as [`broadcast`]. C3: the operands are integers.
fn int_broadcast(call: &Call) -> Related {
    let result = broadcast(call)?;
    require!(result[0].dtype.is_int(), C 3, "operands must be integers, found {}", result[0].dtype);
    Ok(result)
}

fn bool_only(call: &Call) -> Related {
    let ty = &call.operands[0];
    require!(ty.dtype == DType::Bool, C 1, "the operand must be boolean (i1), found {ty}");
    same_as_first(call)
}

fn int_only(call: &Call) -> Related {
    let ty = &call.operands[0];
    require!(ty.dtype.is_int(), C 1, "the operand must be an integer tensor, found {ty}");
    same_as_first(call)
}

/// C1: `dtype` is given. The result has the operand's shape and that element type.
fn cast_relation(call: &Call) -> Related {
    let Some(dtype) = call.attrs.dtype("dtype") else {
        return Err(crate::Violation::new(1, "attribute dtype must be an element type"));
    };
    Ok(vec![call.operands[0].with_dtype(dtype)])
}

/// C1: the condition is boolean. C2: the two values have one element type. C3: the shapes broadcast.
fn where_relation(call: &Call) -> Related {
    let condition = &call.operands[0];
    require!(condition.dtype == DType::Bool, C 1, "the condition must be boolean (i1), found {condition}");
    same_dtype(&call.operands[1..], 2)?;
    Ok(vec![TensorType::new(broadcast_all(call.operands, 3)?, call.operands[1].dtype)])
}

fn div_int(a: i128, b: i128) -> Result<i128, EvalError> {
    if b == 0 { Err(EvalError::Value("integer division by zero".into())) } else { Ok(a / b) }
}

/// The greater of two numbers; NaN when either is NaN.
pub(crate) fn max_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The smaller of two numbers; NaN when either is NaN.
pub(crate) fn min_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

fn sign(v: f64) -> f64 {
    if v == 0.0 || v.is_nan() { v } else { v.signum() }
}

operators! {
    /// `|x|`
    ABS = unary("abs", one_each, |_, r, x| map_int(&r[0], &x[0], f64::abs, i128::abs));
    /// `-x`
    NEG = unary("neg", one_each, |_, r, x| map_int(&r[0], &x[0], |v| -v, |v| -v));
    /// -1, 0 or 1
    SIGN = unary("sign", one_each, |_, r, x| map_int(&r[0], &x[0], sign, i128::signum));
    /// `max(x, 0)`
    RELU = unary("relu", one_each, |_, r, x| map_int(&r[0], &x[0], |v| max_nan(v, 0.0), |v| v.max(0)));
    EXP = float_unary("exp", ten_each, |_, r, x| map(&r[0], &x[0], f64::exp));
    LOG = float_unary("log", ten_each, |_, r, x| map(&r[0], &x[0], f64::ln));
    /// `log(1 + x)`, as exact as `x` where that is small
    LOG1P = float_unary("log1p", ten_each, |_, r, x| map(&r[0], &x[0], f64::ln_1p));
    SQRT = float_unary("sqrt", ten_each, |_, r, x| map(&r[0], &x[0], f64::sqrt));
    RSQRT = float_unary("rsqrt", ten_each, |_, r, x| map(&r[0], &x[0], |v| 1.0 / v.sqrt()));
    /// `1 / x`
    RECIPROCAL = float_unary("reciprocal", one_each, |_, r, x| map(&r[0], &x[0], |v| 1.0 / v));
    SIN = float_unary("sin", ten_each, |_, r, x| map(&r[0], &x[0], f64::sin));
    COS = float_unary("cos", ten_each, |_, r, x| map(&r[0], &x[0], f64::cos));
    TAN = float_unary("tan", ten_each, |_, r, x| map(&r[0], &x[0], f64::tan));
    ASIN = float_unary("asin", ten_each, |_, r, x| map(&r[0], &x[0], f64::asin));
    ACOS = float_unary("acos", ten_each, |_, r, x| map(&r[0], &x[0], f64::acos));
    ATAN = float_unary("atan", ten_each, |_, r, x| map(&r[0], &x[0], f64::atan));
    SINH = float_unary("sinh", ten_each, |_, r, x| map(&r[0], &x[0], f64::sinh));
    COSH = float_unary("cosh", ten_each, |_, r, x| map(&r[0], &x[0], f64::cosh));
    TANH = float_unary("tanh", ten_each, |_, r, x| map(&r[0], &x[0], f64::tanh));
    ASINH = float_unary("asinh", ten_each, |_, r, x| map(&r[0], &x[0], f64::asinh));
    ACOSH = float_unary("acosh", ten_each, |_, r, x| map(&r[0], &x[0], f64::acosh));
    ATANH = float_unary("atanh", ten_each, |_, r, x| map(&r[0], &x[0], f64::atanh));
    /// The error function (Abramowitz and Stegun 7.1.1)
    ERF = float_unary("erf", ten_each, |_, r, x| map(&r[0], &x[0], crate::reference::elementwise::erf));
    /// `1 / (1 + exp(-x))`
    SIGMOID = float_unary("sigmoid", ten_each, |_, r, x| map(&r[0], &x[0], |v| 1.0 / (1.0 + (-v).exp())));
    FLOOR = float_unary("floor", one_each, |_, r, x| map(&r[0], &x[0], f64::floor));
    CEIL = float_unary("ceil", one_each, |_, r, x| map(&r[0], &x[0], f64::ceil));
    /// To the nearest integer, halves to even
    ROUND = float_unary("round", one_each, |_, r, x| map(&r[0], &x[0], f64::round_ties_even));
    IS_NAN = Operator { relation: float_to_bool, ..unary("is_nan", one_each, |_, r, x| map(&r[0], &x[0], |v| v.is_nan().into())) };
    IS_INF = Operator { relation: float_to_bool, ..unary("is_inf", one_each, |_, r, x| map(&r[0], &x[0], |v| v.is_infinite().into())) };
    LOGICAL_NOT = Operator { relation: bool_only, ..unary("logical_not", one_each, |_, r, x| map_int(&r[0], &x[0], |v| v, |v| 1 - v)) };
    BITWISE_NOT = Operator { relation: int_only, ..unary("bitwise_not", one_each, |_, r, x| map_int(&r[0], &x[0], |v| v, |v| !v)) };

    ADD = binary("add", one_each, |_, r, x| zip(&r[0], x, |a, b| a + b, |a, b| Ok(a + b)));
    SUB = binary("sub", one_each, |_, r, x| zip(&r[0], x, |a, b| a - b, |a, b| Ok(a - b)));
    MUL = binary("mul", one_each, |_, r, x| zip(&r[0], x, |a, b| a * b, |a, b| Ok(a.wrapping_mul(b))));
    /// Division; of integers, truncated toward zero
    DIV = binary("div", one_each, |_, r, x| zip(&r[0], x, |a, b| a / b, div_int));
    /// Remainder with the sign of the divisor
    MOD = binary("mod", ten_each, |_, r, x| modulo(&r[0], x, true));
    /// Remainder with the sign of the dividend
    FMOD = binary("fmod", ten_each, |_, r, x| modulo(&r[0], x, false));
    POW = binary("pow", ten_each, |_, r, x| power(&r[0], x));
    MINIMUM = binary("minimum", one_each, |_, r, x| zip(&r[0], x, min_nan, |a, b| Ok(a.min(b))));
    MAXIMUM = binary("maximum", one_each, |_, r, x| zip(&r[0], x, max_nan, |a, b| Ok(a.max(b))));

    EQUAL = compare("equal", |_, r, x| zip(&r[0], x, |a, b| (a == b).into(), |a, b| Ok((a == b).into())));
    NOT_EQUAL = compare("not_equal", |_, r, x| zip(&r[0], x, |a, b| (a != b).into(), |a, b| Ok((a != b).into())));
    LESS = compare("less", |_, r, x| zip(&r[0], x, |a, b| (a < b).into(), |a, b| Ok((a < b).into())));
    LESS_EQUAL = compare("less_equal", |_, r, x| zip(&r[0], x, |a, b| (a <= b).into(), |a, b| Ok((a <= b).into())));
    GREATER = compare("greater", |_, r, x| zip(&r[0], x, |a, b| (a > b).into(), |a, b| Ok((a > b).into())));
    GREATER_EQUAL = compare("greater_equal", |_, r, x| zip(&r[0], x, |a, b| (a >= b).into(), |a, b| Ok((a >= b).into())));

    LOGICAL_AND = logical("logical_and", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a & b)));
    LOGICAL_OR = logical("logical_or", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a | b)));
    LOGICAL_XOR = logical("logical_xor", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a ^ b)));
    BITWISE_AND = bitwise("bitwise_and", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a & b)));
    BITWISE_OR = bitwise("bitwise_or", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a | b)));
    BITWISE_XOR = bitwise("bitwise_xor", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a ^ b)));
    /// `x0 * 2^x1`; 0 when `x1` is the width or more
    SHIFT_LEFT = bitwise("shift_left", |_, r, x| shift(&r[0], x, |a, n| a << n));
    /// Logical for unsigned, arithmetic for signed integers
    SHIFT_RIGHT = bitwise("shift_right", |_, r, x| shift(&r[0], x, |a, n| a >> n));

    /// `condition ? x : y`
    WHERE = Operator { name: "where", arity: (3, 3), relation: where_relation, fusion: FusionKind::Broadcast, cost: one_each, reference: |_, r, x| select(&r[0], x) };
    /// To another element type: floats to integers truncate toward zero and saturate; integers wrap; to boolean, `x != 0`
    CAST = Operator { relation: cast_relation, ..unary("cast", free, |_, r, x| cast(&r[0], &x[0])) };
    /// `min(max(x, min), max)`; an absent bound is none
    CLIP = unary("clip", one_each, crate::reference::elementwise::clip);
}
