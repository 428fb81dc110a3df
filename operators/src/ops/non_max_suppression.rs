//! Of boxes that overlap, the one with the best score stays.
//!
//! ```text
//!   candidates = boxes whose scores are above `least`, the best first, of equal ones the earlier
//!   for each of them: it is chosen, if it overlaps none that is chosen already by more than `overlap`
//! ```
//! The overlap is what both boxes share over what they cover: compared as `shared > overlap * covered`, in f32 as compiled code does.

use crate::form::{dim, flag, form, int, operand, optional};
use crate::operator::Related;
use crate::reference::{Evaluated, static_shape};
use crate::{Call, DType, Dim, FusionKind, Operator, Tensor, TensorType, operators, require};

operators! {
    /// Which boxes stay of those that overlap: `[batch, classes, room]`, the best first, and -1 behind them
    ///
    /// Boxes are their ends along both axes, `(y0, x0, y1, x1)` with y0 <= y1 and x0 <= x1. Of each image and class at most `most` are chosen, of boxes
    /// whose scores are greater than `least`. A box is not chosen if it shares with one of a better score more than the part `overlap` of what both
    /// cover; with `inclusive` at least that part, where they cover anything. With `groups` boxes are compared only within the group that an integer
    /// names. `top_k` is how many boxes of each class are looked at (all when absent or negative), `room` is the most that can be chosen (all
    /// boxes when absent).
    /// - C1: boxes are f32 `[batch, boxes, 4]`, scores f32 `[batch, classes, boxes]`.
    /// - C2: most is i64, overlap and least are f32, without axes.
    /// - C3: groups are i32 `[batch, boxes]`.
    NON_MAX_SUPPRESSION = Operator::new("non_max_suppression", FusionKind::Opaque, relation, cost, reference)
        .of(form(&[operand("boxes"), operand("scores"), operand("most"), operand("overlap"), operand("least"), optional("groups")])
            .attributes(&[dim("room"), int("top_k"), flag("inclusive")]));
}

fn differ(a: &Dim, b: &Dim) -> bool {
    a.known().zip(b.known()).is_some_and(|(a, b)| a != b)
}

fn relation(call: &Call) -> Related {
    let (boxes, scores) = (&call.operands[0], &call.operands[1]);
    let of_rank = |ty: &TensorType| ty.dtype == DType::F32 && ty.rank() == 3;
    require!(of_rank(boxes) && of_rank(scores), C 1, "boxes and scores must be f32 of rank 3, found {boxes} and {scores}");
    let fits = boxes.dims[2] == Dim::Static(4)
        && !differ(&boxes.dims[0], &scores.dims[0])
        && !differ(&boxes.dims[1], &scores.dims[2]);
    require!(fits, C 1, "boxes must be [batch, boxes, 4] and scores [batch, classes, boxes], found {boxes} and {scores}");
    for (ty, dtype) in call.operands[2..5].iter().zip([DType::I64, DType::F32, DType::F32]) {
        require!(ty.rank() == 0 && ty.dtype == dtype, C 2, "expected a scalar of {dtype}, found {ty}");
    }
    if let Some(groups) = call.operands.get(5) {
        let fits = groups.dtype == DType::I32
            && groups.rank() == 2
            && !differ(&groups.dims[0], &boxes.dims[0])
            && !differ(&groups.dims[1], &boxes.dims[1]);
        require!(fits, C 3, "groups must be i32 [batch, boxes], found {groups}");
    }
    let room = call.attrs.dim("room").unwrap_or_else(|| scores.dims[2].clone());
    Ok(vec![TensorType::new(vec![scores.dims[0].clone(), scores.dims[1].clone(), room], DType::I64)])
}

/// A sort of the scores, and some ten comparisons of each box.
fn cost(call: &Call, _: &[TensorType]) -> f64 {
    let scores = crate::operator::cost::elements(&call.operands[1..2]);
    20.0 * scores
}

/// Numbers of f32.
fn f32s(x: &Tensor) -> Vec<f32> {
    x.to_f64s().into_iter().map(|v| v as f32).collect()
}

fn area([y0, x0, y1, x1]: [f32; 4]) -> f32 {
    (y1 - y0) * (x1 - x0)
}

/// Whether two boxes overlap by more than a part of what they cover, or as much.
fn overlap(a: [f32; 4], b: [f32; 4], part: f32, inclusive: bool) -> bool {
    let greater = |a: f32, b: f32| if a > b { a } else { b };
    let less = |a: f32, b: f32| if a < b { a } else { b };
    let (y0, x0) = (greater(a[0], b[0]), greater(a[1], b[1]));
    let shared = area([y0, x0, greater(less(a[2], b[2]), y0), greater(less(a[3], b[3]), x0)]);
    let covered = area(a) + area(b) - shared;
    let bound = covered * part;
    covered > 0.0 && (shared > bound || inclusive && shared == bound)
}

fn reference(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let (boxes, scores) = (f32s(&x[0]), f32s(&x[1]));
    let groups = x.get(5).map(Tensor::to_ints);
    let [batch, classes, room] = [0, 1, 2].map(|axis| shape[axis]);
    let count = x[0].shape()[1];
    let most = usize::try_from(x[2].int_at(0)).unwrap_or(0).min(room);
    let (part, least) = (x[3].f64_at(0) as f32, x[4].f64_at(0) as f32);
    let looked_at = usize::try_from(call.attrs.int_or("top_k", -1)).unwrap_or(usize::MAX);
    let inclusive = call.attrs.flag("inclusive");
    let mut places = vec![-1i128; batch * classes * room];
    for (line, places) in places.chunks_mut(room.max(1)).enumerate() {
        let scores = &scores[line * count..][..count];
        let first = line / classes * count;
        let of = |i: usize| <[f32; 4]>::try_from(&boxes[(first + i) * 4..][..4]).unwrap_or_default();
        let mut order: Vec<usize> = (0..count).filter(|&i| scores[i] > least).collect();
        order.sort_by(|&i, &j| scores[j].partial_cmp(&scores[i]).unwrap_or(std::cmp::Ordering::Equal));
        let mut chosen: Vec<usize> = Vec::new();
        for i in order.into_iter().take(looked_at) {
            let in_one_group =
                |j: usize| groups.as_ref().is_none_or(|groups| groups[first + i] == groups[first + j]);
            let free = chosen.iter().all(|&j| !in_one_group(j) || !overlap(of(j), of(i), part, inclusive));
            if free && chosen.len() < most {
                chosen.push(i);
            }
        }
        places.iter_mut().zip(chosen).for_each(|(place, i)| *place = i as i128);
    }
    Ok(vec![Tensor::from_ints(DType::I64, &shape, &places)?])
}
