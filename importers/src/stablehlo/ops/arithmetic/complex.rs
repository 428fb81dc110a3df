//! Complex numbers as pairs of floats.
//!
//! Formulas are written with real operators: exp(a + bi) = exp(a) (cos b + i sin b), and so on. Sizes are computed by hypot, and quotients
//! by Smith's method, so that nothing overflows between.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::arithmetic::apply::Pair;
use crate::stablehlo::ops::arithmetic::real::{atan2, expm1 as expm1_real, is_finite};
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::elementwise as ew;

pub const ROWS: &[Row] = &[
    row("stablehlo.complex", |e, op, x| Ok(vec![Held::Complex(e.tensor(op, x, 0)?, e.tensor(op, x, 1)?)])),
    row("stablehlo.real", |e, op, x| Ok(vec![Held::Tensor(e.parts(op, x, 0)?[0])])),
    row("stablehlo.imag", imag),
    row("chlo.conj", |e, op, x| {
        let parts = e.parts(op, x, 0)?;
        Ok(vec![match parts[..] {
            [re, im] => Held::Complex(re, e.un(&ew::NEG, im)?),
            _ => Held::Tensor(parts[0]),
        }])
    }),
];

fn imag<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let parts = e.parts(op, x, 0)?;
    Ok(vec![Held::Tensor(match parts.get(1) {
        Some(&im) => im,
        None => {
            let (zero, dims) = (e.like(parts[0], 0.0)?, e.dims(parts[0])?);
            e.broadcast_dims(zero, dims)?
        }
    })])
}

pub fn add<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    Ok([e.add(a[0], b[0])?, e.add(a[1], b[1])?])
}

pub fn sub<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    Ok([e.sub(a[0], b[0])?, e.sub(a[1], b[1])?])
}

pub fn mul<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    let (rr, ii, ri, ir) = (e.mul(a[0], b[0])?, e.mul(a[1], b[1])?, e.mul(a[0], b[1])?, e.mul(a[1], b[0])?);
    Ok([e.sub(rr, ii)?, e.add(ri, ir)?])
}

/// Smith's method: the greater part of the divisor is divided by.
pub fn div<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    let (width, height) = (e.un(&ew::ABS, b[0])?, e.un(&ew::ABS, b[1])?);
    let tall = e.less(width, height)?;
    // Where the divisor is taller than wide, both are turned by a quarter: a / b = (a i) / (b i).
    let minus = |e: &mut Emitter<'c, '_>, x| e.un(&ew::NEG, x);
    let (ai, bi) = (minus(e, a[0])?, minus(e, b[0])?);
    let a = [e.select(tall, a[1], a[0])?, e.select(tall, ai, a[1])?];
    let b = [e.select(tall, b[1], b[0])?, e.select(tall, bi, b[1])?];
    let ratio = e.div(b[1], b[0])?;
    let low = e.mul(b[1], ratio)?;
    let divisor = e.add(b[0], low)?;
    let (up, down) = (e.mul(a[1], ratio)?, e.mul(a[0], ratio)?);
    let (re, im) = (e.add(a[0], up)?, e.sub(a[1], down)?);
    Ok([e.div(re, divisor)?, e.div(im, divisor)?])
}

/// sqrt(re^2 + im^2), without overflow.
pub fn size<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Value<'c>> {
    let (width, height) = (e.un(&ew::ABS, x[0])?, e.un(&ew::ABS, x[1])?);
    let (least, most) = (e.bin(&ew::MINIMUM, width, height)?, e.bin(&ew::MAXIMUM, width, height)?);
    let ratio = e.div(least, most)?;
    let square = e.mul(ratio, ratio)?;
    let sum = e.add_f(square, 1.0)?;
    let root = e.un(&ew::SQRT, sum)?;
    let size = e.mul(most, root)?;
    // Of 0 and of infinity the ratio says nothing.
    let zero = e.like(most, 0.0)?;
    let (plain, empty) = (is_finite(e, most)?, e.equal(most, zero)?);
    let size = e.select(plain, size, most)?;
    e.select(empty, zero, size)
}

pub fn abs<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    Ok(Held::Tensor(size(e, x)?))
}

fn held<'c>([re, im]: Pair<'c>) -> Held<'c> {
    Held::Complex(re, im)
}

