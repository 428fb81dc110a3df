//! Of boxes that overlap, the one with the best score stays: `vision.non_max_suppression` and `vision.all_class_non_max_suppression`.
//!
//! ```text
//!   places = relay.non_max_suppression(ends of boxes, scores, ...)      -1 where none is chosen
//!   one class at a time:   rows sorted by score; those that are not chosen become -1
//!   all classes:           (image, class, place) of what is chosen, in front of rows of 0
//! ```

use super::detection::{Front, front};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::ops::non_max_suppression::NON_MAX_SUPPRESSION;
use fusion_operators::ops::{elementwise as ew, indexing, reduction};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("vision.non_max_suppression", 5, &["force_suppress", "top_k", "coord_start", "score_index", "id_index", "return_indices", "invalid_to_bottom"], suppressed),
    built("vision.all_class_non_max_suppression", 5, &["output_format"], all_classes),
];

/// Of boxes whose corners stand in any order, their ends.
fn ends<'c>(call: &mut Call<'_, 'c, '_>, boxes: Value<'c>) -> Outcome<Value<'c>> {
    let boxes = call.cast(boxes, DType::F32)?;
    let (a, b) = (call.sliced(boxes, &[2], &[0], &[2])?, call.sliced(boxes, &[2], &[2], &[4])?);
    let low = call.plain(&ew::MINIMUM, &[a, b])?;
    let high = call.plain(&ew::MAXIMUM, &[a, b])?;
    call.joined(&[low, high], 2)
}

/// How many are wanted: all, where the number is negative.
fn wanted<'c>(call: &mut Call<'_, 'c, '_>, most: Value<'c>, all: i64) -> Outcome<Value<'c>> {
    let most = call.cast(most, DType::I64)?;
    let most = call.reshaped(most, &[])?;
    let zero = call.like(most, 0.0)?;
    let all = call.ints_in(DType::I64, &[], &[all])?;
    let open = call.plain(&ew::LESS, &[most, zero])?;
    call.select(open, all, most)
}

/// A number of f32 without axes.
fn threshold<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    let x = call.cast(x, DType::F32)?;
    call.reshaped(x, &[])
}

/// How many boxes of each image are chosen, `[B, 1]`, of their places `[B, N]`: -1 is none.
pub(super) fn chosen_boxes<'c>(call: &mut Call<'_, 'c, '_>, places: Value<'c>) -> Outcome<Value<'c>> {
    let none = call.like(places, 0.0)?;
    let there = call.plain(&ew::GREATER_EQUAL, &[places, none])?;
    let there = call.cast(there, DType::I64)?;
    call.reduced(&reduction::REDUCE_SUM, there, &[1], true)
}

/// Whether a place is one of those that are listed, of so many; -1 lists none.
fn is_listed<'c>(call: &mut Call<'_, 'c, '_>, listed: Value<'c>, shape: &[i64]) -> Outcome<Value<'c>> {
    let &[batch, rows] = shape else { return call.fault("takes boxes, [B, N]") };
    let there = call.countable(&[batch, rows + 1])?;
    let none = call.ints_in(DType::I32, &[batch, rows + 1], &vec![0; there as usize])?;
    let ones = call.ints_in(DType::I32, &[batch, rows], &vec![1; (batch * rows) as usize])?;
    let zero = call.like(listed, 0.0)?;
    let negative = call.plain(&ew::LESS, &[listed, zero])?;
    let spare = call.like(listed, rows as f64)?;
    let to = call.select(negative, spare, listed)?;
    let attrs = Attrs::new().with("axis", 1i64);
    let marks = call.row(&indexing::SCATTER_ELEMENTS, &[none, to, ones], attrs)?;
    let marks = call.sliced(marks, &[1], &[0], &[rows])?;
    call.cast(marks, DType::Bool)
}

