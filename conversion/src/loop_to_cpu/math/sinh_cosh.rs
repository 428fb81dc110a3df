//! The hyperbolic sine and cosine.
//!
//!     e = e^(|x| - ln 2) = e^|x| / 2,       cosh x = e + 1 / 4 e
//!     |x| < 1:   sinh x = x + x^3 s(x^2)     otherwise   sinh x = e - 1 / 4 e, with the sign of x
//!
//! `s` is the polynomial of degree 3 nearest to `(sinh x - x) / x^3` relative to `sinh x` (found as that of `exp`): off by 3.0e-10. `ln 2`
//! is subtracted in two parts, and what the first difference lost goes along, since an error of the exponent is the result's
//! relative error. The results are finite as far as floats go. Error: below 2 units in the last place.

use super::exp::exp_of_sum;
use super::floats::{Floats, Is};
use fusion_dialects::Value;
use std::f32::consts::LN_2;

const S: [f32; 4] = [0.166_666_67, 0.008_333_310_5, 0.000_198_428_98, 2.782_179_8e-6];
/// `ln 2` minus its nearest f32.
const LN_2_LOW: f32 = -1.904_654_2e-9;

/// `e` and `1 / 4 e`.
fn halves<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let size = m.abs(x);
    let difference = m.sub(size, m.float(LN_2));
    // What the difference lost, exactly: one of the two is at most twice the other, or the larger comes first (Dekker).
    let back = m.sub(difference, size);
    let lost = m.sub(m.sub(size, m.sub(difference, back)), m.add(m.float(LN_2), back));
    let low = m.sub(lost, m.float(LN_2_LOW));
    // Infinity minus infinity is lost as well.
    let low = m.select(m.is(Is::Below, size, m.float(f32::INFINITY)), low, m.float(0.0));
    let e = exp_of_sum(m, difference, Some(low));
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
