//! Elementwise operators on real numbers: arithmetic, comparisons, functions.
//!
//! Where an operand may be complex, `complex` has the formula. Quotients of integers are what XLA makes of them: x / 0 is -1 and
//! x % 0 is x, and the least integer over -1 is itself.

use super::bits::ordered_key;
use super::complex;
use super::{Row, row};
use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::types::Element;
use fusion_dialects::Value;
use fusion_operators::dtype::Class;
use fusion_operators::ops::elementwise as ew;
use fusion_operators::{DType, Operator};

type Unary = for<'c, 'p> fn(&mut Emitter<'c, 'p>, Value<'c>) -> Outcome<Value<'c>>;
type Binary = for<'c, 'p> fn(&mut Emitter<'c, 'p>, Value<'c>, Value<'c>) -> Outcome<Value<'c>>;

macro_rules! unary {
    ($name:literal, $f:expr) => {
        row($name, |e, op, x| real(e, op, x, $f))
    };
}
macro_rules! binary {
    ($name:literal, $f:expr) => {
        row($name, |e, op, x| two(e, op, x, $f))
    };
}

pub const ROWS: &[Row] = &[
    row("stablehlo.abs", |e, op, x| complex::or_real(e, op, x, complex::abs, |e, x| e.un(&ew::ABS, x))),
    row("stablehlo.negate", |e, op, x| complex::each(e, op, x, |e, x| e.un(&ew::NEG, x))),
    row("stablehlo.sign", |e, op, x| complex::or_real(e, op, x, complex::sign, |e, x| e.un(&ew::SIGN, x))),
    row("stablehlo.exponential", |e, op, x| complex::or_real(e, op, x, complex::exp, |e, x| e.un(&ew::EXP, x))),
    row("stablehlo.exponential_minus_one", |e, op, x| complex::or_real(e, op, x, complex::expm1, expm1)),
    row("stablehlo.log", |e, op, x| complex::or_real(e, op, x, complex::log, |e, x| e.un(&ew::LOG, x))),
    row("stablehlo.log_plus_one", |e, op, x| complex::or_real(e, op, x, complex::log1p, |e, x| e.un(&ew::LOG1P, x))),
    row("stablehlo.sqrt", |e, op, x| complex::or_real(e, op, x, complex::sqrt, |e, x| e.un(&ew::SQRT, x))),
    row("stablehlo.rsqrt", |e, op, x| complex::or_real(e, op, x, complex::rsqrt, |e, x| e.un(&ew::RSQRT, x))),
    row("stablehlo.sine", |e, op, x| complex::or_real(e, op, x, complex::sin, |e, x| e.un(&ew::SIN, x))),
    row("stablehlo.cosine", |e, op, x| complex::or_real(e, op, x, complex::cos, |e, x| e.un(&ew::COS, x))),
    row("stablehlo.tan", |e, op, x| complex::or_real(e, op, x, complex::tan, |e, x| e.un(&ew::TAN, x))),
    row("stablehlo.tanh", |e, op, x| complex::or_real(e, op, x, complex::tanh, |e, x| e.un(&ew::TANH, x))),
    row("stablehlo.logistic", |e, op, x| complex::or_real(e, op, x, complex::logistic, |e, x| e.un(&ew::SIGMOID, x))),
    unary!("stablehlo.cbrt", cbrt),
    unary!("stablehlo.floor", |e, x| e.un(&ew::FLOOR, x)),
    unary!("stablehlo.ceil", |e, x| e.un(&ew::CEIL, x)),
    unary!("stablehlo.round_nearest_even", |e, x| e.un(&ew::ROUND, x)),
    unary!("stablehlo.round_nearest_afz", round_afz),
    unary!("stablehlo.is_finite", is_finite),
    unary!("stablehlo.not", not),
    row("stablehlo.add", |e, op, x| complex::or_two(e, op, x, complex::add, add)),
    row("stablehlo.subtract", |e, op, x| complex::or_two(e, op, x, complex::sub, |e, a, b| e.sub(a, b))),
    row("stablehlo.multiply", |e, op, x| complex::or_two(e, op, x, complex::mul, mul)),
    row("stablehlo.divide", |e, op, x| complex::or_two(e, op, x, complex::div, divide)),
    row("stablehlo.power", |e, op, x| complex::or_two(e, op, x, complex::pow, |e, a, b| e.bin(&ew::POW, a, b))),
    binary!("stablehlo.remainder", remainder),
    binary!("stablehlo.maximum", maximum),
    binary!("stablehlo.minimum", minimum),
    binary!("stablehlo.and", |e, a, b| bitwise(e, a, b, &ew::LOGICAL_AND, &ew::BITWISE_AND)),
    binary!("stablehlo.or", |e, a, b| bitwise(e, a, b, &ew::LOGICAL_OR, &ew::BITWISE_OR)),
    binary!("stablehlo.xor", |e, a, b| bitwise(e, a, b, &ew::LOGICAL_XOR, &ew::BITWISE_XOR)),
    binary!("stablehlo.atan2", atan2),
    row("stablehlo.compare", compare),
    row("stablehlo.select", select),
    row("stablehlo.clamp", clamp),
    row("stablehlo.convert", convert),
    row("stablehlo.reduce_precision", reduce_precision),
];

/// A function of one real operand.
pub fn real<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &Operation, x: &[Held<'c>], f: Unary) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    Ok(vec![Held::Tensor(f(e, x)?)])
}

/// A function of two real operands.
pub fn two<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &Operation, x: &[Held<'c>], f: Binary) -> Results<'c> {
    let (a, b) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    Ok(vec![Held::Tensor(f(e, a, b)?)])
}

pub fn add<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    if e.dtype(a)? == DType::Bool { e.or(a, b) } else { e.add(a, b) }
}

pub fn mul<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    if e.dtype(a)? == DType::Bool { e.and(a, b) } else { e.mul(a, b) }
}

