//! The inverses of sine and cosine.
//!
//!     |x| <= 1/2:   asin x = x + x^3 a(x^2)                      acos x = pi/2 - asin x
//!     x > 1/2:      asin x = pi/2 - 2 asin(sqrt((1 - x) / 2))    acos x = 2 asin(sqrt((1 - x) / 2))
//!     x < -1/2:     asin x = -asin(-x)                           acos x = pi - acos(-x)
//!
//! `a` is the polynomial of degree 4 nearest to `(asin x - x) / x^3` relative to `asin x` on 0 to 1/2 (found as that of `exp`): off by
//! 4.7e-9, for f64 by 2^-57. `(1 - x) / 2` is exact there (Sterbenz). Error: below 2.5 units in the last place for asin, 1.5 for acos.

use super::atan::FRAC_PI_2_LOW;
use super::floats::{Coefficients, Floats, Is};
use fusion_dialects::Value;
use std::f64::consts::{FRAC_PI_2, PI};

const A: Coefficients = Coefficients {
    single: &[0.166_667_5, 0.074_953_64, 0.045_462_92, 0.024_213_202, 0.042_113_2],
    double: &[
        0.166_666_666_666_666_69,
        0.074_999_999_999_984_33,
        0.044_642_857_146_355_43,
        0.030_381_944_138_531_2,
        0.022_372_172_942_151_35,
        0.017_352_392_720_840_923,
        0.013_971_212_973_930_064,
        0.011_479_177_411_895_745,
        0.010_322_814_369_605_943,
        0.005_457_506_642_064_085,
        0.017_400_879_635_823_27,
        -0.014_851_887_352_956_897,
        0.028_757_851_548_184_377,
    ],
};

/// What `pi/2` has beyond its nearest number.
fn low(m: &Floats) -> f64 {
    m.in_precision(FRAC_PI_2_LOW.0, FRAC_PI_2_LOW.1)
}

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
    let far = m.fma(m.float(-2.0), arc, m.float(low(m)));
    m.copy_sign(m.select(is_far, m.add(m.float(FRAC_PI_2), far), arc), x)
}

/// `acos x`.
pub fn acos<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (is_far, arc) = reduced(m, x);
    let is_negative = m.is(Is::Below, x, m.float(0.0));
    let twice = m.add(arc, arc);
    let back = m.sub(m.float(PI), m.sub(twice, m.float(2.0 * low(m))));
    let far = m.select(is_negative, back, twice);
    let signed = m.copy_sign(arc, x);
    let near = m.sub(m.float(FRAC_PI_2), m.sub(signed, m.float(low(m))));
    m.select(is_far, far, near)
}
