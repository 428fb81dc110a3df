//! The exponential function where a register is a table of sixteen numbers that lanes look up in.
//!
//!     e^x = 2^(n/16) e^r,   n = round(16 x / ln 2),   r = x - n ln 2 / 16,   |r| <= ln 2 / 32
//!     2^(n/16) = 2^floor(n/16) T[n mod 16],   T[j] = 2^(j/16)
//!     T e^r = T + (T r) (1 + r (c2 + r c3))
//!
//! A remainder that is sixteen times as small needs a polynomial of degree 3 instead of 6: twelve instructions instead of fourteen, eight instead of eleven of
//! them in the units that multiply, and half the time from operand to result (the table's method: P. T. P. Tang, "Table-driven Implementation of the Exponential
//! Function in IEEE Floating-Point Arithmetic", 1989). `c3 = 1/6`, and `c2` is larger than a half by what the terms that are left out are in the middle: off by
//! 1.6e-9. The multiplication by `2^floor(n/16)` rounds downwards to find its power. Error: below 1.1 units in the last place, of which half
//! is that of the table.

use super::floats::Floats;
use fusion_dialects::Value;
use std::f64::consts::{LN_2, LOG2_E};

const C: [f64; 2] = [0.500_016_2, 1.0 / 6.0];

/// `e^x`, for an `x` whose size is below `2^17`; `n ln 2` is subtracted in as many parts as are given. `None` where a
/// register is no table.
pub fn exp<'c>(m: &Floats<'c>, x: Value<'c>, ln_2: &[f64]) -> Option<Value<'c>> {
    let (index, n) = sixteenths(m, x)?;
    let r = ln_2.iter().fold(x, |r, part| m.fma(n, m.float(-part), r));
    let t = m.chosen(&table(), index)?;
    m.scaled(times_exp(m, t, r), n)
}

/// `e^x` for an `x` for which it is a normal number; `n ln 2` is subtracted in one part.
pub fn exp_in_range<'c>(m: &Floats<'c>, x: Value<'c>) -> Option<Value<'c>> {
    let (index, n) = sixteenths(m, x)?;
    let r = m.fma(n, m.float(-LN_2), x);
    Some(times_exp(m, m.power_of_parts(&table(), index)?, r))
}

/// `2^(j/16)`.
pub fn table() -> [f64; 16] {
    std::array::from_fn(|j| (j as f64 / 16.0).exp2())
}

/// `16 n` in the low bits of an integer and `n` as a float, for the `n` of sixteenths nearest to `x / ln 2`.
pub fn sixteenths<'c>(m: &Floats<'c>, x: Value<'c>) -> Option<(Value<'c>, Value<'c>)> {
    m.is_register_of_avx512().then(|| m.round_to_parts(x, LOG2_E, 16.0))
}

/// `t e^r`.
fn times_exp<'c>(m: &Floats<'c>, t: Value<'c>, r: Value<'c>) -> Value<'c> {
    let q = m.fma(m.fma(m.float(C[1]), r, m.float(C[0])), r, m.float(1.0));
    m.fma(m.mul(t, r), q, t)
}
