//! Quantised operators of each element: to and from integers, sums, products and functions.

use super::rounding::{Scale, away, integers, meant, narrowed, parameter, range, rescaled};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::{Build, Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, normalization};
use fusion_operators::{Attrs, DType, Operator};

const fn function(name: &'static str, build: Build) -> Built {
    Built { name, operands: (5, 5), attributes: &[], ignored: &[], build }
}

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("qnn.quantize", 3, &["out_dtype", "axis"], quantize),
    built("qnn.dequantize", 3, &["out_dtype", "axis"], dequantize),
    Built { name: "qnn.requantize", operands: (5, 5), attributes: &["axis", "rounding", "out_dtype"], ignored: &["compute_dtype"], build: requantize },
    built("qnn.add", 8, &["lhs_axis", "rhs_axis"], |call| sum(call, &ew::ADD)),
    built("qnn.subtract", 8, &["lhs_axis", "rhs_axis"], |call| sum(call, &ew::SUB)),
    built("qnn.mul", 8, &["lhs_axis", "rhs_axis"], product),
    built("qnn.concatenate", 5, &["axis"], concatenate),
    built("qnn.leaky_relu", 5, &["alpha"], |call| {
        let alpha = call.float("alpha", 0.05)?;
        through(call, |call, x| {
            let scaled = call.times(x, alpha)?;
            let zero = call.like(x, 0.0)?;
            let above = call.plain(&ew::GREATER, &[x, zero])?;
            call.select(above, x, scaled)
        })
    }),
    built("qnn.softmax", 5, &["axis"], |call| {
        let axis = call.int("axis", -1)?;
        through(call, |call, x| call.row(&normalization::SOFTMAX, &[x], Attrs::new().with("axis", axis)))
    }),
    function("qnn.tanh", |call| one(call, &ew::TANH)), function("qnn.exp", |call| one(call, &ew::EXP)),
    function("qnn.sqrt", |call| one(call, &ew::SQRT)), function("qnn.rsqrt", |call| one(call, &ew::RSQRT)),
    function("qnn.erf", |call| one(call, &ew::ERF)), function("qnn.sigmoid", |call| one(call, &ew::SIGMOID)),
    function("qnn.log", |call| one(call, &ew::LOG)), function("qnn.abs", |call| one(call, &ew::ABS)),
    function("qnn.hardswish", |call| through(call, |call, x| {
        let shifted = call.plus(x, 3.0)?;
        let gate = call.clipped(shifted, 0.0, 6.0)?;
        let gated = call.mul(x, gate)?;
        call.times(gated, 1.0 / 6.0)
    })),
    built("qnn.simulated_quantize", 4, &["axis"], |call| simulated(call, true)),
    built("qnn.simulated_dequantize", 4, &["axis"], |call| simulated(call, false)),
];

/// The scale and the zero point that two operands are.
fn scale<'c>(call: &mut Call<'_, 'c, '_>, first: usize, axis: i64) -> Scale<'c> {
    Scale { scale: call.operand(first), zero: call.operand(first + 1), axis }
}

fn quantize<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axis) = (call.operand(0), call.int("axis", -1)?);
    let (by, dtype) = (scale(call, 1, axis), call.maybe_element("out_dtype")?.unwrap_or(DType::I8));
    integers(call, x, by, dtype).map(Made::Value)
}

fn dequantize<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axis) = (call.operand(0), call.int("axis", -1)?);
    let (by, dtype) = (scale(call, 1, axis), call.maybe_element("out_dtype")?.unwrap_or(DType::F32));
    meant(call, x, by, dtype).map(Made::Value)
}

/// Halves go up, or (TONEAREST) away from zero.
fn requantize<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axis) = (call.operand(0), call.int("axis", -1)?);
    call.require("rounding", "UPWARD", &["UPWARD", "TONEAREST", "None"])?;
    let up = call.text("rounding", "UPWARD")? != "TONEAREST";
    let (from, to) = (scale(call, 1, axis), scale(call, 3, axis));
    let dtype = call.maybe_element("out_dtype")?.unwrap_or(DType::I8);
    rescaled(call, x, [from, to], dtype, up).map(Made::Value)
}

/// Both operands under the scale of the result, then their sum less the zero point that is in it twice (or not at all).
fn sum<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator) -> Outcome<Made<'c>> {
    let (a, b) = (call.operand(0), call.operand(1));
    let (left, right) = (call.int("lhs_axis", -1)?, call.int("rhs_axis", -1)?);
    let (by_a, by_b, to) = (scale(call, 2, left), scale(call, 4, right), scale(call, 6, -1));
    let dtype = call.dtype(a)?;
    let x = rescaled(call, a, [by_a, to], DType::I32, true)?;
    let y = rescaled(call, b, [by_b, to], DType::I32, true)?;
    let both = call.plain(row, &[x, y])?;
    let zero = parameter(call, to.zero, DType::I32, (-1, None))?;
    let shifted = if row.is(&ew::ADD) { call.sub(both, zero)? } else { call.add(both, zero)? };
    narrowed(call, shifted, dtype).map(Made::Value)
}

