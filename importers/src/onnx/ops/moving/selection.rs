//! Operators whose results are as long as there are elements of a kind.
//!
//!     NonZero    the places of elements that are not 0           Compress   the slices at which a condition holds
//!     Unique     each element, or slice, once: sorted; group[i] counts the changes before sorted[i]

use fusion_operators::ops::strings::STRING_RANK;
use fusion_operators::ops::{elementwise as ew, indexing, reduction};
use fusion_operators::{Attrs, DType, Dim};

use crate::onnx::build::{Converted, Made};
use crate::onnx::emit::Region;
use crate::onnx::error::{Fault, ImportError};
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("NonZero", non_zero),
    row("Compress", compress),
    row("Unique", |im, node| unique(im, node, node.int("sorted", 1)? != 0)),
];

/// Slices of more elements, or of a number that is not known, are sorted in a loop over them.
const MOST_UNROLLED: i64 = 16;

/// A column of indices for each element that is not 0.
fn non_zero(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let x = if im.rank(x)? == 0 { im.reshape(x, &[1])? } else { x };
    let rank = im.rank(x)?;
    let flat = im.flat(x)?;
    let mask = match im.dtype(flat)? {
        DType::Bool => flat,
        _ => {
            let zero = im.like(flat, 0.0)?;
            im.bin(&ew::NOT_EQUAL, flat, zero)?
        }
    };
    let (places, count) = im.places_where(mask)?;
    let mut rest = im.first(places, count, 0)?;
    let mut rows = Vec::with_capacity(rank);
    for axis in (1..rank).rev() {
        let extent = im.extent_of(x, axis)?;
        let index = im.bin(&ew::MOD, rest, extent)?;
        rest = im.div(rest, extent)?;
        rows.push(im.expand_dims(index, &[0])?);
    }
    rows.push(im.expand_dims(rest, &[0])?);
    rows.reverse();
    Ok(vec![im.concat(&rows, 0)?])
}

/// A condition may be shorter than the axis, of which the rest is left out.
fn compress(im: &mut Importer, node: &Node) -> Converted {
    let (mut x, condition) = (node.input(0)?, node.input(1)?);
    let axis = match node.opt_int("axis")? {
        Some(axis) => im.axis(x, axis)?,
        None => {
            x = im.flat(x)?;
            0
        }
    };
    let condition = im.cast(condition, DType::Bool)?;
    let kept = match im.constant_of(condition) {
        Some(known) => {
            let known = known.to_ints();
            let kept: Vec<i64> = (0..known.len()).filter(|&i| known[i] != 0).map(|i| i as i64).collect();
            im.ints(&[kept.len()], &kept)?
        }
        None => {
            let (places, count) = im.places_where(condition)?;
            im.first(places, count, 0)?
        }
    };
    Ok(vec![im.gather(x, kept, axis)?])
}

/// The places of the elements of a vector in ascending order; equals keep theirs.
pub fn ascending(im: &mut Importer, x: Value) -> Made {
    let x = if im.dtype(x)? == DType::Bool { im.cast(x, DType::U8)? } else { x };
    let mut attrs = Attrs::new().with("axis", 0i64).with("smallest", true);
    attrs.set_dim("k", im.dims(x)?[0].clone());
    let sorted = im.call(&reduction::TOPK, &[x], attrs)?;
    sorted.get(1).copied().ok_or_else(|| Fault::value("relay.topk gives values and indices"))
}

/// Where the numbers of a permutation stand.
fn inverted(im: &mut Importer, places: Value) -> Made {
    let own = im.counting_along(places, 0)?;
    im.op(&indexing::SCATTER_ELEMENTS, &[own, places, own], Attrs::new().with("axis", 0i64))
}

