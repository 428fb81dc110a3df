//! Operators on the bits of numbers: shifts, counts, other types of the same bits, the order of floats by their bits.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::arithmetic::apply::{real, two};
use crate::stablehlo::ops::{Row, row};
use crate::stablehlo::types::Element;
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{DType, Dim, Operator};

pub const ROWS: &[Row] = &[
    row("stablehlo.popcnt", |e, op, x| real(e, op, x, population)),
    row("stablehlo.count_leading_zeros", |e, op, x| real(e, op, x, leading_zeros)),
    row("stablehlo.shift_left", |e, op, x| two(e, op, x, |e, a, b| shift(e, a, b, &ew::SHIFT_LEFT, false))),
    row("stablehlo.shift_right_logical", |e, op, x| {
        two(e, op, x, |e, a, b| shift(e, a, b, &ew::SHIFT_RIGHT, false))
    }),
    row("stablehlo.shift_right_arithmetic", |e, op, x| {
        two(e, op, x, |e, a, b| shift(e, a, b, &ew::SHIFT_RIGHT, true))
    }),
    row("stablehlo.bitcast_convert", bitcast_convert),
];

/// The unsigned integers of as many bits.
pub fn unsigned_of(dtype: DType) -> DType {
    match dtype.size() {
        8 => DType::U64,
        4 => DType::U32,
        2 => DType::U16,
        _ => DType::U8,
    }
}

/// The signed integers of as many bits.
pub fn signed_of(dtype: DType) -> DType {
    match dtype.size() {
        8 => DType::I64,
        4 => DType::I32,
        2 => DType::I16,
        _ => DType::I8,
    }
}

fn bits_of(dtype: DType) -> u32 {
    8 * dtype.size() as u32
}

fn by<'c>(e: &mut Emitter<'c, '_>, op: &'static Operator, x: Value<'c>, n: i128) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let n = e.int(dtype, n)?;
    e.bin(op, x, n)
}

fn shift<'c>(
    e: &mut Emitter<'c, '_>,
    a: Value<'c>,
    b: Value<'c>,
    operator: &'static Operator,
    signed: bool,
) -> Outcome<Value<'c>> {
    let dtype = e.dtype(a)?;
    let kind = if signed { signed_of(dtype) } else { unsigned_of(dtype) };
    let (a, b) = (e.bitcast(a, kind)?, e.bitcast(b, kind)?);
    let shifted = e.bin(operator, a, b)?;
    e.bitcast(shifted, dtype)
}

/// Sums of neighbouring bits, of pairs, of groups of 4, ...
fn population<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let (mut x, bits) = (e.bitcast(x, unsigned_of(dtype))?, bits_of(dtype));
    let mut group = 1;
    while group < bits {
        // The lower half of each group of twice that many bits.
        let mask: i128 = (0..bits).filter(|i| i / group % 2 == 0).map(|i| 1i128 << i).sum();
        let above = by(e, &ew::SHIFT_RIGHT, x, group.into())?;
        let (low, high) = (by(e, &ew::BITWISE_AND, x, mask)?, by(e, &ew::BITWISE_AND, above, mask)?);
        x = e.add(low, high)?;
        group *= 2;
    }
    e.bitcast(x, dtype)
}

/// Spreads the first bit that is set over all below it: as many are left over as there are zeros before it.
fn leading_zeros<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let (mut x, bits) = (e.bitcast(x, unsigned_of(dtype))?, bits_of(dtype));
    let mut distance = 1;
    while distance < bits {
        let below = by(e, &ew::SHIFT_RIGHT, x, distance.into())?;
        x = e.bin(&ew::BITWISE_OR, x, below)?;
        distance *= 2;
    }
    let rest = e.un(&ew::BITWISE_NOT, x)?;
    let count = population(e, rest)?;
    e.bitcast(count, dtype)
}

