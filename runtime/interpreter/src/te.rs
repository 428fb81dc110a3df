//! Kernels: each point of a `te.compute` from its body.

use crate::InterpretError;
use crate::held::Held;
use crate::program::Values;
use crate::stage::{Known, Stage};
use crate::value::Value;
use fusion_dialects::{Op, OpExt, Value as Name, read_tensor, te, tensor_type};
use fusion_operators::reference::for_each_index;
use fusion_operators::{Tensor, TensorType};
use std::rc::Rc;

/// More points than this are not computed, so that an extent cannot stop the run.
const MOST_POINTS: u64 = 1 << 30;

/// Runs an operation of a kernel or of the program around it.
pub fn run<'c>(
    kind: te::Op,
    op: Op<'c>,
    operands: &[Rc<Held>],
    frame: Known<'_, 'c>,
) -> Result<Values<'c>, InterpretError> {
    match (kind, operands) {
        (te::Op::Constant, []) => {
            let tensor = op.attr("value").and_then(read_tensor);
            Ok(vec![tensor.ok_or_else(|| InterpretError::at(op, "has no bytes for its value"))?.into()])
        }
        (te::Op::View, [source]) => {
            let shape = shape_of(op, op.result_values().first().copied())?;
            let view = match op.int("offset") {
                None => Tensor::clone(source).reshaped(&shape),
                Some(offset) => {
                    let (size, dtype) = (source.dtype().size(), source.dtype());
                    let from = usize::try_from(offset).unwrap_or(usize::MAX).saturating_mul(size);
                    let to = from.saturating_add(shape.iter().product::<usize>().saturating_mul(size));
                    let piece = source.bytes().get(from..to);
                    let piece = piece.ok_or_else(|| InterpretError::at(op, "is no piece of its source"))?;
                    Tensor::from_bytes(dtype, &shape, piece)
                }
            };
            Ok(vec![view.map_err(|error| InterpretError::at(op, error))?.into()])
        }
        (te::Op::Compute, []) => compute(op, frame),
        _ => Err(InterpretError::at(op, "is not interpreted here")),
    }
}

fn shape_of(op: Op, value: Option<Name>) -> Result<Vec<usize>, InterpretError> {
    let shape = value.and_then(tensor_type).and_then(|ty| ty.shape());
    let shape = shape.ok_or_else(|| InterpretError::at(op, "needs a result of known extents"))?;
    Ok(shape.into_iter().map(|n| n as usize).collect())
}

fn compute<'c>(op: Op<'c>, frame: Known<'_, 'c>) -> Result<Values<'c>, InterpretError> {
    let mut stage = Stage::of(op, frame)?;
    let points =
        stage.axes.iter().chain(&stage.reduce).try_fold(1u64, |n, &d| n.checked_mul(d.max(1) as u64));
    if points.is_none_or(|n| n > MOST_POINTS) {
        return Err(InterpretError::at(op, format!("has more than {MOST_POINTS} points")));
    }
    let (axes, types) = (stage.axes.clone(), stage.types.clone());
    let mut data: Vec<Vec<u8>> = vec![Vec::new(); types.len()];
    let mut outcome = Ok(());
    for_each_index(&axes, |at| {
        if outcome.is_err() {
            return;
        }
        match stage.element(at) {
            Ok(scalars) => {
                for ((scalar, ty), data) in scalars.iter().zip(&types).zip(&mut data) {
                    scalar.store(ty.dtype, data);
                }
            }
            Err(error) => outcome = Err(error),
        }
    });
    outcome?;
    let tensor = |(ty, data): (&TensorType, Vec<u8>)| Tensor::from_bytes(ty.dtype, &axes, data);
    let tensors: Result<Vec<Tensor>, _> = types.iter().zip(data).map(tensor).collect();
    Ok(tensors.map_err(|error| InterpretError::at(op, error))?.into_iter().map(Value::from).collect())
}
