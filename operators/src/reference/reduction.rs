//! Reductions and scans: `y[o...] = f over r of x[o..., r...]`, floats in f64 and rounded at the end,
//! integers exact and wrapped at the end. Over nothing, the identity of `f`; over one element that element, a zero with its sign.

use super::{Evaluated, for_each_index, static_shape, strides};
use crate::dtype::Class;
use crate::ops::elementwise::{max_nan, min_nan};
use crate::parameters::reduction::{axis, reduced_axes, topk_axis};
use crate::{Call, DType, Tensor, TensorType};
use std::cmp::Ordering;

/// An identity and a function.
pub type Monoid<T> = (T, fn(T, T) -> T);

/// For each element of the operand, the flat index of the element it is reduced into.
fn groups(call: &Call, x: &Tensor) -> Result<Vec<usize>, super::EvalError> {
    let axes = reduced_axes(call)?;
    let kept: Vec<usize> = (0..x.shape().len()).filter(|a| !axes.contains(a)).collect();
    let steps = strides(&kept.iter().map(|&a| x.shape()[a]).collect::<Vec<_>>());
    let mut groups = Vec::with_capacity(x.len());
    for_each_index(x.shape(), |index| groups.push(kept.iter().zip(&steps).map(|(&a, s)| index[a] * s).sum()));
    Ok(groups)
}

fn reduce(call: &Call, result: &TensorType, x: &Tensor, int: Monoid<i128>, float: Monoid<f64>) -> Evaluated {
    let shape = static_shape(result)?;
    let count = shape.iter().product();
    let is_one = x.len() == count;
    let groups = groups(call, x)?.into_iter().enumerate();
    if x.dtype().is_float() {
        if is_one {
            return Ok(vec![Tensor::from_f64s(result.dtype, &shape, &x.to_f64s())?]);
        }
        let mut values = vec![float.0; count];
        groups.for_each(|(i, to)| values[to] = float.1(values[to], x.f64_at(i)));
        return Ok(vec![Tensor::from_f64s(result.dtype, &shape, &values)?]);
    }
    let mut values = vec![int.0; count];
    groups.for_each(|(i, to)| values[to] = int.1(values[to], x.int_at(i)));
    Ok(vec![Tensor::from_ints(result.dtype, &shape, &values)?])
}

/// Sum; 0 of nothing.
pub fn sum(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    reduce(call, &results[0], &x[0], (0, i128::wrapping_add), (0.0, |a, b| a + b))
}

/// Product; 1 of nothing.
pub fn prod(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    // Wrapping at 128 bits leaves the lower bits, which are all that the type keeps, exact.
    reduce(call, &results[0], &x[0], (1, i128::wrapping_mul), (1.0, |a, b| a * b))
}

/// Greatest; the least value of the type of nothing.
pub fn max(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (least, _) = limits(x[0].dtype());
    reduce(call, &results[0], &x[0], (least, i128::max), (f64::NEG_INFINITY, max_nan))
}

/// Least; the greatest value of the type of nothing.
pub fn min(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (_, greatest) = limits(x[0].dtype());
    reduce(call, &results[0], &x[0], (greatest, i128::min), (f64::INFINITY, min_nan))
}

/// Mean of floats: the sum, not yet rounded, over the count; NaN of nothing.
pub fn mean(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let count = shape.iter().product();
    // The sum of one number is that number, which may be the negative zero.
    let nothing = if x[0].len() == count { -0.0 } else { 0.0 };
    let mut sums = vec![(nothing, 0u64); count];
    for (i, to) in groups(call, &x[0])?.into_iter().enumerate() {
        sums[to].0 += x[0].f64_at(i);
        sums[to].1 += 1;
    }
    let values: Vec<f64> = sums.into_iter().map(|(sum, count)| sum / count as f64).collect();
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &values)?])
}

