//! Products of matrices by Strassen's algorithm.

use super::winograd::product;
use super::{Evaluated, static_shape};
use crate::parameters::strassen::{LEFT, PRODUCTS, RESULT, RIGHT};
use crate::parameters::winograd::Matrix;
use crate::{Call, Tensor, TensorType};

/// The sums of quarters of a matrix, `[t, i, j]`, row by row: weights of a hundred million numbers are summed up when compiling.
fn each_row<T: Copy + Into<f64>>(
    by: [Matrix; 2],
    x: &[T],
    [rows, columns]: [usize; 2],
    mut take: impl FnMut(&[f64]),
) {
    let (height, width) = (rows / 2, columns / 2);
    let mut sum = vec![0.0; width];
    for terms in product(by) {
        for i in 0..height {
            sum.fill(0.0);
            for (q, &factor) in terms.iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
                let quarter = &x[(q / 2 * height + i) * columns + q % 2 * width..][..width];
                sum.iter_mut().zip(quarter).for_each(|(sum, x)| *sum += factor * (*x).into());
            }
            take(&sum);
        }
    }
}

/// `C = sums of p`, `p[t] = a[t] u[t]`, with `a` the sums of the left side's quarters.
pub fn matmul(_: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let ([rows, depth], [_, half_depth, width]) = (operands[0].shape(), operands[1].shape()) else {
        return Ok(Vec::new());
    };
    let (rows, depth, half_depth, width) = (*rows, *depth, *half_depth, *width);
    let height = rows / 2;
    let (mut a, u) = (Vec::new(), operands[1].to_f64s());
    each_row(LEFT, &operands[0].to_f64s(), [rows, depth], |row| a.extend_from_slice(row));
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
    let Some(x) = operands[0].to_vec::<f32>() else { return Ok(Vec::new()) };
    let mut sums: Vec<f32> = Vec::with_capacity(PRODUCTS * (rows / 2) * (columns / 2));
    each_row(RIGHT, &x, [rows, columns], |row| sums.extend(row.iter().map(|&sum| sum as f32)));
    Ok(vec![Tensor::from_slice(&static_shape(&results[0])?, &sums)?])
}
