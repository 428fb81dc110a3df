//! The hyperbolic tangent where a register is a table of sixteen numbers that lanes look up in.
//!
//!     tanh |x| = |e| / (2 + e),   e = e^y - 1,   y = 2 |x| above 0.3, or -2 |x|
//!     e^y = s e^r,   s = 2^(n/16),   n = round(16 y / ln 2),   r = y - n ln 2 / 16,   |r| <= ln 2 / 32
//!     e = (s - 1) + s (r + (r^2 (1/2 + r (1/6 + r / 24)) + l))
//!
//! `s` is that of `exp_by_table` in f32, and `l` what it lacks of `2^(n/16)`, relative to it, with the low part of `n ln 2 / 16` (P. T. P. Tang, "Table-driven
//! Implementation of the Expm1 Function in IEEE Floating-Point Arithmetic", 1992). Near 0 nothing is lost, as `s - 1` is exact there and 0 for n = 0. Of large `|x|`
//! the error of a large e is divided out, of small ones that of 2 + e is less where e is below 0: so the sign of y changes. Where `2^floor(n/16)` is a normal number,
//! the table's entry has its exponent changed by an addition, which other units do than those that multiply; these do half of what
//! they do for the polynomial and the exponential of `tanh`. Error: below 1.95 units in the last place.

use super::exp::LN_2_LOW;
use super::exp_by_table::{sixteenths, table};
use super::floats::{Floats, Is};
use fusion_dialects::Value;
use std::f64::consts::LN_2;

/// From here on the result is 1.
const MOST: f64 = 40.0;
/// Where y changes its sign.
const SMALL: f64 = 0.3;
/// The coefficients of `(e^r - 1 - r) / r^2`.
const C: [f64; 3] = [0.5, 1.0 / 6.0, 1.0 / 24.0];

/// `tanh x`; `None` where a register is no table.
pub fn tanh<'c>(m: &Floats<'c>, x: Value<'c>) -> Option<Value<'c>> {
    m.is_register_of_avx512().then_some(())?;
    let size = m.abs(x);
    let twice = m.add(size, size);
    let y = m.select(m.is(Is::Above, size, m.float(SMALL)), twice, m.neg(twice));
    let y = m.at_most(y, MOST);

    let (index, n) = sixteenths(m, y)?;
    let parts = table();
    let lacking = parts.map(|part| (part - f64::from(part as f32)) / part);
    let s = m.power_of_parts(&parts, index)?;
    let r = m.fma(n, m.float(-LN_2), y);
    let low = m.fma(n, m.float(-f64::from(LN_2_LOW.0)), m.chosen(&lacking, index)?);
    let q = m.fma(m.fma(r, m.float(C[2]), m.float(C[1])), r, m.float(C[0]));
    let p = m.add(r, m.fma(m.mul(r, r), q, low));
    let e = m.fma(s, p, m.sub(s, m.float(1.0)));
    Some(m.copy_sign(m.div(e, m.add(m.float(2.0), e)), x))
}
