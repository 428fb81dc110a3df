//! The hyperbolic sine and cosine.
//!
//!     e = e^(|x| - ln 2) = e^|x| / 2,       cosh x = e + 1 / 4 e
//!     |x| < 1:   sinh x = x + x^3 s(x^2)     otherwise   sinh x = e - 1 / 4 e, with the sign of x
//!
//! `s` is the polynomial of degree 3 nearest to `(sinh x - x) / x^3` relative to `sinh x` (found as that of `exp`): off by 3.0e-10, for f64 by 2^-56. `ln 2`
//! is subtracted in two parts, and what the first difference lost goes along, since an error of the exponent is the result's
//! relative error. The results are finite as far as floats go. Error: below 2 units in the last place.

use super::exp::{LN_2_LOW, exp_of_sum};
use super::floats::{Coefficients, Floats, Is};
use fusion_dialects::Value;
use std::f64::consts::LN_2;

const S: Coefficients = Coefficients {
    single: &[0.166_666_67, 0.008_333_310_5, 0.000_198_428_98, 2.782_179_8e-6],
    double: &[
        0.166_666_666_666_666_66,
        0.008_333_333_333_333_333,
        0.000_198_412_698_412_697_73,
        2.755_731_922_404_034e-6,
        2.505_210_836_405_804e-8,
        1.605_904_839_635_058e-10,
        7.646_625_361_655_412e-13,
        2.844_526_417_022_745_4e-15,
    ],
};

/// `e` and `1 / 4 e`.
fn halves<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let size = m.abs(x);
    let difference = m.sub(size, m.float(LN_2));
    // What the difference lost, exactly: one of the two is at most twice the other, or the larger comes first (Dekker).
    let back = m.sub(difference, size);
    let lost = m.sub(m.sub(size, m.sub(difference, back)), m.add(m.float(LN_2), back));
    let low = m.sub(lost, m.float(m.in_precision(LN_2_LOW.0, LN_2_LOW.1)));
    // Infinity minus infinity is lost as well.
    let low = m.select(m.is(Is::Below, size, m.float(f64::INFINITY)), low, m.float(0.0));
    let e = exp_of_sum(m, difference, low);
    (e, m.div(m.float(0.25), e))
}

/// `sinh x`.
pub fn sinh<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let square = m.mul(x, x);
    let near = m.fma(m.mul(m.polynomial(square, &S), square), x, x);
    let (e, inverse) = halves(m, x);
    let far = m.copy_sign(m.sub(e, inverse), x);
    m.select(m.is(Is::Below, m.abs(x), m.float(1.0)), near, far)
}

/// `cosh x`.
pub fn cosh<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (e, inverse) = halves(m, x);
    m.add(e, inverse)
}
