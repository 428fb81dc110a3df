//! The inverses of the hyperbolic functions, by the logarithm of `1 + t`.
//!
//!     asinh x = ln(1 + t),      t = |x| + x^2 / (1 + sqrt(x^2 + 1)), with the sign of x
//!     acosh x = ln(1 + t),      t = d + sqrt(d^2 + 2 d),   d = x - 1
//!     atanh x = ln(1 + t) / 2,  t = 2 |x| / (1 - |x|), with the sign of x
//!
//! Each `t` is as small as the result where this is small, so that nothing cancels. Before squares become infinite, from `2^30` on (f64: `2^500`),
//! the first two are `ln 2 + ln(1 + |x|)`. Error: below 2.5 units in the last place.

use super::floats::{Floats, Is};
use super::log::log_of_one_and;
use fusion_dialects::Value;
use std::f64::consts::LN_2;

/// From here on 1 is nothing beside x: `2^30` and `2^500`.
const LARGE: (f32, f64) = (1_073_741_824.0, 3.273_390_607_896_142e150);

/// `asinh x`.
pub fn asinh<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (size, one) = (m.abs(x), m.float(1.0));
    let square = m.mul(size, size);
    let root = m.sqrt(m.fma(size, size, one));
    let t = m.add(size, m.div(square, m.add(root, one)));
    m.copy_sign(unless_large(m, size, t), x)
}

/// `acosh x`; below 1, none.
pub fn acosh<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let one = m.float(1.0);
    let d = m.sub(x, one);
    let root = m.sqrt(m.fma(d, d, m.add(d, d)));
    let result = unless_large(m, d, m.add(d, root));
    m.select(m.is(Is::Below, x, one), m.float(f64::NAN), result)
}

/// `atanh x`; beyond 1, none.
pub fn atanh<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    let (size, one) = (m.abs(x), m.float(1.0));
    let t = m.div(m.add(size, size), m.sub(one, size));
    let half = m.mul(m.float(0.5), log_of_one_and(m, t));
    m.select(m.is(Is::Above, size, one), m.float(f64::NAN), m.copy_sign(half, x))
}

/// `ln(1 + t)`, or `ln 2 + ln(1 + x)` for a large x.
fn unless_large<'c>(m: &Floats<'c>, x: Value<'c>, t: Value<'c>) -> Value<'c> {
    let is_large = m.is(Is::Above, x, m.float(m.in_precision(LARGE.0, LARGE.1)));
    let further = m.select(is_large, m.float(LN_2), m.float(0.0));
    m.add(log_of_one_and(m, m.select(is_large, x, t)), further)
}