/// x / |x|, and 0 of 0.
pub fn sign<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let size = size(e, x)?;
    let (zero, one) = (e.like(size, 0.0)?, e.like(size, 1.0)?);
    let empty = e.equal(size, zero)?;
    let divisor = e.select(empty, one, size)?;
    Ok(held([e.div(x[0], divisor)?, e.div(x[1], divisor)?]))
}

fn turned<'c>(e: &mut Emitter<'c, '_>, size: Value<'c>, angle: Value<'c>) -> Outcome<Pair<'c>> {
    let (cosine, sine) = (e.un(&ew::COS, angle)?, e.un(&ew::SIN, angle)?);
    Ok([e.mul(size, cosine)?, e.mul(size, sine)?])
}

pub fn exp<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let size = e.un(&ew::EXP, x[0])?;
    let [re, im] = turned(e, size, x[1])?;
    // Of a real number the result is real, also where it is infinite.
    let zero = e.like(im, 0.0)?;
    let real = e.equal(x[1], zero)?;
    Ok(held([re, e.select(real, x[1], im)?]))
}

/// expm1(a) cos b - 2 sin(b / 2)^2, and exp(a) sin b.
pub fn expm1<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let (less, size, half) = (expm1_real(e, x[0])?, e.un(&ew::EXP, x[0])?, e.mul_f(x[1], 0.5)?);
    let [_, im] = turned(e, size, x[1])?;
    let (cosine, sine) = (e.un(&ew::COS, x[1])?, e.un(&ew::SIN, half)?);
    let (square, first) = (e.mul(sine, sine)?, e.mul(less, cosine)?);
    let twice = e.mul_f(square, 2.0)?;
    Ok(held([e.sub(first, twice)?, im]))
}

pub fn log_pair<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Pair<'c>> {
    let size = size(e, x)?;
    Ok([e.un(&ew::LOG, size)?, atan2(e, x[1], x[0])?])
}

pub fn log<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    Ok(held(log_pair(e, x)?))
}

/// log1p(a (a + 2) + b^2) / 2 near 0.
pub fn log1p<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let above = e.add_f(x[0], 1.0)?;
    let [far, angle] = log_pair(e, [above, x[1]])?;
    let (twice, square) = (e.add_f(x[0], 2.0)?, e.mul(x[1], x[1])?);
    let product = e.mul(x[0], twice)?;
    let sum = e.add(product, square)?;
    let log = e.un(&ew::LOG1P, sum)?;
    let (near, size, bound) = (e.mul_f(log, 0.5)?, size(e, x)?, e.like(x[0], 0.5)?);
    let small = e.less(size, bound)?;
    Ok(held([e.select(small, near, far)?, angle]))
}

/// The root whose real part is not negative: t = sqrt((|x| + |a|) / 2), and b / 2t.
pub fn sqrt_pair<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Pair<'c>> {
    let (size, width) = (size(e, x)?, e.un(&ew::ABS, x[0])?);
    let sum = e.add(size, width)?;
    let half = e.mul_f(sum, 0.5)?;
    let root = e.un(&ew::SQRT, half)?;
    let twice = e.mul_f(root, 2.0)?;
    let (zero, height) = (e.like(root, 0.0)?, e.un(&ew::ABS, x[1])?);
    let empty = e.equal(root, zero)?;
    let other = e.div(height, twice)?;
    let other = e.select(empty, zero, other)?;
    let left = e.less(x[0], zero)?;
    let (re, im) = (e.select(left, other, root)?, e.select(left, root, other)?);
    let (below, negative) = (e.less(x[1], zero)?, e.un(&ew::NEG, im)?);
    Ok([re, e.select(below, negative, im)?])
}

pub fn sqrt<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    Ok(held(sqrt_pair(e, x)?))
}

fn one_over<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Pair<'c>> {
    let (one, zero) = (e.like(x[0], 1.0)?, e.like(x[0], 0.0)?);
    div(e, [one, zero], x)
}

pub fn rsqrt<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let root = sqrt_pair(e, x)?;
    Ok(held(one_over(e, root)?))
}

