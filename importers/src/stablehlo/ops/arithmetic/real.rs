//! Functions of real numbers that relay has no operator for, or that other families need.

use crate::sources::Outcome;
use crate::stablehlo::emit::Emitter;
use crate::stablehlo::ops::arithmetic::bits::signed_of;
use fusion_dialects::Value;
use fusion_operators::dtype::Class;
use fusion_operators::ops::elementwise as ew;
use fusion_operators::{DType, Operator};

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

pub fn bitwise<'c>(
    e: &mut Emitter<'c, '_>,
    a: Value<'c>,
    b: Value<'c>,
    of_booleans: &'static Operator,
    of_integers: &'static Operator,
) -> Outcome<Value<'c>> {
    let is_bool = e.dtype(a)? == DType::Bool;
    e.bin(if is_bool { of_booleans } else { of_integers }, a, b)
}

pub fn not<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
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
pub fn cbrt<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
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
pub fn round_afz<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
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
fn unsafe_divisors<'c>(
    e: &mut Emitter<'c, '_>,
    a: Value<'c>,
    b: Value<'c>,
) -> Outcome<Option<[Value<'c>; 2]>> {
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

pub fn remainder<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
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
    let dtype = signed_of(e.dtype(x)?);
    let (bits, zero) = (e.bitcast(x, dtype)?, e.int(dtype, 0)?);
    e.less(bits, zero)
}
