//! The hyperbolic tangent, as one quotient.
//!
//!     tanh x = x p(x^2) / q(x^2)   for |x| <= 9.02, from where on it is 1
//!
//! `p` and `q`, both of degree 4, are those whose quotient is nearest to `tanh(x) / x` relative to it (Lawson's iteration at Chebyshev points in
//! 40 digits, linear in the coefficients as of Loeb; rounded to f32): off by 2.1e-8. Both are rounded before they are divided. Error: below 6
//! units in the last place.

use super::super::floats::Floats;
use super::odd_quotient;
use fusion_dialects::Value;

const P: [f32; 5] = [1.0, 0.133_797_21, 0.003_494_032, 2.058_321_1e-5, 1.331_828_8e-8];
const Q: [f32; 5] = [1.0, 0.467_130_36, 0.025_871_08, 0.000_328_307_88, 7.761_784e-7];
const MOST: f32 = 9.02;

/// `tanh x`.
pub fn tanh<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    odd_quotient(m, x, MOST, (&P, &Q))
}
