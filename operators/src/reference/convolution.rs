//! Convolutions and their transposes.
//!
//! Both relate windows `o` to data `i = o s + k d - p`: a convolution adds the data's side to the
//! windows' side, its transpose the windows' side to the data's side.

use super::contraction::{Number, add_products, filled};
use super::window::for_each_position;
use super::{Evaluated, static_shape};
use crate::ops::window::Window;
use crate::{Call, Tensor, TensorType};

fn convolve<T: Number>(window: &Window, result: &TensorType, x: &[Tensor], transposed: bool) -> Evaluated {
    let (data, weight) = (&x[0], &x[1]);
    let shape = static_shape(result)?;
    let mut y = filled(result, T::ZERO)?;
    if y.is_empty() || data.is_empty() || weight.is_empty() {
        return T::write(result, &y);
    }
    let (x, w) = (T::read(data), T::read(weight));
    let (windows, read) = if transposed { (data.shape(), &shape[..]) } else { (&shape[..], data.shape()) };
    // Channels of the windows' side are the weight's first axis; of the data's side, groups times its second.
    let (channels, in_group) = (weight.shape()[0], weight.shape()[1]);
    let groups = window.groups as usize;
    let plane = |shape: &[usize]| shape[2..].iter().product::<usize>();
    let (window_plane, read_plane) = (plane(windows), plane(read));
    let kernel = plane(weight.shape());
    let step = window.axes[window.axes.len() - 1].stride as usize;

    for_each_position(window, &windows[2..], &read[2..], |k, runs| {
        for (n, a, b) in
            (0..shape[0]).flat_map(|n| (0..channels).flat_map(move |a| (0..in_group).map(move |b| (n, a, b))))
        {
            let factor = w[(a * in_group + b) * kernel + k];
            let group = a / (channels / groups);
            let at_window = (n * channels + a) * window_plane;
            let at_read = (n * groups * in_group + group * in_group + b) * read_plane;
            for run in runs {
                let (o, i) = (at_window + run.window, at_read + run.data);
                if transposed {
                    add_products(factor, (&x[o..], 1), (&mut y[i..], step), run.count);
                } else {
                    add_products(factor, (&x[i..], step), (&mut y[o..], 1), run.count);
                }
            }
        }
    })?;
    T::write(result, &y)
}

/// `y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]`
pub fn convolution(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let window = Window::of_convolution(call.attrs, &call.operands[1])?;
    if results[0].dtype.is_float() {
        convolve::<f64>(&window, &results[0], x, false)
    } else {
        convolve::<i64>(&window, &results[0], x, false)
    }
}

/// `y[n, g F + f, i s + k d - p] += x[n, g C + c, i] * w[g C + c, f, k]`
pub fn transpose(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let window = Window::of_transpose(call.attrs, &call.operands[1])?;
    if results[0].dtype.is_float() {
        convolve::<f64>(&window, &results[0], x, true)
    } else {
        convolve::<i64>(&window, &results[0], x, true)
    }
}
