//! Special functions as sums of known coefficients.
//!
//! lgamma and digamma follow Lanczos (g = 7, 9 terms), erfc a Chebyshev series (Press et al., Numerical Recipes, 6.2.2), the inverse of erf
//! Giles (2012), zeta the formula of Euler and Maclaurin. Half floats are computed in f32.

use crate::sources::Outcome;
use crate::stablehlo::emit::Emitter;
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::elementwise as ew;
use std::f64::consts::{FRAC_2_SQRT_PI, PI, TAU};

type Unary = for<'c, 'p> fn(&mut Emitter<'c, 'p>, Value<'c>) -> Outcome<Value<'c>>;

/// Computes half floats in f32.
pub fn wide<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, f: Unary) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let x = if matches!(dtype, DType::F16 | DType::BF16) { e.cast(x, DType::F32)? } else { x };
    let y = f(e, x)?;
    e.cast(y, dtype)
}

const ERFC: [f64; 28] = [
    -1.3026537197817094,
    0.641_969_792_356_490_2,
    1.9476473204185836e-2,
    -9.561_514_786_808_63e-3,
    -9.46595344482036e-4,
    3.66839497852761e-4,
    4.2523324806907e-5,
    -2.0278578112534e-5,
    -1.624290004647e-6,
    1.303655835580e-6,
    1.5626441722e-8,
    -8.5238095915e-8,
    6.529054439e-9,
    5.059343495e-9,
    -9.91364156e-10,
    -2.27365122e-10,
    9.6467911e-11,
    2.394038e-12,
    -6.886027e-12,
    8.94487e-13,
    3.13092e-13,
    -1.12708e-13,
    3.81e-16,
    7.106e-15,
    -1.523e-15,
    -9.4e-17,
    1.21e-16,
    -2.8e-17,
];

/// 1 - erf(x) near 0 and below, else t exp(-x^2 + sum).
pub fn erfc<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let (one, two, half) = (e.like(x, 1.0)?, e.like(x, 2.0)?, e.like(x, 0.5)?);
    let near = {
        let erf = e.un(&ew::ERF, x)?;
        e.sub(one, erf)?
    };
    let size = e.un(&ew::ABS, x)?;
    let wider = e.add_f(size, 2.0)?;
    let t = e.div(two, wider)?;
    let scaled = e.mul_f(t, 4.0)?;
    let y = e.add_f(scaled, -2.0)?;
    let terms = if e.dtype(x)? == DType::F64 { ERFC.len() } else { 14 };
    let (mut d, mut before) = (e.like(x, 0.0)?, e.like(x, 0.0)?);
    for &coefficient in ERFC[1..terms].iter().rev() {
        let product = e.mul(y, d)?;
        let difference = e.sub(product, before)?;
        let next = e.add_f(difference, coefficient)?;
        (before, d) = (d, next);
    }
    let product = e.mul(y, d)?;
    let sum = e.add_f(product, ERFC[0])?;
    let sum = e.mul_f(sum, 0.5)?;
    let exponent = e.sub(sum, before)?;
    let square = e.mul(size, size)?;
    // Of two factors, so that the square is not rounded away.
    let (decay, factor) = (e.un(&ew::NEG, square)?, e.un(&ew::EXP, exponent)?);
    let decay = e.un(&ew::EXP, decay)?;
    let factor = e.mul(t, factor)?;
    let far = e.mul(factor, decay)?;
    let small = e.less(x, half)?;
    e.select(small, near, far)
}

const NEAR: [f64; 9] = [
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
];
const FAR: [f64; 9] = [
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
];

