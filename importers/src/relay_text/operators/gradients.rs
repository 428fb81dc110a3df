//! Gradients of pools and convolutions, which TVM's own gradient pass wrote into programs.
//!
//! ```text
//!   nn.max_pool2d_grad           each window's gradient goes to its first greatest element
//!   nn.avg_pool2d_grad           each window's gradient is shared by its elements
//!   nn.conv2d_backward_weight    a convolution of data and gradient, whose batch is summed over and whose strides and dilation change places
//! ```
//! What goes back to a place of a window is a tap: one tensor for each place of the kernel. `relay.col2im` adds the taps into the image.

use super::contraction::{padding, per_axis};
use super::pooling::AVG;
use super::shape::fixed;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::Attrs;
use fusion_operators::ops::{columns, convolution, elementwise as ew, shape};
use fusion_operators::rounding::greatest;

const WEIGHT: &[&str] = &[
    "strides",
    "padding",
    "dilation",
    "groups",
    "kernel_size",
    "grad_layout",
    "data_layout",
    "kernel_layout",
    "out_dtype",
];

pub const BUILT: &[Built] = &[
    built("nn.max_pool2d_grad", 2, AVG, max_pool),
    built("nn.avg_pool2d_grad", 2, AVG, avg_pool),
    Built {
        name: "nn.conv2d_backward_weight",
        operands: (2, 2),
        attributes: WEIGHT,
        ignored: &["channels"],
        build: backward_weight,
    },
];

/// The windows of a pool over two axes.
struct Windows {
    /// Extents of the data, and of the gradient.
    data: Vec<i64>,
    grad: Vec<i64>,
    kernel: Vec<i64>,
    strides: Vec<i64>,
    /// All beginnings, then all ends; with what the last window hangs over.
    padding: Vec<i64>,
    /// What no window reaches at the end.
    rest: Vec<i64>,
}

impl Windows {
    fn of<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Windows> {
        call.require("layout", "NCHW", &["NCHW"])?;
        call.require("out_layout", "", &["NCHW"])?;
        if per_axis(call, "dilation", 2)?.is_some_and(|dilation| dilation != [1, 1]) {
            return call.fault("only dilation=[1, 1] is supported");
        }
        let (grad, data) = (call.operand(0), call.operand(1));
        let (grad, data) = (fixed(call, grad)?, fixed(call, data)?);
        let Some(kernel) = per_axis(call, "pool_size", 2)? else {
            return call.fault("the attribute pool_size is missing");
        };
        let strides = per_axis(call, "strides", 2)?.unwrap_or(vec![1, 1]);
        let mut padding = padding(call, 2)?;
        for numbers in [&kernel, &strides, &padding] {
            call.moderate(numbers)?;
        }
        if grad.len() != 4 || data.len() != 4 || grad[..2] != data[..2] {
            return call
                .fault(format!("takes a gradient and data of two image axes, found {grad:?} and {data:?}"));
        }
        if kernel.iter().chain(&strides).any(|&n| n < 1) || padding.iter().any(|&n| n < 0) {
            return call.fault("pool_size and strides must be above 0, padding not below");
        }
        let mut rest = Vec::new();
        for axis in 0..2 {
            let reached = (grad[2 + axis] - 1) * strides[axis] + kernel[axis];
            let all = data[2 + axis] + padding[axis] + padding[2 + axis];
            rest.push((all - reached).max(0));
            padding[2 + axis] += (reached - all).max(0);
            if rest[axis] >= strides[axis] || reached - all >= strides[axis] {
                return call.fault(format!(
                    "{} windows are not as many as axis {} of the data has",
                    grad[2 + axis],
                    2 + axis
                ));
            }
        }
        call.countable(&kernel)?;
        Ok(Windows { data, grad, kernel, strides, padding, rest })
    }

    /// The places of a window, in order.
    fn places(&self) -> Vec<[i64; 2]> {
        (0..self.kernel[0]).flat_map(|y| (0..self.kernel[1]).map(move |x| [y, x])).collect()
    }

