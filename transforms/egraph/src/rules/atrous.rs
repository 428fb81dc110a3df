//! Dilated convolutions that are written as convolutions of pieces.
//!
//!     batch_to_space(space_to_batch(x) * w)  =  x *' w        w dilated by the block
//!     (x * w)[b:e]                           =  x *' w        less padding where the slice takes away what padding made
//!
//! Pixels whose distance is a multiple of the block do not meet others in a dilated convolution, so some exporters make images of their own of
//! them (TensorFlow, `tf.nn.atrous_conv2d`). What puts pixels into images is a reshape, a transpose and a reshape; two such are the same when they
//! are without the axes of extent 1. TVM has a pass for this, `FlattenAtrousConv`.

use super::super::analysis::{Graph, only_type};
use super::super::language::Node;
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::{SUMS, permutation};
use egg::Id;
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::layout::LAYOUT_CONV2D;
use fusion_operators::ops::shape::{RESHAPE, SLICE, TRANSPOSE};
use fusion_operators::parameters::shape::slices;
use fusion_operators::{Attrs, Call, Operator};

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "atrous-conv2d",
        equation: "batch_to_space(space_to_batch(x) * w) = x * w with dilation",
        rounding: Rounding::Bounded(SUMS),
        conditions: &["blocks of both are the same", "stride 1"],
        find: flattened,
    },
    SearchRule {
        name: "cropped-conv2d",
        equation: "(x * w)[b:e] = x * w with less padding",
        rounding: Rounding::Bounded(SUMS),
        conditions: &["stride 1", "what is taken away lies along the pixels and is there by padding"],
        find: without_crops,
    },
];

/// The calls of an operator that a class is.
fn all<'g>(graph: &'g Graph, class: Id, operator: &'static Operator) -> impl Iterator<Item = &'g Node> {
    graph[class].nodes.iter().filter(|node| node.calls(operator))
}

/// The tensors, and the movements of them, that a reshape gives.
fn moved(graph: &Graph, reshape: &Node) -> Vec<(Id, Moved)> {
    let mut found = Vec::new();
    for transpose in all(graph, reshape.children[1], &TRANSPOSE) {
        for cut in all(graph, transpose.children[1], &RESHAPE) {
            let extents = only_type(graph, transpose.children[1]).and_then(|ty| ty.shape());
            let moved = extents.and_then(|extents| {
                let order = permutation(&attrs_of(graph, transpose.children[0]), extents.len())?;
                Some((cut.children[1], (extents, order)))
            });
            found.extend(moved);
        }
    }
    found
}

fn flattened(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, reshape) in calls(graph).into_iter().filter(|(_, call)| call.calls(&RESHAPE)) {
        for (product, back) in moved(graph, reshape) {
            for operator in [&CONV2D, &LAYOUT_CONV2D] {
                for conv in all(graph, product, operator) {
                    drafts.extend(of_images(graph, class, (operator, conv), &back));
                }
            }
        }
    }
    drafts
}

/// The dilated convolutions that a convolution of pieces is.
fn of_images(
    graph: &Graph,
    class: Id,
    (operator, conv): (&'static Operator, &Node),
    back: &Moved,
) -> Vec<Draft> {
    let attrs = attrs_of(graph, conv.children[0]);
    let pieces = all(graph, conv.children[1], &RESHAPE).flat_map(|reshape| moved(graph, reshape));
    let drafts = pieces.filter_map(|(image, to_pieces)| {
        let shape = |id: Id| only_type(graph, id)?.shape();
        let extents = [shape(image)?, shape(conv.children[1])?, shape(class)?];
        let dilated = dilated(&attrs, extents, &to_pieces, back)?;
        let mut draft = Draft::of(class);
        let (x, w) = (draft.class(image), draft.class(conv.children[2]));
        draft.call(operator, dilated, &[x, w]);
        Some(draft)
    });
    drafts.collect()
}

fn without_crops(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, slice) in calls(graph).into_iter().filter(|(_, call)| call.calls(&SLICE)) {
        for conv in all(graph, slice.children[1], &CONV2D) {
            let Some(attrs) = cropped(graph, slice, &attrs_of(graph, conv.children[0])) else { continue };
            let mut draft = Draft::of(class);
            let (x, w) = (draft.class(conv.children[1]), draft.class(conv.children[2]));
            draft.call(&CONV2D, attrs, &[x, w]);
            drafts.push(draft);
        }
    }
    drafts
}

/// Extents of the axes that a tensor is cut into, and their order behind.
type Moved = (Vec<u64>, Vec<usize>);

