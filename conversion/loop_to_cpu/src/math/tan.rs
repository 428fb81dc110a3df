//! The tangent.
//!
//!     x = n pi/2 + r,   |r| <= pi/4          tan x  =  tan r        where n is even
//!     tan r = r + r^3 t(r^2)                          -1 / tan r    where it is odd
//!
//! `t` is the polynomial of degree 5 nearest to `(tan r - r) / r^3` relative to `tan r` (found as that of `exp`): off by 1.8e-8, for f64 by 2^-56. The
//! tangent grows faster than its argument: the rounding of `r` counts up to 1.6 times.
//! Error: below 3 units in the last place.

use super::floats::{Coefficients, Floats};
use super::quarters::quarters;
use super::sin_cos::zero_as_given;
use fusion_dialects::Value;
use std::f64::consts::FRAC_PI_4;

const T: Coefficients = Coefficients {
    single: &[0.333_331_58, 0.133_387_79, 0.053_412_437, 0.024_426_555, 0.003_125_543_2, 0.009_381_993],
    double: &[
        0.333_333_333_333_333_3,
        0.133_333_333_333_333_6,
        0.053_968_253_968_216_556,
        0.021_869_488_538_183_754,
        0.008_863_235_472_276_876,
        0.003_592_129_023_798_926_7,
        0.001_455_823_320_259_253_1,
        0.000_590_112_829_751_906,
        0.000_238_661_112_310_270_58,
        9.877_048_565_095_605e-5,
        3.392_443_625_791_718_4e-5,
        2.711_677_455_307_970_4e-5,
        -1.020_768_707_174_407_3e-5,
        1.954_562_747_226_226e-5,
        -9.749_592_937_174_756e-6,
        3.950_571_058_681_506e-6,
    ],
};

/// `tan x`.
pub fn tan<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    if m.within <= FRAC_PI_4 {
        return zero_as_given(m, x, first_quarter(m, x));
    }
    let (bits, r) = quarters(m, x);
    let tangent = first_quarter(m, r);
    let value = m.select(m.is_not_zero(m.int_and(bits, 1)), m.div(m.float(-1.0), tangent), tangent);
    zero_as_given(m, x, value)
}

fn first_quarter<'c>(m: &Floats<'c>, r: Value<'c>) -> Value<'c> {
    let square = m.mul(r, r);
    m.fma(m.mul(m.polynomial(square, &T), square), r, r)
}