pub fn erf_inv<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let square = e.mul(x, x)?;
    let negative = e.un(&ew::NEG, square)?;
    let log = e.un(&ew::LOG1P, negative)?;
    let w = e.un(&ew::NEG, log)?;
    let (bound, root) = (e.like(x, 5.0)?, e.un(&ew::SQRT, w)?);
    let small = e.less(w, bound)?;
    let (centred, shifted) = (e.add_f(w, -2.5)?, e.add_f(root, -3.0)?);
    let (near, far) = (e.polynomial(centred, &NEAR)?, e.polynomial(shifted, &FAR)?);
    let factor = e.select(small, near, far)?;
    let mut y = e.mul(factor, x)?;
    if e.dtype(x)? == DType::F64 {
        // The polynomial has the digits of f32; each step of Newton's method doubles them.
        for _ in 0..2 {
            let (erf, square) = (e.un(&ew::ERF, y)?, e.mul(y, y)?);
            let excess = e.sub(erf, x)?;
            let power = e.un(&ew::EXP, square)?;
            let product = e.mul(excess, power)?;
            let step = e.mul_f(product, 1.0 / FRAC_2_SQRT_PI)?;
            y = e.sub(y, step)?;
        }
    }
    let (size, one, infinity) = (e.un(&ew::ABS, x)?, e.like(x, 1.0)?, e.mul_f(x, f64::INFINITY)?);
    let edge = e.equal(size, one)?;
    e.select(edge, infinity, y)
}

const G: f64 = 7.0;
const LANCZOS: [f64; 8] = [
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507343278686905,
    -0.13857109526572012,
    9.984_369_578_019_572e-6,
    1.5056327351493116e-7,
];
const BASE: f64 = 0.999_999_999_999_809_9;

/// What the Lanczos formulas share: whether x is reflected, z, the sum and that of its derivative, t and its logarithm.
struct Lanczos<'c> {
    reflected: Value<'c>,
    z: Value<'c>,
    sum: Value<'c>,
    slope: Value<'c>,
    t: Value<'c>,
    log_t: Value<'c>,
}

fn lanczos<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Lanczos<'c>> {
    let half = e.like(x, 0.5)?;
    let reflected = e.less(x, half)?;
    let (negative, less) = (e.un(&ew::NEG, x)?, e.add_f(x, -1.0)?);
    let z = e.select(reflected, negative, less)?;
    let (mut sum, mut slope) = (e.like(x, BASE)?, e.like(x, 0.0)?);
    for (i, &coefficient) in LANCZOS.iter().enumerate() {
        let (c, place) = (e.like(x, coefficient)?, e.add_f(z, i as f64 + 1.0)?);
        let term = e.div(c, place)?;
        sum = e.add(sum, term)?;
        let term = e.div(term, place)?;
        slope = e.sub(slope, term)?;
    }
    let t = e.add_f(z, G + 0.5)?;
    let ratio = e.mul_f(z, 1.0 / (G + 0.5))?;
    let log = e.un(&ew::LOG1P, ratio)?;
    let log_t = e.add_f(log, (G + 0.5).ln())?;
    Ok(Lanczos { reflected, z, sum, slope, t, log_t })
}

pub fn lgamma<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let l = lanczos(e, x)?;
    let place = e.add_f(l.z, 0.5)?;
    let quotient = e.div(l.t, l.log_t)?;
    let rest = e.sub(place, quotient)?;
    let (product, log_sum) = (e.mul(rest, l.log_t)?, e.un(&ew::LOG, l.sum)?);
    let sum = e.add(product, log_sum)?;
    let y = e.add_f(sum, TAU.ln() / 2.0)?;
    // gamma(x) gamma(1 - x) = pi / sin(pi x), with the sine of what x is beyond an integer.
    let size = e.un(&ew::ABS, x)?;
    let whole = e.un(&ew::FLOOR, size)?;
    let beyond = e.sub(size, whole)?;
    let (one, half) = (e.like(x, 1.0)?, e.like(x, 0.5)?);
    let (other, late) = (e.sub(one, beyond)?, e.less(half, beyond)?);
    let nearest = e.select(late, other, beyond)?;
    let angle = e.mul_f(nearest, PI)?;
    let sine = e.un(&ew::SIN, angle)?;
    let log_sine = e.un(&ew::LOG, sine)?;
    let log_pi = e.like(x, PI.ln())?;
    let (difference, pole) = (e.sub(log_pi, log_sine)?, e.un(&ew::NEG, log_sine)?);
    let reflection = e.sub(difference, y)?;
    let plain = crate::stablehlo::ops::arithmetic::real::is_finite(e, log_sine)?;
    let reflection = e.select(plain, reflection, pole)?;
    let y = e.select(l.reflected, reflection, y)?;
    let (infinite, infinity) = (e.un(&ew::IS_INF, x)?, e.like(x, f64::INFINITY)?);
    e.select(infinite, infinity, y)
}

