//! Normalisations, `(x - mean) / sqrt(variance + epsilon)`, and softmax.

use super::elementwise::broadcast_indices;
use super::{EvalError, Evaluated, static_shape};
use crate::relation::normalize_axis;
use crate::{Call, Tensor, TensorType, Violation};

fn epsilon(call: &Call) -> f64 {
    call.attrs.float_or("epsilon", 1e-5)
}

fn axis(call: &Call) -> Result<usize, EvalError> {
    let (axis, rank) = (call.attrs.int_or("axis", -1), call.operands[0].rank());
    let found = normalize_axis(axis, rank);
    Ok(found.ok_or_else(|| Violation::new(2, format!("axis {axis} is out of range for rank {rank}")))?)
}

fn rounded(result: &TensorType, values: &[f64]) -> Evaluated {
    Ok(vec![Tensor::from_f64s(result.dtype, &static_shape(result)?, values)?])
}

/// The channel of each element of a tensor `[N, C, ...]`.
fn channels(x: &Tensor) -> impl Iterator<Item = usize> {
    let (n, c) = (x.shape()[0], x.shape()[1]);
    let plane = x.len().checked_div(n * c).unwrap_or(0);
    (0..x.len()).map(move |i| i / plane % c)
}

/// Gives each run of `size` values the mean 0 and the variance 1.
fn standardize(values: &mut [f64], size: usize, epsilon: f64) {
    for run in values.chunks_exact_mut(size.max(1)) {
        let mean = run.iter().sum::<f64>() / size as f64;
        let variance = run.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / size as f64;
        run.iter_mut().for_each(|x| *x = (*x - mean) / (variance + epsilon).sqrt());
    }
}

/// Scales and shifts by one number a channel.
fn affine(values: &mut [f64], x: &[Tensor]) {
    for (value, c) in values.iter_mut().zip(channels(&x[0])) {
        *value = *value * x[1].f64_at(c) + x[2].f64_at(c);
    }
}

/// `gamma * (x - mean) / sqrt(variance + epsilon) + beta` along axis 1
pub fn batch_norm(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (mut y, epsilon) = (x[0].to_f64s(), epsilon(call));
    for (y, c) in y.iter_mut().zip(channels(&x[0])) {
        *y = (*y - x[3].f64_at(c)) / (x[4].f64_at(c) + epsilon).sqrt();
    }
    affine(&mut y, x);
    rounded(&results[0], &y)
}

/// Over the spatial axes of each channel.
pub fn instance_norm(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    grouped(call, &results[0], x, x[0].shape()[1])
}

/// Over the channels of each group and their spatial axes.
pub fn group_norm(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    grouped(call, &results[0], x, call.attrs.int_or("num_groups", 1) as usize)
}

fn grouped(call: &Call, result: &TensorType, x: &[Tensor], groups: usize) -> Evaluated {
    let mut y = x[0].to_f64s();
    // Without elements the number of runs may be beyond any range.
    if !y.is_empty() {
        let size = y.len() / (x[0].shape()[0] * groups);
        standardize(&mut y, size, epsilon(call));
        affine(&mut y, x);
    }
    rounded(result, &y)
}

/// Over the axes from `axis` on; scale and shift broadcast to those axes.
pub fn layer_norm(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let mut y = x[0].to_f64s();
    if !y.is_empty() {
        let inner = &x[0].shape()[axis(call)?..];
        let scale = broadcast_indices(inner, x[1].shape());
        let shift = broadcast_indices(inner, x[2].shape());
        standardize(&mut y, scale.len(), epsilon(call));
        for (i, y) in y.iter_mut().enumerate() {
            let at = i % scale.len();
            *y = *y * x[1].f64_at(scale[at]) + x[2].f64_at(shift[at]);
        }
    }
    rounded(&results[0], &y)
}

/// `x / (bias + alpha / size * sum of x^2 over neighbouring channels)^beta`
pub fn lrn(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let attr = |name: &str, default: f64| call.attrs.float_or(name, default);
    let (alpha, beta, bias) = (attr("alpha", 1e-4), attr("beta", 0.75), attr("bias", 1.0));
    let size = call.attrs.int_or("size", 1).max(1) as usize;
    let (back, on) = ((size - 1) / 2, size / 2);
    let (input, count) = (x[0].to_f64s(), x[0].shape()[1]);
    let plane = input.len().checked_div(x[0].shape()[0] * count).unwrap_or(0);
    let value = |(i, c): (usize, usize)| {
        let neighbours = c.saturating_sub(back)..=c.saturating_add(on).min(count - 1);
        let squares = neighbours.map(|k| input[i - c * plane + k * plane].powi(2)).sum::<f64>();
        input[i] / (bias + alpha / size as f64 * squares).powf(beta)
    };
    let y: Vec<f64> = channels(&x[0]).enumerate().map(value).collect();
    rounded(&results[0], &y)
}

/// Replaces each run of values along `axis`, given its maximum and the sum of `exp(x - max)`.
fn along_axis(call: &Call, result: &TensorType, x: &Tensor, f: impl Fn(f64, f64, f64) -> f64) -> Evaluated {
    let (mut y, axis) = (x.to_f64s(), axis(call)?);
    if y.is_empty() {
        return rounded(result, &y);
    }
    let (n, inner) = (x.shape()[axis], x.shape()[axis + 1..].iter().product::<usize>());
    for outer in y.chunks_exact_mut(n * inner) {
        for i in 0..inner {
            let run = || (0..n).map(|k| k * inner + i);
            let max = run().map(|k| outer[k]).fold(f64::NEG_INFINITY, f64::max);
            let sum = run().map(|k| (outer[k] - max).exp()).sum::<f64>();
            run().for_each(|k| outer[k] = f(outer[k], max, sum));
        }
    }
    rounded(result, &y)
}

/// `exp(x - max) / sum of the same`
pub fn softmax(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    along_axis(call, &results[0], &x[0], |x, max, sum| (x - max).exp() / sum)
}

/// `x - max - log(sum of exp(x - max))`
pub fn log_softmax(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    along_axis(call, &results[0], &x[0], |x, max, sum| x - max - sum.ln())
}
