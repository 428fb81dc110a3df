//! Grey dilation: the greatest sum of an element of a window and a weight.
//!
//!     y[n, c, i, j] = max over a, b of x[n, c, i s + a d, j s + b d] + w[c, a, b]

use super::places;
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::contraction::{padding, per_axis};
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_operators::Attrs;
use fusion_operators::ops::{elementwise as ew, shape};

/// Windows have at most so many elements: each is an operation.
const MOST_TAPS: i64 = 1024;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("image.dilation2d", 2, &["strides", "padding", "dilations", "data_layout", "kernel_layout", "out_dtype"], dilation),
];

fn dilation<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, weight) = (call.operand(0), call.operand(1));
    let data: [usize; 4] = places(call, "data_layout", "NCHW", ['N', 'C', 'H', 'W'])?;
    let kernel: [usize; 3] = places(call, "kernel_layout", "IHW", ['I', 'H', 'W'])?;
    let x = call.transposed(x, &data.map(|axis| axis as i64))?;
    let weight = call.transposed(weight, &kernel.map(|axis| axis as i64))?;
    let strides = per_axis(call, "strides", 2)?.unwrap_or(vec![1, 1]);
    let dilations = per_axis(call, "dilations", 2)?.unwrap_or(vec![1, 1]);
    let pad = padding(call, 2)?;
    call.moderate(&[&strides[..], &dilations, &pad].concat())?;
    // As in TVM, zeros are put around the image.
    let x = call.padded(x, &[0, 0, pad[0], pad[1]], &[0, 0, pad[2], pad[3]], 0.0)?;
    let (shape, window) = (fixed(call, x)?, fixed(call, weight)?);
    let (&[_, _, h, w], &[_, kh, kw]) = (shape.as_slice(), window.as_slice()) else {
        return call.fault("takes an image of four axes and weights of three");
    };
    if strides.iter().chain(&dilations).any(|&n| n < 1) || kh.saturating_mul(kw) > MOST_TAPS || kh * kw < 1 {
        return call.fault(format!(
            "takes strides and dilations above 0, and a window of 1 to {MOST_TAPS} elements"
        ));
    }
    let count =
        |extent: i64, k: i64, i: usize| (extent - (k - 1) * dilations[i] - 1).div_euclid(strides[i]) + 1;
    let (rows, columns) = (count(h, kh, 0), count(w, kw, 1));
    if rows < 1 || columns < 1 {
        return call.fault("the window is larger than the image");
    }
    let mut greatest = None;
    for a in 0..kh {
        for b in 0..kw {
            let begin = vec![a * dilations[0], b * dilations[1]];
            let end = vec![begin[0] + (rows - 1) * strides[0] + 1, begin[1] + (columns - 1) * strides[1] + 1];
            let attrs = Attrs::new().with("begin", begin).with("end", end).with("axes", [2i64, 3]);
            let part = call.row(&shape::SLICE, &[x], attrs.with("strides", strides.clone()))?;
            let tap = call.sliced(weight, &[1, 2], &[a, b], &[a + 1, b + 1])?;
            let sum = call.add(part, tap)?;
            greatest = Some(match greatest {
                Some(other) => call.plain(&ew::MAXIMUM, &[other, sum])?,
                None => sum,
            });
        }
    }
    let Some(y) = greatest else { return call.fault("the window is empty") };
    let mut back = [0i64; 4];
    data.iter().zip(0..).for_each(|(&axis, i)| back[axis] = i);
    let y = call.transposed(y, &back)?;
    match call.maybe_element("out_dtype")? {
        Some(dtype) => call.cast(y, dtype).map(Made::Value),
        None => Ok(Made::Value(y)),
    }
}
