//! The transforms of convolutions in Winograd's form, see [`ops::winograd`](crate::ops::winograd), and their padding.

use crate::{Call, Tensor, TensorError};

/// A matrix by rows.
pub type Matrix = &'static [&'static [f64]];

/// The transforms for tiles of `size` results in one dimension.
pub struct Transform {
    /// Results of a tile along an axis.
    pub size: usize,
    /// The largest error of a result of one channel in f32, as a part of the largest one near it. It grows with the root of the channels.
    pub rounding: f64,
    /// `B'`, the product of the second and the first.
    pub data: [Matrix; 2],
    /// `G`.
    pub weight: Matrix,
    /// `A'`, the product of the second and the first.
    pub result: [Matrix; 2],
}

impl Transform {
    /// Elements of the data that a tile reads along an axis.
    pub const fn reads(&self) -> usize {
        self.size + 2
    }

    /// The largest error of a result of so many channels, as a part of the largest result near it.
    pub fn error(&self, channels: u64) -> f64 {
        self.rounding * (channels as f64).sqrt()
    }
}

const F2: Transform = Transform {
    size: 2,
    rounding: 8e-8,
    data: [
        &[&[1., 0., -1., 0.], &[0., 1., 1., 0.], &[0., -1., 1., 0.], &[0., 1., 0., -1.]],
        &[&[1., 0., 0., 0.], &[0., 1., 0., 0.], &[0., 0., 1., 0.], &[0., 0., 0., 1.]],
    ],
    weight: &[&[1., 0., 0.], &[0.5, 0.5, 0.5], &[0.5, -0.5, 0.5], &[0., 0., 1.]],
    result: [
        &[&[1., 0., 0., 0.], &[0., 1., 1., 0.], &[0., 1., -1., 0.], &[0., 0., 0., 1.]],
        &[&[1., 1., 0., 0.], &[0., 0., 1., -1.]],
    ],
};

/// The points 0, ±3/4, ±3/2 and infinity, in place of 0, ±1, ±2: products of powers of two and three keep the coefficients exact and near
/// each other, which makes the largest error a third (Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the Accuracy
/// of Winograd Convolution for Deep Neural Networks", 2020, section 5; found there by search).
const F4: Transform = Transform {
    size: 4,
    rounding: 4e-7,
    data: [
        &[
            &[81. / 64., 0., -45. / 16., 0., 1., 0.],
            &[0., 0., -9. / 4., 0., 1., 0.],
            &[0., -9. / 4., 0., 1., 0., 0.],
            &[0., 0., -9. / 16., 0., 1., 0.],
            &[0., -9. / 16., 0., 1., 0., 0.],
            &[0., 81. / 64., 0., -45. / 16., 0., 1.],
        ],
        &[
            &[1., 0., 0., 0., 0., 0.],
            &[0., 1., 3. / 4., 0., 0., 0.],
            &[0., 1., -3. / 4., 0., 0., 0.],
            &[0., 0., 0., 1., 3. / 2., 0.],
            &[0., 0., 0., 1., -3. / 2., 0.],
            &[0., 0., 0., 0., 0., 1.],
        ],
    ],
    weight: &[
        &[64. / 81., 0., 0.],
        &[-128. / 243., -32. / 81., -8. / 27.],
        &[-128. / 243., 32. / 81., -8. / 27.],
        &[32. / 243., 16. / 81., 8. / 27.],
        &[32. / 243., -16. / 81., 8. / 27.],
        &[0., 0., 1.],
    ],
    result: [
        &[
            &[1., 0., 0., 0., 0., 0.],
            &[0., 1., 1., 0., 0., 0.],
            &[0., 1., -1., 0., 0., 0.],
            &[0., 0., 0., 1., 1., 0.],
            &[0., 0., 0., 1., -1., 0.],
            &[0., 0., 0., 0., 0., 1.],
        ],
        &[
            &[1., 1., 0., 1., 0., 0.],
            &[0., 0., 3. / 4., 0., 3. / 2., 0.],
            &[0., 9. / 16., 0., 9. / 4., 0., 0.],
            &[0., 0., 27. / 64., 0., 27. / 8., 1.],
        ],
    ],
};

/// The transforms for tiles of that many results along an axis: 2 or 4.
pub fn transform(tile: i64) -> Option<&'static Transform> {
    [&F2, &F4].into_iter().find(|t| t.size as i64 == tile)
}

/// `u[i (m + 2) + j, c, f] = (G w[f, c] G')[i, j]`, computed in f64.
pub fn transform_weight(weight: &Tensor, by: &Transform) -> Result<Tensor, TensorError> {
    let (filters, channels, reads) = (weight.shape()[0], weight.shape()[1], by.reads());
    let w = weight.to_f64s();
    let mut u = Tensor::zeros(weight.dtype(), &[reads * reads, channels, filters])?;
    let mut rows = vec![0.0; reads * reads * filters];
    for c in 0..channels {
        for f in 0..filters {
            let of = &w[(f * channels + c) * 9..][..9];
            let column = |i: usize, b: usize| (0..3).map(|a| by.weight[i][a] * of[a * 3 + b]).sum::<f64>();
            for i in 0..reads {
                let half = [column(i, 0), column(i, 1), column(i, 2)];
                for j in 0..reads {
                    let terms = half.iter().zip(by.weight[j]).map(|(a, b)| a * b);
                    rows[(i * reads + j) * filters + f] = terms.sum();
                }
            }
        }
        for (k, row) in rows.chunks_exact(filters.max(1)).enumerate() {
            u.set_f64s((k * channels + c) * filters, row);
        }
    }
    Ok(u)
}

/// Padding at the top, left, bottom and right; none when absent.
pub fn padding(call: &Call) -> Option<[i64; 4]> {
    let given = call.attrs.ints("padding").unwrap_or(&[0, 0, 0, 0]);
    <[i64; 4]>::try_from(given).ok().filter(|p| p.iter().all(|&n| n >= 0))
}