pub fn maximum<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    if e.dtype(a)? == DType::Bool { e.or(a, b) } else { e.bin(&ew::MAXIMUM, a, b) }
}

pub fn minimum<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    if e.dtype(a)? == DType::Bool { e.and(a, b) } else { e.bin(&ew::MINIMUM, a, b) }
}

fn bitwise<'c>(
    e: &mut Emitter<'c, '_>,
    a: Value<'c>,
    b: Value<'c>,
    of_booleans: &'static Operator,
    of_integers: &'static Operator,
) -> Outcome<Value<'c>> {
    let is_bool = e.dtype(a)? == DType::Bool;
    e.bin(if is_bool { of_booleans } else { of_integers }, a, b)
}

fn not<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    if e.dtype(x)? == DType::Bool { e.not(x) } else { e.un(&ew::BITWISE_NOT, x) }
}

/// Near 0 as 2 t / (1 - t) with t = tanh(x / 2), which loses no digits there.
pub fn expm1<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let half = e.mul_f(x, 0.5)?;
    let t = e.un(&ew::TANH, half)?;
    let (one, power) = (e.like(x, 1.0)?, e.un(&ew::EXP, x)?);
    let (twice, rest) = (e.mul_f(t, 2.0)?, e.sub(one, t)?);
    let (near, far) = (e.div(twice, rest)?, e.sub(power, one)?);
    let size = e.un(&ew::ABS, x)?;
    let bound = e.like(x, 0.5)?;
    let small = e.less(size, bound)?;
    e.select(small, near, far)
}

/// A power of 1 / 3, and a step of Newton's method.
fn cbrt<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let x = if dtype.size() < 4 { e.cast(x, DType::F32)? } else { x };
    let (size, third) = (e.un(&ew::ABS, x)?, e.like(x, 1.0 / 3.0)?);
    let root = e.bin(&ew::POW, size, third)?;
    let square = e.mul(root, root)?;
    let (cube, slope) = (e.mul(square, root)?, e.mul_f(square, 3.0)?);
    let excess = e.sub(cube, size)?;
    let step = e.div(excess, slope)?;
    let better = e.sub(root, step)?;
    // 0, infinities and NaN are exact already.
    let plain = is_finite(e, better)?;
    let (root, sign) = (e.select(plain, better, root)?, e.un(&ew::SIGN, x)?);
    let signed = e.mul(sign, root)?;
    e.cast(signed, dtype)
}

