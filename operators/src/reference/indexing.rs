//! Reading at computed indices: `y[i] = x[p(i, indices)]`. A negative index counts from the back.

use super::{EvalError, Evaluated, for_each_index, pick, static_shape, strides};
use crate::parameters::indexing::{axis, batch_dims, one_hot_axis};
use crate::{Call, Tensor, TensorType};

/// The place on an axis that an index names.
pub fn place(index: i128, extent: usize) -> Result<usize, EvalError> {
    let from_front = if index < 0 { index.saturating_add(extent as i128) } else { index };
    usize::try_from(from_front).ok().filter(|&i| i < extent).ok_or_else(|| {
        EvalError::Value(format!("index {index} is out of range for an axis of extent {extent}"))
    })
}

/// The flat index of an index.
pub fn flat(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(i, s)| i * s).sum()
}

/// `y[a..., i..., b...] = x[a..., indices[i...], b...]`.
pub fn gather(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (data, indices) = (&x[0], &x[1]);
    let axis = axis(call)?;
    let (steps, index_steps) = (strides(data.shape()), strides(indices.shape()));
    let rank = index_steps.len();
    pick(&results[0], data, |index| {
        let at = indices.int_at(flat(&index[axis..], &index_steps));
        let after = flat(&index[axis + rank..], &steps[axis + 1..]);
        Ok(flat(&index[..axis], &steps) + place(at, data.shape()[axis])? * steps[axis] + after)
    })
}

/// The flat index of `index` with `at` as its place on the axis.
pub fn replaced(index: &[usize], axis: usize, at: usize, steps: &[usize]) -> usize {
    flat(&index[..axis], steps) + at * steps[axis] + flat(&index[axis + 1..], &steps[axis + 1..])
}

/// `y[i] = x[i with indices[i] at axis]`.
pub fn gather_elements(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (data, indices) = (&x[0], &x[1]);
    let axis = axis(call)?;
    let (steps, index_steps) = (strides(data.shape()), strides(indices.shape()));
    pick(&results[0], data, |index| {
        let at = place(indices.int_at(flat(index, &index_steps)), data.shape()[axis])?;
        Ok(replaced(index, axis, at, &steps))
    })
}

/// The flat index that the k indices from flat index `from` on name, on axes of the given extents.
pub fn addressed(
    indices: &Tensor,
    from: usize,
    extents: &[usize],
    steps: &[usize],
) -> Result<usize, EvalError> {
    let axes = extents.iter().zip(steps).enumerate();
    axes.map(|(j, (&n, step))| Ok(place(indices.int_at(from + j), n)? * step)).sum()
}

/// `y[b..., i..., r...] = x[b..., indices[b..., i..., :]..., r...]`.
pub fn gather_nd(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (data, indices) = (&x[0], &x[1]);
    let batch = batch_dims(call)?;
    let (steps, index_steps) = (strides(data.shape()), strides(indices.shape()));
    let outer = index_steps.len().saturating_sub(1);
    let k = indices.shape().last().copied().unwrap_or(0);
    pick(&results[0], data, |index| {
        let from = flat(&index[..outer], &index_steps);
        let named = addressed(indices, from, &data.shape()[batch..batch + k], &steps[batch..])?;
        Ok(flat(&index[..batch], &steps) + named + flat(&index[outer..], &steps[batch + k..]))
    })
}

/// On where the index along the new axis is `indices[i]`, else off.
pub fn one_hot(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let [indices, on, off] = [0, 1, 2].map(|i| &x[i]);
    let axis = one_hot_axis(call)?;
    let shape = static_shape(&results[0])?;
    let steps = strides(indices.shape());
    let mut data = Vec::new();
    for_each_index(&shape, |index| {
        let at = indices.int_at(flat(&index[..axis], &steps) + flat(&index[axis + 1..], &steps[axis..]));
        let is_on = place(at, shape[axis]).is_ok_and(|at| at == index[axis]);
        data.extend(if is_on { on.bytes() } else { off.bytes() });
    });
    Ok(vec![Tensor::from_bytes(results[0].dtype, &shape, data)?])
}
