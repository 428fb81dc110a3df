//! Regions of images, and convolutions that take their samples where offsets say.

use super::sampling::{Beyond, Pixels};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::contraction::{padding, per_axis};
use crate::relay_text::operators::quantized::rounding::away;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call};
use fusion_dialects::Value;
use fusion_operators::ops::{contraction, elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "vision.roi_pool", operands: (2, 2), attributes: &["pooled_size", "spatial_scale", "layout"], ignored: &[], build: roi_pool },
    Built { name: "nn.deformable_conv2d", operands: (3, 3),
        attributes: &["strides", "padding", "dilation", "deformable_groups", "groups", "data_layout", "kernel_layout", "out_layout", "out_dtype"],
        ignored: &["channels", "kernel_size"], build: deformable },
];

/// Offsets of a window's elements: each is several operations.
const MOST_TAPS: i64 = 256;

/// The greatest element of each cell of a region, whose ends are rounded to pixels; 0 where a cell has none.
///
/// Along each axis, a cell is where a mask is true: columns first, then rows of what they left.
fn roi_pool<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    call.require("layout", "NCHW", &["NCHW"])?;
    let (x, rois, scale) = (call.operand(0), call.operand(1), call.float("spatial_scale", 1.0)?);
    let size = match call.ints("pooled_size")?[..] {
        [size] => [size, size],
        [rows, columns] => [rows, columns],
        _ => return call.fault("takes two numbers in pooled_size"),
    };
    let (shape, count) = (fixed(call, x)?, fixed(call, rois)?);
    let (&[_, _, h, w], &[_, 5]) = (shape.as_slice(), count.as_slice()) else {
        return call.fault("takes an image and regions, [R, 5]");
    };
    if size.iter().any(|&n| n < 1) || h < 1 || w < 1 {
        return call.fault("takes numbers above 0 in pooled_size, and an image that is not empty");
    }
    let (dtype, least) = (call.dtype(x)?, f64::NEG_INFINITY);
    let image = call.at(rois, 1, 0)?;
    let image = call.cast(image, DType::I64)?;
    let mut found = call.gathered(x, image, 0)?;
    let least = call.scalar(dtype, least)?;
    for (first, extent, cells, axis) in [(1, w, size[1], 3), (2, h, size[0], 2)] {
        let mask = cells_of(call, rois, (first, scale), (extent, cells))?;
        // [R, cells, extent] to [R, 1, .., cells, extent, ..], beside an axis for the cells.
        let rank = fixed(call, found)?.len() as i64;
        let axes: Vec<i64> = (1..axis).chain(axis + 2..rank + 1).collect();
        let mask = call.expanded(mask, &axes)?;
        let wide = call.expanded(found, &[axis])?;
        let kept = call.select(mask, wide, least)?;
        found = call.reduced(&reduction::REDUCE_MAX, kept, &[axis + 1], false)?;
    }
    let zero = call.scalar(dtype, 0.0)?;
    let empty = call.plain(&ew::EQUAL, &[found, least])?;
    call.select(empty, zero, found).map(Made::Value)
}

/// Which places of an axis are in which cell of each region: [R, cells, extent].
fn cells_of<'c>(
    call: &mut Call<'_, 'c, '_>,
    rois: Value<'c>,
    (first, scale): (i64, f64),
    (extent, cells): (i64, i64),
) -> Outcome<Value<'c>> {
    let mut ends = Vec::new();
    for column in [first, first + 2] {
        let end = call.sliced(rois, &[1], &[column], &[column + 1])?;
        let end = call.times(end, scale)?;
        ends.push(away(call, end)?);
    }
    let length = call.sub(ends[1], ends[0])?;
    let length = call.plus(length, 1.0)?;
    let one = call.like(length, 1.0)?;
    let length = call.plain(&ew::MAXIMUM, &[length, one])?;
    let cell = call.times(length, 1.0 / cells as f64)?;
    let dtype = call.dtype(cell)?;
    let mut bounds = Vec::new();
    for more in [0, 1] {
        call.countable(&[cells])?;
        let numbers: Vec<f64> = (more..cells + more).map(|i| i as f64).collect();
        let numbers = call.floats_in(dtype, &[1, cells], &numbers)?;
        let bound = call.mul(cell, numbers)?;
        // As in TVM, a little less or more than a whole number is that number.
        let bound = call.plus(bound, if more == 0 { 1e-5 } else { -1e-5 })?;
        let bound = call.plain(if more == 0 { &ew::FLOOR } else { &ew::CEIL }, &[bound])?;
        let bound = call.add(bound, ends[0])?;
        bounds.push(call.expanded(bound, &[2])?);
    }
    call.countable(&[extent])?;
    let places: Vec<f64> = (0..extent).map(|i| i as f64).collect();
    let places = call.floats_in(dtype, &[1, 1, extent], &places)?;
    let after = call.plain(&ew::GREATER_EQUAL, &[places, bounds[0]])?;
    let before = call.plain(&ew::LESS, &[places, bounds[1]])?;
    call.plain(&ew::LOGICAL_AND, &[after, before])
}

