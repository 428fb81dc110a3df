//! The exponential function, with a polynomial of degree 5.
//!
//!     e^x = 2^n e^r,   n = round(x / ln 2),   r = x - n ln 2
//!     e^r = 1 + r (1 + r q(r))
//!
//! `q` is the polynomial of degree 3 nearest to `(e^r - 1 - r) / r^2` relative to `e^r` (found as that of `exp`): off by 1.0e-7. `n ln 2` is one
//! product of the nearest f32, which is off by `n` times 1.9e-9. Error: below 6 units in the last place, 4 for x below
//! 40 in size. Registers of AVX-512 take the table of `exp_by_table`, with that product.

use super::super::exp::exp_of_parts;
use super::super::exp_by_table;
use super::super::floats::{Coefficients, Floats};
use fusion_dialects::Value;
use std::f64::consts::{LN_2, LOG2_E};

const Q: Coefficients =
    Coefficients { single: &[0.499_992_3, 0.166_671_14, 0.041_890_144, 0.008_312_549], double: &[] };
/// Beyond these the result is 0 or infinite.
const LEAST: f32 = -105.0;
const MOST: f32 = 90.0;

/// `e^x`.
pub fn exp<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let x = m.at_most(m.at_least(x, LEAST), MOST);
    if let Some(found) = exp_by_table::exp(m, x, &[LN_2]) {
        return found;
    }
    let (bits, n) = m.round(x, LOG2_E);
    let r = m.fma(n, m.float(-LN_2), x);
    let one = m.float(1.0);
    let p = m.fma(m.fma(m.polynomial(r, &Q), r, one), r, one);
    exp_of_parts(m, bits, n, p)
}