/// Least and greatest integer of a type.
pub(super) fn limits(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size();
    match dtype.class() {
        Class::Bool => (0, 1),
        Class::Unsigned | Class::String => (0, (1 << bits) - 1),
        _ => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

/// Visits each line of elements along an axis: their flat indices, and the number of the line.
fn for_each_line(shape: &[usize], axis: usize, mut visit: impl FnMut(usize, &[usize])) {
    if shape.contains(&0) {
        return;
    }
    let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let outer = shape[..axis].iter().product::<usize>();
    for line in 0..outer * inner {
        let first = line / inner * extent * inner + line % inner;
        visit(line, &(0..extent).map(|i| first + i * inner).collect::<Vec<_>>());
    }
}

/// Numbers in order, NaN after all of them.
fn order(x: &Tensor, i: usize, j: usize) -> Ordering {
    if !x.dtype().is_float() {
        return x.int_at(i).cmp(&x.int_at(j));
    }
    let (a, b) = (x.f64_at(i), x.f64_at(j));
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Index of the greatest or least element; NaN, as in NumPy, is more extreme than any number.
pub fn arg(call: &Call, result: &TensorType, x: &Tensor, greatest: bool) -> Evaluated {
    let last = call.attrs.flag("select_last");
    let nan = |i: usize| x.dtype().is_float() && x.f64_at(i).is_nan();
    let mut places = vec![0; static_shape(result)?.iter().product()];
    for_each_line(x.shape(), axis(call)?, |line, flat| {
        let mut best = 0;
        for (i, &at) in flat.iter().enumerate() {
            let ahead = match (nan(at), nan(flat[best])) {
                (false, false) if greatest => order(x, at, flat[best]),
                (false, false) => order(x, flat[best], at),
                (a, b) => a.cmp(&b),
            };
            if ahead.is_gt() || (last && ahead.is_eq()) {
                best = i;
            }
        }
        places[line] = best as i128;
    });
    Ok(vec![Tensor::from_ints(result.dtype, &static_shape(result)?, &places)?])
}

/// Running totals along the axis.
pub fn scan(call: &Call, x: &Tensor, int: Monoid<i128>, float: Monoid<f64>) -> Evaluated {
    if x.dtype().is_float() {
        let values = totals(call, x.shape(), x.to_f64s(), float)?;
        return Ok(vec![Tensor::from_f64s(x.dtype(), x.shape(), &values)?]);
    }
    let values = totals(call, x.shape(), x.to_ints(), int)?;
    Ok(vec![Tensor::from_ints(x.dtype(), x.shape(), &values)?])
}

fn totals<T: Copy>(
    call: &Call,
    shape: &[usize],
    mut values: Vec<T>,
    (identity, f): Monoid<T>,
) -> Result<Vec<T>, super::EvalError> {
    let (exclusive, reverse) = (call.attrs.flag("exclusive"), call.attrs.flag("reverse"));
    for_each_line(shape, axis(call)?, |_, flat| {
        let mut total = identity;
        for i in 0..flat.len() {
            let at = if reverse { flat[flat.len() - 1 - i] } else { flat[i] };
            let before = total;
            total = f(total, values[at]);
            values[at] = if exclusive { before } else { total };
        }
    });
    Ok(values)
}

/// The k greatest (or least) of each line in order, and their places on the axis; equals keep their
/// order.
pub fn topk(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let x = &x[0];
    let axis = topk_axis(call)?;
    let shape = static_shape(&results[0])?;
    let smallest = call.attrs.flag("smallest");
    let size = x.dtype().size();
    let mut values = Tensor::zeros(x.dtype(), &shape)?;
    let mut places = vec![0; values.len()];
    // The lines of the result stand in the order of the operand's.
    let mut from = Vec::new();
    for_each_line(x.shape(), axis, |_, flat| from.push(flat.to_vec()));
    for_each_line(&shape, axis, |line, to| {
        let flat = &from[line];
        let mut sorted: Vec<usize> = (0..flat.len()).collect();
        sorted.sort_by(|&i, &j| {
            let order = order(x, flat[i], flat[j]);
            if smallest { order } else { order.reverse() }
        });
        for (&to, i) in to.iter().zip(sorted) {
            places[to] = i as i128;
            values.bytes_mut()[to * size..][..size].copy_from_slice(&x.bytes()[flat[i] * size..][..size]);
        }
    });
    Ok(vec![values, Tensor::from_ints(results[1].dtype, &shape, &places)?])
}
