//! Operators that move elements by their position.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::shape;
use fusion_operators::{Attrs, Dim};

pub const ROWS: &[Row] = &[
    row("stablehlo.reshape", |e, op, x| {
        let to = e.result_type(op, 0)?.extents();
        each(e, op, x, |e, x| if e.lifted { Ok(x) } else { e.reshape_dims(x, to.clone()) })
    }),
    row("stablehlo.broadcast_in_dim", |e, op, x| {
        let to = e.result_type(op, 0)?.extents();
        let axes = op.axes("broadcast_dimensions", to.len())?;
        each(e, op, x, |e, x| if e.lifted { Ok(x) } else { broadcast_in_dim(e, op, x, &axes, &to) })
    }),
    row("stablehlo.broadcast", |e, op, x| {
        let to = e.result_type(op, 0)?.extents();
        each(e, op, x, |e, x| e.broadcast_dims(x, to.clone()))
    }),
    row("stablehlo.transpose", transpose),
    row("stablehlo.reverse", reverse),
    row("stablehlo.concatenate", concatenate),
    row("stablehlo.pad", pad),
];

/// What is done with an operand, done with each of its parts.
pub fn each<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &Operation,
    x: &[Held<'c>],
    mut f: impl FnMut(&mut Emitter<'c, 'p>, Value<'c>) -> Outcome<Value<'c>>,
) -> Results<'c> {
    let mut parts = Vec::new();
    for part in e.parts(op, x, 0)? {
        parts.push(f(e, part)?);
    }
    Ok(vec![Emitter::of_parts(&parts)])
}

/// Axis i of the operand becomes axis axes[i] of the result.
pub fn broadcast_in_dim<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    x: Value<'c>,
    axes: &[usize],
    to: &[Dim],
) -> Outcome<Value<'c>> {
    let dims = e.dims(x)?;
    if axes.len() != dims.len() {
        return op.fault(format!(
            "broadcast_dimensions has {} axes, and the operand has {}",
            axes.len(),
            dims.len()
        ));
    }
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|&i| axes[i]);
    let x = e.transpose(x, &order)?;
    let mut spread = vec![Dim::Static(1); to.len()];
    for (&axis, dim) in axes.iter().zip(&dims) {
        spread[axis] = dim.clone();
    }
    let x = e.reshape_dims(x, spread.clone())?;
    // What the result is not said to be, the operand is.
    let to = to.iter().zip(spread).map(|(to, own)| if *to == Dim::Any { own } else { to.clone() }).collect();
    e.broadcast_dims(x, to)
}

fn transpose<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let axes = op.sizes("permutation")?;
    each(e, op, x, |e, x| {
        if axes.len() != e.rank(x)? {
            return op.fault(format!("permutation {axes:?} must have an axis for each of the operand's"));
        }
        e.transpose(x, &axes)
    })
}

fn reverse<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let axes = op.ints("dimensions")?;
    each(e, op, x, |e, x| match axes.is_empty() {
        true => Ok(x),
        false => e.op(&shape::REVERSE, &[x], Attrs::new().with("axes", axes.clone())),
    })
}

fn concatenate<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let first = e.parts(op, x, 0)?;
    let axis = op.axis("dimension", e.rank(first[0])?)?;
    let mut columns = vec![Vec::new(); first.len()];
    for i in 0..x.len() {
        let parts = e.parts(op, x, i)?;
        if parts.len() != columns.len() {
            return op.fault("all operands must be real, or all complex");
        }
        columns.iter_mut().zip(parts).for_each(|(column, part)| column.push(part));
    }
    let mut joined = Vec::new();
    for column in columns {
        joined.push(e.concat(&column, axis)?);
    }
    Ok(vec![Emitter::of_parts(&joined)])
}

/// Puts so many numbers between elements along each axis.
pub fn spread<'c>(
    e: &mut Emitter<'c, '_>,
    x: Value<'c>,
    interior: &[usize],
    with: Value<'c>,
) -> Outcome<Value<'c>> {
    let mut x = x;
    for (axis, &gap) in interior.iter().enumerate().filter(|(_, gap)| **gap > 0) {
        let shape = e.shape(x)?;
        if shape[axis] <= 1 {
            continue;
        }
        // x of [.., n, ..] as [.., n, 1, ..], padded to [.., n, 1 + gap, ..], joined, and cut behind the last element.
        let mut apart = shape.clone();
        apart.insert(axis + 1, 1);
        let apart = e.reshape(x, &apart)?;
        let (low, mut high) = (vec![0; shape.len() + 1], vec![0; shape.len() + 1]);
        high[axis + 1] = gap as i64;
        let padded = e.pad(apart, &low, &high, with)?;
        let mut joined = shape.clone();
        joined[axis] = shape[axis].saturating_mul(gap + 1);
        let joined = e.reshape(padded, &joined)?;
        x = e.slice(joined, axis, [0, (shape[axis] - 1) * (gap + 1) + 1, 1])?;
    }
    Ok(x)
}

/// Pads at the edges, negative numbers remove, and between elements.
pub fn padded<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    x: Value<'c>,
    with: Value<'c>,
    [low, high, interior]: [&[i64]; 3],
) -> Outcome<Value<'c>> {
    let rank = e.rank(x)?;
    if [low, high, interior].iter().any(|list| list.len() != rank) {
        return op.fault(format!(
            "low, high and interior must have {rank} numbers each, one an axis of the operand"
        ));
    }
    let within = |n: &i64| n.unsigned_abs() < 1 << 40;
    if !interior.iter().all(|&n| n >= 0) || ![low, high, interior].iter().all(|list| list.iter().all(within))
    {
        return op.fault("interior padding must not be negative, and no padding may be 2^40 or more");
    }
    let gaps: Vec<usize> = interior.iter().map(|&n| n as usize).collect();
    let x = spread(e, x, &gaps, with)?;
    e.pad(x, low, high, with)
}

fn pad<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let lists = [op.ints("edge_padding_low")?, op.ints("edge_padding_high")?, op.ints("interior_padding")?];
    let with = e.parts(op, x, 1)?;
    let mut parts = Vec::new();
    for (part, &with) in e.parts(op, x, 0)?.into_iter().zip(&with) {
        parts.push(padded(e, op, part, with, [&lists[0], &lists[1], &lists[2]])?);
    }
    Ok(vec![Emitter::of_parts(&parts)])
}
