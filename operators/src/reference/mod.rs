//! Reference semantics: what each operator computes, plain, slow and obviously right.
//!
//! Floats are computed in f64 and rounded once at the end; integers are exact and wrap to their
//! type at the end. Nothing here is shared with the lowering: these functions are its oracle.

pub mod attention;
pub mod columns;
pub mod contraction;
pub mod convolution;
pub mod creation;
pub mod elementwise;
pub mod few_bits;
pub mod images;
pub mod indexing;
pub mod inner_product_trick;
pub mod layout;
pub mod normalization;
pub mod pooling;
pub mod reduction;
pub mod resize;
pub mod scatter;
pub mod shape;
pub mod strassen;
pub mod strings;
pub mod window;
pub mod winograd;

pub use crate::evaluation::{EvalError, Evaluated};
use crate::{Call, Tensor, TensorType};

/// Infers the result types, then computes.
pub fn evaluate(op: &'static crate::Operator, attrs: &crate::Attrs, operands: &[Tensor]) -> Evaluated {
    let types: Vec<TensorType> = operands.iter().map(Tensor::tensor_type).collect();
    let results = op.infer(&types, attrs)?;
    compute(&Call { op, operands: &types, attrs }, &results, operands)
}

/// Computes a call whose result types are known. Elements that are strings are numbers of one list meanwhile, so that equal strings are
/// equal numbers.
pub fn compute(call: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let Some((operands, list)) = crate::strings::unified(operands) else {
        return (call.op.reference)(call, results, operands);
    };
    let computed = (call.op.reference)(call, results, &operands)?;
    Ok(computed.into_iter().map(|tensor| tensor.numbered_by(&list)).collect())
}

/// More elements than this are refused, so that an extent from an attribute cannot exhaust memory.
const MOST_ELEMENTS: u64 = 1 << 30;

/// The shape of a result type, which on host tensors is always known.
pub fn static_shape(ty: &TensorType) -> Result<Vec<usize>, EvalError> {
    let shape = ty.shape().ok_or_else(|| EvalError::Value(format!("the shape of {ty} is not known")))?;
    // Empty axes count as 1: strides beside them are computed too.
    let volume = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d.max(1)));
    if volume.is_none_or(|n| n > MOST_ELEMENTS) {
        return Err(EvalError::Value(format!("{ty} has more than {MOST_ELEMENTS} elements")));
    }
    Ok(shape.into_iter().map(|n| n as usize).collect())
}

/// Row-major strides, in elements.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for i in (1..shape.len()).rev() {
        // Wraps only beside an empty axis, where no element is read.
        strides[i - 1] = strides[i].wrapping_mul(shape[i]);
    }
    strides
}

/// The same, as steps that may go backwards.
pub fn signed_strides(shape: &[usize]) -> Vec<isize> {
    strides(shape).into_iter().map(|s| s as isize).collect()
}

/// The steps in an operand along the axes of what it broadcasts to: 0 where it has one element, or no axis.
pub fn broadcast_steps(rank: usize, operand: &[usize]) -> Vec<isize> {
    let mut steps = vec![0; rank.saturating_sub(operand.len())];
    let own = signed_strides(operand).into_iter().zip(operand);
    steps.extend(own.map(|(step, &n)| if n == 1 { 0 } else { step }));
    steps
}

/// Visits every index of a shape in row-major order.
pub fn for_each_index(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Visits the first index of every row along the last axis, in row-major order, with the elements of a row.
pub fn for_each_row(shape: &[usize], mut visit: impl FnMut(&[usize], usize)) {
    let Some((&elements, _)) = shape.split_last() else { return visit(&[], 1) };
    let mut first = shape.to_vec();
    first[shape.len() - 1] = elements.min(1);
    for_each_index(&first, |index| visit(index, elements));
}

/// Visits `offset + sum(index[a] * step[a])` for every index of a shape in row-major order, a run of them at a time: where it begins, how
/// many it has, and the step from one to the next. Axes of one element are left out, and those that go on evenly are one.
pub fn for_each_run(
    shape: &[usize],
    (offset, steps): (isize, &[isize]),
    mut visit: impl FnMut(isize, usize, isize),
) {
    let (mut extents, mut apart): (Vec<usize>, Vec<isize>) = (Vec::new(), Vec::new());
    for (&extent, &step) in shape.iter().zip(steps).filter(|(n, _)| **n != 1) {
        match extents.last_mut().zip(apart.last_mut()) {
            Some((outer, before)) if *before == step.wrapping_mul(extent as isize) => {
                (*outer, *before) = (*outer * extent, step);
            }
            _ => {
                extents.push(extent);
                apart.push(step);
            }
        }
    }
    let along = apart.last().copied().unwrap_or(0);
    for_each_row(&extents, |index, elements| {
        let moved = index.iter().zip(&apart).map(|(&i, &step)| (i as isize).wrapping_mul(step));
        visit(moved.fold(offset, isize::wrapping_add), elements, along);
    });
}

/// Appends the bytes of elements of `x` at flat indices.
pub fn append(data: &mut Vec<u8>, x: &Tensor, indices: impl Iterator<Item = usize>) {
    match x.dtype().size() {
        1 => append_of::<1>(data, x, indices),
        2 => append_of::<2>(data, x, indices),
        4 => append_of::<4>(data, x, indices),
        _ => append_of::<8>(data, x, indices),
    }
}

fn append_of<const N: usize>(data: &mut Vec<u8>, x: &Tensor, indices: impl Iterator<Item = usize>) {
    for flat in indices {
        data.extend_from_slice(&x.bytes()[flat * N..][..N]);
    }
}

/// The tensor whose element at each index is the element of `x` at the flat index `from(index)`.
pub fn pick(
    result: &TensorType,
    x: &Tensor,
    mut from: impl FnMut(&[usize]) -> Result<usize, EvalError>,
) -> Evaluated {
    let shape = static_shape(result)?;
    let size = x.dtype().size();
    let (mut data, mut failed) = (Vec::new(), None);
    for_each_index(&shape, |index| match from(index) {
        Ok(flat) => data.extend(&x.bytes()[flat * size..][..size]),
        Err(error) => failed = failed.take().or(Some(error)),
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(vec![Tensor::from_bytes(result.dtype, &shape, data)?]),
    }
}