    /// The taps added into an image: one for each place, as many as windows.
    fn added<'c>(&self, call: &mut Call<'_, 'c, '_>, taps: &[Value<'c>]) -> Outcome<Value<'c>> {
        let taps: Vec<Value<'c>> =
            taps.iter().map(|&tap| call.expanded(tap, &[2])).collect::<Outcome<_>>()?;
        let all = call.joined(&taps, 2)?;
        let channels = self.data[1] * taps.len() as i64;
        let columns = call.reshaped(all, &[self.data[0], channels, self.grad[2], self.grad[3]])?;
        let attrs = Attrs::new()
            .with("kernel", self.kernel.clone())
            .with("strides", self.strides.clone())
            .with("padding", self.padding.clone())
            .with("output_padding", self.rest.clone());
        call.row(&columns::COL2IM, &[columns], attrs)
    }
}

fn max_pool<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let windows = Windows::of(call)?;
    let (grad, data) = (call.operand(0), call.operand(1));
    let [top, left, bottom, right] = windows.padding[..] else { return call.fault("padding has two axes") };
    let least = -greatest(call.dtype(data)?);
    let padded = call.padded(data, &[0, 0, top, left], &[0, 0, bottom, right], least)?;
    let mut found: Vec<Value> = Vec::new();
    for [y, x] in windows.places() {
        let end = [y, x].into_iter().zip(&windows.strides).zip(&windows.grad[2..]);
        let end: Vec<i64> = end.map(|((first, stride), count)| first + (count - 1) * stride + 1).collect();
        let attrs = Attrs::new().with("begin", [y, x]).with("end", end).with("axes", [2, 3]);
        found.push(call.row(&shape::SLICE, &[padded], attrs.with("strides", windows.strides.clone()))?);
    }
    let mut most = found[0];
    for &other in &found[1..] {
        most = call.plain(&ew::MAXIMUM, &[most, other])?;
    }
    // The first of those that are greatest.
    let none = call.like(grad, 0.0)?;
    let (mut taken, mut taps): (Option<Value>, Vec<Value>) = (None, Vec::new());
    for value in found {
        let is_most = call.plain(&ew::EQUAL, &[value, most])?;
        let (first, all) = match taken {
            None => (is_most, is_most),
            Some(taken) => {
                let free = call.plain(&ew::LOGICAL_NOT, &[taken])?;
                let first = call.plain(&ew::LOGICAL_AND, &[is_most, free])?;
                (first, call.plain(&ew::LOGICAL_OR, &[is_most, taken])?)
            }
        };
        taken = Some(all);
        taps.push(call.select(first, grad, none)?);
    }
    windows.added(call, &taps).map(Made::Value)
}

/// A window is shared by its elements inside the data, or by those in the padding too.
fn avg_pool<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let windows = Windows::of(call)?;
    let padded = call.flag("count_include_pad", false)?;
    let given = padding(call, 2)?;
    let grad = call.operand(0);
    let counts = |axis: usize| -> Vec<f64> {
        let count = |window: i64| {
            let begin = window * windows.strides[axis] - windows.padding[axis];
            let (least, most) = match padded {
                true => (-given[axis], windows.data[2 + axis] + given[2 + axis]),
                false => (0, windows.data[2 + axis]),
            };
            ((begin + windows.kernel[axis]).min(most) - begin.max(least)).max(1) as f64
        };
        (0..windows.grad[2 + axis]).map(count).collect()
    };
    let (down, across) = (counts(0), counts(1));
    call.countable(&windows.grad[2..])?;
    let all: Vec<f64> = down.iter().flat_map(|a| across.iter().map(move |b| a * b)).collect();
    let dtype = call.dtype(grad)?;
    let counts = call.floats_in(dtype, &[1, 1, windows.grad[2], windows.grad[3]], &all)?;
    let share = call.div(grad, counts)?;
    let taps = vec![share; windows.places().len()];
    windows.added(call, &taps).map(Made::Value)
}

/// Channels are what a batch was, the batch what channels were.
fn backward_weight<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    for (name, order) in [("grad_layout", "NCHW"), ("data_layout", "NCHW"), ("kernel_layout", "OIHW")] {
        call.require(name, order, &[order])?;
    }
    if call.int("groups", 1)? != 1 {
        return call.fault("only groups=1 is supported");
    }
    let Some(kernel) = per_axis(call, "kernel_size", 2)? else {
        return call.fault("the attribute kernel_size is missing");
    };
    let strides = per_axis(call, "strides", 2)?.unwrap_or(vec![1, 1]);
    let dilation = per_axis(call, "dilation", 2)?.unwrap_or(vec![1, 1]);
    let padding = padding(call, 2)?;
    let (grad, data) = (call.operand(0), call.operand(1));
    let grad = call.transposed(grad, &[1, 0, 2, 3])?;
    let data = call.transposed(data, &[1, 0, 2, 3])?;
    let attrs = Attrs::new().with("strides", dilation).with("dilation", strides).with("padding", padding);
    let all = call.row(&convolution::CONV2D, &[data, grad], attrs)?;
    // Where windows leave out what is at the end, there are more places than the kernel has.
    let weight = call.sliced(all, &[2, 3], &[0, 0], &kernel)?;
    let weight = call.transposed(weight, &[1, 0, 2, 3])?;
    match call.maybe_element("out_dtype")? {
        Some(dtype) => call.cast(weight, dtype).map(Made::Value),
        None => Ok(Made::Value(weight)),
    }
}
