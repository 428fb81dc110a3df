//! Products in fixed point, and quantisation that is only simulated.
//!
//! ```text
//!   fixed_point_multiply(x, multiplier=m, shift=s)      (x 2^max(s, 0) m + 2^(q - 1)) >> q,   q = 31 - min(s, 0)
//! ```

use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::elementwise as ew;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("fixed_point_multiply", 1, &["multiplier", "shift"], fixed_point),
    built("fixed_point_multiply_per_axis", 4, &["is_lshift_required", "is_rshift_required", "axes"], per_axis),
    Built { name: "nn.dropout", operands: (1, 1), attributes: &[], ignored: &["rate"], build: dropout },
    Built { name: "relay.op.annotation.simulated_quantize", operands: (4, 4), attributes: &["kind"],
        ignored: &["sign", "rounding", "passthrough"], build: simulated },
];

/// In 64 bits, so that nothing overflows; halves go up.
fn fixed_point<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, multiplier, shift) = (call.operand(0), call.required("multiplier")?, call.required("shift")?);
    if !(-31..=31).contains(&shift) || i32::try_from(multiplier).is_err() {
        return call.fault(format!("multiplier={multiplier} and shift={shift} must fit 32 bits"));
    }
    let (left, right) = (shift.max(0), 31 - shift.min(0));
    let wide = call.cast(x, DType::I64)?;
    let factor = call.ints_in(DType::I64, &[], &[multiplier << left])?;
    let product = call.mul(wide, factor)?;
    let half = call.ints_in(DType::I64, &[], &[1 << (right - 1)])?;
    let sum = call.add(product, half)?;
    let right = call.ints_in(DType::I64, &[], &[right])?;
    let result = call.plain(&ew::SHIFT_RIGHT, &[sum, right])?;
    let dtype = call.dtype(x)?;
    call.cast(result, dtype).map(Made::Value)
}

/// Vectors of numbers along some axes of a tensor.
fn along<'c>(call: &mut Call<'_, 'c, '_>, index: usize, axes: &[i64], rank: usize) -> Outcome<Value<'c>> {
    let vector = call.operand(index);
    let vector = call.cast(vector, DType::I64)?;
    let mut places = Vec::new();
    for axis in axes {
        places.push(call.axis_in(*axis, rank)?);
    }
    let missing: Vec<i64> = (0..rank).filter(|axis| !places.contains(axis)).map(|axis| axis as i64).collect();
    call.expanded(vector, &missing)
}

/// A multiplier, a shift to the left and one to the right for each place of the axes.
fn per_axis<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axes) = (call.operand(0), call.ints("axes")?);
    let rank = call.rank(x)?;
    let mut wide = call.cast(x, DType::I64)?;
    if call.flag("is_lshift_required", false)? {
        let left = along(call, 2, &axes, rank)?;
        wide = call.plain(&ew::SHIFT_LEFT, &[wide, left])?;
    }
    let multiplier = along(call, 1, &axes, rank)?;
    wide = call.mul(wide, multiplier)?;
    let mut right = call.ints_in(DType::I64, &[], &[31])?;
    if call.flag("is_rshift_required", false)? {
        let more = along(call, 3, &axes, rank)?;
        right = call.add(right, more)?;
    }
    let one = call.ints_in(DType::I64, &[], &[1])?;
    let less = call.sub(right, one)?;
    let half = call.plain(&ew::SHIFT_LEFT, &[one, less])?;
    let sum = call.add(wide, half)?;
    let result = call.plain(&ew::SHIFT_RIGHT, &[sum, right])?;
    let dtype = call.dtype(x)?;
    call.cast(result, dtype).map(Made::Value)
}

/// Inference drops nothing: the operand, and a mask of ones.
fn dropout<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let shape = super::shape::fixed(call, x)?;
    let one = call.like(x, 1.0)?;
    let mask = if shape.is_empty() { one } else { call.broadcast(one, &shape)? };
    Ok(Made::several(vec![x, mask]))
}

/// The nearest of the numbers that the integers from clip_min to clip_max stand for; as it is for what is only marked (kind 0).
fn simulated<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let operands = call.operands();
    let [x, scale, least, most] = operands[..] else { return call.fault("takes four operands") };
    if call.int("kind", 1)? == 0 {
        return Ok(Made::Value(x));
    }
    let scaled = call.div(x, scale)?;
    let low = call.plain(&ew::MAXIMUM, &[scaled, least])?;
    let clipped = call.plain(&ew::MINIMUM, &[low, most])?;
    let rounded = super::quantized::rounding::away(call, clipped)?;
    call.mul(rounded, scale).map(Made::Value)
}
