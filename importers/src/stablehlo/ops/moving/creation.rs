//! Constants, iota, and what gives its operands as they are.

use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::{Attr, Operation};
use crate::stablehlo::ops::{Row, row};
use fusion_operators::{DType, Dim};

pub const ROWS: &[Row] = &[
    row("stablehlo.constant", constant),
    row("chlo.constant", constant),
    row("stablehlo.iota", iota),
    row("stablehlo.optimization_barrier", |_, _, x| Ok(x.to_vec())),
    row("sdy.sharding_constraint", |_, _, x| Ok(x.to_vec())),
    row("sdy.propagation_barrier", |_, _, x| Ok(x.to_vec())),
    row("stablehlo.create_token", |_, _, _| Ok(vec![Held::Token])),
    row("stablehlo.after_all", |_, _, _| Ok(vec![Held::Token])),
    row("stablehlo.tuple", |_, _, x| Ok(vec![Held::Tuple(x.to_vec())])),
    row("stablehlo.get_tuple_element", element),
    row("stablehlo.replica_id", one_device),
    row("stablehlo.partition_id", one_device),
];

fn constant<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, _: &[Held<'c>]) -> Results<'c> {
    let Some(Attr::Dense(dense)) = op.attributes.get("value") else {
        return op.fault("the value is missing; write dense<...>");
    };
    let Some(ty) = dense.ty.tensor() else { return op.fault("the value must be a tensor") };
    let mut parts = Vec::new();
    for part in &dense.parts {
        let value = e.constant(part);
        // Scalars of a region that is lifted stand for whole tensors.
        parts.push(if dense.splat { e.broadcast_dims(value, ty.extents())? } else { value });
    }
    Ok(vec![Emitter::of_parts(&parts)])
}

fn iota<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, _: &[Held<'c>]) -> Results<'c> {
    let ty = e.result_type(op, 0)?;
    let axis = op.axis("iota_dimension", ty.dims.len())?;
    let (Some(kept), Some(shape)) = (ty.kept(), ty.shape()) else {
        return op.fault("the extents of the result must be known");
    };
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    // Narrow types wrap, which a cast does.
    let counted = if kept.dtype.size() < 4 { DType::I32 } else { kept.dtype };
    let numbers = e.iota_along(counted, shape[axis], axis, shape.len())?;
    let numbers = e.cast(numbers, kept.dtype)?;
    let numbers = e.broadcast(numbers, &shape)?;
    if !matches!(ty.element, crate::stablehlo::types::Element::Complex(_)) {
        return Ok(vec![Held::Tensor(numbers)]);
    }
    let (zero, dims) = (e.scalar(kept.dtype, 0.0)?, e.dims(numbers)?);
    Ok(vec![Held::Complex(numbers, e.broadcast_dims(zero, dims)?)])
}

fn element<'c, 'p>(_: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let index = op.int("index")?;
    let Some(Held::Tuple(parts)) = x.first() else { return op.fault("the operand must be a tuple") };
    match usize::try_from(index).ok().and_then(|i| parts.get(i)) {
        Some(part) => Ok(vec![part.clone()]),
        None => op.fault(format!("a tuple of {} elements has no element {index}", parts.len())),
    }
}

/// The only device has the number 0.
fn one_device<'c, 'p>(e: &mut Emitter<'c, 'p>, _: &'p Operation, _: &[Held<'c>]) -> Results<'c> {
    let zero = e.int(DType::U32, 0)?;
    Ok(vec![Held::Tensor(e.broadcast_dims(zero, Vec::<Dim>::new())?)])
}
