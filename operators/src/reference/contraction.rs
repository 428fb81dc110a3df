//! Matrix products, `c[i, j] = sum_k a[i, k] * b[k, j]`, and the numbers that contractions accumulate.

use super::elementwise::broadcast_indices;
use super::{EvalError, Evaluated, static_shape};
use crate::tensor::bytes_of;
use crate::{Call, Tensor, TensorError, TensorType};

/// What a contraction accumulates in.
pub(super) trait Number: Copy {
    const ZERO: Self;
    const ONE: Self;
    fn read(tensor: &Tensor) -> Vec<Self>;
    fn write(ty: &TensorType, values: &[Self]) -> Evaluated;
    fn add_product(self, a: Self, b: Self) -> Self;
}

impl Number for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn read(tensor: &Tensor) -> Vec<f64> {
        tensor.to_f64s()
    }
    fn write(ty: &TensorType, values: &[f64]) -> Evaluated {
        Ok(vec![Tensor::from_f64s(ty.dtype, &static_shape(ty)?, values)?])
    }
    fn add_product(self, a: f64, b: f64) -> f64 {
        self + a * b
    }
}

/// Exact: every integer type's range divides 2^64, so sums modulo 2^64 wrap to the same elements.
impl Number for i64 {
    const ZERO: i64 = 0;
    const ONE: i64 = 1;
    fn read(tensor: &Tensor) -> Vec<i64> {
        (0..tensor.len()).map(|i| tensor.int_at(i) as i64).collect()
    }
    fn write(ty: &TensorType, values: &[i64]) -> Evaluated {
        let values: Vec<i128> = values.iter().map(|&v| v.into()).collect();
        Ok(vec![Tensor::from_ints(ty.dtype, &static_shape(ty)?, &values)?])
    }
    fn add_product(self, a: i64, b: i64) -> i64 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// One value for each element of a shape, or an error when they do not fit the memory.
pub(super) fn filled<T: Clone>(ty: &TensorType, value: T) -> Result<Vec<T>, EvalError> {
    let shape = static_shape(ty)?;
    let count = bytes_of(ty.dtype, &shape)? / ty.dtype.size();
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| TensorError::TooLarge { shape })?;
    values.resize(count, value);
    Ok(values)
}

/// `to[i * to_step] += factor * from[i * from_step]`
pub(super) fn add_products<T: Number>(
    factor: T,
    (from, from_step): (&[T], usize),
    (to, to_step): (&mut [T], usize),
    count: usize,
) {
    // Slices of step 1 are what the compiler can vectorise.
    if from_step == 1 && to_step == 1 {
        for (to, &from) in to[..count].iter_mut().zip(&from[..count]) {
            *to = to.add_product(factor, from);
        }
    } else {
        let pairs = to.iter_mut().step_by(to_step).zip(from.iter().step_by(from_step));
        for (to, &from) in pairs.take(count) {
            *to = to.add_product(factor, from);
        }
    }
}

/// Adds the product of row-major matrices `[rows, depth]` and `[depth, cols]` to `[rows, cols]`.
fn product<T: Number>(a: &[T], b: &[T], c: &mut [T], depth: usize, cols: usize) {
    for (i, row) in c.chunks_exact_mut(cols).enumerate() {
        for k in 0..depth {
            add_products(a[i * depth + k], (&b[k * cols..], 1), (row, 1), cols);
        }
    }
}

/// The elements with the last two dimensions swapped.
fn swapped<T: Copy>(values: &[T], rows: usize, cols: usize) -> Vec<T> {
    let matrices = values.chunks_exact((rows * cols).max(1));
    matrices.flat_map(|m| (0..cols).flat_map(move |j| (0..rows).map(move |i| m[i * cols + j]))).collect()
}

fn matmul_in<T: Number>(call: &Call, result: &TensorType, x: &[Tensor]) -> Evaluated {
    let shape = static_shape(result)?;
    let mut c = filled(result, T::ZERO)?;
    if c.is_empty() || x.iter().any(Tensor::is_empty) {
        return T::write(result, &c);
    }
    // Leading dimensions and the matrices, row-major after the transposition.
    let operand = |t: &Tensor, transposed: bool| {
        let (lead, matrix) = t.shape().split_at(t.shape().len() - 2);
        let values = T::read(t);
        let values = if transposed { swapped(&values, matrix[0], matrix[1]) } else { values };
        (values, lead.to_vec(), matrix[0] * matrix[1])
    };
    let (a, lead_a, size_a) = operand(&x[0], call.attrs.flag("transpose_a"));
    let (b, lead_b, size_b) = operand(&x[1], call.attrs.flag("transpose_b"));
    let (lead, matrix) = shape.split_at(shape.len() - 2);
    let (rows, cols) = (matrix[0], matrix[1]);
    let pairs = broadcast_indices(lead, &lead_a).into_iter().zip(broadcast_indices(lead, &lead_b));
    for (c, (i, j)) in c.chunks_exact_mut(rows * cols).zip(pairs) {
        product(&a[i * size_a..], &b[j * size_b..], c, size_a / rows, cols);
    }
    T::write(result, &c)
}

/// `c[..., i, j] = sum_k a[..., i, k] * b[..., k, j]`
pub fn matmul(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    if results[0].dtype.is_float() {
        matmul_in::<f64>(call, &results[0], x)
    } else {
        matmul_in::<i64>(call, &results[0], x)
    }
}

fn dense_in<T: Number>(result: &TensorType, data: &Tensor, weight: &Tensor) -> Evaluated {
    let mut y = filled(result, T::ZERO)?;
    let (units, depth) = (weight.shape()[0], weight.shape()[1]);
    if !y.is_empty() {
        let weight = swapped(&T::read(weight), units, depth);
        product(&T::read(data), &weight, &mut y, depth, units);
    }
    T::write(result, &y)
}

/// `y[..., n] = sum_k x[..., k] * w[n, k]`
pub fn dense(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    if results[0].dtype.is_float() {
        dense_in::<f64>(&results[0], &x[0], &x[1])
    } else {
        dense_in::<i64>(&results[0], &x[0], &x[1])
    }
}