pub fn digamma<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let l = lanczos(e, x)?;
    let (quotient, g) = (e.div(l.slope, l.sum)?, e.like(x, G)?);
    let rest = e.div(g, l.t)?;
    let sum = e.add(l.log_t, quotient)?;
    let y = e.sub(sum, rest)?;
    // digamma(1 - x) - digamma(x) = pi cot(pi x)
    let shifted = e.add_f(x, 0.5)?;
    let whole = e.un(&ew::FLOOR, shifted)?;
    let beyond = e.sub(x, whole)?;
    let angle = e.mul_f(beyond, PI)?;
    let (cosine, sine) = (e.un(&ew::COS, angle)?, e.un(&ew::SIN, angle)?);
    let cotangent = e.div(cosine, sine)?;
    let scaled = e.mul_f(cotangent, PI)?;
    let reflection = e.sub(y, scaled)?;
    let y = e.select(l.reflected, reflection, y)?;
    let (zero, floor) = (e.like(x, 0.0)?, e.un(&ew::FLOOR, x)?);
    let (integer, nan) = (e.equal(x, floor)?, e.like(x, f64::NAN)?);
    let not_above = e.bin(&ew::LESS_EQUAL, x, zero)?;
    let pole = e.and(integer, not_above)?;
    e.select(pole, nan, y)
}

const I1_NEAR: [f64; 29] = [
    0.12629359322181682,
    -0.17641651835783406,
    0.1026436586898471,
    -0.05294598120809499,
    0.024726449030626516,
    -0.010564084894626197,
    0.004156422944312888,
    -0.0015135724506312532,
    0.0005122859561685758,
    -0.00016176081582589674,
    4.781565107550054e-05,
    -1.3273163656039436e-05,
    3.4702513081376785e-06,
    -8.568720264695455e-07,
    2.0032947535521353e-07,
    -4.445059128796328e-08,
    9.381537386495773e-09,
    -1.8872497517228294e-09,
    3.625590281552117e-10,
    -6.663489723502027e-11,
    1.1736186298890901e-11,
    -1.9839743977649436e-12,
    3.223793365945575e-13,
    -5.042185504727912e-14,
    7.600684294735408e-15,
    -1.1055969477353862e-15,
    1.5536319577362005e-16,
    -2.111421214358166e-17,
    2.7779141127610464e-18,
];
const I1_FAR: [f64; 25] = [
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
    4.414348323071708e-18,
    7.517296310842105e-18,
];

/// A sum of Chebyshev polynomials of a variable from -1 to 1 (Clenshaw, 1955).
fn chebyshev<'c>(e: &mut Emitter<'c, '_>, t: Value<'c>, coefficients: &[f64]) -> Outcome<Value<'c>> {
    let (mut last, mut before) = (e.like(t, 0.0)?, e.like(t, 0.0)?);
    for &coefficient in coefficients.iter().skip(1).rev() {
        let product = e.mul(t, last)?;
        let twice = e.mul_f(product, 2.0)?;
        let difference = e.sub(twice, before)?;
        (before, last) = (last, e.add_f(difference, coefficient)?);
    }
    let product = e.mul(t, last)?;
    let difference = e.sub(product, before)?;
    e.add_f(difference, coefficients.first().copied().unwrap_or(0.0))
}