/// The same movement without axes of extent 1.
fn without_ones((extents, order): &Moved) -> Moved {
    let kept: Vec<usize> = (0..extents.len()).filter(|&axis| extents[axis] != 1).collect();
    let place = |axis: &usize| kept.binary_search(axis).ok();
    (kept.iter().map(|&axis| extents[axis]).collect(), order.iter().filter_map(place).collect())
}

/// The attributes of the dilated convolution.
fn dilated(
    attrs: &Attrs,
    [image, pieces, result]: [Vec<u64>; 3],
    to_pieces: &Moved,
    back: &Moved,
) -> Option<Attrs> {
    let layout = attrs.str_or("data_layout", "NCHW");
    let place = |letter: char| layout.find(letter).filter(|_| layout.len() == 4);
    let (n, h, w) = (place('N')?, place('H')?, place('W')?);
    if attrs.str_or("out_layout", layout) != layout || [image.len(), pieces.len(), result.len()] != [4; 3] {
        return None;
    }
    let block = |axis: usize| {
        let times = image[axis].checked_div(pieces[axis])?;
        (times > 0 && times * pieces[axis] == image[axis]).then_some(times)
    };
    let (down, across) = (block(h)?, block(w)?);
    let by = |axis: usize| [(h, down), (w, across)].into_iter().find(|(a, _)| *a == axis).map(|(_, by)| by);
    // To pieces: each of both axes is cut in two, and the inner parts stand in front of the images.
    let (mut cut, mut inner, mut outer) = (Vec::new(), Vec::new(), Vec::new());
    for (axis, &extent) in image.iter().enumerate() {
        outer.push(cut.len());
        cut.push(extent / by(axis).unwrap_or(1));
        if let Some(by) = by(axis) {
            inner.push(cut.len());
            cut.push(by);
        }
    }
    let cut_up = (cut, [inner, outer].concat());
    // Back: the blocks, then the axes of a result of one piece.
    let (mut cut, mut order) = (vec![down, across], Vec::new());
    for (axis, &extent) in result.iter().enumerate() {
        let by_axis = by(axis).unwrap_or(1);
        if extent % by_axis != 0 {
            return None;
        }
        order.push(2 + axis);
        if by(axis).is_some() {
            order.push(usize::from(axis == w));
        }
        cut.push(extent / by_axis);
    }
    let same = |ours: &Moved, theirs: &Moved| without_ones(ours) == without_ones(theirs);
    let fits = n == 0
        && down * across > 1
        && h < w
        && pieces[n] == image[n] * down * across
        && same(&cut_up, to_pieces)
        && same(&(cut, order), back);
    let ones = |name: &str| attrs.ints(name).is_none_or(|v| v.iter().all(|&n| n == 1));
    if !fits || !ones("strides") {
        return None;
    }
    let times = |name: &str, absent: &[i64]| -> Option<Vec<i64>> {
        let given = attrs.ints(name).unwrap_or(absent);
        let by = [down, across].into_iter().cycle();
        given.iter().zip(by).map(|(&n, by)| n.checked_mul(i64::try_from(by).ok()?)).collect()
    };
    let (dilation, padding) = (times("dilation", &[1; 2])?, times("padding", &[0; 4])?);
    Some(attrs.clone().with("dilation", dilation).with("padding", padding))
}

/// The attributes of a convolution with what a slice leaves of its padding.
fn cropped(graph: &Graph, slice: &Node, attrs: &Attrs) -> Option<Attrs> {
    let whole = [only_type(graph, slice.children[1])?.clone()];
    let call = Call { op: &SLICE, operands: &whole, attrs: &attrs_of(graph, slice.children[0]) };
    let mut padding = attrs.ints("padding").unwrap_or(&[0; 4]).to_vec();
    if padding.len() != 4 || attrs.ints("strides").is_some_and(|v| v.iter().any(|&n| n != 1)) {
        return None;
    }
    for part in slices(&call).ok()? {
        let extent = whole[0].dims[part.axis].known()?;
        let (begin, count) = part.of(extent);
        let (front, back) =
            (i64::try_from(begin).ok()?, i64::try_from(extent).ok()? - i64::try_from(count).ok()?);
        let back = back - front;
        if part.stride != 1 || part.axis < 2 && (front, back) != (0, 0) {
            return None;
        }
        if part.axis >= 2 {
            padding[part.axis - 2] -= front;
            padding[part.axis] -= back;
        }
    }
    let is_less = padding.iter().all(|&n| n >= 0) && attrs.ints("padding")? != padding;
    is_less.then(|| attrs.clone().with("padding", padding))
}
