//! The natural logarithm.
//!
//!     ln x = i ln 2 + ln(1 + f),   x = 2^i (1 + f),   2/3 <= 1 + f < 4/3
//!     ln(1 + f) = f + f^2 (-1/2 + f p(f))
//!
//! `p` is the polynomial of degree 7 nearest to `(ln(1 + f) - f + f^2 / 2) / f^3` relative to `ln(1 + f)` (found as that of `exp`):
//! off by 4.8e-9; for f64 it is of degree 21 and off by 2^-58. Around 1, `i` is 0 and the sum has no cancellation. Error: below 1 unit
//! in the last place.

use super::floats::{Coefficients, Floats, Is};
use fusion_dialects::Value;
use std::f64::consts::LN_2;

const P: Coefficients = Coefficients {
    single: &[
        0.333_332_12,
        -0.249_998_17,
        0.200_105_8,
        -0.166_796_77,
        0.140_034_62,
        -0.121_949_695,
        0.139_948_52,
        -0.128_468_53,
    ],
    double: &[
        0.333_333_333_333_333_3,
        -0.25,
        0.199_999_999_999_997_62,
        -0.166_666_666_666_664_35,
        0.142_857_142_858_000_5,
        -0.125_000_000_000_826_03,
        0.111_111_110_991_183_86,
        -0.099_999_999_884_493_47,
        0.090_909_099_489_813_57,
        -0.083_333_341_597_618_6,
        0.076_922_719_824_302_75,
        -0.071_428_227_507_100_91,
        0.066_675_893_157_246_29,
        -0.062_508_885_714_382_82,
        0.058_671_395_306_515_99,
        -0.055_409_047_934_172_49,
        0.054_225_891_974_400_07,
        -0.051_535_228_606_282_346,
        0.037_460_718_977_753_83,
        -0.035_673_986_191_732_19,
        0.078_152_889_004_614_26,
        -0.075_042_560_537_407_17,
    ],
};

/// The least of `1 + f`.
const LEAST: f64 = 2.0 / 3.0;

/// `i ln 2 + ln(1 + f)`.
fn sum<'c>(m: &Floats<'c>, i: Value<'c>, f: Value<'c>) -> Value<'c> {
    let r = m.fma(m.polynomial(f, &P), f, m.float(-0.5));
    let r = m.fma(r, m.mul(f, f), f);
    m.fma(i, m.float(LN_2), r)
}

/// `ln(1 + t)` of a `t` that is not negative, as exact as `t` where that is small: `f = t 2^-i + (2^-i - 1)`.
pub fn log_of_one_and<'c>(m: &Floats<'c>, t: Value<'c>) -> Value<'c> {
    let one_and = m.bits(m.add(m.float(1.0), t));
    let exponent = exponent_above(m, one_and, LEAST);
    let scaled = m.of_bits(m.int_sub(m.bits(t), exponent));
    // 4 2^-i, since 2^-127 would be no normal number.
    let power = m.of_bits(m.int_sub(m.int(m.representation(4.0)), exponent));
    let f = m.add(scaled, m.fma(power, m.float(0.25), m.float(-1.0)));
    let r = sum(m, m.mul(m.as_float(exponent), m.float(last_place(m))), f);
    m.select(m.is(Is::Below, t, m.float(f64::INFINITY)), r, t)
}

/// `ln x`; of negative numbers, none.
pub fn log<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (i, mantissa) = split(m, x, LEAST);
    let r = sum(m, i, m.sub(mantissa, m.float(1.0)));
    let (zero, infinite) = (m.float(0.0), m.float(f64::INFINITY));
    let finite = m.select(m.is(Is::Below, x, infinite), r, x);
    let none = m.select(m.is(Is::Equal, x, zero), m.float(f64::NEG_INFINITY), m.float(f64::NAN));
    m.select(m.is(Is::Above, x, zero), finite, none)
}

/// `ln(1 + x)` of any x, as exact as `x` where that is small: what `u = 1 + x` has lost, `c`, is `c / u` to first order (W. Kahan).
pub fn log1p<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let one = m.float(1.0);
    let u = m.add(x, one);
    let (lost, whole) = (m.sub(x, m.sub(u, one)), log(m, u));
    let sum = m.add(whole, m.div(lost, u));
    // Of 0 and infinity the quotient is NaN, and nothing is lost.
    let is_inside = m.is(Is::Below, m.abs(whole), m.float(f64::INFINITY));
    // Of -0 the sum is 0.
    m.copy_sign(m.select(is_inside, sum, whole), x)
}

/// `i` and `y` of `x = 2^i y`, `least <= y < 2 least`, for a positive, finite x.
pub fn split<'c>(m: &Floats<'c>, x: Value<'c>, least: f64) -> (Value<'c>, Value<'c>) {
    // Subnormal numbers are made normal first.
    let least_normal = m.in_precision(f32::MIN_POSITIVE, f64::MIN_POSITIVE);
    let tiny = m.is(Is::Below, x, m.float(least_normal));
    let normal = m.bits(m.select(tiny, m.mul(x, m.float(1.0 / last_place(m))), x));
    let before = m.select(tiny, m.float(-m.mantissa_bits() as f64), m.float(0.0));
    let exponent = exponent_above(m, normal, least);
    let mantissa = m.of_bits(m.int_sub(normal, exponent));
    (m.fma(m.as_float(exponent), m.float(last_place(m)), before), mantissa)
}

/// The distance of 1 to the next number.
fn last_place(m: &Floats) -> f64 {
    (-m.mantissa_bits() as f64).exp2()
}

/// What is in the bits of the exponent of a number relative to that of `least`.
fn exponent_above<'c>(m: &Floats<'c>, bits: Value<'c>, least: f64) -> Value<'c> {
    m.int_and(m.int_sub(bits, m.int(m.representation(least))), -1 << m.mantissa_bits())
}
