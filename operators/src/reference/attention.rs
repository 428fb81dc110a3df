//! Attention.

use super::elementwise::broadcast_indices;
use super::{Evaluated, static_shape};
use crate::{Call, Tensor, TensorType};

/// `y[i] = sum_j p[i, j] v[j]` with `p[i] = softmax_j(scale q[i] . k[j] + bias[i, j])`
pub fn attention(call: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let scale = call.attrs.float_or("scale", 1.0);
    let shape = static_shape(&results[0])?;
    let extents =
        |t: &Tensor| -> [usize; 2] { [t.shape()[t.shape().len() - 2], t.shape()[t.shape().len() - 1]] };
    let ([queries, width], [keys, depth]) = (extents(&operands[0]), extents(&operands[2]));
    let lead: usize = shape[..shape.len() - 2].iter().product();
    let [q, k, v] = [0, 1, 2].map(|i| operands[i].to_f64s());
    let scores: Vec<usize> = [&shape[..shape.len() - 1], &[keys]].concat();
    let bias = operands.get(3).map(|b| (b.to_f64s(), broadcast_indices(&scores, b.shape())));
    let mut y = vec![0.0; lead * queries * depth];
    for (b, i) in (0..lead).flat_map(|b| (0..queries).map(move |i| (b, i))) {
        let row = b * queries + i;
        let score = |j: usize| {
            let product: f64 = (0..width).map(|d| q[row * width + d] * k[(b * keys + j) * width + d]).sum();
            scale * product + bias.as_ref().map_or(0.0, |(values, at)| values[at[row * keys + j]])
        };
        let scores: Vec<f64> = (0..keys).map(score).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        for d in 0..depth {
            let sum: f64 = (0..keys).map(|j| weights[j] * v[(b * keys + j) * depth + d]).sum();
            y[row * depth + d] = sum / total;
        }
    }
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &y)?])
}
