//! Elementwise operators on real numbers: arithmetic, comparisons, functions.
//!
//! Where an operand may be complex, `complex` has the formula. Quotients of integers are what XLA makes of them: x / 0 is -1 and
//! x % 0 is x, and the least integer over -1 is itself.

use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::arithmetic::apply::{each, or_real, or_two, real, two};
use crate::stablehlo::ops::arithmetic::bits::ordered_key;
use crate::stablehlo::ops::arithmetic::complex;
use crate::stablehlo::ops::arithmetic::real::{
    add, atan2, bitwise, cbrt, divide, expm1, is_finite, maximum, minimum, mul, not, remainder, round_afz,
};
use crate::stablehlo::ops::{Row, row};
use crate::stablehlo::types::Element;
use fusion_operators::ops::elementwise as ew;
use fusion_operators::{DType, Operator};

macro_rules! unary {
    ($name:literal, $f:expr) => {
        row($name, |e, op, x| real(e, op, x, $f))
    };
}
macro_rules! binary {
    ($name:literal, $f:expr) => {
        row($name, |e, op, x| two(e, op, x, $f))
    };
}

pub const ROWS: &[Row] = &[
    row("stablehlo.abs", |e, op, x| or_real(e, op, x, complex::abs, |e, x| e.un(&ew::ABS, x))),
    row("stablehlo.negate", |e, op, x| each(e, op, x, |e, x| e.un(&ew::NEG, x))),
    row("stablehlo.sign", |e, op, x| or_real(e, op, x, complex::sign, |e, x| e.un(&ew::SIGN, x))),
    row("stablehlo.exponential", |e, op, x| or_real(e, op, x, complex::exp, |e, x| e.un(&ew::EXP, x))),
    row("stablehlo.exponential_minus_one", |e, op, x| or_real(e, op, x, complex::expm1, expm1)),
    row("stablehlo.log", |e, op, x| or_real(e, op, x, complex::log, |e, x| e.un(&ew::LOG, x))),
    row("stablehlo.log_plus_one", |e, op, x| or_real(e, op, x, complex::log1p, |e, x| e.un(&ew::LOG1P, x))),
    row("stablehlo.sqrt", |e, op, x| or_real(e, op, x, complex::sqrt, |e, x| e.un(&ew::SQRT, x))),
    row("stablehlo.rsqrt", |e, op, x| or_real(e, op, x, complex::rsqrt, |e, x| e.un(&ew::RSQRT, x))),
    row("stablehlo.sine", |e, op, x| or_real(e, op, x, complex::sin, |e, x| e.un(&ew::SIN, x))),
    row("stablehlo.cosine", |e, op, x| or_real(e, op, x, complex::cos, |e, x| e.un(&ew::COS, x))),
    row("stablehlo.tan", |e, op, x| or_real(e, op, x, complex::tan, |e, x| e.un(&ew::TAN, x))),
    row("stablehlo.tanh", |e, op, x| or_real(e, op, x, complex::tanh, |e, x| e.un(&ew::TANH, x))),
    row("stablehlo.logistic", |e, op, x| or_real(e, op, x, complex::logistic, |e, x| e.un(&ew::SIGMOID, x))),
    row("stablehlo.cbrt", |e, op, x| or_real(e, op, x, complex::cbrt, cbrt)),
    unary!("stablehlo.floor", |e, x| e.un(&ew::FLOOR, x)),
    unary!("stablehlo.ceil", |e, x| e.un(&ew::CEIL, x)),
    unary!("stablehlo.round_nearest_even", |e, x| e.un(&ew::ROUND, x)),
    unary!("stablehlo.round_nearest_afz", round_afz),
    unary!("stablehlo.is_finite", is_finite),
    unary!("stablehlo.not", not),
    row("stablehlo.add", |e, op, x| or_two(e, op, x, complex::add, add)),
    row("stablehlo.subtract", |e, op, x| or_two(e, op, x, complex::sub, |e, a, b| e.sub(a, b))),
    row("stablehlo.multiply", |e, op, x| or_two(e, op, x, complex::mul, mul)),
    row("stablehlo.divide", |e, op, x| or_two(e, op, x, complex::div, divide)),
    row("stablehlo.power", |e, op, x| or_two(e, op, x, complex::pow, |e, a, b| e.bin(&ew::POW, a, b))),
    binary!("stablehlo.remainder", remainder),
    row("stablehlo.maximum", |e, op, x| or_two(e, op, x, complex::maximum, maximum)),
    row("stablehlo.minimum", |e, op, x| or_two(e, op, x, complex::minimum, minimum)),
    // What quantizes and dequantizes operands and results does all of these.
    row("stablehlo.uniform_quantize", |_, _, x| Ok(x.to_vec())),
    row("stablehlo.uniform_dequantize", |_, _, x| Ok(x.to_vec())),
    binary!("stablehlo.and", |e, a, b| bitwise(e, a, b, &ew::LOGICAL_AND, &ew::BITWISE_AND)),
    binary!("stablehlo.or", |e, a, b| bitwise(e, a, b, &ew::LOGICAL_OR, &ew::BITWISE_OR)),
    binary!("stablehlo.xor", |e, a, b| bitwise(e, a, b, &ew::LOGICAL_XOR, &ew::BITWISE_XOR)),
    binary!("stablehlo.atan2", atan2),
    row("stablehlo.compare", compare),
    row("stablehlo.select", select),
    row("stablehlo.clamp", clamp),
    row("stablehlo.convert", convert),
    row("stablehlo.reduce_precision", reduce_precision),
];

