//! The best boxes of all classes together, of those that stay in each class: `vision.regular_non_max_suppression`, TFLite's.
//!
//! ```text
//!   stays[b, c, i]      places of boxes by relay.non_max_suppression, class by class, -1 behind them
//!   best[b, j]          the greatest scores of all that stays, of equal ones the earlier class
//!   (boxes[b, place], class, score, how many)      rows of 0 behind those that are there
//! ```
//! The first column of scores may be that of the background, which no box belongs to.

use super::suppression::chosen_boxes;
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::ops::non_max_suppression::NON_MAX_SUPPRESSION;
use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

const ATTRIBUTES: &[&str] =
    &["max_detections_per_class", "max_detections", "num_classes", "iou_threshold", "score_threshold"];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("vision.regular_non_max_suppression", 2, ATTRIBUTES, regular),
];

fn regular<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let [boxes, scores] = [0, 1].map(|operand| call.operand(operand));
    let &[batch, rows, columns] = fixed(call, scores)?.as_slice() else {
        return call.fault("takes scores, [B, N, classes]");
    };
    let (most, each) = (call.required("max_detections")?, call.required("max_detections_per_class")?);
    let classes = call.required("num_classes")?;
    if !(1..=columns).contains(&classes) || most < 1 || each < 1 {
        return call.fault(format!(
            "num_classes={classes} must be 1 to {columns}, the last axis of scores; max_detections={most} and \
             max_detections_per_class={each} must be positive"
        ));
    }
    call.countable(&[batch, most, 4])?;
    let (overlap, least) = (call.float("iou_threshold", 0.0)?, call.float("score_threshold", 0.0)?);
    // A score that equals the threshold counts.
    let least = f64::from((least as f32).next_down());
    let (boxes, scores) = (call.cast(boxes, DType::F32)?, call.cast(scores, DType::F32)?);
    let scores = call.sliced(scores, &[2], &[columns - classes], &[columns])?;
    let scores = call.transposed(scores, &[0, 2, 1])?;
    let operands = [
        boxes,
        scores,
        call.ints_in(DType::I64, &[], &[each])?,
        call.floats_in(DType::F32, &[], &[overlap])?,
        call.floats_in(DType::F32, &[], &[least])?,
    ];
    let room = each.min(rows);
    let places = call.row(&NON_MAX_SUPPRESSION, &operands, Attrs::new().with("room", room))?;
    // What stays, the best of all classes first.
    let zero = call.like(places, 0.0)?;
    let stays = call.plain(&ew::GREATER_EQUAL, &[places, zero])?;
    let known = call.select(stays, places, zero)?;
    let found = call.gathered_elements(scores, known, 2)?;
    let gone = call.like(found, f64::NEG_INFINITY)?;
    let found = call.select(stays, found, gone)?;
    let found = call.reshaped(found, &[batch, classes * room])?;
    let kept = most.min(classes * room);
    let attrs = Attrs::new().with("k", kept).with("axis", 1i64);
    let [best, which] = call.rows(&reduction::TOPK, &[found], &attrs, 2)?[..] else {
        return call.fault("gives two results");
    };
    let listed = call.reshaped(places, &[batch, classes * room])?;
    let place = call.gathered_elements(listed, which, 1)?;
    let zero = call.like(place, 0.0)?;
    let there = call.plain(&ew::GREATER_EQUAL, &[place, zero])?;
    let count = chosen_boxes(call, place)?;
    let place = call.select(there, place, zero)?;
    let wide = call.expanded(place, &[2])?;
    let wide = call.broadcast(wide, &[batch, kept, 4])?;
    let corners = call.gathered_elements(boxes, wide, 1)?;
    let width = call.like(which, room as f64)?;
    let class = call.div(which, width)?;
    let class = call.cast(class, DType::F32)?;
    let wide = call.expanded(there, &[2])?;
    let shown = [(wide, corners), (there, class), (there, best)];
    let mut results = Vec::new();
    for (there, x) in shown {
        results.push(or_zero(call, there, x, most - kept)?);
    }
    let count = call.cast(count, DType::I32)?;
    results.push(call.reshaped(count, &[batch])?);
    Ok(Made::several(results))
}

/// Elements where they are there, 0 elsewhere and in so many rows more.
fn or_zero<'c>(call: &mut Call<'_, 'c, '_>, there: Value<'c>, x: Value<'c>, more: i64) -> Outcome<Value<'c>> {
    let zero = call.like(x, 0.0)?;
    let x = call.select(there, x, zero)?;
    let rank = call.rank(x)?;
    let mut end = vec![0; rank];
    end[1] = more;
    call.padded(x, &vec![0; rank], &end, 0.0)
}
