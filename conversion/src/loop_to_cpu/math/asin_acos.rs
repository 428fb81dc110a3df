//! The inverses of sine and cosine.
//!
//!     |x| <= 1/2:   asin x = x + x^3 a(x^2)                      acos x = pi/2 - asin x
//!     x > 1/2:      asin x = pi/2 - 2 asin(sqrt((1 - x) / 2))    acos x = 2 asin(sqrt((1 - x) / 2))
//!     x < -1/2:     asin x = -asin(-x)                           acos x = pi - acos(-x)
//!
//! `a` is the polynomial of degree 4 nearest to `(asin x - x) / x^3` relative to `asin x` on 0 to 1/2 (found as that of `exp`): off by
//! 4.7e-9. `(1 - x) / 2` is exact there (Sterbenz). Error: below 2.5 units in the last place for asin, 1.5 for acos.

use super::floats::{Floats, Is};
use fusion_dialects::Value;
use std::f32::consts::{FRAC_PI_2, PI};

const A: [f32; 5] = [0.166_667_5, 0.074_953_64, 0.045_462_92, 0.024_213_202, 0.042_113_2];
/// `pi/2` minus its nearest f32.
const FRAC_PI_2_LOW: f32 = -4.371_139e-8;

/// Whether `|x|` is above 1/2, and the arc sine of `|x|` or of `sqrt((1 - |x|) / 2)`.
fn reduced<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let (size, half) = (m.abs(x), m.float(0.5));
    let is_far = m.is(Is::Above, size, half);
    let square = m.select(is_far, m.fma(m.neg(half), size, half), m.mul(size, size));
    let r = m.select(is_far, m.sqrt(square), size);
    (is_far, m.fma(m.mul(m.polynomial(square, &A), square), r, r))
}

/// `asin x`.
pub fn asin<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (is_far, arc) = reduced(m, x);
    let far = m.fma(m.float(-2.0), arc, m.float(FRAC_PI_2_LOW));
    m.copy_sign(m.select(is_far, m.add(m.float(FRAC_PI_2), far), arc), x)
}

/// `acos x`.
pub fn acos<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (is_far, arc) = reduced(m, x);
    let is_negative = m.is(Is::Below, x, m.float(0.0));
    let twice = m.add(arc, arc);
    let back = m.sub(m.float(PI), m.sub(twice, m.float(2.0 * FRAC_PI_2_LOW)));
    let far = m.select(is_negative, back, twice);
    let signed = m.copy_sign(arc, x);
    let near = m.sub(m.float(FRAC_PI_2), m.sub(signed, m.float(FRAC_PI_2_LOW)));
    m.select(is_far, far, near)
}
