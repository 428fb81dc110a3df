//! Sine and cosine.
//!
//!     x = n pi/2 + r,   |r| <= pi/4          n mod 4     0        1        2        3
//!     sin r = r + r^3 s(r^2)                 sin x     sin r    cos r   -sin r   -cos r
//!     cos r = 1 + r^2 (-1/2 + r^2 c(r^2))
//!
//! `s` and `c` are the polynomials of degrees 3 and 2 nearest to `(sin r - r) / r^3` relative to `sin r` and to
//! `(cos r - 1 + r^2/2) / r^4` relative to `cos r` (found as that of `exp`): off by 1.6e-10 and 1.2e-10, for f64 by 2^-59. `n` and `r` come from `quarters`.
//! Both functions of one angle share all of that, which nothing later finds out by itself: each has a branch for large angles of its own.
//! Of angles that are known to be within `pi/4` (`loop-value-ranges`) one polynomial is all it takes, of as few terms as the angles need:
//!
//!     sin r = r + r^3 (-1/6 + r^2/120 - ...)          cos r = 1 + r^2 (-1/2 + r^2/24 - ...)          economized
//!
//! Error: below 1.5 units in the last place.

use super::economized::economized;
use super::floats::{Coefficients, Floats, Is};
use super::quarters::quarters;
use fusion_dialects::Value;
use std::f64::consts::FRAC_PI_4;

const S: Coefficients = Coefficients {
    single: &[-0.166_666_67, 0.008_333_379, -0.000_198_530_75, 2.832_73e-6],
    double: &[
        -0.166_666_666_666_666_66,
        0.008_333_333_333_333_331,
        -0.000_198_412_698_412_650_63,
        2.755_731_921_933_731_2e-6,
        -2.505_210_623_180_282_4e-8,
        1.605_853_151_679_58e-10,
        -7.586_691_094_100_221e-13,
    ],
};
const C: Coefficients = Coefficients {
    single: &[0.041_666_646, -0.001_388_731, 2.443_233_8e-5],
    double: &[
        0.041_666_666_666_666_664,
        -0.001_388_888_888_888_739_8,
        2.480_158_729_876_456e-5,
        -2.755_731_727_114_513e-7,
        2.087_614_614_655_619_5e-9,
        -1.138_262_364_733_215_6e-11,
    ],
};

/// Terms of a series before it is economized: what `pi/4` takes in f64.
const TERMS: usize = 10;
/// What is lost of a small angle's sine, relative to it, and of its cosine.
const LOST: (f32, f64) = (1.0 / (1u64 << 26) as f32, 1.0 / (1u64 << 56) as f64);

/// `sin x`.
pub fn sin<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    if m.within <= FRAC_PI_4 { small_sine(m, x, m.mul(x, x)) } else { by_quarters(m, x, [0])[0] }
}

/// `cos x`, which is `sin(x + pi/2)`.
pub fn cos<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    if m.within <= FRAC_PI_4 { small_cosine(m, m.mul(x, x)) } else { by_quarters(m, x, [1])[0] }
}

/// `sin x` and `cos x`.
pub fn sin_cos<'c>(m: &Floats<'c>, x: Value<'c>) -> [Value<'c>; 2] {
    if m.within <= FRAC_PI_4 {
        let square = m.mul(x, x);
        [small_sine(m, x, square), small_cosine(m, square)]
    } else {
        by_quarters(m, x, [0, 1])
    }
}

fn small_sine<'c>(m: &Floats<'c>, x: Value<'c>, square: Value<'c>) -> Value<'c> {
    let s = small(m, square, -1.0 / 6.0, |n| (2 * n + 4) * (2 * n + 5));
    zero_as_given(m, x, m.fma(m.mul(s, square), x, x))
}

fn small_cosine<'c>(m: &Floats<'c>, square: Value<'c>) -> Value<'c> {
    m.fma(small(m, square, -0.5, |n| (2 * n + 3) * (2 * n + 4)), square, m.float(1.0))
}

/// A series in the square of a small angle, each term of which is that before over a number, negated; it is multiplied by the square then.
fn small<'c>(m: &Floats<'c>, square: Value<'c>, first: f64, over: impl Fn(usize) -> usize) -> Value<'c> {
    let series: Vec<f64> =
        (0..TERMS).scan(first, |a, n| Some(std::mem::replace(a, -*a / over(n) as f64))).collect();
    let most = m.within * m.within;
    let lost = m.in_precision(LOST.0, LOST.1);
    m.polynomial_of(square, &economized(&series, most, lost / most))
}

/// A value of an odd function, which of -0 is -0. A loop in f32 that knows its angles is not worth the two operations.
pub fn zero_as_given<'c>(m: &Floats<'c>, x: Value<'c>, value: Value<'c>) -> Value<'c> {
    if m.within <= FRAC_PI_4 && !m.is_double() {
        return value;
    }
    m.select(m.is(Is::Equal, x, m.float(0.0)), x, value)
}

fn sine<'c>(m: &Floats<'c>, r: Value<'c>, square: Value<'c>) -> Value<'c> {
    m.fma(m.mul(m.polynomial(square, &S), square), r, r)
}

fn cosine<'c>(m: &Floats<'c>, square: Value<'c>) -> Value<'c> {
    m.fma(m.fma(m.polynomial(square, &C), square, m.float(-0.5)), square, m.float(1.0))
}

/// `sin(x + n pi/2)` for some `n`.
fn by_quarters<'c, const N: usize>(m: &Floats<'c>, x: Value<'c>, further: [i64; N]) -> [Value<'c>; N] {
    let (bits, r) = quarters(m, x);
    let square = m.mul(r, r);
    let (sine, cosine) = (sine(m, r, square), cosine(m, square));
    further.map(|further| {
        let quarter = if further == 0 { bits } else { m.int_add(bits, m.int(further)) };
        let value = m.select(m.is_not_zero(m.int_and(quarter, 1)), cosine, sine);
        // Bit 1 of the quarter goes to the place of the sign.
        let sign = m.shift_left(m.int_and(quarter, 2), if m.is_double() { 62 } else { 30 });
        let value = m.of_bits(m.int_xor(m.bits(value), sign));
        if further == 0 { zero_as_given(m, x, value) } else { value }
    })
}
