//! The tangent.
//!
//!     x = n pi/2 + r,   |r| <= pi/4          tan x  =  tan r        where n is even
//!     tan r = r + r^3 t(r^2)                          -1 / tan r    where it is odd
//!
//! `t` is the polynomial of degree 5 nearest to `(tan r - r) / r^3` relative to `tan r` (found as that of `exp`): off by 1.8e-8. The
//! tangent grows faster than its argument: the rounding of `r` counts up to 1.6 times.
//! Error: below 3 units in the last place.

use super::floats::Floats;
use super::quarters::quarters;
use fusion_dialects::Value;

const T: [f32; 6] =
    [0.333_331_58, 0.133_387_79, 0.053_412_437, 0.024_426_555, 0.003_125_543_2, 0.009_381_993];

/// `tan x`.
pub fn tan<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (bits, r) = quarters(m, x);
    let square = m.mul(r, r);
    let tangent = m.fma(m.mul(m.polynomial(square, &T), square), r, r);
    m.select(m.is_not_zero(m.int_and(bits, 1)), m.div(m.float(-1.0), tangent), tangent)
}
