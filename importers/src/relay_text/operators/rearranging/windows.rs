//! Operators that take elements at places that a rule or another tensor says.
//!
//!     sliding_window(%x, axis=0, window_shape=[3], strides=[1])     x[i + j] at i, j
//!     nn.dilate(%x, strides=[2])                                    x0 0 x1 0 x2

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::{Value, tensor_type};
use fusion_operators::ops::{elementwise as ew, indexing, shape};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("sliding_window", 1, &["axis", "window_shape", "strides"], sliding_window),
    built("nn.mirror_pad", 1, &["mode", "pad_width"], mirror_pad),
    built("nn.dilate", 1, &["strides", "dilation_value"], dilate),
    built("reverse_sequence", 2, &["seq_axis", "batch_axis"], reverse_sequence),
    built("strided_set", 5, &[], strided_set),
    built("adv_index", 1, &[], adv_index),
    built("invert_permutation", 1, &[], invert_permutation),
];

fn sliding_window<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (mut x, axis) = (call.operand(0), call.required("axis")?);
    let (window, strides) = (call.ints("window_shape")?, call.ints("strides")?);
    let shape = fixed(call, x)?;
    let first = call.axis_in(axis, shape.len())?;
    let count = window.len();
    if first + count != shape.len() || strides.len() != count || window.iter().chain(&strides).any(|&n| n < 1)
    {
        return call
            .fault("takes a number above 0 in window_shape and strides for the axis and each one behind it");
    }
    for i in 0..count {
        // Each axis becomes two; those before it have done so.
        let windows = (shape[first + i] - window[i]).div_euclid(strides[i]) + 1;
        if shape[first + i] < window[i] {
            return call.fault(format!("a window of {window:?} is larger than the operand"));
        }
        call.countable(&[windows, window[i]])?;
        let places: Vec<i64> = (0..windows)
            .flat_map(|w| (0..window[i]).map(move |j| (w, j)))
            .map(|(w, j)| w * strides[i] + j)
            .collect();
        let places = call.ints_in(DType::I64, &[windows, window[i]], &places)?;
        x = call.gathered(x, places, (first + 2 * i) as i64)?;
    }
    let pairs = |which: usize| (0..count).map(move |i| (first + 2 * i + which) as i64);
    let axes: Vec<i64> = (0..first as i64).chain(pairs(0)).chain(pairs(1)).collect();
    call.transposed(x, &axes).map(Made::Value)
}

/// Reflected without the edge, or (SYMMETRIC) with it.
fn mirror_pad<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (mut x, widths) = (call.operand(0), call.lists("pad_width")?);
    call.require("mode", "SYMMETRIC", &["SYMMETRIC", "REFLECT"])?;
    let edge = i64::from(call.text("mode", "SYMMETRIC")? == "REFLECT");
    let shape = fixed(call, x)?;
    if widths.len() != shape.len() || widths.iter().any(|pair| pair.len() != 2) {
        return call.fault("takes two numbers in pad_width for each axis");
    }
    for (axis, (pair, &extent)) in widths.iter().zip(&shape).enumerate() {
        let [before, after] = [pair[0], pair[1]];
        if before == 0 && after == 0 {
            continue;
        }
        if [before, after].iter().any(|n| !(0..=extent - edge).contains(n)) {
            return call
                .fault(format!("an axis of extent {extent} cannot be reflected by {before} and {after}"));
        }
        call.countable(&[before + extent + after])?;
        let places: Vec<i64> = (-before..extent + after)
            .map(|i| match i {
                i if i < 0 => -i - 1 + edge,
                i if i >= extent => 2 * extent - 1 - i - edge,
                i => i,
            })
            .collect();
        let places = call.ints_in(DType::I64, &[places.len() as i64], &places)?;
        x = call.gathered(x, places, axis as i64)?;
    }
    Ok(Made::Value(x))
}

/// Along each axis, `strides - 1` elements of the value between two.
pub fn dilated<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    strides: &[i64],
    value: f64,
) -> Outcome<Value<'c>> {
    let mut x = x;
    let mut shape = fixed(call, x)?;
    if strides.len() != shape.len() || strides.iter().any(|&n| n < 1) {
        return call.fault("takes a number above 0 in strides for each axis");
    }
    for (axis, &stride) in strides.iter().enumerate().filter(|(_, stride)| **stride > 1) {
        let extent = shape[axis];
        let Some(wide) = extent.checked_mul(stride).filter(|wide| *wide > 0) else {
            return call.fault(format!("an axis of extent {extent} cannot be dilated by {stride}"));
        };
        let rank = shape.len();
        x = call.expanded(x, &[axis as i64 + 1])?;
        let mut end = vec![0; rank + 1];
        end[axis + 1] = stride - 1;
        x = call.padded(x, &vec![0; rank + 1], &end, value)?;
        shape[axis] = wide;
        x = call.reshaped(x, &shape)?;
        shape[axis] = wide - (stride - 1);
        x = call.sliced(x, &[axis as i64], &[0], &[shape[axis]])?;
    }
    Ok(x)
}

fn dilate<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, strides, value) = (call.operand(0), call.ints("strides")?, call.float("dilation_value", 0.0)?);
    dilated(call, x, &strides, value).map(Made::Value)
}

