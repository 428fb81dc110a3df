//! The inverse of the tangent.
//!
//!     |x| <= 1:   atan x = x + x^3 a(x^2)
//!     |x| > 1:    atan x = pi/2 - atan(1/x), with the sign of x
//!
//! `a` is the polynomial of degree 8 nearest to `(atan x - x) / x^3` relative to `atan x` (found as that of `exp`): off by 2.6e-9, for
//! f64 by 2^-57.
//! Error: below 2.5 units in the last place, which the division and the difference have their part in.

use super::floats::{Coefficients, Floats, Is};
use fusion_dialects::Value;
use std::f64::consts::FRAC_PI_2;

const A: Coefficients = Coefficients {
    single: &[
        -0.333_333,
        0.199_985_36,
        -0.142_641_26,
        0.109_516_52,
        -0.084_020_37,
        0.057_935_286,
        -0.031_157_082,
        0.010_904_085,
        -0.001_791_383_7,
    ],
    double: &[
        -0.333_333_333_333_333_3,
        0.199_999_999_999_999_98,
        -0.142_857_142_857_141_88,
        0.111_111_111_111_029_56,
        -0.090_909_090_905_466_24,
        0.076_923_076_823_620_35,
        -0.066_666_664_826_435_74,
        0.058_823_505_063_826_37,
        -0.052_631_338_847_742_83,
        0.047_617_228_302_564_894,
        -0.043_467_419_789_421_68,
        0.039_948_273_910_816_36,
        -0.036_836_569_807_037_35,
        0.033_844_262_761_061_81,
        -0.030_570_033_810_393_873,
        0.026_564_934_190_663_834,
        -0.021_573_849_050_111_765,
        0.015_836_927_513_247_584,
        -0.010_147_386_001_986_66,
        0.005_474_190_540_055_951,
        -0.002_390_265_734_786_208_4,
        0.000_804_806_336_311_267_9,
        -0.000_194_949_657_362_639_8,
        3.011_271_393_839_703e-5,
        -2.221_248_467_869_779_3e-6,
    ],
};
/// `pi/2` minus its nearest f32 and f64.
pub const FRAC_PI_2_LOW: (f32, f64) = (-4.371_139e-8, 6.123_233_995_736_766e-17);

/// `atan x`.
pub fn atan<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (size, one) = (m.abs(x), m.float(1.0));
    let is_far = m.is(Is::Above, size, one);
    let r = m.select(is_far, m.div(one, size), size);
    let square = m.mul(r, r);
    let near = m.fma(m.mul(m.polynomial(square, &A), square), r, r);
    let far =
        m.sub(m.float(FRAC_PI_2), m.sub(near, m.float(m.in_precision(FRAC_PI_2_LOW.0, FRAC_PI_2_LOW.1))));
    m.copy_sign(m.select(is_far, far, near), x)
}