/// To the nearest integer, halves away from 0.
fn round_afz<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let size = e.un(&ew::ABS, x)?;
    let whole = e.un(&ew::FLOOR, size)?;
    let (rest, half) = (e.sub(size, whole)?, e.like(x, 0.5)?);
    let up = e.bin(&ew::GREATER_EQUAL, rest, half)?;
    let above = e.add_f(whole, 1.0)?;
    let rounded = e.select(up, above, whole)?;
    let (zero, negative) = (e.like(x, 0.0)?, e.un(&ew::NEG, rounded)?);
    let below = e.less(x, zero)?;
    e.select(below, negative, rounded)
}

pub fn is_finite<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let (nan, infinite) = (e.un(&ew::IS_NAN, x)?, e.un(&ew::IS_INF, x)?);
    let either = e.or(nan, infinite)?;
    e.not(either)
}

/// What stands in for divisors that have no quotient; none where the divisor is known to have one.
fn unsafe_divisors<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Option<[Value<'c>; 2]>> {
    let dtype = e.dtype(a)?;
    if e.known_number(b).is_some_and(|n| n != 0.0 && n != -1.0) {
        return Ok(None);
    }
    let zero = e.int(dtype, 0)?;
    let by_zero = e.equal(b, zero)?;
    let by_minus_one = match dtype.class() {
        Class::Signed => {
            let minus_one = e.int(dtype, -1)?;
            e.equal(b, minus_one)?
        }
        _ => {
            let never = e.int(DType::Bool, 0)?;
            e.and(by_zero, never)?
        }
    };
    Ok(Some([by_zero, by_minus_one]))
}

pub fn divide<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = e.dtype(a)?;
    if dtype.is_float() {
        return e.div(a, b);
    }
    let Some([by_zero, by_minus_one]) = unsafe_divisors(e, a, b)? else { return e.div(a, b) };
    let (one, ones) = (e.int(dtype, 1)?, e.int(dtype, -1)?);
    let special = e.or(by_zero, by_minus_one)?;
    let divisor = e.select(special, one, b)?;
    let quotient = e.div(a, divisor)?;
    let zero = e.int(dtype, 0)?;
    let negative = e.sub(zero, a)?;
    let quotient = e.select(by_minus_one, negative, quotient)?;
    e.select(by_zero, ones, quotient)
}

fn remainder<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = e.dtype(a)?;
    if dtype.is_float() {
        return e.bin(&ew::FMOD, a, b);
    }
    let Some([by_zero, by_minus_one]) = unsafe_divisors(e, a, b)? else { return e.bin(&ew::FMOD, a, b) };
    let (one, zero) = (e.int(dtype, 1)?, e.int(dtype, 0)?);
    let special = e.or(by_zero, by_minus_one)?;
    let divisor = e.select(special, one, b)?;
    let rest = e.bin(&ew::FMOD, a, divisor)?;
    let rest = e.select(by_minus_one, zero, rest)?;
    e.select(by_zero, a, rest)
}

/// The angle of (x, y), from that of the quotient of the smaller and the greater size.
pub fn atan2<'c>(e: &mut Emitter<'c, '_>, y: Value<'c>, x: Value<'c>) -> Outcome<Value<'c>> {
    use std::f64::consts::{FRAC_PI_2, PI};
    let (width, height) = (e.un(&ew::ABS, x)?, e.un(&ew::ABS, y)?);
    let (least, most) = (e.bin(&ew::MINIMUM, width, height)?, e.bin(&ew::MAXIMUM, width, height)?);
    let (zero, one) = (e.like(x, 0.0)?, e.like(x, 1.0)?);
    let quotient = e.div(least, most)?;
    // 0 / 0 is the angle 0, and infinity / infinity a quotient of 1.
    let (empty, same) = (e.equal(most, zero)?, e.equal(least, most)?);
    let quotient = e.select(same, one, quotient)?;
    let quotient = e.select(empty, zero, quotient)?;
    let angle = e.un(&ew::ATAN, quotient)?;
    let (quarter, half) = (e.like(x, FRAC_PI_2)?, e.like(x, PI)?);
    let (steep, beyond) = (e.less(width, height)?, e.sub(quarter, angle)?);
    let angle = e.select(steep, beyond, angle)?;
    let (left, behind) = (sign_bit(e, x)?, e.sub(half, angle)?);
    let angle = e.select(left, behind, angle)?;
    let (below, negative) = (sign_bit(e, y)?, e.un(&ew::NEG, angle)?);
    e.select(below, negative, angle)
}

