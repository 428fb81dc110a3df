//! Writing at computed indices: `y = x; y[p(i, indices)] = f(y[p(i, indices)], updates[i])`, in
//! row-major order of `i`. A negative index counts from the back.

use super::indexing::{addressed, flat, place, replaced};
use super::{EvalError, Evaluated, for_each_index, strides};
use crate::ops::elementwise::{max_nan, min_nan};
use crate::parameters::indexing::axis;
use crate::{Call, Tensor, TensorType};

/// How an update meets what is there.
pub const REDUCTIONS: [&str; 5] = ["none", "add", "mul", "max", "min"];

type Combine<T> = fn(T, T) -> T;

/// Writes update `i` at flat index `targets[i]`.
fn scatter(call: &Call, result: &TensorType, x: &[Tensor], targets: &[usize]) -> Evaluated {
    let (data, updates) = (&x[0], &x[2]);
    let (float, int): (Combine<f64>, Combine<i128>) = match call.attrs.str_or("reduction", "none") {
        "add" => (|a, b| a + b, i128::wrapping_add),
        "mul" => (|a, b| a * b, i128::wrapping_mul),
        "max" => (max_nan, i128::max),
        "min" => (min_nan, i128::min),
        _ => (|_, b| b, |_, b| b),
    };
    let targets = targets.iter().copied().enumerate();
    if result.dtype.is_float() {
        let mut values = data.to_f64s();
        targets.for_each(|(i, at)| values[at] = float(values[at], updates.f64_at(i)));
        return Ok(vec![Tensor::from_f64s(result.dtype, data.shape(), &values)?]);
    }
    let mut values = data.to_ints();
    targets.for_each(|(i, at)| values[at] = int(values[at], updates.int_at(i)));
    Ok(vec![Tensor::from_ints(result.dtype, data.shape(), &values)?])
}

/// `y[i with indices[i] at axis] = updates[i]`.
pub fn scatter_elements(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (data, indices) = (&x[0], &x[1]);
    let axis = axis(call)?;
    let (steps, index_steps) = (strides(data.shape()), strides(indices.shape()));
    let mut targets = Vec::new();
    for_each_index(indices.shape(), |index| {
        let at = place(indices.int_at(flat(index, &index_steps)), data.shape()[axis]);
        targets.push(at.map(|at| replaced(index, axis, at, &steps)));
    });
    scatter(call, &results[0], x, &targets.into_iter().collect::<Result<Vec<_>, EvalError>>()?)
}

/// `y[indices[i..., :]...] = updates[i..., ...]`.
pub fn scatter_nd(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (data, indices, updates) = (&x[0], &x[1], &x[2]);
    let steps = strides(data.shape());
    let k = indices.shape().last().copied().unwrap_or(0);
    let mut targets = Vec::new();
    if !updates.is_empty() {
        let block: usize = data.shape()[k..].iter().product();
        for row in 0..updates.len() / block {
            let from = addressed(indices, row * k, &data.shape()[..k], &steps)?;
            targets.extend(from..from + block);
        }
    }
    scatter(call, &results[0], x, &targets)
}
