//! NonMaxSuppression: of boxes that overlap, the one with the best score stays.
//!
//!     candidates = boxes whose scores are above the threshold
//!     repeat, for all images and classes at once:
//!       best = argmax of the scores that are left; it is chosen, if there is one
//!       scores of boxes that overlap it by more than the other threshold are taken away, as is its own
//!
//! The loop ends when no image has a box left, or `max_output_boxes_per_class` are chosen. The result has a row for each box
//! that is chosen: image, class and box, in this order, the best first.

use fusion_operators::ops::{elementwise as ew, indexing, reduction};
use fusion_operators::{Attrs, DType, Dim};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::flow::repeat::{Ends, Turn};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("NonMaxSuppression", non_max_suppression)];

/// Candidates of each image and class, `[batch, classes, candidates]`: as many as the most that one of them has.
struct Candidates {
    /// Which box each is.
    place: Value,
    /// -infinity where there is none.
    score: Value,
    /// Lower and upper end along both axes.
    ends: [[Value; 2]; 2],
    area: Value,
    /// How many there are at most.
    count: Value,
}

impl Candidates {
    /// Boxes whose scores are above the threshold: the n-th of them is written to place n, others behind the end.
    fn read(im: &mut Importer, node: &Node, scores: Value) -> Result<Candidates, Fault> {
        let dims = im.dims(scores)?;
        let gone = im.like(scores, f64::NEG_INFINITY)?;
        let least = match node.opt(4) {
            Some(_) => number(im, node, 4, (DType::F32, 0.0))?,
            None => gone,
        };
        let is_one = im.bin(&ew::GREATER, scores, least)?;
        let ones = im.cast(is_one, DType::I32)?;
        let sums = im.op(&reduction::CUMSUM, &[ones], Attrs::new().with("axis", 2i64))?;
        let behind = im.add_f(sums, -1.0)?;
        let boxes = im.extent_of(scores, 2)?;
        let boxes = im.cast(boxes, DType::I32)?;
        let to = im.select(is_one, behind, boxes)?;
        let own = im.arange_dim(DType::I32, &dims[2], 0.0, 1.0)?;
        let own = im.broadcast_dims(own, &dims)?;
        let padding = [0, 0, 0, 0, 0, 1];
        let room = im.pad(own, &padding, 0.0)?;
        let attrs = Attrs::new().with("axis", 2i64);
        let listed = im.op(&indexing::SCATTER_ELEMENTS, &[room, to, own], attrs.clone())?;
        let counts = im.sum(ones, &[2], true)?;
        let count = im.reduce(&reduction::REDUCE_MAX, counts, &[0, 1, 2], false)?;
        let count = im.cast(count, DType::I64)?;
        let place = im.first(listed, count, 2)?;
        let turn = im.counting(count)?;
        let turn = im.cast(turn, DType::I32)?;
        let there = im.less(turn, counts)?;
        let score = im.op(&indexing::GATHER_ELEMENTS, &[scores, place], attrs)?;
        let score = im.select(there, score, gone)?;
        let ends = corners(im, node, place, &dims)?;
        let area = area(im, ends)?;
        Ok(Candidates { place, score, ends, area, count })
    }

    /// Which candidates overlap the one at a place of each image and class, `[batch, classes, 1]`, by more than the threshold.
    fn overlapping(&self, im: &mut Importer, best: Value, threshold: Value) -> Made {
        let own = |im: &mut Importer, x: Value| {
            im.op(&indexing::GATHER_ELEMENTS, &[x, best], Attrs::new().with("axis", 2i64))
        };
        let mut shared = self.ends;
        for (axis, [low, high]) in shared.iter_mut().enumerate() {
            let (own_low, own_high) = (own(im, self.ends[axis][0])?, own(im, self.ends[axis][1])?);
            *low = im.maximum(*low, own_low)?;
            *high = im.minimum(*high, own_high)?;
        }
        for [low, high] in &mut shared {
            // Where they do not meet, the end is the beginning.
            *high = im.maximum(*high, *low)?;
        }
        let common = area(im, shared)?;
        let own_area = own(im, self.area)?;
        let both = im.add(self.area, own_area)?;
        let all = im.sub(both, common)?;
        let bound = im.mul(all, threshold)?;
        im.bin(&ew::GREATER, common, bound)
    }
}

