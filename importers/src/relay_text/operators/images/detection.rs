//! The boxes of detectors: those that count move to the front, and the rest of the rows are -1.

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("vision.get_valid_counts", 2, &["id_index", "score_index"], valid_counts),
    built("vision.multibox_transform_loc", 3, &["clip", "threshold", "variances", "keep_background"], decoded),
];

/// How rows are put in another order.
pub struct Front<'c> {
    /// Where each row comes from, [B, N].
    pub from: Value<'c>,
    /// Whether a row of the result counts, [B, N].
    pub counts: Value<'c>,
    /// How many do, [B].
    pub count: Value<'c>,
}

/// Rows that count to the front, each in its order.
pub fn front<'c>(call: &mut Call<'_, 'c, '_>, kept: Value<'c>, rows: i64) -> Outcome<Front<'c>> {
    let numbers = call.cast(kept, DType::I32)?;
    let attrs = Attrs::new().with("k", rows).with("axis", 1i64);
    let [_, from] = call.rows(&reduction::TOPK, &[numbers], &attrs, 2)?[..] else {
        return call.fault("gives two results");
    };
    let count = call.summed(numbers, &[1])?;
    call.countable(&[rows])?;
    let places: Vec<i64> = (0..rows).collect();
    let places = call.ints_in(DType::I32, &[1, rows], &places)?;
    let end = call.expanded(count, &[1])?;
    let counts = call.plain(&ew::LESS, &[places, end])?;
    Ok(Front { from, counts, count })
}

impl<'c> Front<'c> {
    /// A table [B, N, W] in that order.
    pub fn table(&self, call: &mut Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
        let shape = fixed(call, x)?;
        let from = call.expanded(self.from, &[2])?;
        let from = call.broadcast(from, &shape)?;
        let moved = call.gathered_elements(x, from, 1)?;
        let counts = call.expanded(self.counts, &[2])?;
        let none = call.like(x, -1.0)?;
        call.select(counts, moved, none)
    }
}

/// Boxes whose score is above a threshold and whose class is not negative: how many, the boxes, and where they were.
fn valid_counts<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, threshold) = (call.operand(0), call.operand(1));
    let (class, score) = (call.int("id_index", 0)?, call.int("score_index", 1)?);
    let &[_, rows, width] = fixed(call, x)?.as_slice() else {
        return call.fault("takes boxes, [B, N, 5 or 6]");
    };
    if !(0..width).contains(&score) || class >= width {
        return call.fault(format!("id_index={class} and score_index={score} must name columns of {width}"));
    }
    let dtype = call.dtype(x)?;
    let threshold = call.cast(threshold, dtype)?;
    let scores = call.at(x, 2, score)?;
    let mut kept = call.plain(&ew::GREATER, &[scores, threshold])?;
    if class >= 0 {
        let classes = call.at(x, 2, class)?;
        let zero = call.like(classes, 0.0)?;
        let known = call.plain(&ew::GREATER_EQUAL, &[classes, zero])?;
        kept = call.plain(&ew::LOGICAL_AND, &[kept, known])?;
    }
    let front = front(call, kept, rows)?;
    let boxes = front.table(call, x)?;
    let from = call.cast(front.from, DType::I32)?;
    let none = call.like(from, -1.0)?;
    let from = call.select(front.counts, from, none)?;
    Ok(Made::several(vec![front.count, boxes, from]))
}

/// Class, score and corners of each anchor, from the probabilities of classes and the moves of the anchors.
fn decoded<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (classes, moves, anchors) = (call.operand(0), call.operand(1), call.operand(2));
    let &[batch, kinds, rows] = fixed(call, classes)?.as_slice() else {
        return call.fault("takes probabilities, [B, classes, N]");
    };
    let background = call.flag("keep_background", false)?;
    let variances = call.floats("variances", &[0.1, 0.1, 0.2, 0.2])?;
    let &[vx, vy, vw, vh] = variances.as_slice() else {
        return call.fault("takes four numbers in variances");
    };
    let first = i64::from(!background);
    if kinds <= first {
        return call.fault("takes a class beside the background");
    }
    let candidates = call.sliced(classes, &[1], &[first], &[kinds])?;
    let score = call.reduced(&reduction::REDUCE_MAX, candidates, &[1], false)?;
    let class = call.row(&reduction::ARGMAX, &[candidates], Attrs::new().with("axis", 1i64))?;
    let class = call.plus(class, first as f64)?;
    let least = call.float("threshold", 0.01)?;
    let least = call.like(score, least)?;
    let weak = call.plain(&ew::LESS, &[score, least])?;
    let zero = call.like(class, 0.0)?;
    let class = call.select(weak, zero, class)?;
    let dtype = call.dtype(moves)?;
    let mut columns = vec![call.cast(class, dtype)?, call.cast(score, dtype)?];
    if !background {
        columns[0] = call.plus(columns[0], -1.0)?;
    }
    let moves = call.reshaped(moves, &[batch, rows, 4])?;
    let mut ends = Vec::new();
    for (low, (shift, scale)) in [(0, (vx, vw)), (1, (vy, vh))] {
        let (start, end) = (call.at(anchors, 2, low)?, call.at(anchors, 2, low + 2)?);
        let size = call.sub(end, start)?;
        let sum = call.add(start, end)?;
        let centre = call.times(sum, 0.5)?;
        let moved = call.at(moves, 2, low)?;
        let moved = call.times(moved, shift)?;
        let moved = call.mul(moved, size)?;
        let centre = call.add(moved, centre)?;
        let stretch = call.at(moves, 2, low + 2)?;
        let stretch = call.times(stretch, scale)?;
        let stretch = call.plain(&ew::EXP, &[stretch])?;
        let half = call.mul(stretch, size)?;
        let half = call.times(half, 0.5)?;
        ends.push([call.sub(centre, half)?, call.add(centre, half)?]);
    }
    let clip = call.flag("clip", true)?;
    for end in [ends[0][0], ends[1][0], ends[0][1], ends[1][1]] {
        columns.push(if clip { call.clipped(end, 0.0, 1.0)? } else { end });
    }
    for column in &mut columns {
        let wide = call.broadcast(*column, &[batch, rows])?;
        *column = call.expanded(wide, &[2])?;
    }
    let table = call.joined(&columns, 2)?;
    let kept = if background {
        call.plain(&ew::GREATER_EQUAL, &[class, zero])?
    } else {
        call.plain(&ew::GREATER, &[class, zero])?
    };
    let front = front(call, kept, rows)?;
    let boxes = front.table(call, table)?;
    Ok(Made::several(vec![boxes, front.count]))
}