/// A signed integer that is in the order of the bits of floats: -NaN, -inf, ..., -0, +0, ..., inf, NaN.
pub fn ordered_key<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = signed_of(e.dtype(x)?);
    let bits = e.bitcast(x, dtype)?;
    let most = e.int(dtype, (1 << (bits_of(dtype) - 1)) - 1)?;
    let zero = e.int(dtype, 0)?;
    let negative = e.less(bits, zero)?;
    let turned = e.bin(&ew::BITWISE_XOR, bits, most)?;
    e.select(negative, turned, bits)
}

/// How many bits of a float are its mantissa, and its largest exponent.
fn format_of(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::F64 => (52, 1023),
        DType::F32 => (23, 127),
        DType::F16 => (10, 15),
        _ => (7, 127),
    }
}

/// The nearest float of fewer bits.
pub fn with_precision<'c>(
    e: &mut Emitter<'c, '_>,
    x: Value<'c>,
    exponent: i64,
    mantissa: i64,
) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let (own, bias) = format_of(dtype);
    let kind = unsigned_of(dtype);
    let mut bits = e.bitcast(x, kind)?;
    if mantissa < own {
        // Half of the last place that is kept, less one; one more when that place is odd.
        let dropped = own - mantissa;
        let last = by(e, &ew::SHIFT_RIGHT, bits, dropped.into())?;
        let odd = by(e, &ew::BITWISE_AND, last, 1)?;
        let half = (1i128 << (dropped - 1)) - 1;
        let rounded = by(e, &ew::ADD, bits, half)?;
        let rounded = e.add(rounded, odd)?;
        let mask = ((1i128 << bits_of(dtype)) - 1) & !((1i128 << dropped) - 1);
        bits = by(e, &ew::BITWISE_AND, rounded, mask)?;
    }
    let rounded = e.bitcast(bits, dtype)?;
    let mut result = rounded;
    let width = i64::from(bits_of(dtype)) - own - 1;
    if exponent < width {
        let own_bias = (1i64 << (exponent - 1)) - 1;
        let sign_mask = 1i128 << (bits_of(dtype) - 1);
        let sign = by(e, &ew::BITWISE_AND, bits, sign_mask)?;
        let size = by(e, &ew::BITWISE_AND, bits, sign_mask - 1)?;
        let (most, least) = (bias + own_bias, bias - own_bias);
        // Exponents above are infinite, and those of 0 and subnormal numbers 0.
        let place = by(e, &ew::SHIFT_RIGHT, size, own.into())?;
        let (above, below) =
            (by(e, &ew::GREATER, place, most.into())?, by(e, &ew::LESS_EQUAL, place, least.into())?);
        let infinity = by(e, &ew::BITWISE_OR, sign, ((1i128 << width) - 1) << own)?;
        let bits = e.select(above, infinity, bits)?;
        let bits = e.select(below, sign, bits)?;
        result = e.bitcast(bits, dtype)?;
    }
    // Without a mantissa there is no NaN.
    let nan = e.un(&ew::IS_NAN, x)?;
    let kept = if mantissa == 0 { e.like(x, f64::INFINITY)? } else { x };
    e.select(nan, kept, result)
}

/// How many bits an element has, of those that are no complex numbers.
fn width(element: &Element) -> Option<u32> {
    match element {
        Element::Plain(DType::Bool) => Some(1),
        Element::Narrow { bits, .. } => Some(*bits),
        Element::Plain(dtype) => Some(bits_of(*dtype)),
        Element::Quantized(quantized) => width(&quantized.storage),
        _ => None,
    }
}

/// The bits of an element as an unsigned integer.
fn as_bits<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, width: u32) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    if dtype == DType::Bool {
        return e.cast(x, DType::U8);
    }
    let bits = e.bitcast(x, unsigned_of(dtype))?;
    if width == bits_of(dtype) { Ok(bits) } else { by(e, &ew::BITWISE_AND, bits, (1 << width) - 1) }
}

/// The element of those bits.
fn from_bits<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, to: DType) -> Outcome<Value<'c>> {
    let kind = if to == DType::Bool { DType::Bool } else { unsigned_of(to) };
    let x = e.cast(x, kind)?;
    e.bitcast(x, to)
}

