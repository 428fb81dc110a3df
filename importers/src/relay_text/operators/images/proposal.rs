//! `vision.proposal`: boxes of a region proposal network, the best of those that overlap, as often as it takes to fill the result.
//!
//! ```text
//!   anchors    at each place, of each ratio and scale                    constants
//!   boxes      anchors moved and stretched by `bbox_pred`, cut at the image; those that are too small have the score -1
//!   result     (image, box) of those that relay.non_max_suppression leaves, again from the first when there are no more
//! ```
//! Ends belong to a box, so that it is wider than their distance by 1.

use super::suppression::chosen_boxes;
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::ops::non_max_suppression::NON_MAX_SUPPRESSION;
use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("vision.proposal", 3, &["scales", "ratios", "feature_stride", "threshold", "rpn_pre_nms_top_n", "rpn_post_nms_top_n", "rpn_min_size", "iou_loss"], proposal),
];

/// Most boxes that are wanted of an image.
const MOST_WANTED: i64 = 1 << 20;

/// The box around a place, of a ratio of height to width and a scale: x0, y0, x1, y1.
fn anchor(ratio: f64, scale: f64, size: f64) -> [f64; 4] {
    let centre = 0.5 * (size - 1.0);
    let width = ((size * size / ratio).floor().sqrt() + 0.5).floor();
    let height = (width * ratio + 0.5).floor();
    let [x, y] = [width, height].map(|side| 0.5 * (side * scale - 1.0));
    [centre - x, centre - y, centre + x, centre + y]
}

