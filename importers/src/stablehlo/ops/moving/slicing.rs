//! Operators that cut pieces out of tensors, or replace them, at places that are known or computed.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::moving::shape::each;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, indexing, shape};
use fusion_operators::{Attrs, DType, Dim};

pub const ROWS: &[Row] = &[
    row("stablehlo.slice", slice),
    row("stablehlo.dynamic_slice", dynamic_slice),
    row("stablehlo.dynamic_update_slice", dynamic_update_slice),
];

fn slice<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (begin, end, strides) =
        (op.sizes("start_indices")?, op.ints("limit_indices")?, op.sizes_or("strides", &[])?);
    let rank = e.rank(e.parts(op, x, 0)?[0])?;
    let strides = if strides.is_empty() { vec![1; rank] } else { strides };
    if [begin.len(), end.len(), strides.len()] != [rank; 3] {
        return op.fault(format!("start_indices, limit_indices and strides must have {rank} numbers each"));
    }
    if strides.contains(&0) {
        return op.fault("strides must be above 0");
    }
    let begin: Vec<i64> = begin.into_iter().map(|n| n as i64).collect();
    let strides: Vec<i64> = strides.into_iter().map(|n| n as i64).collect();
    each(e, op, x, |e, x| {
        let attrs = Attrs::new()
            .with("begin", begin.clone())
            .with("end", end.clone())
            .with("strides", strides.clone());
        if rank == 0 { Ok(x) } else { e.op(&shape::SLICE, &[x], attrs) }
    })
}

/// Indices as relay takes them.
pub fn index_typed<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    match e.dtype(x)? {
        DType::I32 | DType::I64 => Ok(x),
        DType::U32 | DType::U64 => e.cast(x, DType::I64),
        _ => e.cast(x, DType::I32),
    }
}

/// Indices that are not below 0 and not above a number.
pub fn clamped<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, most: usize) -> Outcome<Value<'c>> {
    let dtype = e.dtype(x)?;
    let (zero, most) = (e.int(dtype, 0)?, e.int(dtype, most as i128)?);
    let raised = e.bin(&ew::MAXIMUM, x, zero)?;
    e.bin(&ew::MINIMUM, raised, most)
}

/// The scalars that say where a piece begins.
fn starts<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    x: &[Held<'c>],
    first: usize,
    rank: usize,
) -> Outcome<Vec<Value<'c>>> {
    if x.len() != first + rank {
        return op.fault(format!("it must have a start index for each of {rank} axes"));
    }
    (first..x.len())
        .map(|i| {
            let start = e.tensor(op, x, i)?;
            index_typed(e, start)
        })
        .collect()
}

fn dynamic_slice<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let extents = e.shape(e.parts(op, x, 0)?[0])?;
    let sizes = op.sizes("slice_sizes")?;
    if sizes.len() != extents.len() || sizes.iter().zip(&extents).any(|(size, extent)| size > extent) {
        return op.fault(format!("slice_sizes {sizes:?} must fit the operand's extents {extents:?}"));
    }
    let starts = starts(e, op, x, 1, extents.len())?;
    each(e, op, x, |e, x| {
        let mut x = x;
        for (axis, (&size, &extent)) in sizes.iter().zip(&extents).enumerate() {
            if size == extent {
                continue;
            }
            let room = extent - size;
            if let Some(start) = e.builder.constant_value(starts[axis]) {
                let begin = start.int_at(0).clamp(0, room as i128) as usize;
                x = e.slice(x, axis, [begin, begin + size, 1])?;
                continue;
            }
            let start = clamped(e, starts[axis], room)?;
            let dtype = e.dtype(start)?;
            let numbers = e.iota(dtype, &Dim::Static(size as u64))?;
            let indices = e.add(numbers, start)?;
            x = e.gather(x, indices, axis)?;
        }
        Ok(x)
    })
}

/// The elements of the update are written at their places, as rows of the last axes that are replaced as a whole.
fn dynamic_update_slice<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (data, updates) = (e.parts(op, x, 0)?, e.parts(op, x, 1)?);
    let (extents, sizes) = (e.shape(data[0])?, e.shape(updates[0])?);
    if sizes.len() != extents.len() || sizes.iter().zip(&extents).any(|(size, extent)| size > extent) {
        return op
            .fault(format!("the update of extents {sizes:?} must fit the operand's extents {extents:?}"));
    }
    let Some(last) = (0..sizes.len()).rev().find(|&a| sizes[a] != extents[a]) else {
        return Ok(vec![Emitter::of_parts(&updates)]);
    };
    if sizes.contains(&0) {
        return Ok(vec![Emitter::of_parts(&data)]);
    }
    let starts = starts(e, op, x, 2, extents.len())?;
    let count = last + 1;
    let grid = [&sizes[..count], &[1]].concat();
    let dtype = e.dtype(starts[0])?;
    let mut columns = Vec::new();
    for axis in 0..count {
        let start = clamped(e, starts[axis], extents[axis] - sizes[axis])?;
        let start = e.cast(start, dtype)?;
        let numbers = e.iota_along(dtype, sizes[axis], axis, count + 1)?;
        let places = e.add(numbers, start)?;
        columns.push(e.broadcast(places, &grid)?);
    }
    let indices = e.concat(&columns, count)?;
    let mut parts = Vec::new();
    for (data, update) in data.into_iter().zip(updates) {
        parts.push(e.op(&indexing::SCATTER_ND, &[data, indices, update], Attrs::new())?);
    }
    Ok(vec![Emitter::of_parts(&parts)])
}