/// Rows of `data`, sorted by score, without those that overlap a better one of their class.
fn suppressed<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let [x, count, indices, most, overlap] = [0, 1, 2, 3, 4].map(|operand| call.operand(operand));
    let &[batch, rows, width] = fixed(call, x)?.as_slice() else {
        return call.fault("takes boxes, [B, N, 5 or 6]");
    };
    let (corner, score) = (call.int("coord_start", 2)?, call.int("score_index", 1)?);
    let (class, force) = (call.int("id_index", 0)?, call.flag("force_suppress", false)?);
    if !(0..=width - 4).contains(&corner) || !(0..width).contains(&score) || class >= width {
        return call.fault(format!(
            "coord_start={corner}, score_index={score} and id_index={class} must name columns of {width}"
        ));
    }
    call.countable(&[batch, rows + 1])?;
    let overlap = threshold(call, overlap)?;
    let nothing = call.like(overlap, 0.0)?;
    let acts = call.plain(&ew::GREATER, &[overlap, nothing])?;
    let most = wanted(call, most, rows)?;
    // Those that count, the best first.
    let own: Vec<i64> = (0..rows).collect();
    let own = call.ints_in(DType::I64, &[1, rows], &own)?;
    let count = call.cast(count, DType::I64)?;
    let count = call.reshaped(count, &[batch, 1])?;
    let valid = call.plain(&ew::LESS, &[own, count])?;
    let scores = call.at(x, 2, score)?;
    let gone = call.like(scores, f64::NEG_INFINITY)?;
    let scores = call.select(valid, scores, gone)?;
    let attrs = Attrs::new().with("k", rows).with("axis", 1i64);
    let [_, sorted] = call.rows(&reduction::TOPK, &[scores], &attrs, 2)?[..] else {
        return call.fault("gives two results");
    };
    let order = call.select(acts, sorted, own)?;
    let wide = call.expanded(order, &[2])?;
    let wide = call.broadcast(wide, &[batch, rows, width])?;
    let table = call.gathered_elements(x, wide, 1)?;
    let present = match call.int("top_k", -1)? {
        k if k > 0 => {
            let k = call.like(count, k as f64)?;
            let kept = call.plain(&ew::MINIMUM, &[count, k])?;
            let first = call.plain(&ew::LESS, &[own, kept])?;
            call.select(acts, first, valid)?
        }
        _ => valid,
    };
    // What is chosen, and what has no score to lose while there is room.
    let scores = call.at(table, 2, score)?;
    let scores = call.cast(scores, DType::F32)?;
    let nothing = call.like(scores, 0.0)?;
    let taken = call.select(present, scores, nothing)?;
    let taken = call.expanded(taken, &[1])?;
    let corners = call.sliced(table, &[2], &[corner], &[corner + 4])?;
    let zero = call.floats_in(DType::F32, &[], &[0.0])?;
    let mut operands = vec![ends(call, corners)?, taken, most, overlap, zero];
    if class >= 0 && !force {
        let ids = call.at(table, 2, class)?;
        let ids = call.cast(ids, DType::I32)?;
        let none = call.like(ids, 0.0)?;
        let unknown = call.plain(&ew::LESS, &[ids, none])?;
        // Each of a group of its own.
        let alone: Vec<i64> = (0..rows).map(|row| -1 - row).collect();
        let alone = call.ints_in(DType::I32, &[1, rows], &alone)?;
        operands.push(call.select(unknown, alone, ids)?);
    }
    let listed = call.row(&NON_MAX_SUPPRESSION, &operands, Attrs::new().with("inclusive", true))?;
    let listed = call.reshaped(listed, &[batch, rows])?;
    let chosen = is_listed(call, listed, &[batch, rows])?;
    let found = chosen_boxes(call, listed)?;
    let open = call.plain(&ew::LESS, &[found, most])?;
    let low = call.plain(&ew::LESS_EQUAL, &[scores, nothing])?;
    let low = call.plain(&ew::LOGICAL_AND, &[low, open])?;
    let low = call.plain(&ew::LOGICAL_AND, &[low, present])?;
    let kept = call.plain(&ew::LOGICAL_OR, &[chosen, low])?;
    let kept = call.select(acts, kept, present)?;
    if call.flag("return_indices", true)? {
        let from = call.gathered_elements(indices, order, 1)?;
        let front = front(call, kept, rows)?;
        let from = front.table_of(call, from, -1.0)?;
        let count = call.expanded(front.count, &[1])?;
        return Ok(Made::several(vec![from, count]));
    }
    let none = call.like(table, -1.0)?;
    let kept = call.expanded(kept, &[2])?;
    let table = call.select(kept, table, none)?;
    if !call.flag("invalid_to_bottom", false)? {
        return Ok(Made::Value(table));
    }
    let first = call.at(table, 2, 0)?;
    let none = call.like(first, 0.0)?;
    let counts = call.plain(&ew::GREATER_EQUAL, &[first, none])?;
    let front = front(call, counts, rows)?;
    Ok(Made::Value(front.table(call, table)?))
}

