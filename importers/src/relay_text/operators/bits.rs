//! Products of integers of a few bits, and bits packed into integers.
//!
//! TVM sums products bit by bit. The sums are those of the integers: with `unipolar` a bit of a weight is 1 or -1, so that
//!
//! ```text
//!   sum(i, j) 2^(i+j) (popcount(x_i & w_j) - popcount(x_i & ~w_j))  =  x . (2 w - (2^bits - 1))
//! ```
//! and without it x . w.

use super::contraction::{padding, per_axis};
use super::shape::fixed;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{contraction, convolution, elementwise as ew};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("nn.bitpack", 1, &["bits", "pack_axis", "bit_axis", "pack_type"], packed),
    Built { name: "nn.bitserial_dense", operands: (2, 2), attributes: &["data_bits", "weight_bits", "out_dtype", "unipolar"],
        ignored: &["units", "pack_dtype"], build: dense },
    Built { name: "nn.bitserial_conv2d", operands: (2, 2), attributes: &["strides", "padding", "activation_bits", "weight_bits", "data_layout",
        "kernel_layout", "out_dtype", "unipolar"], ignored: &["channels", "kernel_size", "pack_dtype"], build: convolved },
];

/// The lowest bits of integers, as i32.
fn low<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, name: &str) -> Outcome<(Value<'c>, i64)> {
    let bits = call.int(name, 1)?;
    if !(1..=16).contains(&bits) {
        return call.fault(format!("{name}={bits} must be from 1 to 16"));
    }
    let x = call.cast(x, DType::I32)?;
    let mask = call.like(x, ((1i64 << bits) - 1) as f64)?;
    Ok((call.plain(&ew::BITWISE_AND, &[x, mask])?, bits))
}

/// Data and weights, of which a bit may stand for 1 or -1.
fn sides<'c>(call: &mut Call<'_, 'c, '_>, bits: &str) -> Outcome<[Value<'c>; 2]> {
    let (data, weights) = (call.operand(0), call.operand(1));
    let (data, _) = low(call, data, bits)?;
    let (mut weights, bits) = low(call, weights, "weight_bits")?;
    if call.flag("unipolar", true)? {
        weights = call.times(weights, 2.0)?;
        weights = call.plus(weights, (1 - (1i64 << bits)) as f64)?;
    }
    Ok([data, weights])
}

/// Sums in the element type that is wanted.
fn summed<'c>(call: &mut Call<'_, 'c, '_>, sums: Value<'c>) -> Outcome<Made<'c>> {
    let dtype = call.maybe_element("out_dtype")?.unwrap_or(DType::I16);
    Ok(Made::Value(call.cast(sums, dtype)?))
}

fn dense<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let sides = sides(call, "data_bits")?;
    let sums = call.row(&contraction::DENSE, &sides, Attrs::new())?;
    summed(call, sums)
}

fn convolved<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let [mut data, mut weights] = sides(call, "activation_bits")?;
    let last = match call.text("data_layout", "NCHW")? {
        "NCHW" => false,
        "NHWC" => true,
        other => return call.fault(format!("data_layout is '{other}', expected NCHW or NHWC")),
    };
    if last {
        data = call.transposed(data, &[0, 3, 1, 2])?;
    }
    match call.text("kernel_layout", "OIHW")? {
        "OIHW" => {}
        "HWIO" => weights = call.transposed(weights, &[3, 2, 0, 1])?,
        other => return call.fault(format!("kernel_layout is '{other}', expected OIHW or HWIO")),
    }
    let mut attrs = Attrs::new().with("padding", padding(call, 2)?);
    if let Some(strides) = per_axis(call, "strides", 2)? {
        attrs.set("strides", strides);
    }
    let mut sums = call.row(&convolution::CONV2D, &[data, weights], attrs)?;
    if last {
        sums = call.transposed(sums, &[0, 2, 3, 1])?;
    }
    summed(call, sums)
}

/// Each bit of as many elements as an integer has bits, in an integer of its own; the first element is the highest bit.
fn packed<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let mut shape = fixed(call, x)?;
    let (bits, rank) = (call.int("bits", 1)?, shape.len() as i64);
    let (pack, bit) = (call.int("pack_axis", 1)?, call.int("bit_axis", 2)?);
    let dtype = call.maybe_element("pack_type")?.unwrap_or(DType::U32);
    let width = 8 * dtype.size() as i64;
    if !(1..=16).contains(&bits) || !dtype.is_int() || dtype == DType::Bool {
        return call.fault(format!(
            "takes 1 to 16 bits and packs them into integers, found bits={bits} and pack_type={dtype}"
        ));
    }
    if !(0..rank).contains(&pack) || !(0..=rank).contains(&bit) {
        return call.fault(format!("pack_axis={pack} and bit_axis={bit} must be axes of {rank}"));
    }
    let extent = shape[pack as usize];
    if extent % width != 0 {
        return call.fault(format!(
            "packs {width} elements into one, of which {extent} on axis {pack} are no multiple"
        ));
    }
    shape.splice(pack as usize..=pack as usize, [extent / width, width]);
    let x = call.reshaped(x, &shape)?;
    let x = call.cast(x, DType::I32)?;
    let mut places = vec![1; shape.len()];
    places[pack as usize + 1] = width;
    let order: Vec<i64> = (0..width).rev().collect();
    let order = call.ints_in(dtype, &places, &order)?;
    let mut planes = Vec::new();
    for plane in 0..bits {
        let by = call.like(x, plane as f64)?;
        let moved = call.plain(&ew::SHIFT_RIGHT, &[x, by])?;
        let one = call.like(x, 1.0)?;
        let own = call.plain(&ew::BITWISE_AND, &[moved, one])?;
        let own = call.cast(own, dtype)?;
        let own = call.plain(&ew::SHIFT_LEFT, &[own, order])?;
        let all = call.summed(own, &[pack + 1])?;
        planes.push(call.expanded(all, &[bit])?);
    }
    Ok(Made::Value(call.joined(&planes, bit)?))
}
