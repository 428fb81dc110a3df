//! Products of matrices by halves.

use super::winograd::product;
use super::{Evaluated, static_shape};
use crate::ops::halves::{LEFT, PRODUCTS, RESULT, RIGHT};
use crate::ops::winograd::Matrix;
use crate::{Call, Tensor, TensorType};

/// The sums of quarters of a matrix, `[t, i, j]`.
fn sums_of(by: [Matrix; 2], x: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let (by, height, width) = (product(by), rows / 2, columns / 2);
    let quarter = |q: usize, i: usize, j: usize| x[(q / 2 * height + i) * columns + q % 2 * width + j];
    let sum = |t: usize, i: usize, j: usize| (0..4).map(|q| by[t][q] * quarter(q, i, j)).sum();
    let places =
        (0..PRODUCTS).flat_map(|t| (0..height).flat_map(move |i| (0..width).map(move |j| (t, i, j))));
    places.map(|(t, i, j)| sum(t, i, j)).collect()
}

/// `C = sums of p`, `p[t] = a[t] u[t]`, with `a` the sums of the left side's quarters.
pub fn matmul(_: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let ([rows, depth], [_, half_depth, width]) = (operands[0].shape(), operands[1].shape()) else {
        return Ok(Vec::new());
    };
    let (rows, depth, half_depth, width) = (*rows, *depth, *half_depth, *width);
    let height = rows / 2;
    let (a, u) = (sums_of(LEFT, &operands[0].to_f64s(), rows, depth), operands[1].to_f64s());
    let mut p = vec![0.0; PRODUCTS * height * width];
    for (at, row) in p.chunks_exact_mut(width.max(1)).enumerate() {
        let t = at / height.max(1);
        for k in 0..half_depth {
            let factor = a[at * half_depth + k];
            let of = &u[(t * half_depth + k) * width..][..width];
            row.iter_mut().zip(of).for_each(|(sum, u)| *sum += factor * u);
        }
    }
    let by = product(RESULT);
    let at = |i: usize, j: usize| -> f64 {
        let quarter = i / height * 2 + j / width;
        let of = |t: usize| by[quarter][t] * p[(t * height + i % height) * width + j % width];
        (0..PRODUCTS).map(of).sum()
    };
    let places = (0..rows).flat_map(|i| (0..2 * width).map(move |j| (i, j)));
    let y: Vec<f64> = places.map(|(i, j)| at(i, j)).collect();
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &y)?])
}

/// The sums of quarters of a right side.
pub fn sums(_: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let [rows, columns] = *operands[0].shape() else { return Ok(Vec::new()) };
    let sums = sums_of(RIGHT, &operands[0].to_f64s(), rows, columns);
    Ok(vec![Tensor::from_f64s(results[0].dtype, &static_shape(&results[0])?, &sums)?])
}
