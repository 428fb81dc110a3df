//! Movement of elements by their position: `y[i] = x[p(i)]`.
//!
//! Most of it is affine, `p(i) = offset + sum(i[a] * step[a])` in flat indices of `x`.

use super::{
    EvalError, Evaluated, append, broadcast_steps, for_each_index, for_each_run, pick, signed_strides,
    static_shape, strides,
};
use crate::parameters::shape::{padding, permutation, slices};
use crate::relation::{axes_or_all, checked_axis, int_attr};
use crate::{Call, Tensor, TensorType, tensor};

/// What `relay.pad` may fill with.
pub const PAD_MODES: [&str; 4] = ["constant", "edge", "reflect", "wrap"];

/// The same elements in row-major order under the result's shape.
pub fn same_elements(result: &TensorType, x: &Tensor) -> Evaluated {
    Ok(vec![x.clone().reshaped(&static_shape(result)?)?])
}

fn affine(result: &TensorType, x: &Tensor, offset: isize, steps: &[isize]) -> Evaluated {
    let shape = static_shape(result)?;
    let size = x.dtype().size();
    let mut data = Vec::with_capacity(shape.iter().product::<usize>() * size);
    for_each_run(&shape, (offset, steps), |first, elements, step| {
        if step == 1 {
            return data.extend_from_slice(&x.bytes()[first as usize * size..][..elements * size]);
        }
        let at = |i: usize| first.wrapping_add((i as isize).wrapping_mul(step)) as usize;
        append(&mut data, x, (0..elements).map(at));
    });
    Ok(vec![Tensor::from_bytes(result.dtype, &shape, data)?])
}

/// `y[i] = x[j]` with `j[axes[a]] = i[a]`.
pub fn transpose(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let steps = signed_strides(x[0].shape());
    let steps: Vec<isize> = permutation(call)?.into_iter().map(|a| steps[a]).collect();
    affine(&results[0], &x[0], 0, &steps)
}

/// As an operand is read that broadcasts to the result.
pub fn broadcast_to(result: &TensorType, x: &Tensor) -> Evaluated {
    affine(result, x, 0, &broadcast_steps(result.rank(), x.shape()))
}

/// All operands, one after another along the axis.
pub fn concat(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let axis = checked_axis(int_attr(call, "axis", 2)?, shape.len(), 2)?;
    if shape.contains(&0) {
        return Ok(vec![Tensor::zeros(results[0].dtype, &shape)?]);
    }
    let mut data = Vec::new();
    for outer in 0..shape[..axis].iter().product() {
        for part in x {
            let run = part.shape()[axis..].iter().product::<usize>() * part.dtype().size();
            data.extend(&part.bytes()[outer * run..][..run]);
        }
    }
    Ok(vec![Tensor::from_bytes(results[0].dtype, &shape, data)?])
}

/// Pieces one after another along the axis.
pub fn split(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let axis = checked_axis(int_attr(call, "axis", 1)?, x[0].shape().len(), 1)?;
    let steps = signed_strides(x[0].shape());
    let (mut begin, mut pieces) = (0, Vec::new());
    for piece in results {
        let extent = static_shape(piece)?[axis] as isize;
        pieces.extend(affine(piece, &x[0], steps[axis].wrapping_mul(begin), &steps)?);
        begin += extent;
    }
    Ok(pieces)
}

/// `y[i] = x[begin + i * stride]` along each sliced axis.
pub fn slice(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let mut steps = signed_strides(x[0].shape());
    let mut offset = 0isize;
    for slice in slices(call)? {
        let step = &mut steps[slice.axis];
        let (begin, _) = slice.of(x[0].shape()[slice.axis] as u64);
        offset = offset.wrapping_add(step.wrapping_mul(begin as isize));
        *step = step.wrapping_mul(slice.stride as isize);
    }
    affine(&results[0], &x[0], offset, &steps)
}

/// Along the axes from the last element to the first.
pub fn reverse(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let mut steps = signed_strides(x[0].shape());
    let mut offset = 0isize;
    for axis in axes_or_all(call, steps.len(), 1)? {
        let last = x[0].shape()[axis] as isize - 1;
        offset = offset.wrapping_add(steps[axis].wrapping_mul(last));
        steps[axis] = steps[axis].wrapping_neg();
    }
    affine(&results[0], &x[0], offset, &steps)
}

/// `y[i] = x[i mod extent]`.
pub fn tile(result: &TensorType, x: &Tensor) -> Evaluated {
    let steps = strides(x.shape());
    pick(result, x, |index| Ok(index.iter().zip(x.shape()).zip(&steps).map(|((&i, &n), &s)| i % n * s).sum()))
}

/// Elements are removed where the padding is negative, then added around what is left.
pub fn pad(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (result, x) = (&results[0], &x[0]);
    let shape = static_shape(result)?;
    let mode = call.attrs.str_or("mode", "constant");
    let (padding, steps) = (padding(call)?, strides(x.shape()));
    let mut filler = Vec::new();
    tensor::push_f64(&mut filler, x.dtype(), call.attrs.float_or("value", 0.0));
    let mut data = Vec::new();
    for_each_index(&shape, |index| {
        let axes = padding.iter().zip(x.shape()).zip(index);
        let places = axes.map(|((&(before, after), &extent), &i)| {
            let left = extent as i128 + before.min(0) + after.min(0);
            let place = within(mode, i as i128 - before.max(0), left)?;
            usize::try_from(place - before.min(0)).ok()
        });
        let flat = places.zip(&steps).try_fold(0, |flat, (place, step)| Some(flat + place? * step));
        let size = filler.len();
        data.extend(flat.map_or(filler.as_slice(), |flat| &x.bytes()[flat * size..][..size]));
    });
    Ok(vec![Tensor::from_bytes(result.dtype, &shape, data).map_err(EvalError::from)?])
}

/// The place on an axis that a place beyond its ends repeats; `None` is the filler.
fn within(mode: &str, place: i128, extent: i128) -> Option<i128> {
    if (0..extent).contains(&place) {
        return Some(place);
    }
    match mode {
        "edge" => Some(if place < 0 { 0 } else { extent - 1 }),
        "reflect" if place < 0 => Some(-place),
        "reflect" => Some(2 * (extent - 1) - place),
        "wrap" => place.checked_rem_euclid(extent),
        _ => None,
    }
}