/// The places of rows [n, m] in ascending order: sorted by each element, the last first, so that the first decides.
fn order_of_rows(im: &mut Importer, node: &Node, rows: Value) -> Made {
    let own = im.counting_along(rows, 0)?;
    let width = im.dims(rows)?.swap_remove(1);
    let Some(width) = width.known().filter(|&width| width <= MOST_UNROLLED as u64) else {
        let last = im.extent_of(rows, 1)?;
        let ids = im.ids(&[last, own])?;
        let emit = im.emit;
        let made = emit.while_(&ids, &mut |region, arguments| {
            let (left, order) = (im.opaque(arguments[0]), im.opaque(arguments[1]));
            let next = match region {
                Region::Condition => {
                    let zero = im.ints(&[], &[0]);
                    zero.and_then(|zero| im.less(zero, left)).and_then(|goes_on| im.ids(&[goes_on]))
                }
                _ => im.add_f(left, -1.0).and_then(|left| {
                    let column = im.gather(rows, left, 1)?;
                    let order = sorted_by(im, order, column)?;
                    im.ids(&[left, order])
                }),
            };
            next.map_err(|fault| ImportError::Node { place: node.place.clone(), fault: Box::new(fault) })
        });
        return Ok(im.opaque(made.map_err(Box::new)?[1]));
    };
    let mut order = own;
    for column in (0..width as i64).rev() {
        let column = im.select_at(rows, 1, column)?;
        order = sorted_by(im, order, column)?;
    }
    Ok(order)
}

/// An order of places, sorted by what stands at them in a column; equals stay in their order.
fn sorted_by(im: &mut Importer, order: Value, column: Value) -> Made {
    let own = im.gather(column, order, 0)?;
    let places = ascending(im, own)?;
    im.gather(order, places, 0)
}

/// Each element or slice once, where it stands first, where each is among them, and how often each stands; in order, or as they come.
pub fn unique(im: &mut Importer, node: &Node, is_sorted: bool) -> Converted {
    let given = node.input(0)?;
    // Ranks have the order of the strings.
    let x = match im.dtype(given)? {
        DType::String => im.un(&STRING_RANK, given)?,
        _ => given,
    };
    // Slices in rows, or single elements: [n, m].
    let (rows, axis) = match node.opt_int("axis")? {
        Some(axis) => {
            let axis = im.axis(x, axis)?;
            let first = im.swap(x, 0, axis)?;
            let dims = im.dims(first)?;
            let rows = im.reshape_dims(first, &[dims[0].clone(), Dim::product(&dims[1..])])?;
            (rows, Some(axis))
        }
        None => {
            let flat = im.flat(x)?;
            (im.expand_dims(flat, &[1])?, None)
        }
    };
    let order = order_of_rows(im, node, rows)?;
    let sorted = im.gather(rows, order, 0)?;
    // Where it differs from the one before; the first has none.
    let own = im.counting_along(rows, 0)?;
    let before = im.add_f(own, -1.0)?;
    let before = im.max_f(before, 0.0)?;
    let before = im.gather(sorted, before, 0)?;
    let differ = im.bin(&ew::NOT_EQUAL, sorted, before)?;
    let differ = im.reduce(&reduction::REDUCE_ANY, differ, &[1], false)?;
    let is_first = im.equal_f(own, 0.0)?;
    let begins = im.bin(&ew::LOGICAL_OR, is_first, differ)?;
    let steps = im.cast(begins, DType::I64)?;
    let sums = im.op(&reduction::CUMSUM, &[steps], Attrs::new().with("axis", 0i64))?;
    let group_of_sorted = im.add_f(sums, -1.0)?;
    let (begin, groups) = im.places_where(begins)?;
    let begin = im.slice(begin, 0, 0, -1)?;
    // Of each group, before as many as there are slices: where it stands first, and how often it stands.
    let first_place = im.gather(order, begin, 0)?;
    let is_group = im.less(own, groups)?;
    let zeros = im.mul_f(own, 0.0)?;
    let ones = im.add_f(zeros, 1.0)?;
    let attrs = Attrs::new().with("axis", 0i64);
    let added = attrs.clone().with("reduction", "add");
    let counts = im.op(&indexing::SCATTER_ELEMENTS, &[zeros, group_of_sorted, ones], added)?;
    let mut group = im.op(&indexing::SCATTER_ELEMENTS, &[zeros, order, group_of_sorted], attrs)?;
    let mut shown = own;
    if !is_sorted {
        let last = im.extent_of(own, 0)?;
        let appears = im.select(is_group, first_place, last)?;
        shown = ascending(im, appears)?;
        let place_of_group = inverted(im, shown)?;
        group = im.gather(place_of_group, group, 0)?;
    }
    let shown = im.first(shown, groups, 0)?;
    let indices = im.gather(first_place, shown, 0)?;
    let counts = im.gather(counts, shown, 0)?;
    let y = match axis {
        Some(axis) => im.gather(given, indices, axis)?,
        None => {
            let flat = im.flat(given)?;
            im.gather(flat, indices, 0)?
        }
    };
    Ok(vec![y, indices, group, counts])
}
