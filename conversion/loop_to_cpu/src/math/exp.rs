//! The exponential function.
//!
//!     e^x = 2^n e^r,   n = round(x / ln 2),   r = x - n ln 2,   |r| <= ln 2 / 2
//!     e^r = 1 + r (1 + r q(r))
//!
//! `q` is the polynomial of degree 4 nearest to `(e^r - 1 - r) / r^2` relative to `e^r` (Lawson's iteration at Chebyshev points
//! in 40 digits, coefficients rounded to f32 one after another from the lowest): off by 3.2e-9. The reduction is that of Cody
//! and Waite ("Software Manual for the Elementary Functions", 1980): `n ln 2` in two parts, the first exact. For f64, `q` is of degree
//! 11 and interpolates the same function at Chebyshev points (in 60 digits): off by 2^-60.
//! Error: below 1 unit in the last place, subnormal results included. Registers of AVX-512 take a shorter way (`exp_by_table`).
//!
//! GPUs have an instruction for `2^t` of f32, which is off by up to 2 units. The result is off by one more:
//!
//!     e^x = 2^t (1 + r),   t = x / ln 2, rounded,   r = x - t ln 2

use super::exp_by_table;
use super::floats::{Coefficients, Floats};
use fusion_dialects::Value;
use std::f64::consts::{LN_2, LOG2_E};

/// `ln 2` minus its nearest f32 and f64.
pub const LN_2_LOW: (f32, f64) = (-1.904_654_2e-9, 2.319_046_813_846_299_6e-17);
const Q: Coefficients = Coefficients {
    single: &[0.499_999_94, 0.166_665_2, 0.041_668_24, 0.008_368_824, 0.001_382_321_4],
    double: &[
        0.5,
        0.166_666_666_666_666_66,
        0.041_666_666_666_666_68,
        0.008_333_333_333_333_333,
        0.001_388_888_888_887_907_3,
        0.000_198_412_698_412_632_98,
        2.480_158_733_644_223_6e-5,
        2.755_731_924_721_873e-6,
        2.755_726_327_908_85e-7,
        2.505_207_109_429_355e-8,
        2.091_813_773_764_273_6e-9,
        1.608_662_795_678_037e-10,
    ],
};
/// Beyond these the result is 0 or infinite, also of a sum whose small part is as large as `ln 2`.
const LEAST: (f32, f64) = (-105.0, -747.0);
const MOST: (f32, f64) = (90.0, 712.0);

/// `e^x`.
pub fn exp<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    if has_instruction(m) {
        return exp_by_instruction(m, x, None);
    }
    let x = bounded(m, x);
    exp_by_table::exp(m, x, &[LN_2, f64::from(LN_2_LOW.0)]).unwrap_or_else(|| exp_of_bounded(m, x, None))
}

/// `e^(x + low)`, for a small `low`: for what adds errors of its own, which those of the table leave no room for.
pub fn exp_of_sum<'c>(m: &Floats<'c>, x: Value<'c>, low: Value<'c>) -> Value<'c> {
    match has_instruction(m) {
        true => exp_by_instruction(m, x, Some(low)),
        false => exp_of_bounded(m, bounded(m, x), Some(low)),
    }
}

fn has_instruction(m: &Floats) -> bool {
    m.exp2 && !m.is_double()
}

/// `2^t (1 + r)`. Of an infinite x, `r` is no number, for which the maximum takes the other operand; what is rounded off of `t` is
/// below `2^-16`.
fn exp_by_instruction<'c>(m: &Floats<'c>, x: Value<'c>, low: Option<Value<'c>>) -> Value<'c> {
    let t = m.mul(x, m.float(LOG2_E));
    let r = m.fma(t, m.float(-LN_2), x);
    let r = m.fma(t, m.float(-LN_2_LOW.0), r);
    let r = low.map_or(r, |low| m.add(r, low));
    let r = m.intrinsic("llvm.maxnum", &[r, m.float(-0.5)], m.dtype);
    m.mul(m.intrinsic("llvm.exp2", &[t], m.dtype), m.add(r, m.float(1.0)))
}

/// `x`, or a number near it whose result is the same.
fn bounded<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    m.at_most(m.at_least(x, m.in_precision(LEAST.0, LEAST.1)), m.in_precision(MOST.0, MOST.1))
}

fn exp_of_bounded<'c>(m: &Floats<'c>, x: Value<'c>, low: Option<Value<'c>>) -> Value<'c> {
    let (n, multiple, p) = reduced(m, x, low);
    exp_of_parts(m, n, multiple, p)
}

/// `2^n p`, for an `n` in the low bits of an integer and as a float, and a `p` near 1.
pub fn exp_of_parts<'c>(m: &Floats<'c>, n: Value<'c>, multiple: Value<'c>, p: Value<'c>) -> Value<'c> {
    if let Some(scaled) = m.scaled(p, multiple) {
        return scaled;
    }
    // In two steps, as 2^n has no representation for all n. What the rounding added to n is shifted out.
    let bits = m.mantissa_bits();
    let whole = m.shift_left(n, bits);
    let half = m.shift_left(m.shift_right(n, 1), bits);
    let one = m.int(m.representation(1.0));
    let first = m.of_bits(m.int_add(half, one));
    let second = m.of_bits(m.int_add(m.int_sub(whole, half), one));
    m.mul(m.mul(p, first), second)
}

/// `e^x` for x from -40 to 40, where the result is a normal number; off by up to 2 units in the last place, since `ln 2` is
/// subtracted in one part.
pub fn exp_in_range<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    if has_instruction(m) {
        return exp_by_instruction(m, x, None);
    }
    if let Some(found) = exp_by_table::exp_in_range(m, x) {
        return found;
    }
    let (n, multiple) = m.round(x, LOG2_E);
    let p = of_rest(m, m.fma(multiple, m.float(-LN_2), x));
    m.of_bits(m.int_add(m.bits(p), m.shift_left(n, m.mantissa_bits())))
}

/// `n` in the low bits of an integer and as a float, and `e^r`.
fn reduced<'c>(m: &Floats<'c>, x: Value<'c>, low: Option<Value<'c>>) -> (Value<'c>, Value<'c>, Value<'c>) {
    let (bits, n) = m.round(x, LOG2_E);
    let r = m.fma(n, m.float(-LN_2), x);
    let r = m.fma(n, m.float(-m.in_precision(LN_2_LOW.0, LN_2_LOW.1)), r);
    (bits, n, of_rest(m, low.map_or(r, |low| m.add(r, low))))
}

/// `e^r`.
fn of_rest<'c>(m: &Floats<'c>, r: Value<'c>) -> Value<'c> {
    let one = m.float(1.0);
    m.fma(m.fma(m.polynomial(r, &Q), r, one), r, one)
}
