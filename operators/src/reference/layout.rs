//! Orders of axes: `stored[.., i / p, .., i mod p, ..] = value[.., i, ..]` for an axis that is split into parts of p.

use super::{EvalError, Evaluated, append, for_each_row, static_shape, strides};
use crate::layout::Part;
use crate::parameters::layout::{Layouts, orders};
use crate::{Call, Layout, Operator, Tensor, TensorType};

/// How far apart neighbours along each axis are.
fn steps(layout: &Layout, shape: &[usize]) -> Vec<(Part, usize)> {
    layout.parts().iter().copied().zip(strides(shape)).collect()
}

/// A tensor of one order as one of another order of the same axes.
fn reordered(x: &Tensor, from: &Layout, to: &Layout) -> Result<Tensor, EvalError> {
    let misfit = || EvalError::Value(format!("{} is not laid out as {from}", x.tensor_type()));
    let value = from.value(&x.tensor_type()).ok_or_else(misfit)?;
    let result = to.stored(&value).ok_or_else(misfit)?;
    let (shape, extents) = (static_shape(&result)?, static_shape(&value)?);
    let source = steps(from, x.shape());
    let place = |axis: usize, i: usize| {
        let of_part = |(part, step): &(Part, usize)| {
            step * match (part.inner, from.inner(axis)) {
                (Some(inner), _) => i % inner as usize,
                (None, Some(inner)) => i / inner as usize,
                (None, None) => i,
            }
        };
        source.iter().filter(|(part, _)| part.axis == axis).map(of_part).sum()
    };
    // For each axis of the value, where its elements are in `x`.
    let places: Vec<Vec<usize>> = extents
        .iter()
        .enumerate()
        .map(|(axis, &extent)| (0..extent).map(|i| place(axis, i)).collect())
        .collect();
    let unit = |part: &Part| if part.inner.is_some() { 1 } else { to.inner(part.axis).unwrap_or(1) as usize };
    let last = to.parts().last().ok_or_else(misfit)?;
    let mut data = Vec::new();
    for_each_row(&shape, |index, elements| {
        let mut at = vec![0; extents.len()];
        for (part, &i) in to.parts().iter().zip(index) {
            at[part.axis] += i * unit(part);
        }
        let others: usize =
            (0..at.len()).filter(|&axis| axis != last.axis).map(|axis| places[axis][at[axis]]).sum();
        let along = (0..elements).map(|i| others + places[last.axis][at[last.axis] + i * unit(last)]);
        append(&mut data, x, along);
    });
    Ok(Tensor::from_bytes(result.dtype, &shape, data)?)
}

/// The elements in another order.
pub fn transform(call: &Call, _: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (from, to) = orders(call.attrs)?;
    Ok(vec![reordered(&x[0], &from, &to)?])
}

/// The plain operator `op` between two changes of order.
pub fn laid_out(op: &'static Operator, call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let layouts = Layouts::of(call)?;
    static_shape(&results[0])?;
    let value = |(x, layout): (&Tensor, &Layout)| reordered(x, layout, &layout.plain_one());
    let values = x.iter().zip(&layouts.operands).map(value).collect::<Result<Vec<_>, _>>()?;
    let types: Vec<TensorType> = values.iter().map(Tensor::tensor_type).collect();
    let plain_call = Call { op, operands: &types, attrs: call.attrs };
    let plain_results = (op.relation)(&plain_call)?;
    let computed = (op.reference)(&plain_call, &plain_results, &values)?;
    computed.iter().map(|y| reordered(y, &layouts.result.plain_one(), &layouts.result)).collect()
}
