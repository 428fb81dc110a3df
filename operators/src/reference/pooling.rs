//! Pools. A window with no element inside the data has the least value of the type as its maximum and
//! NaN as its mean.

use super::contraction::filled;
use super::window::{for_each_position, positions};
use super::{EvalError, Evaluated, for_each_index, static_shape};
use crate::dtype::Class;
use crate::ops::elementwise::max_nan;
use crate::ops::window::Window;
use crate::{Call, DType, Tensor, TensorType};

/// Folds the data of each window, padding left out.
fn fold<T: Copy>(
    call: &Call,
    result: &TensorType,
    x: &[T],
    start: T,
    combine: impl Fn(T, T) -> T,
) -> Result<Vec<T>, EvalError> {
    let shape = static_shape(result)?;
    let data = static_shape(&call.operands[0])?;
    let window = Window::of_pool(call.attrs, shape.len() - 2)?;
    let step = window.axes[window.axes.len() - 1].stride as usize;
    let mut y = filled(result, start)?;
    if y.is_empty() || x.is_empty() {
        return Ok(y);
    }
    let planes = shape[0] * shape[1];
    let (window_plane, data_plane) = (y.len() / planes, x.len() / planes);
    for_each_position(&window, &shape[2..], &data[2..], |_, runs| {
        for (y, x) in y.chunks_exact_mut(window_plane).zip(x.chunks_exact(data_plane)) {
            for run in runs {
                let values = x[run.data..].iter().step_by(step);
                for (y, &x) in y[run.window..][..run.count].iter_mut().zip(values) {
                    *y = combine(*y, x);
                }
            }
        }
    })?;
    Ok(y)
}

/// The least integer of a type.
fn least(dtype: DType) -> i128 {
    match dtype.class() {
        Class::Signed => -(1i128 << (8 * dtype.size() - 1)),
        _ => 0,
    }
}

/// The greatest element of each window; NaN when one is NaN.
pub fn max_pool(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (result, shape) = (&results[0], static_shape(&results[0])?);
    if result.dtype.is_float() {
        let y = fold(call, result, &x[0].to_f64s(), f64::NEG_INFINITY, max_nan)?;
        return Ok(vec![Tensor::from_f64s(result.dtype, &shape, &y)?]);
    }
    let y = fold(call, result, &x[0].to_ints(), least(result.dtype), i128::max)?;
    Ok(vec![Tensor::from_ints(result.dtype, &shape, &y)?])
}

/// The mean of each window: over its elements inside the data or, with `count_include_pad`, over
/// those in the padding too, never over those beyond it.
pub fn avg_pool(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (result, shape) = (&results[0], static_shape(&results[0])?);
    let mut y = fold(call, result, &x[0].to_f64s(), 0.0, |a, b| a + b)?;
    if y.is_empty() {
        return Ok(vec![Tensor::from_f64s(result.dtype, &shape, &y)?]);
    }
    let (window, padded) =
        (Window::of_pool(call.attrs, shape.len() - 2)?, call.attrs.flag("count_include_pad"));
    let counted = |i: usize| {
        let axis = &window.axes[i];
        let (before, after) = if padded { (axis.begin, axis.end) } else { (0, 0) };
        positions(axis, shape[2 + i], x[0].shape()[2 + i], before, after)
    };
    let counts: Vec<Vec<f64>> = (0..window.axes.len()).map(counted).collect();
    let mut sums = y.iter_mut();
    for_each_index(&shape, |index| {
        let count: f64 = counts.iter().zip(&index[2..]).map(|(counts, &o)| counts[o]).product();
        if let Some(sum) = sums.next() {
            *sum /= count;
        }
    });
    Ok(vec![Tensor::from_f64s(result.dtype, &shape, &y)?])
}

/// Elements of one channel of one image, all spatial axes together.
fn plane(x: &Tensor) -> usize {
    x.len().checked_div(x.shape()[0] * x.shape()[1]).unwrap_or(0)
}

/// The maximum over all spatial axes; NaN when one element is NaN.
pub fn global_max_pool(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (result, shape) = (&results[0], static_shape(&results[0])?);
    let plane = plane(&x[0]);
    if result.dtype.is_float() {
        let (x, mut y) = (x[0].to_f64s(), filled(result, f64::NEG_INFINITY)?);
        for (i, y) in y.iter_mut().enumerate() {
            *y = x[i * plane..][..plane].iter().copied().fold(*y, max_nan);
        }
        return Ok(vec![Tensor::from_f64s(result.dtype, &shape, &y)?]);
    }
    let (x, mut y) = (x[0].to_ints(), filled(result, least(result.dtype))?);
    for (i, y) in y.iter_mut().enumerate() {
        *y = x[i * plane..][..plane].iter().copied().fold(*y, i128::max);
    }
    Ok(vec![Tensor::from_ints(result.dtype, &shape, &y)?])
}

/// The mean over all spatial axes.
pub fn global_avg_pool(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (result, shape) = (&results[0], static_shape(&results[0])?);
    let (plane, x, mut y) = (plane(&x[0]), x[0].to_f64s(), filled(result, 0.0)?);
    for (i, y) in y.iter_mut().enumerate() {
        *y = x[i * plane..][..plane].iter().sum::<f64>() / plane as f64;
    }
    Ok(vec![Tensor::from_f64s(result.dtype, &shape, &y)?])
}