/// To a narrower type with a new last axis, to a wider one without it, or to one of the same width.
fn bitcast_convert<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let element = &e.result_type(op, 0)?.element;
    let source = op.operands.first().and_then(|&v| e.type_of(v).tensor()).map(|tensor| &tensor.element);
    let parts = e.parts(op, x, 0)?;
    let (Some(kept), Some(to), Some(from), [x]) =
        (element.kept(), width(element), source.and_then(width), &parts[..])
    else {
        return op.fault("complex numbers have no other type of the same bits here");
    };
    let mut dims = e.dims(*x)?;
    let count = from.max(to) / from.min(to);
    let wide = match from.max(to) {
        64 => DType::U64,
        32 => DType::U32,
        16 => DType::U16,
        _ => DType::U8,
    };
    let shifts: Vec<i64> = (0..count).map(|i| i64::from(i * from.min(to))).collect();
    let bits = as_bits(e, *x, from)?;
    let bits = match from.cmp(&to) {
        std::cmp::Ordering::Equal => bits,
        std::cmp::Ordering::Greater => {
            dims.push(Dim::Static(1));
            let (bits, shifts) = (e.reshape_dims(bits, dims)?, e.ints(wide, &[count as usize], &shifts)?);
            let pieces = e.bin(&ew::SHIFT_RIGHT, bits, shifts)?;
            by(e, &ew::BITWISE_AND, pieces, (1 << to) - 1)?
        }
        std::cmp::Ordering::Less => {
            let axis = dims.len().saturating_sub(1);
            if dims.last().and_then(Dim::known) != Some(count.into()) {
                return op.fault(format!(
                    "the last extent must be {count}, the number of elements that one of {element} is made of"
                ));
            }
            let (bits, shifts) = (e.cast(bits, wide)?, e.ints(wide, &[count as usize], &shifts)?);
            let pieces = e.bin(&ew::SHIFT_LEFT, bits, shifts)?;
            e.reduce(&reduction::REDUCE_SUM, pieces, &[axis])?
        }
    };
    Ok(vec![Held::Tensor(from_bits(e, bits, kept)?)])
}

/// The upper half of the bits of a product: of wider integers, or put together from the products of halves.
pub fn high_product<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    let dtype = e.dtype(a)?;
    let signed = dtype.class() == fusion_operators::dtype::Class::Signed;
    let bits = bits_of(dtype);
    if bits < 64 {
        let wide = if signed { DType::I64 } else { DType::U64 };
        let (a, b) = (e.cast(a, wide)?, e.cast(b, wide)?);
        let product = e.mul(a, b)?;
        let high = by(e, &ew::SHIFT_RIGHT, product, bits.into())?;
        return e.cast(high, dtype);
    }
    // (a1 2^32 + a0) (b1 2^32 + b0), of which the lower halves are unsigned.
    let mask = (1i128 << 32) - 1;
    let halves = |e: &mut Emitter<'c, '_>, x: Value<'c>| -> Outcome<[Value<'c>; 2]> {
        Ok([by(e, &ew::SHIFT_RIGHT, x, 32)?, by(e, &ew::BITWISE_AND, x, mask)?])
    };
    let ([a1, a0], [b1, b0]) = (halves(e, a)?, halves(e, b)?);
    let low = e.mul(a0, b0)?;
    let low = shift_by(e, low, 32)?;
    let (cross, other, high) = (e.mul(a1, b0)?, e.mul(a0, b1)?, e.mul(a1, b1)?);
    let middle = e.add(cross, low)?;
    let ([carry, rest], sum) = (halves(e, middle)?, other);
    let second = e.add(rest, sum)?;
    let second = by(e, &ew::SHIFT_RIGHT, second, 32)?;
    let high = e.add(high, carry)?;
    e.add(high, second)
}

/// A logical shift to the right, whatever the type.
fn shift_by<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, places: i128) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let x = e.bitcast(x, unsigned_of(dtype))?;
    let x = by(e, &ew::SHIFT_RIGHT, x, places)?;
    e.bitcast(x, dtype)
}
