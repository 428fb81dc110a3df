//! Columns added into an image.

use super::contraction::{Number, add_products, filled};
use super::window::for_each_position;
use super::{Evaluated, static_shape};
use crate::ops::window::Window;
use crate::{Call, Tensor, TensorType};

fn add<T: Number>(call: &Call, result: &TensorType, x: &Tensor) -> Evaluated {
    let shape = static_shape(result)?;
    let window = Window::of_columns(call.attrs, shape.len() - 2)?;
    let mut y = filled(result, T::ZERO)?;
    if y.is_empty() || x.is_empty() {
        return T::write(result, &y);
    }
    let values = T::read(x);
    let planes = shape[0] * shape[1];
    let (to_plane, columns) = (y.len() / planes, x.shape()[2..].iter().product::<usize>());
    let positions = values.len() / planes / columns;
    let step = window.axes[window.axes.len() - 1].stride as usize;
    for_each_position(&window, &x.shape()[2..], &shape[2..], |k, runs| {
        for (plane, y) in y.chunks_exact_mut(to_plane).enumerate() {
            let from = &values[(plane * positions + k) * columns..][..columns];
            for run in runs {
                add_products(T::ONE, (&from[run.window..], 1), (&mut y[run.data..], step), run.count);
            }
        }
    })?;
    T::write(result, &y)
}

/// `y[n, c, i s + k d - p] += x[n, c K + k, i]`
pub fn col2im(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    if results[0].dtype.is_float() {
        add::<f64>(call, &results[0], &x[0])
    } else {
        add::<i64>(call, &results[0], &x[0])
    }
}