/// exp(b log(a)); 0 to a power is 0, and anything to 0 is 1.
pub fn pow<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    let log = log_pair(e, a)?;
    let exponent = mul(e, b, log)?;
    let size_of_power = e.un(&ew::EXP, exponent[0])?;
    let power = turned(e, size_of_power, exponent[1])?;
    let (zero, one) = (e.like(a[0], 0.0)?, e.like(a[0], 1.0)?);
    let is_zero = |e: &mut Emitter<'c, '_>, x: Pair<'c>| {
        let (re, im) = (e.equal(x[0], zero)?, e.equal(x[1], zero)?);
        e.and(re, im)
    };
    let (no_base, no_exponent) = (is_zero(e, a)?, is_zero(e, b)?);
    let (re, im) = (e.select(no_base, zero, power[0])?, e.select(no_base, zero, power[1])?);
    Ok([e.select(no_exponent, one, re)?, e.select(no_exponent, zero, im)?])
}

/// sin a cosh b + i cos a sinh b
pub fn sin_pair<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Pair<'c>> {
    let (sine, cosine) = (e.un(&ew::SIN, x[0])?, e.un(&ew::COS, x[0])?);
    let (sinh, cosh) = (e.un(&ew::SINH, x[1])?, e.un(&ew::COSH, x[1])?);
    Ok([e.mul(sine, cosh)?, e.mul(cosine, sinh)?])
}

pub fn sin<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    Ok(held(sin_pair(e, x)?))
}

/// cos a cosh b - i sin a sinh b
pub fn cos_pair<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Pair<'c>> {
    let (sine, cosine) = (e.un(&ew::SIN, x[0])?, e.un(&ew::COS, x[0])?);
    let (sinh, cosh) = (e.un(&ew::SINH, x[1])?, e.un(&ew::COSH, x[1])?);
    let im = e.mul(sine, sinh)?;
    Ok([e.mul(cosine, cosh)?, e.un(&ew::NEG, im)?])
}

pub fn cos<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    Ok(held(cos_pair(e, x)?))
}

/// (t + i u) / (1 - i t u) with t = tan a and u = tanh b, which does not overflow.
fn tan_pair<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Pair<'c>> {
    let (t, u, one) = (e.un(&ew::TAN, x[0])?, e.un(&ew::TANH, x[1])?, e.like(x[0], 1.0)?);
    let product = e.mul(t, u)?;
    let negative = e.un(&ew::NEG, product)?;
    div(e, [t, u], [one, negative])
}

pub fn tan<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    Ok(held(tan_pair(e, x)?))
}

/// tanh x = -i tan(i x)
pub fn tanh<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let height = e.un(&ew::NEG, x[1])?;
    let [re, im] = tan_pair(e, [height, x[0]])?;
    Ok(held([im, e.un(&ew::NEG, re)?]))
}

/// 1 / (1 + exp(-x))
pub fn logistic<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let minus = [e.un(&ew::NEG, x[0])?, e.un(&ew::NEG, x[1])?];
    let size = e.un(&ew::EXP, minus[0])?;
    let [re, im] = turned(e, size, minus[1])?;
    let above = e.add_f(re, 1.0)?;
    Ok(held(one_over(e, [above, im])?))
}

/// cosh x = cos(i x)
pub fn cosh<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let height = e.un(&ew::NEG, x[1])?;
    Ok(held(cos_pair(e, [height, x[0]])?))
}

/// sinh x = -i sin(i x)
pub fn sinh<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let height = e.un(&ew::NEG, x[1])?;
    let [re, im] = sin_pair(e, [height, x[0]])?;
    Ok(held([im, e.un(&ew::NEG, re)?]))
}

pub fn square<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    Ok(held(mul(e, x, x)?))
}

/// exp(log(x) / 3)
pub fn cbrt<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>) -> Outcome<Held<'c>> {
    let (zero, third) = (e.like(x[0], 0.0)?, e.like(x[0], 1.0 / 3.0)?);
    Ok(held(pow(e, x, [third, zero])?))
}

/// The greater of two numbers, or the smaller: by the real part, then by the imaginary one.
fn extreme<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>, greatest: bool) -> Outcome<Pair<'c>> {
    let (first, second) = if greatest { (b, a) } else { (a, b) };
    let (before, same, behind) =
        (e.less(first[0], second[0])?, e.equal(first[0], second[0])?, e.less(first[1], second[1])?);
    let tied = e.and(same, behind)?;
    let takes_first = e.or(before, tied)?;
    Ok([e.select(takes_first, a[0], b[0])?, e.select(takes_first, a[1], b[1])?])
}

pub fn maximum<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    extreme(e, a, b, true)
}

pub fn minimum<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    extreme(e, a, b, false)
}
