//! The error function.
//!
//!     |x| < 0.925:        erf x = x + x p(x^2)
//!     otherwise, of f32   erf x = 1 - e^(-t + t q(t)),   t = min(|x|, 4), with the sign of x
//!                of f64   erf x = 1 - e^(-t^2 + g(u)),   t = min(|x|, 6),   u = (t - 3.46) / 2.54
//!
//! `p` is the polynomial of degree 6 nearest to `erf(x) / x - 1` relative to `erf x`, `q` that of degree 6 nearest to
//! `ln(erfc t) / t + 1` weighted by `erfc t / erf t`, which is how its error reaches the result (both found as that of `exp`): off
//! by 8.6e-10 and 7.4e-10. The form is N. Juffa's. For f64, `p` is off by 2^-56, and `g` is the polynomial of degree 20 nearest to
//! `ln(erfc t) + t^2` with the same weight, off by 2^-55; that function is small, so that the exponent's error is that of `t^2`.
//! From 4 (6) on the result is 1. Error: below 1.5 units in the last place, 2 for f64. Registers of AVX-512 take a shorter way (`erf_by_table`).

use super::erf_by_table;
use super::exp::exp_in_range;
use super::floats::{Coefficients, Floats, Is};
use fusion_dialects::Value;

const P: Coefficients = Coefficients {
    single: &[
        0.128_379_17,
        -0.376_126_32,
        0.112_836_76,
        -0.026_858_533,
        0.005_199_148,
        -0.000_812_318_7,
        8.293_013e-5,
    ],
    double: &[
        0.128_379_167_095_512_6,
        -0.376_126_389_031_837_54,
        0.112_837_916_709_550_79,
        -0.026_866_170_645_119_08,
        0.005_223_977_625_279_229,
        -0.000_854_832_701_045_477,
        0.000_120_553_323_158_123_86,
        -1.492_562_745_576_358_8e-5,
        1.646_157_404_268_262_4e-6,
        -1.635_705_981_775_961_5e-7,
        1.471_009_796_813_407_7e-8,
        -1.158_845_910_117_783e-9,
        6.361_412_989_016_106e-11,
    ],
};
const Q: [f32; 7] = [
    -0.128_648_55,
    -0.635_151_1,
    -0.106_237_23,
    0.023_762_347,
    -0.003_642_582_3,
    0.000_322_831_3,
    -1.123_375_2e-5,
];
const G: [f64; 21] = [
    -1.851_739_886_807_226_6,
    -0.682_713_017_883_263_6,
    0.218_596_381_248_690_9,
    -0.087_963_080_549_797_55,
    0.037_616_540_062_800_72,
    -0.016_205_538_837_676_118,
    0.006_848_211_506_174_024,
    -0.002_784_144_325_031_168,
    0.001_065_981_984_877_847_6,
    -0.000_371_469_046_185_411_16,
    0.000_113_304_176_610_015_8,
    -1.739_961_428_228_209_5e-5,
    -5.785_551_439_621_593e-6,
    -1.263_121_124_086_122_7e-5,
    -3.493_354_490_499_596e-5,
    -1.298_220_651_614_720_1e-5,
    1.583_743_030_077_309_6e-5,
    3.865_146_800_491_757e-5,
    3.164_118_215_521_219_6e-5,
    1.385_253_411_366_669_3e-5,
    2.650_215_425_696_466e-6,
];
/// Where both forms are good.
const SMALL: f32 = 0.925;
const MOST: (f32, f64) = (4.0, 6.0);
/// The middle of the numbers for which `g` is, and how far they go from there.
const MIDDLE: f64 = 3.46;
const REACH: f64 = 2.54;

/// `erf x`.
pub fn erf<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    if let Some(found) = erf_by_table::erf(m, x) {
        return found;
    }
    let size = m.abs(x);
    let near = m.fma(m.polynomial(m.mul(x, x), &P), x, x);
    let t = m.at_most(size, m.in_precision(MOST.0, MOST.1));
    let exponent = if m.is_double() {
        let u = m.mul(m.sub(t, m.float(MIDDLE)), m.float(1.0 / REACH));
        m.fma(m.neg(t), t, m.polynomial(u, &Coefficients { single: &[], double: &G }))
    } else {
        m.fma(m.polynomial(t, &Coefficients { single: &Q, double: &[] }), t, m.neg(t))
    };
    let far = m.sub(m.float(1.0), exp_in_range(m, exponent));
    // What is no number takes the polynomial, which keeps it.
    m.select(m.is(Is::Above, size, m.float(SMALL)), m.copy_sign(far, x), near)
}
