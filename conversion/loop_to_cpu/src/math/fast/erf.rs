//! The error function, as one quotient.
//!
//!     erf x = x p(x^2) / q(x^2)   for |x| <= 3.9, from where on it is 1
//!
//! `p` of degree 6 and `q` of degree 4 are those whose quotient is nearest to `erf(x) / x` relative to it (found as those of `tanh`): off by
//! 5.1e-8. Error: below 6 units in the last place. Registers of AVX-512 take the table of `erf_by_table`, which is shorter and better.

use super::super::erf_by_table;
use super::super::floats::Floats;
use super::odd_quotient;
use fusion_dialects::Value;

// The first is near 2 / sqrt(pi), and not it.
#[allow(clippy::approx_constant)]
const P: [f32; 7] = [
    1.128_379_1,
    0.197_919_18,
    0.050_308_64,
    0.003_620_21,
    0.000_140_246_63,
    -1.960_598_6e-6,
    2.013_272_2e-8,
];
const Q: [f32; 5] = [1.0, 0.508_733_1, 0.114_170_745, 0.014_184_241, 0.000_937_443_4];
const MOST: f32 = 3.9;

/// `erf x`.
pub fn erf<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    erf_by_table::erf(m, x).unwrap_or_else(|| odd_quotient(m, x, MOST, (&P, &Q)))
}
