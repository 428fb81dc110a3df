//! Convolutions in Winograd's form.

use super::{Evaluated, static_shape};
use crate::parameters::winograd::{Matrix, padding, transform, transform_weight};
use crate::{Call, Tensor, TensorType, Violation};

/// The product of a transform's two matrices.
pub(super) fn product([first, second]: [Matrix; 2]) -> Vec<Vec<f64>> {
    let row = |r: &&[f64]| {
        let column = |j: usize| r.iter().zip(first).map(|(a, b)| a * b[j]).sum();
        (0..first[0].len()).map(column).collect()
    };
    second.iter().map(row).collect()
}

/// `m x m'`, row-major.
fn both_sides(m: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let n = m[0].len();
    let at = |i: usize, j: usize| -> f64 { (0..n * n).map(|k| m[i][k / n] * x[k] * m[j][k % n]).sum() };
    (0..m.len()).flat_map(|i| (0..m.len()).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect()
}

/// `y = A' [ sum_c u[:, c, f] * (B' x B) ] A` for each tile.
pub fn winograd(call: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let by = transform(call.attrs.int_or("tile", 0));
    let (Some(by), Some([top, left, ..])) = (by, padding(call)) else {
        return Err(Violation::new(3, "tile must be 2 or 4, and padding four numbers").into());
    };
    let (reads, size) = (by.reads(), by.size);
    let shape = static_shape(&results[0])?;
    let (x, u) = (operands[0].to_f64s(), operands[1].to_f64s());
    let [_, channels, h, w] = *operands[0].shape() else { return Ok(Vec::new()) };
    let (images, filters, height, width) = (shape[0], shape[1], shape[2], shape[3]);
    let (data, result) = (product(by.data), product(by.result));
    let mut y = vec![0.0; images * filters * height * width];
    let tiles = (0..images).flat_map(|n| {
        (0..height.div_ceil(size))
            .flat_map(move |i| (0..width.div_ceil(size)).map(move |j| (n, i * size, j * size)))
    });
    for (n, row, column) in tiles {
        let element = |c: usize, k: usize| {
            let i = (row + k / reads).checked_sub(top as usize).filter(|&i| i < h);
            let j = (column + k % reads).checked_sub(left as usize).filter(|&j| j < w);
            i.zip(j).map_or(0.0, |(i, j)| x[((n * channels + c) * h + i) * w + j])
        };
        let transformed: Vec<Vec<f64>> = (0..channels)
            .map(|c| both_sides(&data, &(0..reads * reads).map(|k| element(c, k)).collect::<Vec<_>>()))
            .collect();
        for f in 0..filters {
            let sum = |k: usize| {
                (0..channels).map(|c| transformed[c][k] * u[(k * channels + c) * filters + f]).sum()
            };
            let sums: Vec<f64> = (0..reads * reads).map(sum).collect();
            for (k, value) in both_sides(&result, &sums).into_iter().enumerate() {
                let (i, j) = (row + k / size, column + k % size);
                if i < height && j < width {
                    y[((n * filters + f) * height + i) * width + j] = value;
                }
            }
        }
    }
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &y)?])
}

/// `G w G'` for each filter and channel.
pub fn weight(call: &Call, _: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let Some(by) = transform(call.attrs.int_or("tile", 0)) else {
        return Err(Violation::new(2, "tile must be 2 or 4").into());
    };
    Ok(vec![transform_weight(&operands[0], by)?])
}
