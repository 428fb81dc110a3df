//! Powers.
//!
//!     |x|^y = e^(y ln |x|),   ln x = i ln 2 + 2 atanh(q),   q = (m - 1) / (m + 1),   x = 2^i m,   1/sqrt 2 <= m < sqrt 2
//!
//! The product is up to 100 and its error becomes the result's relative error, so the logarithm is computed as the sum of two
//! f32, by compensated operations (Dekker 1971, with fused multiply-adds), and so is the product. `atanh(q) = q + q^3 p(q^2)` with
//! `p` the polynomial of degree 3 nearest to it relative to `atanh q` (found as that of `exp`): off by 2.5e-11. The form is N. Juffa's.
//! Signs, zeros, infinities and what is no number are as in C. Error: below 2 units in the last place.

use super::exp::exp_of_sum;
use super::floats::{Floats, Is};
use super::log::split;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{OpExt, Value, defining_op, float_of};
use std::f32::consts::{FRAC_1_SQRT_2, LN_2};

const LN_2_LOW: f32 = -1.904_654_2e-9;
const P: [f32; 4] = [0.333_333_3, 0.200_004_83, 0.142_496_75, 0.121_332_81];
/// Beyond this exponent of e results are 0 or infinite.
const MOST: f32 = 128.0;

/// `x^y`.
pub fn pow<'c>(m: &Floats<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    if let Some(simple) = constant(y).and_then(|y| known_power(m, x, y)) {
        return simple;
    }
    let (zero, one, infinite) = (m.float(0.0), m.float(1.0), m.float(f32::INFINITY));
    let size = m.abs(x);
    let (high, low) = log_in_two(m, size);
    let product = m.mul(high, y);
    let rest = m.fma(low, y, m.fma(high, y, m.neg(product)));
    let rest = m.select(m.is(Is::Below, m.abs(product), m.float(MOST)), rest, zero);
    let mut power = exp_of_sum(m, product, Some(rest));
    // Of 0 and infinity, the power is one of the two.
    let (is_zero, is_infinite) = (m.is(Is::Equal, size, zero), m.is(Is::Equal, size, infinite));
    let vanishes = m.just_one(is_zero, m.is(Is::Below, y, zero));
    power = m.select(m.either(is_zero, is_infinite), m.select(vanishes, zero, infinite), power);
    // Below 0, odd integers give the negative power, other integers the power, and the rest nothing.
    let half = m.mul(y, m.float(0.5));
    let whole = m.is(Is::Equal, m.trunc(y), y);
    let even = m.is(Is::Equal, m.trunc(half), half);
    let odd = m.just_one(whole, m.both(whole, even));
    let signed = m.select(odd, m.copy_sign(power, x), power);
    let defined = m.either(whole, m.either(is_zero, is_infinite));
    let negative = m.select(defined, signed, m.float(f32::NAN));
    power = m.select(m.is(Is::Below, x, zero), negative, signed);
    power = m.select(m.is(Is::Number, x, y), power, m.add(x, y));
    // These hold whatever the other one is.
    let alternates = m.both(m.is(Is::Equal, x, m.float(-1.0)), m.is(Is::Equal, m.abs(y), infinite));
    let unit = m.either(m.is(Is::Equal, x, one), m.is(Is::Equal, y, zero));
    m.select(m.either(unit, alternates), one, power)
}

/// The number a value is in all lanes.
fn constant(value: Value) -> Option<f64> {
    let op =
        defining_op(value).filter(|op| matches!(op.kind(), Some(Kind::Upstream(Upstream::ArithConstant))))?;
    float_of(op.attr("value")?)
}

/// Powers that models use, in as many roundings as are allowed.
fn known_power<'c>(m: &Floats<'c>, x: Value<'c>, y: f64) -> Option<Value<'c>> {
    let square = || m.mul(x, x);
    match y {
        1.0 => Some(x),
        2.0 => Some(square()),
        3.0 => Some(m.mul(square(), x)),
        -1.0 => Some(m.div(m.float(1.0), x)),
        // The power of -0 is 0, that of negative infinity infinite.
        0.5 => {
            let lowest = m.is(Is::Equal, x, m.float(f32::NEG_INFINITY));
            Some(m.select(lowest, m.float(f32::INFINITY), m.sqrt(m.add(x, m.float(0.0)))))
        }
        _ => None,
    }
}

/// `ln x` of a positive, finite number, as the sum of two.
fn log_in_two<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let (i, mantissa) = split(m, x, FRAC_1_SQRT_2);
    let (above, below) = (m.add(mantissa, m.float(1.0)), m.sub(mantissa, m.float(1.0)));
    let inverse = m.div(m.float(1.0), above);
    // q in two parts: the second corrects the division and the sum under it.
    let q = m.mul(inverse, below);
    let q_low = m.mul(inverse, m.fma(q, m.neg(below), m.fma(q, m.float(-2.0), below)));
    let square = m.mul(q, q);
    let p = m.polynomial(square, &P);
    let square_low = m.fma(q, m.add(q_low, q_low), m.fma(q, q, m.neg(square)));
    let cube = m.mul(square, q);
    let cube_low = m.fma(square, q_low, m.fma(square_low, q, m.fma(square, q, m.neg(cube))));
    let tail = m.fma(p, cube, m.fma(p, cube_low, q_low));
    let twice = m.add(q, q);
    let sum = m.fma(m.float(LN_2), i, twice);
    let back = m.fma(m.float(-LN_2), i, sum);
    let error = m.fma(m.float(LN_2_LOW), i, m.fma(m.float(2.0), tail, m.sub(twice, back)));
    let high = m.add(sum, error);
    (high, m.add(m.sub(sum, high), error))
}
