//! Tensors from attributes and types: `arange[i] = start + i * step`.

use super::{EvalError, Evaluated, static_shape};
use crate::{Call, Tensor, TensorType};

/// Exact for integers when start and step are whole.
pub fn arange(call: &Call, results: &[TensorType], _: &[Tensor]) -> Evaluated {
    let (start, step) = (call.attrs.float_or("start", 0.0), call.attrs.float_or("step", 1.0));
    let (dtype, shape) = (results[0].dtype, static_shape(&results[0])?);
    if !dtype.is_float() && start.fract() == 0.0 && step.fract() == 0.0 {
        let value = |i: usize| (start as i128).wrapping_add((i as i128).wrapping_mul(step as i128));
        let values: Vec<i128> = (0..shape[0]).map(value).collect();
        return Ok(vec![Tensor::from_ints(dtype, &shape, &values)?]);
    }
    let values: Vec<f64> = (0..shape[0]).map(|i| start + i as f64 * step).collect();
    Ok(vec![Tensor::from_f64s(dtype, &shape, &values)?])
}

/// Most numbers of a result.
const LONGEST: i128 = super::MOST_ELEMENTS as i128;

/// As many numbers as the operand says.
pub fn dynamic_iota(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let size = x[0].int_at(0);
    if !(0..=LONGEST).contains(&size) {
        return Err(EvalError::Value(format!("gives as many numbers as its operand says, found {size}")));
    }
    let values: Vec<i128> = (0..size).collect();
    Ok(vec![Tensor::from_ints(results[0].dtype, &[size as usize], &values)?])
}

/// The extents of the operand.
pub fn shape_of(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let extents: Vec<i128> = x[0].shape().iter().map(|&n| n as i128).collect();
    Ok(vec![Tensor::from_ints(results[0].dtype, &static_shape(&results[0])?, &extents)?])
}