/// The first elements of each sequence, as many as the second operand says, run backwards.
fn reverse_sequence<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, lengths) = (call.operand(0), call.operand(1));
    let shape = fixed(call, x)?;
    let sequence = call.axis_in(call.int("seq_axis", 1)?, shape.len())?;
    let batch = call.axis_in(call.int("batch_axis", 0)?, shape.len())?;
    let extent = shape[sequence];
    let along = |axis: usize, extent: i64| -> Vec<i64> {
        (0..shape.len()).map(|i| if i == axis { extent } else { 1 }).collect()
    };
    call.countable(&[extent])?;
    let numbers: Vec<i64> = (0..extent).collect();
    let place = call.ints_in(DType::I64, &along(sequence, extent), &numbers)?;
    let lengths = call.cast(lengths, DType::I64)?;
    let lengths = call.reshaped(lengths, &along(batch, shape[batch]))?;
    let within = call.plain(&ew::LESS, &[place, lengths])?;
    let last = call.plus(lengths, -1.0)?;
    let back = call.sub(last, place)?;
    let places = call.select(within, back, place)?;
    let places = call.broadcast(places, &shape)?;
    call.gathered_elements(x, places, sequence as i64).map(Made::Value)
}

/// x with another tensor in a part of it that begins, ends and steps where constants say.
fn strided_set<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, value) = (call.operand(0), call.operand(1));
    let shape = fixed(call, x)?;
    let (begin, end, strides) = (call.known_ints(2)?, call.known_ints(3)?, call.known_ints(4)?);
    if begin.len() != end.len() || begin.len() > shape.len() || strides.contains(&0) {
        return call.fault("takes as many beginnings as ends, and strides that are not 0");
    }
    call.moderate(&strides)?;
    let mut places: Vec<Vec<i64>> = Vec::new();
    for (axis, &extent) in shape.iter().enumerate() {
        let stride = strides.get(axis).copied().unwrap_or(1);
        let from_back = |n: i64| if n < 0 { n + extent } else { n };
        let (low, high) = if stride > 0 { (0, extent) } else { (-1, extent - 1) };
        let first =
            begin.get(axis).map_or(if stride > 0 { low } else { high }, |&n| from_back(n).clamp(low, high));
        let last =
            end.get(axis).map_or(if stride > 0 { high } else { low }, |&n| from_back(n).clamp(low, high));
        let ahead = if stride > 0 { last - first } else { first - last };
        let count =
            ahead.max(0).div_euclid(stride.abs()) + i64::from(ahead.max(0).rem_euclid(stride.abs()) != 0);
        call.countable(&[count])?;
        places.push((0..count).map(|i| first + i * stride).collect());
    }
    let counts: Vec<i64> = places.iter().map(|places| places.len() as i64).collect();
    call.countable(&counts)?;
    let mut flat = vec![0];
    for (places, extent) in places.iter().zip(&shape) {
        flat = flat.iter().flat_map(|base| places.iter().map(move |place| base * extent + place)).collect();
    }
    let value = call.broadcast(value, &counts)?;
    let value = call.reshaped(value, &[-1])?;
    let data = call.reshaped(x, &[-1])?;
    let flat = call.ints_in(DType::I64, &[flat.len() as i64], &flat)?;
    let set = call.row(&indexing::SCATTER_ELEMENTS, &[data, flat, value], Attrs::new().with("axis", 0i64))?;
    call.reshaped(set, &shape).map(Made::Value)
}

/// x at places that tensors give, one for each of the first axes; they broadcast to one shape.
fn adv_index<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let mut parts = call.elements(0)?;
    if parts.len() < 2 {
        return call.fault("takes a tuple of a tensor and one or more of indices");
    }
    let x = parts.remove(0);
    if let [only] = parts[..] {
        let places = call.cast(only, DType::I64)?;
        return call.gathered(x, places, 0).map(Made::Value);
    }
    let mut rank = 0;
    for part in &mut parts {
        *part = call.cast(*part, DType::I64)?;
        rank = rank.max(call.rank(*part)?);
    }
    // Adding zeros of the others' shapes broadcasts.
    let mut zero = call.times(parts[0], 0.0)?;
    for part in &parts[1..] {
        let other = call.times(*part, 0.0)?;
        zero = call.add(zero, other)?;
    }
    for part in &mut parts {
        let wide = call.add(*part, zero)?;
        *part = call.row(&shape::EXPAND_DIMS, &[wide], Attrs::new().with("axes", [rank as i64]))?;
    }
    let places = call.joined(&parts, rank as i64)?;
    call.plain(&indexing::GATHER_ND, &[x, places]).map(Made::Value)
}

fn invert_permutation<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let shape = fixed(call, x)?;
    let &[count] = shape.as_slice() else { return call.fault("takes a vector") };
    call.countable(&[count])?;
    let dtype = tensor_type(x).map_or(DType::I64, |ty| ty.dtype);
    let numbers: Vec<i64> = (0..count).collect();
    let numbers = call.ints_in(dtype, &[count], &numbers)?;
    let attrs = Attrs::new().with("axis", 0i64);
    let places = call.cast(x, DType::I64)?;
    call.row(&indexing::SCATTER_ELEMENTS, &[numbers, places, numbers], attrs).map(Made::Value)
}
