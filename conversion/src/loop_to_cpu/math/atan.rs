//! The inverse of the tangent.
//!
//!     |x| <= 1:   atan x = x + x^3 a(x^2)
//!     |x| > 1:    atan x = pi/2 - atan(1/x), with the sign of x
//!
//! `a` is the polynomial of degree 8 nearest to `(atan x - x) / x^3` relative to `atan x` (found as that of `exp`): off by 2.6e-9.
//! Error: below 2.5 units in the last place, which the division and the difference have their part in.

use super::floats::{Floats, Is};
use fusion_dialects::Value;
use std::f32::consts::FRAC_PI_2;

const A: [f32; 9] = [
    -0.333_333,
    0.199_985_36,
    -0.142_641_26,
    0.109_516_52,
    -0.084_020_37,
    0.057_935_286,
    -0.031_157_082,
    0.010_904_085,
    -0.001_791_383_7,
];
/// `pi/2` minus its nearest f32.
const FRAC_PI_2_LOW: f32 = -4.371_139e-8;

/// `atan x`.
pub fn atan<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (size, one) = (m.abs(x), m.float(1.0));
    let is_far = m.is(Is::Above, size, one);
    let r = m.select(is_far, m.div(one, size), size);
    let square = m.mul(r, r);
    let near = m.fma(m.mul(m.polynomial(square, &A), square), r, r);
    let far = m.sub(m.float(FRAC_PI_2), m.sub(near, m.float(FRAC_PI_2_LOW)));
    m.copy_sign(m.select(is_far, far, near), x)
}