/// Boxes of all images and classes: image, class and place of those that are chosen.
fn all_classes<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let [boxes, scores, most, overlap, least] = [0, 1, 2, 3, 4].map(|operand| call.operand(operand));
    let &[batch, classes, rows] = fixed(call, scores)?.as_slice() else {
        return call.fault("takes scores, [B, classes, N]");
    };
    let by_image = match call.text("output_format", "onnx")? {
        "onnx" => false,
        "tensorflow" => true,
        other => return call.fault(format!("output_format is '{other}', expected onnx or tensorflow")),
    };
    let most = wanted(call, most, rows)?;
    let (overlap, least) = (threshold(call, overlap)?, threshold(call, least)?);
    let scores = call.cast(scores, DType::F32)?;
    let operands = [ends(call, boxes)?, scores, most, overlap, least];
    let places = call.row(&NON_MAX_SUPPRESSION, &operands, Attrs::new().with("inclusive", true))?;
    let lists = if by_image { batch } else { 1 };
    let each = call.countable(&[batch, classes, rows])? / lists.max(1);
    let zero = call.like(places, 0.0)?;
    let there = call.plain(&ew::GREATER_EQUAL, &[places, zero])?;
    let known = call.select(there, places, zero)?;
    let kept = call.reshaped(there, &[lists, each])?;
    let front = front(call, kept, each)?;
    let numbers = |of: &dyn Fn(i64, i64) -> i64| -> Vec<i64> {
        (0..batch).flat_map(|b| (0..classes).map(move |c| (b, c))).map(|(b, c)| of(b, c)).collect()
    };
    let mut columns = vec![numbers(&|_, c| c)];
    if !by_image {
        columns.insert(0, numbers(&|b, _| b));
    }
    let mut parts = Vec::new();
    for column in columns {
        let column = call.ints_in(DType::I64, &[batch, classes, 1], &column)?;
        parts.push(call.broadcast(column, &[batch, classes, rows])?);
    }
    parts.push(known);
    let shape = if by_image { vec![lists, each, 1] } else { vec![each, 1] };
    for part in &mut parts {
        let flat = call.reshaped(*part, &[lists, each])?;
        let moved = front.table_of(call, flat, 0.0)?;
        *part = call.reshaped(moved, &shape)?;
    }
    let indices = call.joined(&parts, if by_image { 2 } else { 1 })?;
    let count = call.cast(front.count, DType::I64)?;
    if !by_image {
        return Ok(Made::several(vec![indices, count]));
    }
    let chosen = call.gathered_elements(scores, known, 2)?;
    let chosen = call.reshaped(chosen, &[lists, each])?;
    let chosen = front.table_of(call, chosen, 0.0)?;
    Ok(Made::several(vec![indices, chosen, count]))
}

impl<'c> Front<'c> {
    /// Elements `[B, N]` in that order, and a number behind them.
    fn table_of(&self, call: &mut Call<'_, 'c, '_>, x: Value<'c>, behind: f64) -> Outcome<Value<'c>> {
        let moved = call.gathered_elements(x, self.from, 1)?;
        let none = call.like(x, behind)?;
        call.select(self.counts, moved, none)
    }
}
