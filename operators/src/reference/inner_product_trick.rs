//! Products of matrices by the inner-product trick.

use super::{Evaluated, static_shape};
use crate::parameters::inner_product_trick::{PARTS, power, rows};
use crate::{Call, Tensor, TensorType};

/// Rows, in numbers, in the order `q`, that are read in parts.
struct Parts<'n> {
    numbers: &'n dyn Fn(usize) -> f64,
    each: usize,
}

impl Parts<'_> {
    fn at(&self, part: usize, q: usize) -> f64 {
        (self.numbers)(part * self.each + q)
    }

    /// What the pairs of one side are among themselves.
    fn own(&self) -> f64 {
        let one = |q: usize| self.at(0, q) * self.at(1, q) - self.at(3, q) * self.at(4, q);
        (0..self.each).map(one).sum()
    }
}

/// What is multiplied in both sides' parts.
fn products(x: &Parts, u: &Parts) -> f64 {
    let one = |q: usize| {
        let [x, u] = [x, u].map(|side| move |part: usize| side.at(part, q));
        (x(0) + u(1)) * (x(1) + u(0)) + x(2) * u(2) - (u(4) - x(3)) * (u(3) - x(4)) + x(5) * u(5)
    };
    (0..x.each).map(one).sum()
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most, x| f64::max(most, x.abs()))
}

/// `y = s t (p - own of x - own of u)`, of which the right side has its own and `t`.
pub fn matmul(_: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let (x, u) = (operands[0].to_f64s(), operands[1].to_f64s());
    let ([.., height, depth], [.., all, width]) = (operands[0].shape(), operands[1].shape()) else {
        return Ok(Vec::new());
    };
    let (height, depth, all, width) = (*height, *depth, *all, *width);
    let padded = depth.next_multiple_of(PARTS as usize);
    let each = padded / PARTS as usize;
    let lead: usize = shape[..shape.len() - 2].iter().product();
    let mut y = Vec::with_capacity(lead * height * width);
    for row in 0..lead * height {
        let numbers = &x[row * depth..][..depth];
        let scale = power(largest(numbers.iter().copied()));
        let of_row = |k: usize| numbers.get(k).map_or(0.0, |x| x / scale);
        let left = Parts { numbers: &of_row, each };
        let right = &u[row / height * all * width..][..all * width];
        let own = left.own();
        for j in 0..width {
            let of_column = |k: usize| right[k * width + j];
            let sum = products(&left, &Parts { numbers: &of_column, each });
            y.push((sum - own - of_column(padded)) * scale * of_column(padded + 1));
        }
    }
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &y)?])
}

/// `y[n, f, i, j]` of the numbers of all channels at a place and of those of a filter.
pub fn pointwise(_: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let (x, u) = (operands[0].to_f64s(), operands[1].to_f64s());
    let [images, filters, height, width] = shape[..] else { return Ok(Vec::new()) };
    let (depth, places) = (operands[0].shape()[1], height * width);
    let padded = depth.next_multiple_of(PARTS as usize);
    let each = padded / PARTS as usize;
    let mut y = vec![0.0; images * filters * places];
    for place in 0..images * places {
        let (image, at) = (place / places, place % places);
        let number = |k: usize| x[(image * depth + k) * places + at];
        let scale = power(largest((0..depth).map(number)));
        let of_place = |k: usize| if k < depth { number(k) / scale } else { 0.0 };
        let left = Parts { numbers: &of_place, each };
        let own = left.own();
        for f in 0..filters {
            let of_filter = |k: usize| u[k * filters + f];
            let sum = products(&left, &Parts { numbers: &of_filter, each });
            y[(image * filters + f) * places + at] =
                (sum - own - of_filter(padded)) * scale * of_filter(padded + 1);
        }
    }
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &y)?])
}

/// A right side, its columns divided by powers of two, with zeros, their own sums, and those powers behind.
pub fn right(_: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let (Some(x), [.., depth, width]) = (operands[0].to_vec::<f32>(), operands[0].shape()) else {
        return Ok(Vec::new());
    };
    let (depth, width) = (*depth, *width);
    let all = rows(depth as u64) as usize;
    let each = depth.div_ceil(PARTS as usize);
    let lead: usize = shape[..shape.len() - 2].iter().product();
    let mut u = vec![0.0f32; lead * all * width];
    for (from, to) in x.chunks_exact((depth * width).max(1)).zip(u.chunks_exact_mut((all * width).max(1))) {
        for j in 0..width {
            let scale = power(largest((0..depth).map(|k| from[k * width + j].into())));
            (0..depth).for_each(|k| to[k * width + j] = (f64::from(from[k * width + j]) / scale) as f32);
            let of_column = |k: usize| f64::from(to[k * width + j]);
            let own = Parts { numbers: &of_column, each }.own();
            to[PARTS as usize * each * width + j] = own as f32;
            to[(PARTS as usize * each + 1) * width + j] = scale as f32;
        }
    }
    Ok(vec![Tensor::from_slice(&shape, &u)?])
}
