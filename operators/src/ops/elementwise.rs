//! Elementwise operators: unary, binary with NumPy broadcasting, comparison, logic, select, cast.
//!
//! `y[i] = f(x0[i'], x1[i''], ...)` where `i'` is `i` with broadcast axes at 0.

use crate::form::{Form, dtype, float, form, operand};
use crate::operator::Related;
use crate::operator::cost::{free, one_each, ten_each};
use crate::reference::EvalError;
use crate::reference::elementwise::{bitcast, cast, map, map_int, modulo, power, select, shift, zip};
use crate::relation::{broadcast, broadcast_all, broadcast_to_bool, same_as_first, same_dtype};
use crate::{Call, DType, FusionKind, Operator, Precision, TensorType, operators, require};

const fn unary(
    name: &'static str,
    cost: crate::operator::Cost,
    reference: crate::operator::Reference,
) -> Operator {
    Operator::new(name, FusionKind::Elementwise, same_as_first, cost, reference)
}

/// A function of floats only. C1: the operand is a float tensor.
const fn float_unary(
    name: &'static str,
    cost: crate::operator::Cost,
    reference: crate::operator::Reference,
) -> Operator {
    Operator { relation: float_only, ..unary(name, cost, reference) }
}

/// A function that takes tens of operations, of floats only. Small differences of what it takes are large ones of what it gives, or the other way round.
const fn function(name: &'static str, reference: crate::operator::Reference) -> Operator {
    float_unary(name, ten_each, reference).computes(Precision::Wide)
}