fn compare<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let direction = op.word("comparison_direction").unwrap_or("");
    let (a, b) = (e.parts(op, x, 0)?, e.parts(op, x, 1)?);
    if let ([ar, ai], [br, bi]) = (&a[..], &b[..]) {
        let (re, im) = (e.equal(*ar, *br)?, e.equal(*ai, *bi)?);
        let both = e.and(re, im)?;
        return Ok(vec![Held::Tensor(match direction {
            "EQ" => both,
            "NE" => e.not(both)?,
            _ => return op.fault(format!("complex numbers are compared by EQ or NE, found {direction}")),
        })]);
    }
    let (mut a, mut b) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    if op.word("compare_type") == Some("TOTALORDER") && e.dtype(a)?.is_float() {
        (a, b) = (ordered_key(e, a)?, ordered_key(e, b)?);
    }
    if e.dtype(a)? == DType::Bool {
        (a, b) = (e.cast(a, DType::U8)?, e.cast(b, DType::U8)?);
    }
    let operator: &'static Operator = match direction {
        "EQ" => &ew::EQUAL,
        "NE" => &ew::NOT_EQUAL,
        "LT" => &ew::LESS,
        "LE" => &ew::LESS_EQUAL,
        "GT" => &ew::GREATER,
        "GE" => &ew::GREATER_EQUAL,
        other => {
            return op
                .fault(format!("the direction {other:?} is not known; write one of EQ, NE, GE, GT, LE, LT"));
        }
    };
    Ok(vec![Held::Tensor(e.bin(operator, a, b)?)])
}

fn select<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let condition = e.tensor(op, x, 0)?;
    let (a, b) = (e.parts(op, x, 1)?, e.parts(op, x, 2)?);
    if a.len() != b.len() {
        return op.fault("both values must be real, or both complex");
    }
    let mut parts = Vec::new();
    for (a, b) in a.into_iter().zip(b) {
        parts.push(e.select(condition, a, b)?);
    }
    Ok(vec![Emitter::of_parts(&parts)])
}

/// min(max(x, least), most), with scalars for bounds too.
fn clamp<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (least, value, most) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?, e.tensor(op, x, 2)?);
    let raised = maximum(e, value, least)?;
    Ok(vec![Held::Tensor(minimum(e, raised, most)?)])
}

fn convert<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let to = &e.result_type(op, 0)?.element;
    let x = e.parts(op, x, 0)?;
    let dtype = match to {
        Element::Quantized(quantized) => quantized.expressed,
        other => match other.kept() {
            Some(dtype) => dtype,
            None => return op.fault(format!("elements of type {other} are not supported")),
        },
    };
    if let Element::Complex(_) = to {
        let real = e.cast(x[0], dtype)?;
        let imaginary = match x.get(1) {
            Some(&im) => e.cast(im, dtype)?,
            None => {
                let (zero, dims) = (e.scalar(dtype, 0.0)?, e.dims(real)?);
                e.broadcast_dims(zero, dims)?
            }
        };
        return Ok(vec![Held::Complex(real, imaginary)]);
    }
    Ok(vec![Held::Tensor(e.cast(x[0], dtype)?)])
}

/// Rounds the mantissa in the bits, then makes infinities and zeros of exponents that do not fit.
fn reduce_precision<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    let (exponent, mantissa) = (op.int("exponent_bits")?, op.int("mantissa_bits")?);
    if exponent < 1 || mantissa < 0 {
        return op.fault("exponent_bits must be 1 or more, and mantissa_bits 0 or more");
    }
    Ok(vec![Held::Tensor(crate::stablehlo::ops::arithmetic::bits::with_precision(e, x, exponent, mantissa)?)])
}
