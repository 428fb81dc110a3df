//! Powers.
//!
//!     |x|^y = e^(y ln |x|),   ln x = i ln 2 + 2 atanh(q),   q = (m - 1) / (m + 1),   x = 2^i m,   1/sqrt 2 <= m < sqrt 2
//!
//! The product is up to 100 and its error becomes the result's relative error, so the logarithm is computed as the sum of two
//! f32, by compensated operations (Dekker 1971, with fused multiply-adds), and so is the product. `atanh(q) = q + q^3 p(q^2)` with
//! `p` the polynomial of degree 3 nearest to it relative to `atanh q` (found as that of `exp`): off by 2.5e-11. The form is N. Juffa's.
//! For f64 the product is up to 745 and has more to lose: there `p` is `1/3 + q^2 p'(q^2)`, `p'` of degree 7 and off by 2^-66,
//! and `q^3 p` and `i ln 2` are sums of two as well. Signs, zeros, infinities and what is no number are as in C. Error: below 2 units
//! in the last place.

use super::exp::{LN_2_LOW, exp_of_sum};
use super::floats::{Coefficients, Floats, Is};
use super::log::split;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{OpExt, Value, defining_op, float_of};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

const P: Coefficients = Coefficients {
    single: &[0.333_333_3, 0.200_004_83, 0.142_496_75, 0.121_332_81],
    double: &[
        0.2,
        0.142_857_142_857_146_85,
        0.111_111_111_108_277_69,
        0.090_909_091_677_245_67,
        0.076_922_974_789_188_11,
        0.066_674_024_510_548_2,
        0.058_531_158_105_134_69,
        0.058_616_106_910_563_286,
    ],
};
/// Beyond this exponent of e results are 0 or infinite.
const MOST: (f32, f64) = (128.0, 1024.0);
/// What `1/3` has beyond its nearest f64.
const THIRD_LOW: f64 = 1.850_371_707_708_594e-17;
/// `ln 2` to 41 bits, and what it has beyond these.
const LN_2_SHORT: (f64, f64) = (0.693_147_180_559_663, 2.823_529_056_303_157_7e-13);

/// `x^y`.
pub fn pow<'c>(m: &Floats<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    if let Some(simple) = constant(y).and_then(|y| known_power(m, x, y)) {
        return simple;
    }
    let (zero, one, infinite) = (m.float(0.0), m.float(1.0), m.float(f64::INFINITY));
    let size = m.abs(x);
    let (high, low) = if m.is_double() { double_log_in_two(m, size) } else { log_in_two(m, size) };
    let product = m.mul(high, y);
    let rest = m.fma(low, y, m.fma(high, y, m.neg(product)));
    let rest = m.select(m.is(Is::Below, m.abs(product), m.float(m.in_precision(MOST.0, MOST.1))), rest, zero);
    let mut power = exp_of_sum(m, product, rest);
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
    let negative = m.select(defined, signed, m.float(f64::NAN));
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

/// Powers that models use, in as many roundings as are allowed: roots of 3/4 are off by 2.3 units, so that rules and definitions make them.
fn known_power<'c>(m: &Floats<'c>, x: Value<'c>, y: f64) -> Option<Value<'c>> {
    let square = || m.mul(x, x);
    match y {
        1.0 => Some(x),
        2.0 => Some(square()),
        3.0 => Some(m.mul(square(), x)),
        -1.0 => Some(m.div(m.float(1.0), x)),
        // The power of -0 is 0, that of negative infinity infinite.
        0.5 => {
            let lowest = m.is(Is::Equal, x, m.float(f64::NEG_INFINITY));
            Some(m.select(lowest, m.float(f64::INFINITY), m.sqrt(m.add(x, m.float(0.0)))))
        }
        _ => None,
    }
}

/// `i` and `m` of `x = 2^i m`, and `q` in two parts: the second corrects the division and the sum under it.
struct Reduced<'c> {
    i: Value<'c>,
    q: Value<'c>,
    q_low: Value<'c>,
}

fn reduced<'c>(m: &Floats<'c>, x: Value<'c>) -> Reduced<'c> {
    let (i, mantissa) = split(m, x, FRAC_1_SQRT_2);
    let (above, below) = (m.add(mantissa, m.float(1.0)), m.sub(mantissa, m.float(1.0)));
    let inverse = m.div(m.float(1.0), above);
    let q = m.mul(inverse, below);
    let q_low = m.mul(inverse, m.fma(q, m.neg(below), m.fma(q, m.float(-2.0), below)));
    Reduced { i, q, q_low }
}

/// `q^2`, and `q^3` in two parts.
fn square_and_cube<'c>(m: &Floats<'c>, q: Value<'c>, q_low: Value<'c>) -> (Value<'c>, Value<'c>, Value<'c>) {
    let square = m.mul(q, q);
    let square_low = m.fma(q, m.add(q_low, q_low), m.fma(q, q, m.neg(square)));
    let cube = m.mul(square, q);
    let cube_low = m.fma(square, q_low, m.fma(square_low, q, m.fma(square, q, m.neg(cube))));
    (square, cube, cube_low)
}

/// `ln x` of a positive, finite f32, as the sum of two.
fn log_in_two<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let Reduced { i, q, q_low } = reduced(m, x);
    let (square, cube, cube_low) = square_and_cube(m, q, q_low);
    let p = m.polynomial(square, &P);
    let tail = m.fma(p, cube, m.fma(p, cube_low, q_low));
    let twice = m.add(q, q);
    let sum = m.fma(m.float(LN_2), i, twice);
    let back = m.fma(m.float(-LN_2), i, sum);
    let error = m.fma(m.float(LN_2_LOW.0), i, m.fma(m.float(2.0), tail, m.sub(twice, back)));
    let high = m.add(sum, error);
    (high, m.add(m.sub(sum, high), error))
}

/// The same of an f64: of all sums and products of which the first 53 bits are not enough, the rest is kept.
fn double_log_in_two<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let Reduced { i, q, q_low } = reduced(m, x);
    let (square, cube, cube_low) = square_and_cube(m, q, q_low);
    // The sum of a larger and a smaller number, and what it lost.
    let sum_in_two = |large: Value<'c>, small: Value<'c>| {
        let sum = m.add(large, small);
        (sum, m.add(m.sub(large, sum), small))
    };
    let (p, p_low) = sum_in_two(m.float(1.0 / 3.0), m.mul(square, m.polynomial(square, &P)));
    let p_low = m.add(p_low, m.float(THIRD_LOW));
    let tail = m.mul(p, cube);
    let tail_low = m.fma(p, cube_low, m.fma(p_low, cube, m.fma(p, cube, m.neg(tail))));
    // i has 11 bits, so that the first product is exact.
    let (sum, lost) = sum_in_two(m.mul(i, m.float(LN_2_SHORT.0)), m.add(q, q));
    let (sum, lost_then) = sum_in_two(sum, m.add(tail, tail));
    let rest = m.add(tail_low, q_low);
    let rest = m.fma(m.float(2.0), rest, m.add(lost, lost_then));
    sum_in_two(sum, m.fma(i, m.float(LN_2_SHORT.1), rest))
}
