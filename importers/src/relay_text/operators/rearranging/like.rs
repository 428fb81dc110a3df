//! Operators whose result has the shape of another tensor or layout.
//!
//!     collapse_sum_like(%x, %y)      sums over the axes along which y was broadcast to x
//!     slice_like(%x, %y)             the first elements of x, as many as y has along each axis

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::{fixed, new_shape};
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::ops::{creation, elementwise as ew, layout, reduction, shape};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("collapse_sum_like", 2, &[], |call| {
        let like = call.operand(1);
        let shape = fixed(call, like)?;
        collapse(call, &shape)
    }),
    Built { name: "collapse_sum_to", operands: (2, 2), attributes: &[], ignored: &["shape", "dtype"], build: |call| {
        let shape = call.known_ints(1)?;
        collapse(call, &shape)
    } },
    built("slice_like", 2, &["axes"], slice_like),
    built("contrib_reverse_reshape", 1, &["newshape"], reverse_reshape),
    built("_contrib_reverse_reshape", 1, &["newshape"], reverse_reshape),
    built("layout_transform", 1, &["src_layout", "dst_layout"], layout_transform),
    built("meshgrid", 1, &["indexing"], meshgrid),
    built("ndarray_size", 1, &["dtype"], size),
    built("contrib.ndarray_size", 1, &["dtype"], size),
    built("reinterpret", 1, &["dtype"], reinterpret),
    built("nn.fifo_buffer", 2, &["axis"], fifo),
    built("unravel_index", 2, &[], unravel),
];

/// Sums over the axes that broadcasting adds or repeats.
fn collapse<'c>(call: &mut Call<'_, 'c, '_>, shape: &[i64]) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let from = fixed(call, x)?;
    let Some(more) = from.len().checked_sub(shape.len()) else {
        return call
            .fault(format!("a tensor of extents {from:?} is no broadcast of one of extents {shape:?}"));
    };
    let repeated = |i: &usize| *i < more || shape[i - more] == 1 && from[*i] != 1;
    let fits = (more..from.len()).all(|i| repeated(&i) || shape[i - more] == from[i]);
    if !fits {
        return call
            .fault(format!("a tensor of extents {from:?} is no broadcast of one of extents {shape:?}"));
    }
    let axes: Vec<i64> = (0..from.len()).filter(repeated).map(|i| i as i64).collect();
    let sum = call.reduced(&reduction::REDUCE_SUM, x, &axes, true)?;
    if more == 0 {
        return Ok(Made::Value(sum));
    }
    call.reshaped(sum, shape).map(Made::Value)
}

fn slice_like<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, like) = (call.operand(0), call.operand(1));
    let (rank, shape) = (call.rank(x)?, fixed(call, like)?);
    let axes = match call.maybe_ints("axes")?.filter(|axes| !axes.is_empty()) {
        Some(axes) => axes,
        None => (0..shape.len() as i64).collect(),
    };
    let mut end = Vec::new();
    for axis in &axes {
        let place = call.axis_in(*axis, rank)?;
        match shape.get(place) {
            Some(extent) => end.push(*extent),
            None => return call.fault(format!("the second operand has no axis {axis}")),
        }
    }
    call.sliced(x, &axes, &vec![0; end.len()], &end).map(Made::Value)
}

/// As `reshape`, whose codes are read from the last axis to the first.
fn reverse_reshape<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, mut given) = (call.operand(0), call.ints("newshape")?);
    let mut dims = call.known(x, "the shape")?.dims;
    dims.reverse();
    given.reverse();
    let mut shape = new_shape(call, &given, &dims)?;
    shape.reverse();
    call.reshaped(x, &shape).map(Made::Value)
}

fn layout_transform<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let (from, to) = (call.text("src_layout", "")?.to_owned(), call.text("dst_layout", "")?.to_owned());
    if from.is_empty() || to.is_empty() {
        return call.fault("takes src_layout and dst_layout, such as \"NCHW\" and \"NCHW16c\"");
    }
    relaid(call, x, &from, &to).map(Made::Value)
}

/// A tensor in another layout.
pub fn relaid<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, from: &str, to: &str) -> Outcome<Value<'c>> {
    if from == to {
        return Ok(x);
    }
    call.row(&layout::LAYOUT_TRANSFORM, &[x], Attrs::new().with("src_layout", from).with("dst_layout", to))
}

/// Each vector along an axis of its own; with `xy`, the first two axes change places.
fn meshgrid<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let parts = call.elements(0)?;
    let swaps = match call.text("indexing", "ij")? {
        "ij" => false,
        "xy" => parts.len() > 1,
        other => return call.fault(format!("indexing {other:?} is not known; ij and xy are")),
    };
    let count = parts.len();
    let axis = |i: usize| if swaps && i < 2 { 1 - i } else { i };
    let mut shape = vec![1; count];
    for (i, part) in parts.iter().enumerate() {
        match fixed(call, *part)?[..] {
            [] => {}
            [extent] => shape[axis(i)] = extent,
            _ => return call.fault("takes vectors and scalars"),
        }
    }
    let mut grids = Vec::with_capacity(count);
    for (i, part) in parts.into_iter().enumerate() {
        let mut one = vec![1; count];
        one[axis(i)] = shape[axis(i)];
        let part = call.reshaped(part, &one)?;
        grids.push(call.broadcast(part, &shape)?);
    }
    Ok(Made::several(grids))
}

/// The number of elements.
fn size<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let dtype = call.maybe_element("dtype")?.unwrap_or(DType::I32);
    let shape = call.plain(&creation::SHAPE_OF, &[x])?;
    let size = call.reduced(&reduction::REDUCE_PROD, shape, &[0], false)?;
    call.cast(size, dtype).map(Made::Value)
}

fn reinterpret<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let Some(dtype) = call.maybe_element("dtype")? else {
        return call.fault("the attribute dtype is missing");
    };
    call.row(&ew::BITCAST, &[x], Attrs::new().with("dtype", dtype)).map(Made::Value)
}

/// What is in the buffer and what comes, of which the last stays.
fn fifo<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, buffer) = (call.operand(0), call.operand(1));
    let rank = call.rank(buffer)?;
    let axis = call.axis_in(call.int("axis", 0)?, rank)? as i64;
    let (length, more) = (fixed(call, buffer)?[axis as usize], fixed(call, x)?);
    let Some(more) = more.get(axis as usize) else {
        return call.fault("takes two tensors of as many axes");
    };
    let both = call.row(&shape::CONCAT, &[buffer, x], Attrs::new().with("axis", axis))?;
    call.sliced(both, &[axis], &[*more], &[more + length]).map(Made::Value)
}

/// The place in a tensor of that shape for each number of an element; one row an axis.
fn unravel<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (indices, shape) = (call.operand(0), call.known_ints(1)?);
    if shape.is_empty() || shape.iter().any(|&n| n < 1) {
        return call.fault(format!("the shape must have extents above 0, found {shape:?}"));
    }
    let mut rows = Vec::new();
    let mut rest = indices;
    for &extent in shape.iter().rev() {
        let extent = call.like(rest, extent as f64)?;
        rows.push(call.plain(&ew::MOD, &[rest, extent])?);
        rest = call.div(rest, extent)?;
    }
    rows.reverse();
    for row in &mut rows {
        *row = call.expanded(*row, &[0])?;
    }
    call.joined(&rows, 0).map(Made::Value)
}