/// A convolution whose samples lie beside their places by offsets, [N, 2 groups taps, rows, columns]: rows first, then columns.
fn deformable<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    call.require("data_layout", "NCHW", &["NCHW"])?;
    call.require("kernel_layout", "OIHW", &["OIHW"])?;
    call.require("out_layout", "", &["NCHW"])?;
    let (x, offsets, weight) = (call.operand(0), call.operand(1), call.operand(2));
    let (groups, parts) = (call.int("groups", 1)?, call.int("deformable_groups", 1)?);
    let (shape, kernel, places) = (fixed(call, x)?, fixed(call, weight)?, fixed(call, offsets)?);
    let (&[n, c, h, w], &[o, channels, kh, kw], &[_, given, rows, columns]) =
        (shape.as_slice(), kernel.as_slice(), places.as_slice())
    else {
        return call.fault("takes an image, offsets and weights of four axes each");
    };
    let taps = kh.saturating_mul(kw);
    call.moderate(&[parts])?;
    if groups != 1 || channels != c || parts < 1 || c % parts != 0 || !(1..=MOST_TAPS).contains(&taps) {
        return call.fault(format!("takes groups=1, and a window of 1 to {MOST_TAPS} elements"));
    }
    if given != 2 * parts * taps {
        return call.fault(format!("takes {} offsets for each place, found {given}", 2 * parts * taps));
    }
    let strides = per_axis(call, "strides", 2)?.unwrap_or(vec![1, 1]);
    let dilation = per_axis(call, "dilation", 2)?.unwrap_or(vec![1, 1]);
    let (pad, dtype) = (padding(call, 2)?, call.dtype(offsets)?);
    call.moderate(&[&strides[..], &dilation, &pad].concat())?;
    call.countable(&[n, rows, columns])?;
    let numbers: Vec<i64> = (0..n).collect();
    let number = call.ints_in(DType::I64, &[n, 1, 1], &numbers)?;
    let mut columns_of = Vec::new();
    for part in 0..parts {
        let size = c / parts;
        let image = call.sliced(x, &[1], &[part * size], &[(part + 1) * size])?;
        let pixels = Pixels::of(call, image, number)?;
        for tap in 0..taps {
            let mut along = Vec::new();
            let mut known = None;
            for (axis, extent, count, wide) in [(0, h, rows, [1, rows, 1]), (1, w, columns, [1, 1, columns])]
            {
                let step = if axis == 0 { tap / kw } else { tap % kw };
                let first = step * dilation[axis] - pad[axis];
                let base: Vec<f64> = (0..count).map(|i| (i * strides[axis] + first) as f64).collect();
                let base = call.floats_in(dtype, &wide, &base)?;
                let offset = call.at(offsets, 1, (part * taps + tap) * 2 + axis as i64)?;
                let place = call.add(offset, base)?;
                let low = call.like(place, 0.0)?;
                let high = call.like(place, extent as f64)?;
                let after = call.plain(&ew::GREATER_EQUAL, &[place, low])?;
                let before = call.plain(&ew::LESS, &[place, high])?;
                let inside = call.plain(&ew::LOGICAL_AND, &[after, before])?;
                known = Some(match known {
                    Some(other) => call.plain(&ew::LOGICAL_AND, &[other, inside])?,
                    None => inside,
                });
                along.push(place);
            }
            let sampled = pixels.between(call, along[0], along[1], Beyond::Border)?;
            let Some(known) = known else { return call.fault("has no axes") };
            let known = call.expanded(known, &[-1])?;
            let zero = call.like(sampled, 0.0)?;
            let sampled = call.select(known, sampled, zero)?;
            columns_of.push(call.expanded(sampled, &[4])?);
        }
    }
    // [N, rows, columns, C, taps], the parts of the channels one after the other.
    let mut whole = Vec::new();
    for part in columns_of.chunks(taps as usize) {
        whole.push(call.joined(part, 4)?);
    }
    let whole = call.joined(&whole, 3)?;
    let whole = call.reshaped(whole, &[n * rows * columns, c * taps])?;
    let weight = call.reshaped(weight, &[o, c * taps])?;
    let y = call.row(&contraction::DENSE, &[whole, weight], Attrs::new())?;
    let y = call.reshaped(y, &[n, rows, columns, o])?;
    let y = call.transposed(y, &[0, 3, 1, 2])?;
    match call.maybe_element("out_dtype")? {
        Some(dtype) => call.cast(y, dtype).map(Made::Value),
        None => Ok(Made::Value(y)),
    }
}