/// exp(-|x|) I1(x): of x / 4 - 1 up to 8, of 16 / x - 1 beyond.
pub fn bessel_i1e<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let (size, bound) = (e.un(&ew::ABS, x)?, e.like(x, 8.0)?);
    let (inner, outer) = (e.bin(&ew::MINIMUM, size, bound)?, e.bin(&ew::MAXIMUM, size, bound)?);
    let quarter = e.mul_f(inner, 0.25)?;
    let t = e.add_f(quarter, -1.0)?;
    let near = chebyshev(e, t, &I1_NEAR)?;
    let near = e.mul(near, inner)?;
    let sixteen = e.like(x, 16.0)?;
    let ratio = e.div(sixteen, outer)?;
    let t = e.add_f(ratio, -1.0)?;
    let (far, root) = (chebyshev(e, t, &I1_FAR)?, e.un(&ew::SQRT, outer)?);
    let far = e.div(far, root)?;
    let small = e.bin(&ew::LESS_EQUAL, size, bound)?;
    let y = e.select(small, near, far)?;
    let (zero, negative) = (e.like(x, 0.0)?, e.un(&ew::NEG, y)?);
    let below = e.less(x, zero)?;
    e.select(below, negative, y)
}

/// (2 k)! / B_2k
const MACLAURIN: [f64; 12] = [
    12.0,
    -720.0,
    30240.0,
    -1209600.0,
    47900160.0,
    -1.891_692_401_095_89e9,
    7.47242496e10,
    -2.950130727918164e12,
    1.1646782814350068e14,
    -4.597_978_722_407_473e15,
    1.8152105401943546e17,
    -7.166_165_256_175_667e18,
];

/// The sum of (q + k)^-x over k, its first 10 terms one by one.
pub fn zeta<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, q: Value<'c>) -> Outcome<Value<'c>> {
    let minus = e.un(&ew::NEG, x)?;
    let (mut a, mut sum) = (q, e.bin(&ew::POW, q, minus)?);
    for _ in 0..9 {
        a = e.add_f(a, 1.0)?;
        let term = e.bin(&ew::POW, a, minus)?;
        sum = e.add(sum, term)?;
    }
    let last = e.bin(&ew::POW, a, minus)?;
    let below = e.add_f(x, -1.0)?;
    let (product, half) = (e.mul(last, a)?, e.mul_f(last, 0.5)?);
    let integral = e.div(product, below)?;
    let sum = e.add(sum, integral)?;
    let mut sum = e.sub(sum, half)?;
    let (mut factor, mut power) = (e.like(x, 1.0)?, last);
    for (i, &divisor) in MACLAURIN.iter().enumerate() {
        let rising = e.add_f(x, 2.0 * i as f64)?;
        factor = e.mul(factor, rising)?;
        power = e.div(power, a)?;
        let product = e.mul(power, factor)?;
        let term = e.mul_f(product, 1.0 / divisor)?;
        sum = e.add(sum, term)?;
        let rising = e.add_f(x, 2.0 * i as f64 + 1.0)?;
        factor = e.mul(factor, rising)?;
        power = e.div(power, a)?;
    }
    let (one, infinity, nan) = (e.like(x, 1.0)?, e.like(x, f64::INFINITY)?, e.like(x, f64::NAN)?);
    let (pole, outside) = (e.equal(x, one)?, e.less(x, one)?);
    let sum = e.select(pole, infinity, sum)?;
    e.select(outside, nan, sum)
}

/// (-1)^(n + 1) n! zeta(n + 1, x); of 0 it is digamma.
pub fn polygamma<'c>(e: &mut Emitter<'c, '_>, n: Value<'c>, x: Value<'c>) -> Outcome<Value<'c>> {
    let order = e.add_f(n, 1.0)?;
    let log = lgamma(e, order)?;
    let (factorial, zeta) = (e.un(&ew::EXP, log)?, zeta(e, order, x)?);
    let half = e.mul_f(n, 0.5)?;
    let whole = e.un(&ew::FLOOR, half)?;
    let even = e.equal(half, whole)?;
    let (plus, minus) = (e.like(x, 1.0)?, e.like(x, -1.0)?);
    let sign = e.select(even, minus, plus)?;
    let product = e.mul(factorial, zeta)?;
    let y = e.mul(sign, product)?;
    let (zero, digamma) = (e.like(n, 0.0)?, digamma(e, x)?);
    let none = e.equal(n, zero)?;
    e.select(none, digamma, y)
}
