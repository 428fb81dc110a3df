//! The hyperbolic tangent.
//!
//!     |x| <= 0.6:   tanh x = x + x^3 q(x^2)
//!     otherwise     tanh x = 1 - 2 / (e^(2 |x|) + 1), with the sign of x
//!
//! `q` is the polynomial of degree 4 nearest to `(tanh x - x) / x^3` relative to `tanh x` (found as that of `exp`): off by 2.8e-9,
//! for f64 by 2^-57. From 0.6 on what is taken from 1 is below 0.47, and its error counts half or less. Quotients of polynomials in x are faster and off
//! by 5 units, since both are rounded before they are divided. Error: below 1.5 units in the last place. Registers of
//! AVX-512 take a shorter way (`tanh_by_table`).

use super::exp::exp_in_range;
use super::floats::{Coefficients, Floats, Is};
use super::tanh_by_table;
use fusion_dialects::Value;

const Q: Coefficients = Coefficients {
    single: &[-0.333_333, 0.133_319_36, -0.053_784_717, 0.020_798_625, -0.005_897_966_7],
    double: &[
        -0.333_333_333_333_333_3,
        0.133_333_333_333_332_05,
        -0.053_968_253_968_085_31,
        0.021_869_488_527_368_107,
        -0.008_863_235_292_803_277,
        0.003_592_124_250_008_546,
        -0.001_455_795_885_572_400_7,
        0.000_589_768_099_463_777_9,
        -0.000_237_952_013_823_606_85,
        9.332_432_230_803_604e-5,
        -3.208_661_400_417_057e-5,
        6.934_046_404_701_258e-6,
    ],
};
/// Where both forms are good.
const SMALL: f32 = 0.6;
/// From here on the result is 1: e^-20 and e^-40 are less than half of its last place.
const MOST: (f32, f64) = (20.0, 40.0);

/// `tanh x`.
pub fn tanh<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    if let Some(found) = tanh_by_table::tanh(m, x) {
        return found;
    }
    let (size, square) = (m.abs(x), m.mul(x, x));
    let near = m.fma(m.mul(m.polynomial(square, &Q), square), x, x);
    let one = m.float(1.0);
    let e = exp_in_range(m, m.at_most(m.add(size, size), m.in_precision(MOST.0, MOST.1)));
    let far = m.sub(one, m.div(m.float(2.0), m.add(e, one)));
    // What is no number takes the polynomial, which keeps it.
    // Of -0 the polynomial is 0.
    m.copy_sign(m.select(m.is(Is::Above, size, m.float(SMALL)), far, near), x)
}
