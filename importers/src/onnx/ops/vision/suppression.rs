//! NonMaxSuppression: of boxes that overlap, the one with the best score stays.
//!
//! ```text
//!   places = relay.non_max_suppression(boxes by their ends, scores, ...)      [images, classes, room], -1 where none is chosen
//!   rows   = (image, class, places) where places >= 0
//! ```
//! There is room for `max_output_boxes_per_class` where that is known, else for all boxes. The result has a row for each box that is
//! chosen: image, class and box, in this order, the best first.

use fusion_operators::ops::elementwise as ew;
use fusion_operators::ops::non_max_suppression::NON_MAX_SUPPRESSION;
use fusion_operators::{Attrs, DType, Dim};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::Node;
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("NonMaxSuppression", non_max_suppression)];

/// The ends of boxes, which are two corners in any order, or a centre and a size.
fn ends(im: &mut Importer, node: &Node) -> Made {
    let boxes = node.input(0)?;
    let (a, b) = (im.slice(boxes, 2, 0, 2)?, im.slice(boxes, 2, 2, 4)?);
    let [low, high] = match node.flag("center_point_box")? {
        false => [im.minimum(a, b)?, im.maximum(a, b)?],
        true => {
            let half = im.mul_f(b, 0.5)?;
            [im.sub(a, half)?, im.add(a, half)?]
        }
    };
    im.concat(&[low, high], 2)
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
    let overlap = number(im, node, 3, (DType::F32, 0.0))?;
    let least = number(im, node, 4, (DType::F32, f64::NEG_INFINITY))?;
    let ends = ends(im, node)?;
    let dims = im.dims(scores)?;
    let mut attrs = Attrs::new();
    let known = im.constant_of(most).and_then(|most| u64::try_from(most.int_at(0).max(0)).ok());
    if let (Some(most), Some(boxes)) = (known, dims[2].known()) {
        attrs.set_dim("room", Dim::Static(most.min(boxes)));
    }
    let places = im.op(&NON_MAX_SUPPRESSION, &[ends, scores, most, overlap, least], attrs)?;
    let room = im.extent_of(places, 2)?;
    let chosen = im.flat(places)?;
    let none = im.like(chosen, 0.0)?;
    let is_chosen = im.bin(&ew::GREATER_EQUAL, chosen, none)?;
    let (kept, number) = im.places_where(is_chosen)?;
    let kept = im.first(kept, number, 0)?;
    let one = im.scalar(DType::I64, 1.0)?;
    let each = im.maximum(room, one)?;
    let list = im.div(kept, each)?;
    let classes = im.extent_of(scores, 1)?;
    let image = im.div(list, classes)?;
    let class = im.bin(&ew::MOD, list, classes)?;
    let of_box = im.gather(chosen, kept, 0)?;
    let columns =
        [image, class, of_box].into_iter().map(|v| im.expand_dims(v, &[1])).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![im.concat(&columns, 1)?])
}
