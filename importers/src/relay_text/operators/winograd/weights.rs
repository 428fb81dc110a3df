//! Weights of convolutions by Winograd's method: transformed, and in the orders in which TVM's targets take them.
//!
//! ```text
//!   [r, r, CO, CI]            CPUs, and GPUs with data in NHWC      [r, r, CI, CO]           GPUs with data in NCHW
//!   [r, r, CO / v, CI, v]     ARM and Mali                          [r, r, CI, CO / v, v]    Adreno, with data in NCHW4c
//! ```
//! TVM leaves it to the target what the weights are. Here their extents tell. Where CO = CI, transpositions in front of the
//! operator do; where there are none, the layout of the data.

use super::{along, is_cube, matrices};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::Call;
use crate::relay_text::operators::shape::fixed;
use fusion_dialects::{OpExt, Value, defining_op};

/// G along each axis of a kernel; its places come first.
pub fn transformed<'c>(call: &mut Call<'_, 'c, '_>, count: usize) -> Outcome<Made<'c>> {
    let weight = call.operand(0);
    let shape = fixed(call, weight)?;
    if shape.len() != count + 2 || !call.dtype(weight)?.is_float() {
        return call.fault(format!("takes weights of {} axes, which are floats, found {shape:?}", count + 2));
    }
    let kernel = &shape[2..];
    let g = matrices(call, kernel)?.g().transposed();
    let (first, order): (usize, &[i64]) = match (count, is_cube(kernel)) {
        (2, _) => (2, &[2, 3, 0, 1]),
        (_, true) => (2, &[2, 3, 4, 0, 1]),
        (_, false) => (3, &[3, 4, 2, 0, 1]),
    };
    let mut y = weight;
    for axis in first..shape.len() {
        y = along(call, y, axis, &g)?;
    }
    call.transposed(y, order).map(Made::Value)
}

/// Transformed weights as [places, CO, depth and CI], and CO.
pub fn by_place<'c>(
    call: &mut Call<'_, 'c, '_>,
    weight: Value<'c>,
    kernel: &[i64],
    channels: i64,
    layout: &str,
) -> Outcome<(Value<'c>, i64)> {
    let (shape, flat) = (fixed(call, weight)?, kernel.len() == 2);
    let r = call.required("tile_size")? + kernel[kernel.len() - 1] - 1;
    let (places, depth) = match (flat, is_cube(kernel)) {
        (true, _) => (vec![r; 2], 1),
        (_, true) => (vec![r; 3], 1),
        (_, false) => (vec![r, r, kernel[0]], kernel[0]),
    };
    let is_blocked = layout.contains(|c: char| c.is_ascii_digit());
    let is_swapped = || swapped(weight).unwrap_or(layout.starts_with("NC"));
    let found: Option<(&[i64], i64)> = match *shape.strip_prefix(&places[..]).unwrap_or_default() {
        [results, from] if !flat && from == channels => Some((&[0, 1, 3, 2, 4], results)),
        [results, from] if flat && from == channels && (results != from || !is_swapped()) => {
            Some((&[0, 1, 2, 3], results))
        }
        [from, results] if flat && from == channels => Some((&[0, 1, 3, 2], results)),
        [outer, from, inner] if flat && !is_blocked && from == channels => {
            Some((&[0, 1, 2, 4, 3], outer * inner))
        }
        [from, outer, inner] if flat && is_blocked && from == channels => {
            Some((&[0, 1, 3, 4, 2], outer * inner))
        }
        _ => None,
    };
    let Some((order, results)) = found else {
        return call.fault(format!(
            "takes weights transformed to {places:?} places, of {channels} channels that go in, found {shape:?}"
        ));
    };
    if let Some(said) = call.maybe_int("channels")?.filter(|said| *said != results) {
        return call
            .fault(format!("the weights give {results} channels, the attribute channels says {said}"));
    }
    // A depth that is left in a cube's place is one of the places.
    let order: &[i64] = if !flat && is_cube(kernel) { &[0, 1, 2, 3, 4] } else { order };
    let all: i64 = places.iter().product::<i64>() / depth;
    let weight = call.transposed(weight, order)?;
    Ok((call.reshaped(weight, &[all, results, depth * channels])?, results))
}

/// Whether transpositions of weights [CO, CI, r, r] put CI before CO, where they can be seen.
fn swapped(weight: Value) -> Option<bool> {
    let (mut value, mut order) = (weight, vec![0, 1, 2, 3]);
    while let Some(op) = defining_op(value).filter(|op| op.full_name() == "relay.transpose") {
        let axes = op.ints("axes")?;
        order = order.iter().map(|&axis: &i64| axes.get(axis as usize).copied()).collect::<Option<_>>()?;
        value = *op.operand_values().first()?;
    }
    match order[..] {
        [2, 3, 0, 1] => Some(false),
        [2, 3, 1, 0] => Some(true),
        _ => None,
    }
}
