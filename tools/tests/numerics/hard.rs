//! Operands of products that are hard for rounding.

use fusion_operators::random::Random;
use fusion_operators::{DType, Tensor};

/// A kind of operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hard {
    /// Of one size.
    Normal,
    /// Numbers of one sign.
    Positive,
    /// One of the numbers summed over is a thousand times the others, and its weights are as much smaller.
    OutlierChannel,
    /// Rows and columns of many sizes.
    LogNormal,
    /// One row has an infinity.
    Infinity,
    /// One row has a number near the largest.
    Largest,
    /// Numbers near the smallest.
    Denormal,
    /// Sums whose terms cancel.
    Cancelling,
}

pub const ALL: [Hard; 8] = {
    use Hard::*;
    [Normal, Positive, OutlierChannel, LogNormal, Infinity, Largest, Denormal, Cancelling]
};

/// A number about as large as 1.
pub fn normal(random: &mut Random) -> f64 {
    (0..4).map(|_| 2.0 * random.next_f64() - 1.0).sum::<f64>()
}

impl Hard {
    /// `x[rows, depth]` and `y[depth, columns]` of a type.
    pub fn operands(self, dtype: DType, [rows, depth, columns]: [usize; 3], seed: u64) -> [Tensor; 2] {
        let mut random = Random::new(seed);
        let narrow = dtype == DType::F16;
        let mut of = |n: usize| -> Vec<f64> { (0..n).map(|_| normal(&mut random)).collect() };
        let (mut x, mut y) = (of(rows * depth), of(depth * columns));
        let size = |random: &mut Random| (normal(random) * if narrow { 1.0 } else { 3.0 }).exp();
        match self {
            Hard::Normal => {}
            Hard::Positive => x.iter_mut().chain(&mut y).for_each(|v| *v = v.abs()),
            Hard::OutlierChannel => {
                let by = if narrow { 100.0 } else { 1000.0 };
                let at = depth / 3;
                (0..rows).for_each(|i| x[i * depth + at] *= by);
                (0..columns).for_each(|j| y[at * columns + j] /= by);
            }
            Hard::LogNormal => {
                for row in x.chunks_mut(depth) {
                    let by = size(&mut random);
                    row.iter_mut().for_each(|v| *v *= by);
                }
                let by: Vec<f64> = (0..columns).map(|_| size(&mut random)).collect();
                y.chunks_mut(columns).for_each(|row| row.iter_mut().zip(&by).for_each(|(v, by)| *v *= by));
            }
            Hard::Infinity => x[(rows / 2) * depth + 1] = f64::INFINITY,
            Hard::Largest => {
                let row = (rows / 2) * depth;
                x[row..row + depth].fill(0.0);
                x[row + depth / 2] = if narrow { 6e4 } else { 3e38 };
                y.iter_mut().for_each(|v| *v = v.signum() * v.abs().min(1.0));
            }
            Hard::Denormal => {
                let by = if narrow { 1e-6 } else { 1e-39 };
                x.iter_mut().for_each(|v| *v *= by);
            }
            Hard::Cancelling => {
                for row in x.chunks_mut(depth) {
                    let half = depth / 2;
                    (0..half).for_each(|k| row[half + k] = -row[k] * (1.0 + 1e-3));
                }
                let half = (depth / 2) * columns;
                (0..half).for_each(|k| y[half + k] = y[k]);
            }
        }
        let tensor = |shape: &[usize], v: &[f64]| Tensor::from_f64s(dtype, shape, v).unwrap();
        [tensor(&[rows, depth], &x), tensor(&[depth, columns], &y)]
    }
}
