//! The exponential function.
//!
//!     e^x = 2^n e^r,   n = round(x / ln 2),   r = x - n ln 2,   |r| <= ln 2 / 2
//!     e^r = 1 + r (1 + r q(r))
//!
//! `q` is the polynomial of degree 4 nearest to `(e^r - 1 - r) / r^2` relative to `e^r` (Lawson's iteration at Chebyshev points
//! in 40 digits, coefficients rounded to f32 one after another from the lowest): off by 3.2e-9. The reduction is that of Cody
//! and Waite ("Software Manual for the Elementary Functions", 1980): `n ln 2` in two parts, the first exact.
//! Error: below 1 unit in the last place, subnormal results included.

use super::floats::Floats;
use fusion_dialects::Value;
use std::f32::consts::{LN_2, LOG2_E};

/// `ln 2` minus its nearest f32.
const LN_2_LOW: f32 = -1.904_654_2e-9;
const Q: [f32; 5] = [0.499_999_94, 0.166_665_2, 0.041_668_24, 0.008_368_824, 0.001_382_321_4];
/// Beyond these the result is 0 or infinite.
const LEAST: f32 = -104.0;
const MOST: f32 = 89.0;
/// The representation of 1.
const ONE: i32 = 0x3f80_0000;

/// `e^x`.
pub fn exp<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    exp_of_sum(m, x, None)
}

/// `e^(x + low)`, for a small `low`.
pub fn exp_of_sum<'c>(m: &Floats<'c>, x: Value<'c>, low: Option<Value<'c>>) -> Value<'c> {
    let x = m.at_most(m.at_least(x, LEAST), MOST);
    let (n, p) = reduced(m, x, low);
    // 2^n has no representation for all n: half of n is applied first. What the rounding added to n is shifted out.
    let whole = m.shift_left(n, 23);
    let half = m.shift_left(m.shift_right(n, 1), 23);
    let first = m.of_bits(m.int_add(half, m.int(ONE)));
    let second = m.of_bits(m.int_add(m.int_sub(whole, half), m.int(ONE)));
    m.mul(m.mul(p, first), second)
}

/// `e^x` for x from -20 to 20, where the result is a normal number; off by up to 2 units in the last place, since `ln 2` is
/// subtracted in one part.
pub fn exp_in_range<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (n, multiple) = m.round(x, LOG2_E);
    let p = of_rest(m, m.fma(multiple, m.float(-LN_2), x));
    m.of_bits(m.int_add(m.bits(p), m.shift_left(n, 23)))
}

/// `n` in the low bits of an integer, and `e^r`.
fn reduced<'c>(m: &Floats<'c>, x: Value<'c>, low: Option<Value<'c>>) -> (Value<'c>, Value<'c>) {
    let (bits, n) = m.round(x, LOG2_E);
    let r = m.fma(n, m.float(-LN_2), x);
    let r = m.fma(n, m.float(-LN_2_LOW), r);
    (bits, of_rest(m, low.map_or(r, |low| m.add(r, low))))
}

/// `e^r`.
fn of_rest<'c>(m: &Floats<'c>, r: Value<'c>) -> Value<'c> {
    let one = m.float(1.0);
    m.fma(m.fma(m.polynomial(r, &Q), r, one), r, one)
}
