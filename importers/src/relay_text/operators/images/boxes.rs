//! Parts of images that boxes name, and the boxes of detectors.

use super::places;
use super::sampling::{Beyond, Pixels};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::{elementwise as ew, reduction};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("image.crop_and_resize", 3, &["crop_size", "layout", "method", "extrapolation_value", "out_dtype"], crop),
    built("vision.roi_align", 2, &["pooled_size", "spatial_scale", "sample_ratio", "layout", "mode"], roi_align),
    Built { name: "vision.multibox_prior", operands: (1, 1), attributes: &["sizes", "ratios", "steps", "offsets", "clip"], ignored: &[], build: priors },
];

/// A column of a table, as a column.
fn column<'c>(call: &mut Call<'_, 'c, '_>, table: Value<'c>, place: i64) -> Outcome<Value<'c>> {
    call.sliced(table, &[1], &[place], &[place + 1])
}

/// Each box (y1, x1, y2, x2, of the extents less one) of the image that its index names.
fn crop<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, boxes, indices) = (call.operand(0), call.operand(1), call.operand(2));
    let axes: [usize; 4] = places(call, "layout", "NCHW", ['N', 'C', 'H', 'W'])?;
    call.require("method", "bilinear", &["bilinear", "nearest_neighbor"])?;
    let x = call.transposed(x, &axes.map(|axis| axis as i64))?;
    let size = call.ints("crop_size")?;
    let (shape, count) = (fixed(call, x)?, fixed(call, boxes)?);
    let (&[_, channels, h, w], &[boxes_count, 4], &[rows, columns]) =
        (shape.as_slice(), count.as_slice(), size.as_slice())
    else {
        return call
            .fault("takes an image, boxes [K, 4], the K images they are of, and two numbers in crop_size");
    };
    if rows < 1 || columns < 1 {
        return call.fault(format!("takes numbers above 0 in crop_size, found {size:?}"));
    }
    let boxes = call.cast(boxes, DType::F32)?;
    let mut along = Vec::new();
    for (first, extent, to) in [(0, h, rows), (1, w, columns)] {
        let (low, high) = (column(call, boxes, first)?, column(call, boxes, first + 2)?);
        call.countable(&[to])?;
        let part = |i: i64| if to > 1 { i as f64 / (to - 1) as f64 } else { 0.5 };
        let parts: Vec<f64> = (0..to).map(part).collect();
        let parts = call.floats_in(DType::F32, &[1, to], &parts)?;
        let range = call.sub(high, low)?;
        let inside = call.mul(range, parts)?;
        let place = call.add(low, inside)?;
        along.push(call.times(place, (extent - 1) as f64)?);
    }
    let y = call.expanded(along[0], &[2])?;
    let x_place = call.expanded(along[1], &[1])?;
    let mut known = None;
    for (place, extent) in [(y, h), (x_place, w)] {
        let clipped = call.clipped(place, 0.0, (extent - 1) as f64)?;
        let inside = call.plain(&ew::EQUAL, &[place, clipped])?;
        known = Some(match known {
            Some(other) => call.plain(&ew::LOGICAL_AND, &[other, inside])?,
            None => inside,
        });
    }
    let full = [boxes_count, rows, columns];
    let (y, x_place) = (call.broadcast(y, &full)?, call.broadcast(x_place, &full)?);
    let indices = call.reshaped(indices, &[boxes_count, 1, 1])?;
    let pixels = Pixels::of(call, x, indices)?;
    let sampled = if call.text("method", "bilinear")? == "bilinear" {
        pixels.between(call, y, x_place, Beyond::Border)?
    } else {
        let (y, x_place) = (call.plain(&ew::ROUND, &[y])?, call.plain(&ew::ROUND, &[x_place])?);
        pixels.at(call, y, x_place, Beyond::Border)?
    };
    let Some(known) = known else { return call.fault("has no axes") };
    let known = call.expanded(known, &[-1])?;
    let value = call.float("extrapolation_value", 0.0)?;
    let other = call.like(sampled, value)?;
    let known = call.broadcast(known, &[boxes_count, rows, columns, channels])?;
    let sampled = call.select(known, sampled, other)?;
    let mut back = [0i64; 4];
    axes.iter().zip([0i64, 3, 1, 2]).for_each(|(&axis, from)| back[axis] = from);
    let y = call.transposed(sampled, &back)?;
    match call.maybe_element("out_dtype")? {
        Some(dtype) => call.cast(y, dtype).map(Made::Value),
        None => Ok(Made::Value(y)),
    }
}

