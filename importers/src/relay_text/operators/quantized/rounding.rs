//! Rounding to integers, and from one scale to another.

use crate::relay_text::error::Outcome;
use crate::relay_text::operators::Call;
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::elementwise as ew;

/// To the nearest integer, halves away from zero.
pub fn away<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let size = call.plain(&ew::ABS, &[x])?;
    let size = call.plus(size, 0.5)?;
    let whole = call.plain(&ew::FLOOR, &[size])?;
    let sign = call.plain(&ew::SIGN, &[x])?;
    call.mul(whole, sign)
}

/// To the nearest integer, halves up.
pub fn upward<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let x = call.plus(x, 0.5)?;
    call.plain(&ew::FLOOR, &[x])
}

/// Whole numbers as integers of a type, cut to its range.
pub fn narrowed<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, dtype: DType) -> Outcome<Value<'c>> {
    let (least, most) = range(call, dtype)?;
    let x = call.clipped(x, least, most)?;
    call.cast(x, dtype)
}

/// The least and the greatest integer of a type.
pub fn range(call: &Call, dtype: DType) -> Outcome<(f64, f64)> {
    let bits = 8 * dtype.size() as i32;
    if !dtype.is_int() || bits > 32 {
        return call.fault("quantized numbers are integers of at most 32 bits");
    }
    let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32);
    Ok(match signed {
        true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
        false => (0.0, 2f64.powi(bits) - 1.0),
    })
}

/// A scale or a zero point under an element type: a number, or one for each place of an axis.
pub fn parameter<'c>(
    call: &mut Call<'_, 'c, '_>,
    value: Value<'c>,
    dtype: DType,
    (axis, rank): (i64, Option<usize>),
) -> Outcome<Value<'c>> {
    let value = call.cast(value, dtype)?;
    let many = call.ty(value)?.is_some_and(|ty| ty.rank() == 1 && ty.dims[0].known() != Some(1));
    let single = call.ty(value)?.is_some_and(|ty| ty.rank() > 0) && !many;
    if single {
        return call.reshaped(value, &[]);
    }
    match rank.filter(|_| many) {
        Some(rank) => {
            let axis = call.axis_in(axis, rank)?;
            call.expanded(value, &(1..(rank - axis) as i64).collect::<Vec<_>>())
        }
        None => Ok(value),
    }
}

/// The scale and the zero point of a tensor, and the axis they may differ along.
#[derive(Clone, Copy)]
pub struct Scale<'c> {
    pub scale: Value<'c>,
    pub zero: Value<'c>,
    pub axis: i64,
}

fn known_rank<'c>(call: &Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Option<usize>> {
    Ok(call.ty(x)?.map(|ty| ty.rank()))
}

/// What integers stand for, in a float type.
pub fn meant<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    by: Scale<'c>,
    dtype: DType,
) -> Outcome<Value<'c>> {
    let place = (by.axis, known_rank(call, x)?);
    // Differences of 32 bit integers need more bits than f32 has.
    let wide = call.cast(x, DType::I32)?;
    let zero = parameter(call, by.zero, DType::I32, place)?;
    let shifted = call.sub(wide, zero)?;
    let shifted = call.cast(shifted, dtype)?;
    let scale = parameter(call, by.scale, dtype, place)?;
    call.mul(shifted, scale)
}

/// The integers of a type that stand for numbers, halves away from zero.
pub fn integers<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    by: Scale<'c>,
    dtype: DType,
) -> Outcome<Value<'c>> {
    let place = (by.axis, known_rank(call, x)?);
    let float = call.dtype(x)?;
    let scale = parameter(call, by.scale, float, place)?;
    let scaled = call.div(x, scale)?;
    let rounded = away(call, scaled)?;
    let zero = parameter(call, by.zero, float, place)?;
    let shifted = call.add(rounded, zero)?;
    narrowed(call, shifted, dtype)
}

/// The same numbers by another scale and zero point.
pub fn rescaled<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    [from, to]: [Scale<'c>; 2],
    dtype: DType,
    halves_up: bool,
) -> Outcome<Value<'c>> {
    let place = (from.axis, known_rank(call, x)?);
    let (inner, outer) =
        (parameter(call, from.scale, DType::F64, place)?, parameter(call, to.scale, DType::F64, place)?);
    let ratio = call.div(inner, outer)?;
    let wide = call.cast(x, DType::F64)?;
    let zero = parameter(call, from.zero, DType::F64, place)?;
    let shifted = call.sub(wide, zero)?;
    let scaled = call.mul(shifted, ratio)?;
    let rounded = if halves_up { upward(call, scaled)? } else { away(call, scaled)? };
    let zero = parameter(call, to.zero, DType::F64, place)?;
    let result = call.add(rounded, zero)?;
    narrowed(call, result, dtype)
}