/// The ends along both axes of the boxes at places of each image and class.
fn corners(im: &mut Importer, node: &Node, place: Value, dims: &[Dim]) -> Result<[[Value; 2]; 2], Fault> {
    let boxes = node.input(0)?;
    // Boxes of all images one behind the other.
    let rows =
        im.reshape_dims(boxes, &[Dim::product(&[dims[0].clone(), dims[2].clone()]), Dim::Static(4)])?;
    let image = im.arange_dim(DType::I32, &dims[0], 0.0, 1.0)?;
    let image = im.expand_dims(image, &[1, 2])?;
    let count = im.extent_of(boxes, 1)?;
    let count = im.cast(count, DType::I32)?;
    let first = im.mul(image, count)?;
    let at = im.add(place, first)?;
    let mut part = Vec::with_capacity(4);
    for i in 0..4 {
        let column = im.select_at(rows, 1, i)?;
        part.push(im.gather(column, at, 0)?);
    }
    let centred = node.flag("center_point_box")?;
    let mut ends = [[part[0], part[2]], [part[1], part[3]]];
    for pair in &mut ends {
        // Two corners in any order, or a centre and a size.
        let [a, b] = *pair;
        *pair = match centred {
            false => [im.minimum(a, b)?, im.maximum(a, b)?],
            true => {
                let half = im.mul_f(b, 0.5)?;
                [im.sub(a, half)?, im.add(a, half)?]
            }
        };
    }
    Ok(ends)
}

fn area(im: &mut Importer, [[top, bottom], [left, right]]: [[Value; 2]; 2]) -> Made {
    let (height, width) = (im.sub(bottom, top)?, im.sub(right, left)?);
    im.mul(height, width)
}

/// An operand that is one number, or a default.
fn number(im: &mut Importer, node: &Node, index: usize, default: (DType, f64)) -> Made {
    match node.opt(index) {
        Some(given) => {
            let given = im.cast(given, default.0)?;
            im.reshape(given, &[])
        }
        None => im.scalar(default.0, default.1),
    }
}

fn non_max_suppression<'m>(im: &mut Importer<'m>, node: &Node<'m>) -> Converted {
    let scores = node.input(1)?;
    if im.rank(node.input(0)?)? != 3 || im.rank(scores)? != 3 {
        return Err(Fault::value(format!(
            "boxes and scores must have rank 3, found {} and {}",
            im.ty(node.input(0)?)?,
            im.ty(scores)?
        )));
    }
    let most = number(im, node, 2, (DType::I64, 0.0))?;
    let threshold = number(im, node, 3, (DType::F32, 0.0))?;
    let candidates = Candidates::read(im, node, scores)?;
    let zero = im.scalar(DType::I64, 0.0)?;
    let limit = im.minimum(most, candidates.count)?;
    let limit = im.maximum(limit, zero)?;
    // A place for each turn, -1 as long as it is empty.
    let turns = im.counting(limit)?;
    let dims = im.dims(scores)?;
    let nothing = im.full_dims(DType::I64, &[dims[0].clone(), dims[1].clone(), Dim::Static(1)], -1.0)?;
    let each = im.mul_f(turns, 0.0)?;
    let nothing = im.add(nothing, each)?;
    let places = im.counting(candidates.count)?;
    let ends = Ends { limit: Some(limit), start: None };
    let state = [candidates.score, nothing];
    let results = im.repeat(node, ends, (&state, 0), true, |im, counter, _, state| {
        let (left, chosen) = (state[0], state[1]);
        let attrs = Attrs::new().with("axis", 2i64).with("keepdims", true);
        let best = im.op(&reduction::ARGMAX, &[left], attrs)?;
        let score = im.reduce(&reduction::REDUCE_MAX, left, &[2], true)?;
        let gone = im.like(left, f64::NEG_INFINITY)?;
        let is_there = im.bin(&ew::GREATER, score, gone)?;
        let of_box =
            im.op(&indexing::GATHER_ELEMENTS, &[candidates.place, best], Attrs::new().with("axis", 2i64))?;
        let of_box = im.cast(of_box, DType::I64)?;
        let none = im.like(of_box, -1.0)?;
        let here = im.equal(turns, counter)?;
        let new = im.select(is_there, of_box, none)?;
        let chosen = im.select(here, new, chosen)?;
        let overlaps = candidates.overlapping(im, best, threshold)?;
        let itself = im.equal(places, best)?;
        let taken = im.bin(&ew::LOGICAL_OR, overlaps, itself)?;
        let left = im.select(taken, gone, left)?;
        let any = im.reduce(&reduction::REDUCE_ANY, is_there, &[0, 1, 2], false)?;
        Ok(Turn { goes_on: any, values: vec![left, chosen] })
    })?;
    let chosen = im.flat(results[1])?;
    let none = im.like(chosen, 0.0)?;
    let is_chosen = im.bin(&ew::GREATER_EQUAL, chosen, none)?;
    let (kept, number) = im.places_where(is_chosen)?;
    let kept = im.first(kept, number, 0)?;
    let one = im.scalar(DType::I64, 1.0)?;
    let each = im.maximum(limit, one)?;
    let list = im.div(kept, each)?;
    let classes = im.extent_of(scores, 1)?;
    let image = im.div(list, classes)?;
    let class = im.bin(&ew::MOD, list, classes)?;
    let of_box = im.gather(chosen, kept, 0)?;
    let columns =
        [image, class, of_box].into_iter().map(|v| im.expand_dims(v, &[1])).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![im.concat(&columns, 1)?])
}