/// The ends of boxes along an axis that are moved and stretched.
fn stretched<'c>(
    call: &mut Call<'_, 'c, '_>,
    [low, high]: [Value<'c>; 2],
    [shift, stretch]: [Value<'c>; 2],
) -> Outcome<[Value<'c>; 2]> {
    let size = call.sub(high, low)?;
    let size = call.plus(size, 1.0)?;
    let half = call.plus(size, -1.0)?;
    let half = call.times(half, 0.5)?;
    let centre = call.add(low, half)?;
    let moved = call.mul(shift, size)?;
    let centre = call.add(moved, centre)?;
    let factor = call.plain(&ew::EXP, &[stretch])?;
    let size = call.mul(factor, size)?;
    let half = call.plus(size, -1.0)?;
    let half = call.times(half, 0.5)?;
    Ok([call.sub(centre, half)?, call.add(centre, half)?])
}

fn proposal<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let [classes, moves, image] = [0, 1, 2].map(|operand| call.operand(operand));
    let &[batch, kinds, height, width] = fixed(call, classes)?.as_slice() else {
        return call.fault("takes scores, [B, 2 anchors, H, W]");
    };
    let scales = call.floats("scales", &[4.0, 8.0, 16.0, 32.0])?;
    let ratios = call.floats("ratios", &[0.5, 1.0, 2.0])?;
    let stride = call.int("feature_stride", 16)?;
    let anchors = (scales.len() * ratios.len()) as i64;
    if kinds != 2 * anchors || anchors == 0 {
        return call.fault(format!("takes 2 scores for each of {anchors} anchors, found {kinds}"));
    }
    let sizes = scales.iter().chain(&ratios);
    if stride <= 0 || sizes.clone().any(|size| !size.is_finite() || *size <= 0.0) {
        return call.fault("needs scales, ratios and a feature_stride that are greater than 0");
    }
    call.moderate(&[stride])?;
    let count = call.countable(&[height, width, anchors])?;
    call.countable(&[batch, count, 4])?;
    let first = call.int("rpn_pre_nms_top_n", 6000)?;
    let first = if first > 0 { first.min(count) } else { count };
    let wanted = call.int("rpn_post_nms_top_n", 300)?;
    if count == 0 || !(1..=MOST_WANTED).contains(&wanted) {
        return call.fault(format!(
            "rpn_post_nms_top_n={wanted} must be from 1 to {MOST_WANTED}, of one box at least"
        ));
    }
    // Anchors, [1, N] for each end; the number of an anchor is innermost.
    let shapes: Vec<[f64; 4]> = (ratios.iter())
        .flat_map(|&ratio| scales.iter().map(move |&scale| (ratio, scale)))
        .map(|(ratio, scale)| anchor(ratio, scale, stride as f64))
        .collect();
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let all: Vec<(i64, i64, [f64; 4])> =
        places.flat_map(|(x, y)| shapes.iter().map(move |shape| (x, y, *shape))).collect();
    let mut corners = Vec::new();
    for end in 0..4 {
        let ends =
            all.iter().map(|(x, y, shape)| shape[end] + (stride * if end % 2 == 0 { *x } else { *y }) as f64);
        corners.push(call.floats_in(DType::F32, &[1, count], &ends.collect::<Vec<f64>>())?);
    }
    let moves = call.cast(moves, DType::F32)?;
    let moves = call.reshaped(moves, &[batch, anchors, 4, height, width])?;
    let moves = call.transposed(moves, &[0, 3, 4, 1, 2])?;
    let moves = call.reshaped(moves, &[batch, count, 4])?;
    let mut moved = Vec::new();
    for part in 0..4 {
        moved.push(call.at(moves, 2, part)?);
    }
    let [[x0, x1], [y0, y1]] = if call.flag("iou_loss", false)? {
        let mut sums = Vec::new();
        for (corner, moved) in corners.iter().zip(&moved) {
            sums.push(call.add(*corner, *moved)?);
        }
        [[sums[0], sums[2]], [sums[1], sums[3]]]
    } else {
        [
            stretched(call, [corners[0], corners[2]], [moved[0], moved[2]])?,
            stretched(call, [corners[1], corners[3]], [moved[1], moved[3]])?,
        ]
    };
    // Height, width and scale of the image, [B, 1].
    let image = call.cast(image, DType::F32)?;
    let mut given = Vec::new();
    for part in 0..3 {
        let part = call.sliced(image, &[1], &[part], &[part + 1])?;
        given.push(part);
    }
    let mut ends = [x0, y0, x1, y1];
    for (end, value) in ends.iter_mut().enumerate() {
        let most = call.plus(given[1 - end % 2], -1.0)?;
        let cut = call.plain(&ew::MINIMUM, &[*value, most])?;
        let zero = call.like(cut, 0.0)?;
        *value = call.plain(&ew::MAXIMUM, &[cut, zero])?;
    }
    let scores = call.cast(classes, DType::F32)?;
    let scores = call.sliced(scores, &[1], &[anchors], &[2 * anchors])?;
    let scores = call.transposed(scores, &[0, 2, 3, 1])?;
    let mut scores = call.reshaped(scores, &[batch, count])?;
    let none = call.like(scores, -1.0)?;
    for (extent, of) in [(0, 1), (1, 0)] {
        let own: Vec<i64> = all.iter().map(|(x, y, _)| if of == 0 { *x } else { *y }).collect();
        let own = call.ints_in(DType::I32, &[1, count], &own)?;
        let real = call.times(given[extent], 1.0 / stride as f64)?;
        let real = call.cast(real, DType::I32)?;
        let outside = call.plain(&ew::GREATER_EQUAL, &[own, real])?;
        scores = call.select(outside, none, scores)?;
    }
    let smallest = call.float("rpn_min_size", 16.0)?;
    let smallest = call.times(given[2], smallest)?;
    let mut small = Vec::new();
    for axis in 0..2 {
        let size = call.sub(ends[axis + 2], ends[axis])?;
        let size = call.plus(size, 1.0)?;
        small.push(call.plain(&ew::LESS, &[size, smallest])?);
    }
    let small = call.plain(&ew::LOGICAL_OR, &small)?;
    scores = call.select(small, none, scores)?;
    let half = call.times(smallest, 0.5)?;
    for (end, value) in ends.iter_mut().enumerate() {
        let wider = if end < 2 { call.sub(*value, half)? } else { call.add(*value, half)? };
        *value = call.select(small, wider, *value)?;
    }
    // The best of them, of which those that overlap a better one are left out.
    let attrs = Attrs::new().with("k", first).with("axis", 1i64);
    let [best, order] = call.rows(&reduction::TOPK, &[scores], &attrs, 2)?[..] else {
        return call.fault("gives two results");
    };
    for value in &mut ends {
        *value = call.gathered_elements(*value, order, 1)?;
    }
    let mut columns = Vec::new();
    for (end, value) in ends.iter().enumerate() {
        let behind = if end < 2 { *value } else { call.plus(*value, 1.0)? };
        columns.push(call.expanded(behind, &[2])?);
    }
    let boxes = call.joined(&columns, 2)?;
    let best = call.expanded(best, &[1])?;
    let threshold = call.float("threshold", 0.7)?;
    let overlap = call.floats_in(DType::F32, &[], &[threshold])?;
    let least = call.floats_in(DType::F32, &[], &[f64::NEG_INFINITY])?;
    let most = call.ints_in(DType::I64, &[], &[wanted])?;
    let attrs = Attrs::new().with("room", wanted.min(first));
    let chosen = call.row(&NON_MAX_SUPPRESSION, &[boxes, best, most, overlap, least], attrs)?;
    let chosen = call.reshaped(chosen, &[batch, wanted.min(first)])?;
    let found = chosen_boxes(call, chosen)?;
    let one = call.like(found, 1.0)?;
    let found = call.plain(&ew::MAXIMUM, &[found, one])?;
    let turn: Vec<i64> = (0..wanted).collect();
    let turn = call.ints_in(DType::I64, &[1, wanted], &turn)?;
    let turn = call.plain(&ew::MOD, &[turn, found])?;
    let place = call.gathered_elements(chosen, turn, 1)?;
    let own: Vec<f64> = (0..batch).map(|image| image as f64).collect();
    let own = call.floats_in(DType::F32, &[batch, 1], &own)?;
    let own = call.broadcast(own, &[batch, wanted])?;
    let mut rows = vec![call.expanded(own, &[2])?];
    for value in ends {
        let value = call.gathered_elements(value, place, 1)?;
        rows.push(call.expanded(value, &[2])?);
    }
    let rows = call.joined(&rows, 2)?;
    Ok(Made::Value(call.reshaped(rows, &[batch * wanted, 5])?))
}