/// Whether the sign of a float is set, also that of 0.
fn sign_bit<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = super::bits::signed_of(e.dtype(x)?);
    let (bits, zero) = (e.bitcast(x, dtype)?, e.int(dtype, 0)?);
    e.less(bits, zero)
}

fn compare<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let direction = op.word("comparison_direction").unwrap_or("");
    let (a, b) = (e.parts(op, x, 0)?, e.parts(op, x, 1)?);
    if let ([ar, ai], [br, bi]) = (&a[..], &b[..]) {
        let (re, im) = (e.equal(*ar, *br)?, e.equal(*ai, *bi)?);
        let both = e.and(re, im)?;
        return Ok(vec![Held::Tensor(match direction {
            "EQ" => both,
            "NE" => e.not(both)?,
            _ => return op.fault(format!("complex numbers are compared by EQ or NE, found {direction}")),
        })]);
    }
    let (mut a, mut b) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    if op.word("compare_type") == Some("TOTALORDER") && e.dtype(a)?.is_float() {
        (a, b) = (ordered_key(e, a)?, ordered_key(e, b)?);
    }
    if e.dtype(a)? == DType::Bool {
        (a, b) = (e.cast(a, DType::U8)?, e.cast(b, DType::U8)?);
    }
    let operator: &'static Operator = match direction {
        "EQ" => &ew::EQUAL,
        "NE" => &ew::NOT_EQUAL,
        "LT" => &ew::LESS,
        "LE" => &ew::LESS_EQUAL,
        "GT" => &ew::GREATER,
        "GE" => &ew::GREATER_EQUAL,
        other => {
            return op.fault(format!("the direction {other:?} is not known; write one of EQ, NE, GE, GT, LE, LT"));
        }
    };
    Ok(vec![Held::Tensor(e.bin(operator, a, b)?)])
}

fn select<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let condition = e.tensor(op, x, 0)?;
    let (a, b) = (e.parts(op, x, 1)?, e.parts(op, x, 2)?);
    if a.len() != b.len() {
        return op.fault("both values must be real, or both complex");
    }
    let mut parts = Vec::new();
    for (a, b) in a.into_iter().zip(b) {
        parts.push(e.select(condition, a, b)?);
    }
    Ok(vec![Emitter::of_parts(&parts)])
}

/// min(max(x, least), most), with scalars for bounds too.
fn clamp<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (least, value, most) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?, e.tensor(op, x, 2)?);
    let raised = maximum(e, value, least)?;
    Ok(vec![Held::Tensor(minimum(e, raised, most)?)])
}

fn convert<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let to = &e.result_type(op, 0)?.element;
    let x = e.parts(op, x, 0)?;
    let dtype = match to {
        Element::Quantized(quantized) => quantized.expressed,
        other => match other.kept() {
            Some(dtype) => dtype,
            None => return op.fault(format!("elements of type {other} are not supported")),
        },
    };
    if let Element::Complex(_) = to {
        let real = e.cast(x[0], dtype)?;
        let imaginary = match x.get(1) {
            Some(&im) => e.cast(im, dtype)?,
            None => {
                let (zero, dims) = (e.scalar(dtype, 0.0)?, e.dims(real)?);
                e.broadcast_dims(zero, dims)?
            }
        };
        return Ok(vec![Held::Complex(real, imaginary)]);
    }
    if dtype == DType::Bool && x.len() == 2 {
        let (re, im) = (e.cast(x[0], dtype)?, e.cast(x[1], dtype)?);
        return Ok(vec![Held::Tensor(e.or(re, im)?)]);
    }
    Ok(vec![Held::Tensor(e.cast(x[0], dtype)?)])
}

/// Rounds the mantissa in the bits, then makes infinities and zeros of exponents that do not fit.
fn reduce_precision<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    let (exponent, mantissa) = (op.int("exponent_bits")?, op.int("mantissa_bits")?);
    if exponent < 1 || mantissa < 0 {
        return op.fault("exponent_bits must be 1 or more, and mantissa_bits 0 or more");
    }
    Ok(vec![Held::Tensor(super::bits::with_precision(e, x, exponent, mantissa)?)])
}
