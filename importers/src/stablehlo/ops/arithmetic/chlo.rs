//! Operators of the dialect chlo: what JAX's text has beyond StableHLO. `special` has the functions that are sums of many terms.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::arithmetic::apply::{or_real, real, two};
use crate::stablehlo::ops::arithmetic::bits::{signed_of, unsigned_of};
use crate::stablehlo::ops::arithmetic::complex;
use crate::stablehlo::ops::arithmetic::real::{divide, maximum, minimum};
use crate::stablehlo::ops::arithmetic::special;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::elementwise as ew;

macro_rules! unary {
    ($name:literal, $f:expr) => {
        row($name, |e, op, x| real(e, op, x, $f))
    };
}

pub const ROWS: &[Row] = &[
    unary!("chlo.erf", |e, x| special::wide(e, x, |e, x| e.un(&ew::ERF, x))),
    unary!("chlo.erfc", |e, x| special::wide(e, x, special::erfc)),
    unary!("chlo.erf_inv", |e, x| special::wide(e, x, special::erf_inv)),
    unary!("chlo.lgamma", |e, x| special::wide(e, x, special::lgamma)),
    unary!("chlo.digamma", |e, x| special::wide(e, x, special::digamma)),
    unary!("chlo.bessel_i1e", |e, x| special::wide(e, x, special::bessel_i1e)),
    row("chlo.zeta", |e, op, x| two(e, op, x, special::zeta)),
    row("chlo.polygamma", |e, op, x| two(e, op, x, special::polygamma)),
    unary!("chlo.acos", |e, x| e.un(&ew::ACOS, x)),
    unary!("chlo.acosh", |e, x| e.un(&ew::ACOSH, x)),
    unary!("chlo.asin", |e, x| e.un(&ew::ASIN, x)),
    unary!("chlo.asinh", |e, x| e.un(&ew::ASINH, x)),
    unary!("chlo.atan", |e, x| e.un(&ew::ATAN, x)),
    unary!("chlo.atanh", |e, x| e.un(&ew::ATANH, x)),
    row("chlo.cosh", |e, op, x| or_real(e, op, x, complex::cosh, |e, x| e.un(&ew::COSH, x))),
    row("chlo.sinh", |e, op, x| or_real(e, op, x, complex::sinh, |e, x| e.un(&ew::SINH, x))),
    row("chlo.tan", |e, op, x| or_real(e, op, x, complex::tan, |e, x| e.un(&ew::TAN, x))),
    row("chlo.square", |e, op, x| or_real(e, op, x, complex::square, |e, x| e.mul(x, x))),
    unary!("chlo.is_inf", |e, x| e.un(&ew::IS_INF, x)),
    unary!("chlo.is_pos_inf", |e, x| infinity(e, x, f64::INFINITY)),
    unary!("chlo.is_neg_inf", |e, x| infinity(e, x, f64::NEG_INFINITY)),
    row("chlo.mulhi", |e, op, x| two(e, op, x, crate::stablehlo::ops::arithmetic::bits::high_product)),
    row("chlo.next_after", |e, op, x| two(e, op, x, next_after)),
    row("chlo.broadcast_add", |e, op, x| two(e, op, x, |e, a, b| e.add(a, b))),
    row("chlo.broadcast_subtract", |e, op, x| two(e, op, x, |e, a, b| e.sub(a, b))),
    row("chlo.broadcast_multiply", |e, op, x| two(e, op, x, |e, a, b| e.mul(a, b))),
    row("chlo.broadcast_divide", |e, op, x| two(e, op, x, divide)),
    row("chlo.broadcast_maximum", |e, op, x| two(e, op, x, maximum)),
    row("chlo.broadcast_minimum", |e, op, x| two(e, op, x, minimum)),
    row("chlo.constant_like", constant_like),
];

fn infinity<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, which: f64) -> Outcome<Value<'c>> {
    let bound = e.like(x, which)?;
    e.equal(x, bound)
}

fn constant_like<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (x, value) = (e.tensor(op, x, 0)?, op.float("value")?);
    let (number, dims) = (e.like(x, value)?, e.dims(x)?);
    Ok(vec![Held::Tensor(e.broadcast_dims(number, dims)?)])
}

/// The bits of a float, one more or less; of 0, the least number with the sign of the direction.
fn next_after<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, to: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let (kind, unsigned) = (signed_of(dtype), unsigned_of(dtype));
    let bits = e.bitcast(x, kind)?;
    let (zero, one, minus_one) = (e.like(x, 0.0)?, e.int(kind, 1)?, e.int(kind, -1)?);
    let (above, below) = (e.less(x, to)?, e.less(to, x)?);
    // A greater number has greater bits where it is positive, and smaller ones where it is negative.
    let positive = e.less(zero, x)?;
    let outward = e.bin(&ew::LOGICAL_XOR, positive, below)?;
    let step = e.select(outward, one, minus_one)?;
    let moved = e.add(bits, step)?;
    let moved = e.bitcast(moved, dtype)?;
    let sign = e.int(unsigned, 1 << (8 * dtype.size() - 1))?;
    let one_bit = e.int(unsigned, 1)?;
    let negative = e.bin(&ew::BITWISE_OR, sign, one_bit)?;
    let (least, least_negative) = (e.bitcast(one_bit, dtype)?, e.bitcast(negative, dtype)?);
    let from_zero = e.select(above, least, least_negative)?;
    let is_zero = e.equal(x, zero)?;
    let moved = e.select(is_zero, from_zero, moved)?;
    let same = e.equal(x, to)?;
    let moved = e.select(same, to, moved)?;
    let sum = e.add(x, to)?;
    let (a, b) = (e.un(&ew::IS_NAN, x)?, e.un(&ew::IS_NAN, to)?);
    let nan = e.or(a, b)?;
    e.select(nan, sum, moved)
}