/// The product of the integers in 32 bits, whose scale is that of both.
fn product<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (a, b) = (call.operand(0), call.operand(1));
    let (left, right) = (call.int("lhs_axis", -1)?, call.int("rhs_axis", -1)?);
    let (by_a, by_b, to) = (scale(call, 2, left), scale(call, 4, right), scale(call, 6, -1));
    let dtype = call.dtype(a)?;
    let mut parts = Vec::new();
    let mut scales = Vec::new();
    for (x, by) in [(a, by_a), (b, by_b)] {
        let place = (by.axis, call.ty(x)?.map(|ty| ty.rank()));
        let wide = call.cast(x, DType::I32)?;
        let zero = parameter(call, by.zero, DType::I32, place)?;
        parts.push(call.sub(wide, zero)?);
        scales.push(parameter(call, by.scale, DType::F64, place)?);
    }
    let both = call.mul(parts[0], parts[1])?;
    let scale = call.mul(scales[0], scales[1])?;
    let wide = call.cast(both, DType::F64)?;
    let outer = parameter(call, to.scale, DType::F64, (-1, None))?;
    let ratio = call.div(scale, outer)?;
    let scaled = call.mul(wide, ratio)?;
    let rounded = super::rounding::upward(call, scaled)?;
    let zero = parameter(call, to.zero, DType::F64, (-1, None))?;
    let shifted = call.add(rounded, zero)?;
    narrowed(call, shifted, dtype).map(Made::Value)
}

/// Tuples of tensors, of their scales and of their zero points; the scale and the zero point of the result.
fn concatenate<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (parts, scales, zeros) = (call.elements(0)?, call.elements(1)?, call.elements(2)?);
    if parts.is_empty() || scales.len() != parts.len() || zeros.len() != parts.len() {
        return call.fault("takes a scale and a zero point for each of its tensors");
    }
    let (to, axis) = (scale(call, 3, -1), call.int("axis", 0)?);
    let dtype = call.dtype(parts[0])?;
    let mut joined = Vec::with_capacity(parts.len());
    for ((part, scale), zero) in parts.into_iter().zip(scales).zip(zeros) {
        let from = Scale { scale, zero, axis: -1 };
        joined.push(rescaled(call, part, [from, to], dtype, true)?);
    }
    call.joined(&joined, axis).map(Made::Value)
}

/// A function of what the integers stand for.
pub fn through<'e, 'c, 'p>(
    call: &mut Call<'e, 'c, 'p>,
    apply: impl FnOnce(&mut Call<'e, 'c, 'p>, Value<'c>) -> Outcome<Value<'c>>,
) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let (from, to) = (scale(call, 1, -1), scale(call, 3, -1));
    let dtype = call.dtype(x)?;
    let real = meant(call, x, from, DType::F32)?;
    let y = apply(call, real)?;
    integers(call, y, to, dtype).map(Made::Value)
}

fn one<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator) -> Outcome<Made<'c>> {
    through(call, |call, x| call.plain(row, &[x]))
}

/// The rounding of integers of a type (1 int8, 2 uint8, 3 int32), in floats; 0 is none.
fn simulated<'c>(call: &mut Call<'_, 'c, '_>, quantizes: bool) -> Outcome<Made<'c>> {
    let (x, axis) = (call.operand(0), call.int("axis", -1)?);
    let [code] = call.known_ints(1)?[..] else { return call.fault("takes one number as its type") };
    let dtype = match code {
        0 => return Ok(Made::Value(x)),
        1 => DType::I8,
        2 => DType::U8,
        3 => DType::I32,
        other => return call.fault(format!("the type {other} is not known; 0 to 3 are")),
    };
    let by = scale(call, 2, axis);
    let place = (axis, call.ty(x)?.map(|ty| ty.rank()));
    let float = call.dtype(x)?;
    let (scale, zero) = (parameter(call, by.scale, float, place)?, parameter(call, by.zero, float, place)?);
    if !quantizes {
        let shifted = call.sub(x, zero)?;
        return call.mul(shifted, scale).map(Made::Value);
    }
    let scaled = call.div(x, scale)?;
    let rounded = away(call, scaled)?;
    let shifted = call.add(rounded, zero)?;
    let (least, most) = range(call, dtype)?;
    call.clipped(shifted, least, most).map(Made::Value)
}