/// Each region (image, x1, y1, x2, y2) in cells, each the mean or the greatest of samples that lie in it in equal distances.
fn roi_align<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, rois) = (call.operand(0), call.operand(1));
    let axes: [usize; 4] = places(call, "layout", "NCHW", ['N', 'C', 'H', 'W'])?;
    let x = call.transposed(x, &axes.map(|axis| axis as i64))?;
    call.require("mode", "avg", &["avg", "max"])?;
    let (scale, samples) = (call.float("spatial_scale", 1.0)?, call.int("sample_ratio", -1)?);
    if samples < 1 {
        return call.fault(
            "takes a number above 0 in sample_ratio: how many samples a cell has is not known otherwise",
        );
    }
    let size = match call.ints("pooled_size")?[..] {
        [size] => [size, size],
        [rows, columns] => [rows, columns],
        _ => return call.fault("takes two numbers in pooled_size"),
    };
    let (shape, count) = (fixed(call, x)?, fixed(call, rois)?);
    let (&[_, channels, h, w], &[count, 5]) = (shape.as_slice(), count.as_slice()) else {
        return call.fault("takes an image and regions, [R, 5]");
    };
    if size.iter().any(|&n| n < 1) {
        return call.fault("takes numbers above 0 in pooled_size");
    }
    let image = column(call, rois, 0)?;
    let mut along = Vec::new();
    for (first, cells) in [(2, size[0]), (1, size[1])] {
        let (low, high) = (column(call, rois, first)?, column(call, rois, first + 2)?);
        let (low, high) = (call.times(low, scale)?, call.times(high, scale)?);
        let range = call.sub(high, low)?;
        let one = call.like(range, 1.0)?;
        let range = call.plain(&ew::MAXIMUM, &[range, one])?;
        call.countable(&[cells, samples])?;
        let part =
            |i: i64| ((i / samples) as f64 + ((i % samples) as f64 + 0.5) / samples as f64) / cells as f64;
        let parts: Vec<f64> = (0..cells * samples).map(part).collect();
        let dtype = call.dtype(range)?;
        let parts = call.floats_in(dtype, &[1, cells * samples], &parts)?;
        let inside = call.mul(range, parts)?;
        along.push(call.add(low, inside)?);
    }
    let full = [count, size[0] * samples, size[1] * samples];
    let y = call.expanded(along[0], &[2])?;
    let x_place = call.expanded(along[1], &[1])?;
    let (y, x_place) = (call.broadcast(y, &full)?, call.broadcast(x_place, &full)?);
    let mut known = None;
    let mut clipped = Vec::new();
    for (place, extent) in [(y, h), (x_place, w)] {
        let allowed = call.clipped(place, -1.0, extent as f64)?;
        let inside = call.plain(&ew::EQUAL, &[place, allowed])?;
        known = Some(match known {
            Some(other) => call.plain(&ew::LOGICAL_AND, &[other, inside])?,
            None => inside,
        });
        clipped.push(call.clipped(place, 0.0, (extent - 1) as f64)?);
    }
    let image = call.reshaped(image, &[count, 1, 1])?;
    let pixels = Pixels::of(call, x, image)?;
    let sampled = pixels.between(call, clipped[0], clipped[1], Beyond::Border)?;
    let Some(known) = known else { return call.fault("has no axes") };
    let known = call.expanded(known, &[-1])?;
    let zero = call.like(sampled, 0.0)?;
    let sampled = call.select(known, sampled, zero)?;
    let cells = call.reshaped(sampled, &[count, size[0], samples, size[1], samples, channels])?;
    let row =
        if call.text("mode", "avg")? == "avg" { &reduction::REDUCE_MEAN } else { &reduction::REDUCE_MAX };
    let pooled = call.reduced(row, cells, &[2, 4], false)?;
    let mut back = [0i64; 4];
    axes.iter().zip([0i64, 3, 1, 2]).for_each(|(&axis, from)| back[axis] = from);
    call.transposed(pooled, &back).map(Made::Value)
}

/// The boxes of a detector that every place of a feature map has: one a size, and one a ratio more.
fn priors<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let shape = fixed(call, x)?;
    let &[_, _, h, w] = shape.as_slice() else { return call.fault("takes a feature map, [N, C, H, W]") };
    let sizes = call.floats("sizes", &[1.0])?;
    let ratios = call.floats("ratios", &[1.0])?;
    let (steps, offsets) = (call.floats("steps", &[-1.0, -1.0])?, call.floats("offsets", &[0.5, 0.5])?);
    let (&[step_y, step_x], &[offset_y, offset_x]) = (&steps[..], &offsets[..]) else {
        return call.fault("takes two numbers in steps and in offsets");
    };
    if sizes.is_empty() || ratios.is_empty() || ratios.iter().any(|&ratio| ratio <= 0.0) {
        return call.fault("takes one number or more in sizes, and ratios above 0");
    }
    let count = (sizes.len() + ratios.len() - 1) as i64;
    call.countable(&[h, w, count, 4])?;
    let step = |step: f64, extent: i64| if step > 0.0 { step } else { 1.0 / extent as f64 };
    let mut numbers = Vec::new();
    for i in 0..h {
        for j in 0..w {
            let y = (i as f64 + offset_y) * step(step_y, h);
            let x = (j as f64 + offset_x) * step(step_x, w);
            let aspect = h as f64 / w as f64;
            let by_size = sizes.iter().map(|size| (size * aspect / 2.0, size / 2.0));
            let by_ratio = ratios[1..].iter().map(|ratio| {
                let root = ratio.sqrt();
                (sizes[0] * aspect * root / 2.0, sizes[0] / root / 2.0)
            });
            for (half_w, half_h) in by_size.chain(by_ratio) {
                numbers.extend([x - half_w, y - half_h, x + half_w, y + half_h]);
            }
        }
    }
    if call.flag("clip", false)? {
        numbers.iter_mut().for_each(|n| *n = n.clamp(0.0, 1.0));
    }
    let dtype = call.dtype(x)?;
    call.floats_in(dtype, &[1, h * w * count, 4], &numbers).map(Made::Value)
}
