//! The natural logarithm.
//!
//!     ln x = i ln 2 + ln(1 + f),   x = 2^i (1 + f),   2/3 <= 1 + f < 4/3
//!     ln(1 + f) = f + f^2 (-1/2 + f p(f))
//!
//! `p` is the polynomial of degree 7 nearest to `(ln(1 + f) - f + f^2 / 2) / f^3` relative to `ln(1 + f)` (found as that of `exp`):
//! off by 4.8e-9. Around 1, `i` is 0 and the sum has no cancellation. Error: below 1 unit in the last place.

use super::floats::{Floats, Is};
use fusion_dialects::Value;
use std::f32::consts::LN_2;

const P: [f32; 8] = [
    0.333_332_12,
    -0.249_998_17,
    0.200_105_8,
    -0.166_796_77,
    0.140_034_62,
    -0.121_949_695,
    0.139_948_52,
    -0.128_468_53,
];

/// The least of `1 + f`.
const LEAST: f32 = 2.0 / 3.0;

/// `i ln 2 + ln(1 + f)`.
fn sum<'c>(m: &Floats<'c>, i: Value<'c>, f: Value<'c>) -> Value<'c> {
    let r = m.fma(m.polynomial(f, &P), f, m.float(-0.5));
    let r = m.fma(r, m.mul(f, f), f);
    m.fma(i, m.float(LN_2), r)
}

/// `ln(1 + t)` of a `t` that is not negative, as exact as `t` where that is small: `f = t 2^-i + (2^-i - 1)`.
pub fn log_of_one_and<'c>(m: &Floats<'c>, t: Value<'c>) -> Value<'c> {
    let one_and = m.bits(m.add(m.float(1.0), t));
    let exponent = m.int_and(m.int_sub(one_and, m.int(LEAST.to_bits() as i32)), 0xff80_0000_u32 as i32);
    let scaled = m.of_bits(m.int_sub(m.bits(t), exponent));
    // 4 2^-i, since 2^-127 would be no normal number.
    let power = m.of_bits(m.int_sub(m.int(4f32.to_bits() as i32), exponent));
    let f = m.add(scaled, m.fma(power, m.float(0.25), m.float(-1.0)));
    let r = sum(m, m.mul(m.as_float(exponent), m.float(1.0 / 8_388_608.0)), f);
    m.select(m.is(Is::Below, t, m.float(f32::INFINITY)), r, t)
}

/// `ln x`; of negative numbers, none.
pub fn log<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (i, mantissa) = split(m, x, LEAST);
    let r = sum(m, i, m.sub(mantissa, m.float(1.0)));
    let (zero, infinite) = (m.float(0.0), m.float(f32::INFINITY));
    let finite = m.select(m.is(Is::Below, x, infinite), r, x);
    let none = m.select(m.is(Is::Equal, x, zero), m.float(f32::NEG_INFINITY), m.float(f32::NAN));
    m.select(m.is(Is::Above, x, zero), finite, none)
}

/// `i` and `y` of `x = 2^i y`, `least <= y < 2 least`, for a positive, finite x.
pub fn split<'c>(m: &Floats<'c>, x: Value<'c>, least: f32) -> (Value<'c>, Value<'c>) {
    // Subnormal numbers are made normal first.
    let tiny = m.is(Is::Below, x, m.float(f32::MIN_POSITIVE));
    let normal = m.bits(m.select(tiny, m.mul(x, m.float(8_388_608.0)), x));
    let before = m.select(tiny, m.float(-23.0), m.float(0.0));
    let exponent = m.int_and(m.int_sub(normal, m.int(least.to_bits() as i32)), 0xff80_0000_u32 as i32);
    let mantissa = m.of_bits(m.int_sub(normal, exponent));
    (m.fma(m.as_float(exponent), m.float(1.0 / 8_388_608.0), before), mantissa)
}