const fn binary(
    name: &'static str,
    cost: crate::operator::Cost,
    reference: crate::operator::Reference,
) -> Operator {
    Operator::new(name, FusionKind::Broadcast, broadcast, cost, reference).of(Form::BINARY)
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

/// C1: `dtype` is given, and has the size of the operand's element type.
fn bitcast_relation(call: &Call) -> Related {
    let result = cast_relation(call)?;
    let (from, to) = (call.operands[0].dtype, result[0].dtype);
    require!(from.size() == to.size(), C 1, "elements of {from} have {} bytes, those of {to} {}", from.size(), to.size());
    Ok(result)
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
    /// Absolute value
    ABS = unary("abs", one_each, |_, r, x| map_int(&r[0], &x[0], f64::abs, i128::abs));
    /// Negation
    NEG = unary("neg", one_each, |_, r, x| map_int(&r[0], &x[0], |v| -v, |v| -v));
    /// -1, 0 or 1
    SIGN = unary("sign", one_each, |_, r, x| map_int(&r[0], &x[0], sign, i128::signum));
    /// max(x, 0)
    RELU = unary("relu", one_each, |_, r, x| map_int(&r[0], &x[0], |v| max_nan(v, 0.0), |v| v.max(0)));
    /// Exponential
    EXP = function("exp", |_, r, x| map(&r[0], &x[0], f64::exp));
    /// Natural logarithm
    LOG = function("log", |_, r, x| map(&r[0], &x[0], f64::ln));
    /// Natural logarithm of 1 + x
    ///
    /// As exact as x where that is small.
    LOG1P = function("log1p", |_, r, x| map(&r[0], &x[0], f64::ln_1p));
    /// Square root
    SQRT = function("sqrt", |_, r, x| map(&r[0], &x[0], f64::sqrt));
    /// 1 / sqrt(x)
    RSQRT = function("rsqrt", |_, r, x| map(&r[0], &x[0], |v| 1.0 / v.sqrt()));
    /// 1 / x
    RECIPROCAL = float_unary("reciprocal", one_each, |_, r, x| map(&r[0], &x[0], |v| 1.0 / v));
    /// Sine
    SIN = function("sin", |_, r, x| map(&r[0], &x[0], f64::sin));
    /// Cosine
    COS = function("cos", |_, r, x| map(&r[0], &x[0], f64::cos));
    /// Tangent
    TAN = function("tan", |_, r, x| map(&r[0], &x[0], f64::tan));
    /// Inverse sine
    ASIN = function("asin", |_, r, x| map(&r[0], &x[0], f64::asin));
    /// Inverse cosine
    ACOS = function("acos", |_, r, x| map(&r[0], &x[0], f64::acos));
    /// Inverse tangent
    ATAN = function("atan", |_, r, x| map(&r[0], &x[0], f64::atan));
    /// Hyperbolic sine
    SINH = function("sinh", |_, r, x| map(&r[0], &x[0], f64::sinh));
    /// Hyperbolic cosine
    COSH = function("cosh", |_, r, x| map(&r[0], &x[0], f64::cosh));
    /// Hyperbolic tangent
    TANH = function("tanh", |_, r, x| map(&r[0], &x[0], f64::tanh));
    /// Inverse hyperbolic sine
    ASINH = function("asinh", |_, r, x| map(&r[0], &x[0], f64::asinh));
    /// Inverse hyperbolic cosine
    ACOSH = function("acosh", |_, r, x| map(&r[0], &x[0], f64::acosh));
    /// Inverse hyperbolic tangent
    ATANH = function("atanh", |_, r, x| map(&r[0], &x[0], f64::atanh));
    /// Error function
    ///
    /// Abramowitz and Stegun 7.1.1.
    ERF = function("erf", |_, r, x| map(&r[0], &x[0], crate::reference::elementwise::erf));
    /// 1 / (1 + exp(-x))
    SIGMOID = function("sigmoid", |_, r, x| map(&r[0], &x[0], |v| 1.0 / (1.0 + (-v).exp())));
    /// Greatest integer not above
    FLOOR = float_unary("floor", one_each, |_, r, x| map(&r[0], &x[0], f64::floor));
    /// Least integer not below
    CEIL = float_unary("ceil", one_each, |_, r, x| map(&r[0], &x[0], f64::ceil));
    /// Nearest integer, halves to even
    ROUND = float_unary("round", one_each, |_, r, x| map(&r[0], &x[0], f64::round_ties_even));
    /// True where x is not a number
    IS_NAN = Operator { relation: float_to_bool, ..unary("is_nan", one_each, |_, r, x| map(&r[0], &x[0], |v| v.is_nan().into())) };
    /// True where x is infinite
    IS_INF = Operator { relation: float_to_bool, ..unary("is_inf", one_each, |_, r, x| map(&r[0], &x[0], |v| v.is_infinite().into())) };
    /// Boolean negation
    LOGICAL_NOT = Operator { relation: bool_only, ..unary("logical_not", one_each, |_, r, x| map_int(&r[0], &x[0], |v| v, |v| 1 - v)) };
    /// Complement of each bit
    BITWISE_NOT = Operator { relation: int_only, ..unary("bitwise_not", one_each, |_, r, x| map_int(&r[0], &x[0], |v| v, |v| !v)) };

    /// Sum
    ADD = binary("add", one_each, |_, r, x| zip(&r[0], x, |a, b| a + b, |a, b| Ok(a + b))).commutes();
    /// Difference
    SUB = binary("sub", one_each, |_, r, x| zip(&r[0], x, |a, b| a - b, |a, b| Ok(a - b)));
    /// Product
    MUL = binary("mul", one_each, |_, r, x| zip(&r[0], x, |a, b| a * b, |a, b| Ok(a.wrapping_mul(b)))).commutes();
    /// Quotient; of integers, truncated toward zero
    DIV = binary("div", one_each, |_, r, x| zip(&r[0], x, |a, b| a / b, div_int));
    /// Remainder with the sign of the divisor
    MOD = binary("mod", ten_each, |_, r, x| modulo(&r[0], x, true)).computes(Precision::Wide);
    /// Remainder with the sign of the dividend
    FMOD = binary("fmod", ten_each, |_, r, x| modulo(&r[0], x, false)).computes(Precision::Wide);
    /// Power
    POW = binary("pow", ten_each, |_, r, x| power(&r[0], x)).computes(Precision::Wide);
    /// The smaller; NaN when either is
    MINIMUM = binary("minimum", one_each, |_, r, x| zip(&r[0], x, min_nan, |a, b| Ok(a.min(b)))).commutes();
    /// The greater; NaN when either is
    MAXIMUM = binary("maximum", one_each, |_, r, x| zip(&r[0], x, max_nan, |a, b| Ok(a.max(b)))).commutes();

    /// x0 == x1
    EQUAL = compare("equal", |_, r, x| zip(&r[0], x, |a, b| (a == b).into(), |a, b| Ok((a == b).into()))).commutes().of_strings();
    /// x0 != x1
    NOT_EQUAL = compare("not_equal", |_, r, x| zip(&r[0], x, |a, b| (a != b).into(), |a, b| Ok((a != b).into()))).commutes().of_strings();
    /// x0 < x1
    LESS = compare("less", |_, r, x| zip(&r[0], x, |a, b| (a < b).into(), |a, b| Ok((a < b).into())));
    /// x0 <= x1
    LESS_EQUAL = compare("less_equal", |_, r, x| zip(&r[0], x, |a, b| (a <= b).into(), |a, b| Ok((a <= b).into())));
    /// x0 > x1
    GREATER = compare("greater", |_, r, x| zip(&r[0], x, |a, b| (a > b).into(), |a, b| Ok((a > b).into())));
    /// x0 >= x1
    GREATER_EQUAL = compare("greater_equal", |_, r, x| zip(&r[0], x, |a, b| (a >= b).into(), |a, b| Ok((a >= b).into())));

    /// Both
    LOGICAL_AND = logical("logical_and", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a & b))).commutes();
    /// Either
    LOGICAL_OR = logical("logical_or", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a | b))).commutes();
    /// One, not both
    LOGICAL_XOR = logical("logical_xor", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a ^ b))).commutes();
    /// And of each bit
    BITWISE_AND = bitwise("bitwise_and", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a & b))).commutes();
    /// Or of each bit
    BITWISE_OR = bitwise("bitwise_or", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a | b))).commutes();
    /// Exclusive or of each bit
    BITWISE_XOR = bitwise("bitwise_xor", |_, r, x| zip(&r[0], x, |a, _| a, |a, b| Ok(a ^ b))).commutes();
    /// x0 * 2^x1; 0 when x1 is the width or more, or below 0
    SHIFT_LEFT = bitwise("shift_left", |_, r, x| shift(&r[0], x, |a, n| a << n));
    /// Logical for unsigned, arithmetic for signed integers; by the width or more, or less than 0, only the sign is left
    SHIFT_RIGHT = bitwise("shift_right", |_, r, x| shift(&r[0], x, |a, n| a >> n));

    /// condition ? x : y, with broadcasting
    WHERE = Operator::new("where", FusionKind::Broadcast, where_relation, one_each, |_, r, x| select(&r[0], x))
        .of(form(&[operand("condition"), operand("x"), operand("y")])).of_strings();
    /// Conversion to another element type
    ///
    /// Floats to integers truncate toward zero and saturate; integers wrap; to boolean is `x != 0`. C1: dtype is an element type.
    CAST = Operator { relation: cast_relation, ..unary("cast", free, |_, r, x| cast(&r[0], &x[0])) }
        .of(form(&[operand("operand")]).attributes(&[dtype("dtype").required()]));
    /// The bits of each element as another element type of its size; as a boolean, whether any is set
    ///
    /// C1: dtype is an element type of that size.
    BITCAST = Operator { relation: bitcast_relation, ..unary("bitcast", free, |_, r, x| bitcast(&r[0], &x[0])) }
        .of(form(&[operand("operand")]).attributes(&[dtype("dtype").required()]));
    /// min(max(x, min), max); an absent bound is none
    CLIP = unary("clip", one_each, crate::reference::elementwise::clip)
        .of(form(&[operand("operand")]).attributes(&[float("min"), float("max")]));
}
