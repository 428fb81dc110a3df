//! Gathers: slices of one size at computed places.
//!
//! ```text
//!   axes of the operand      in the result
//!   indexed, size 1          picked by an index
//!   indexed, a window        picked by an index plus 0, 1, 2, ...; the window is an axis of the indices
//!   whole                    moved as rows
//! ```
//! With one indexed axis and no window this is relay.gather, otherwise relay.gather_nd.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::moving::slicing::{clamped, index_typed};
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::Attrs;
use fusion_operators::ops::indexing;

pub const ROWS: &[Row] = &[
    row("stablehlo.gather", |e, op, x| {
        let sizes = op.sizes("slice_sizes")?;
        gather(e, op, x, sizes)
    }),
    row("stablehlo.dynamic_gather", |e, op, x| {
        let sizes = e.tensor(op, x, 2)?;
        let sizes = e.known_ints(op, sizes, "the slice sizes")?;
        gather(e, op, x, sizes.into_iter().map(|n| n.max(0) as usize).collect())
    }),
];

/// Indices with the axis of their numbers last, which is there even where it was left out.
pub fn vectors_last<'c>(e: &mut Emitter<'c, '_>, op: &Operation, x: Value<'c>) -> Outcome<Value<'c>> {
    let (shape, axis) = (e.shape(x)?, op.int_or("index_vector_dim", 0)?);
    let rank = shape.len();
    let x = index_typed(e, x)?;
    match usize::try_from(axis) {
        Ok(axis) if axis == rank => e.reshape(x, &[&shape[..], &[1]].concat()),
        Ok(axis) if axis < rank => {
            let order: Vec<usize> = (0..rank).filter(|&a| a != axis).chain([axis]).collect();
            e.transpose(x, &order)
        }
        _ => op.fault(format!("index_vector_dim is {axis}, which is no axis of indices of rank {rank}")),
    }
}

/// Index j of all vectors, in the shape of the batch and so many windows behind.
pub fn component<'c>(
    e: &mut Emitter<'c, '_>,
    vectors: Value<'c>,
    j: usize,
    windows: usize,
) -> Outcome<Value<'c>> {
    let shape = e.shape(vectors)?;
    let last = shape.len() - 1;
    let piece = e.slice(vectors, last, [j, j + 1, 1])?;
    e.reshape(piece, &[&shape[..last], &vec![1; windows]].concat())
}

