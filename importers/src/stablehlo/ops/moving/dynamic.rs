//! Operators whose shapes are operands: extents that are known, or that follow from those of the inputs.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::moving::shape::{broadcast_in_dim, each, padded};
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::{creation, shape};
use fusion_operators::{Attrs, DType, Dim};

pub const ROWS: &[Row] = &[
    row("stablehlo.get_dimension_size", extent),
    row("stablehlo.dynamic_reshape", |e, op, x| {
        let to = extents(e, op, x, 1)?;
        each(e, op, x, |e, x| e.reshape_dims(x, to.clone()))
    }),
    row("stablehlo.dynamic_broadcast_in_dim", |e, op, x| {
        let to = extents(e, op, x, 1)?;
        let axes = op.axes("broadcast_dimensions", to.len())?;
        each(e, op, x, |e, x| broadcast_in_dim(e, op, x, &axes, &to))
    }),
    row("stablehlo.dynamic_iota", |e, op, x| {
        let (to, ty) = (extents(e, op, x, 0)?, e.result_type(op, 0)?);
        let axis = op.axis("iota_dimension", to.len())?;
        let Some(dtype) = ty.element.kept() else { return op.fault("this element type is not supported") };
        let numbers = e.iota(dtype, &to[axis])?;
        let apart = (0..to.len()).map(|a| if a == axis { to[a].clone() } else { Dim::Static(1) }).collect();
        let numbers = e.reshape_dims(numbers, apart)?;
        Ok(vec![Held::Tensor(e.broadcast_dims(numbers, to)?)])
    }),
    row("stablehlo.dynamic_pad", |e, op, x| {
        let with = e.tensor(op, x, 1)?;
        let mut lists = Vec::new();
        for i in 2..5 {
            let list = e.tensor(op, x, i)?;
            lists.push(e.known_ints(op, list, "the padding")?);
        }
        each(e, op, x, |e, x| padded(e, op, x, with, [&lists[0], &lists[1], &lists[2]]))
    }),
    row("stablehlo.real_dynamic_slice", |e, op, x| {
        let mut lists = Vec::new();
        for i in 1..4 {
            let list = e.tensor(op, x, i)?;
            lists.push(e.known_ints(op, list, "the bounds of the slice")?);
        }
        each(e, op, x, |e, x| {
            let attrs = Attrs::new().with("begin", lists[0].clone()).with("end", lists[1].clone());
            e.op(&shape::SLICE, &[x], attrs.with("strides", lists[2].clone()))
        })
    }),
    row("shape.shape_of", |e, op, x| {
        let x = e.tensor(op, x, 0)?;
        let (dims, made) = (e.dims(x)?, e.un(&creation::SHAPE_OF, x)?);
        e.set_extents(made, dims);
        Ok(vec![Held::Tensor(made)])
    }),
];

/// The extents that an operand holds.
fn extents<'c>(e: &Emitter<'c, '_>, op: &Operation, x: &[Held<'c>], index: usize) -> Outcome<Vec<Dim>> {
    let list = e.tensor(op, x, index)?;
    match e.extents_of(list) {
        Some(dims) => Ok(dims),
        None => op.fault(
            "the shape is computed from values; only shapes that follow from those of the inputs are supported",
        ),
    }
}

fn extent<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.parts(op, x, 0)?[0];
    let dims = e.dims(x)?;
    let axis = op.axis("dimension", dims.len())?;
    let value: Value = match dims[axis].known() {
        Some(n) => e.int(DType::I32, n.into())?,
        None => {
            let all = e.un(&creation::SHAPE_OF, x)?;
            let piece = e.slice(all, 0, [axis, axis + 1, 1])?;
            let scalar = e.reshape(piece, &[])?;
            let scalar = e.cast(scalar, DType::I32)?;
            e.set_extents(scalar, vec![dims[axis].clone()]);
            scalar
        }
    };
    Ok(vec![Held::Tensor(value)])
}