fn gather<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    x: &[Held<'c>],
    sizes: Vec<usize>,
) -> Results<'c> {
    let data = e.parts(op, x, 0)?;
    let extents = e.shape(data[0])?;
    let rank = extents.len();
    let (collapsed, batching) =
        (op.axes("collapsed_slice_dims", rank)?, op.axes("operand_batching_dims", rank)?);
    let map = op.axes("start_index_map", rank)?;
    if sizes.len() != rank || sizes.iter().zip(&extents).any(|(size, extent)| size > extent) {
        return op.fault(format!("slice_sizes {sizes:?} must fit the operand's extents {extents:?}"));
    }
    let indices = e.tensor(op, x, 1)?;
    let index_rank = e.rank(indices)?;
    let vectors = vectors_last(e, op, indices)?;
    let dtype = e.dtype(vectors)?;
    let vector_shape = e.shape(vectors)?;
    let batch = vector_shape[..vector_shape.len() - 1].to_vec();
    if vector_shape.last() != Some(&map.len()) {
        return op.fault(format!(
            "the index vectors must have {} numbers, one for each axis of start_index_map",
            map.len()
        ));
    }
    let vector_axis = op.int_or("index_vector_dim", 0)?;
    let batch_axes: Vec<usize> = op
        .axes("start_indices_batching_dims", index_rank)?
        .into_iter()
        .map(|a| if (a as i64) > vector_axis { a - 1 } else { a })
        .collect();
    if batch_axes.len() != batching.len() {
        return op.fault("operand_batching_dims and start_indices_batching_dims must have one length");
    }
    // What each axis of the operand is.
    let dropped = |axis: &usize| collapsed.contains(axis) || batching.contains(axis);
    let is_indexed =
        |a: usize| batching.contains(&a) || (map.contains(&a) && (sizes[a] != extents[a] || extents[a] == 1));
    let indexed: Vec<usize> = (0..rank).filter(|&a| is_indexed(a)).collect();
    let whole: Vec<usize> = (0..rank).filter(|&a| !is_indexed(a)).collect();
    let windows: Vec<usize> = indexed.iter().copied().filter(|&a| sizes[a] != 1).collect();
    let mut columns = Vec::new();
    for &axis in &indexed {
        let mut column = match map.iter().position(|&a| a == axis) {
            Some(j) => {
                let start = component(e, vectors, j, windows.len())?;
                clamped(e, start, extents[axis] - sizes[axis])?
            }
            None => {
                let place = batching.iter().position(|&a| a == axis).map_or(0, |i| batch_axes[i]);
                e.iota_along(
                    dtype,
                    batch.get(place).copied().unwrap_or(1),
                    place,
                    batch.len() + windows.len(),
                )?
            }
        };
        if let Some(w) = windows.iter().position(|&a| a == axis) {
            let numbers = e.iota_along(dtype, sizes[axis], batch.len() + w, batch.len() + windows.len())?;
            column = e.add(column, numbers)?;
        }
        columns.push(column);
    }
    let window_sizes: Vec<usize> = windows.iter().map(|&a| sizes[a]).collect();
    let grid = [&batch[..], &window_sizes].concat();
    let mut parts = Vec::new();
    for part in data {
        let mut part = part;
        for &axis in &whole {
            part = e.slice(part, axis, [0, sizes[axis], 1])?;
        }
        // [batch, windows, whole axes]
        let rows = match (&indexed[..], &columns[..]) {
            ([], _) => {
                let whole_sizes: Vec<usize> = whole.iter().map(|&a| sizes[a]).collect();
                e.broadcast(part, &[&batch[..], &whole_sizes].concat())?
            }
            ([axis], [column]) if windows.is_empty() => {
                let picked = e.gather(part, *column, *axis)?;
                // Its axes are those before, the batch, and those behind.
                let (before, count) = (*axis, batch.len());
                let total = before + count + (rank - 1 - before);
                let order: Vec<usize> =
                    (before..before + count).chain(0..before).chain(before + count..total).collect();
                e.transpose(picked, &order)?
            }
            _ => {
                let mut spread = Vec::new();
                for &column in &columns {
                    let all = e.broadcast(column, &grid)?;
                    spread.push(e.reshape(all, &[&grid[..], &[1]].concat())?);
                }
                let indices = e.concat(&spread, grid.len())?;
                let order = [&indexed[..], &whole].concat();
                let turned = e.transpose(part, &order)?;
                e.op(&indexing::GATHER_ND, &[turned, indices], Attrs::new())?
            }
        };
        parts.push(arranged(e, op, rows, &batch, (&windows, &whole), &sizes, dropped)?);
    }
    Ok(vec![Emitter::of_parts(&parts)])
}

/// From [batch, windows, whole axes] to the axes of the result: offsets in the operand's order at `offset_dims`, the batch around them.
fn arranged<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    rows: Value<'c>,
    batch: &[usize],
    (windows, whole): (&[usize], &[usize]),
    sizes: &[usize],
    dropped: impl Fn(&usize) -> bool,
) -> Outcome<Value<'c>> {
    let place = |axis: usize| {
        let window = windows.iter().position(|&a| a == axis).map(|w| batch.len() + w);
        window.or_else(|| whole.iter().position(|&a| a == axis).map(|f| batch.len() + windows.len() + f))
    };
    let present: Vec<usize> = (0..sizes.len()).filter(|&a| place(a).is_some()).collect();
    let order: Vec<usize> = (0..batch.len()).chain(present.iter().filter_map(|&a| place(a))).collect();
    let rows = e.transpose(rows, &order)?;
    let offsets: Vec<usize> = (0..sizes.len()).filter(|a| !dropped(a)).map(|a| sizes[a]).collect();
    let rows = e.reshape(rows, &[batch, &offsets].concat())?;
    let rank = batch.len() + offsets.len();
    let offset_dims = op.axes("offset_dims", rank)?;
    if offset_dims.len() != offsets.len() {
        return op.fault(format!(
            "offset_dims must have {} axes, one for each axis of a slice that is kept",
            offsets.len()
        ));
    }
    let (mut next_batch, mut next_offset) = (0, batch.len());
    let back: Vec<usize> = (0..rank)
        .map(|axis| {
            let from = if offset_dims.contains(&axis) { &mut next_offset } else { &mut next_batch };
            *from += 1;
            *from - 1
        })
        .collect();
    e.transpose(rows, &back)
}
