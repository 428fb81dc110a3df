//! Convolutions as products of matrices on ARM, whose weights TVM cuts into tiles ahead.
//!
//! ```text
//!   W[K, N] = weights HWIO, K = H W I; padded with 0
//!   nn.contrib_conv2d_gemm_weight_transform      [N / n, K / k, n, k] of integers of 8 bits, [N / n, K / k, k, n] of others
//! ```
//! Tiles lose nothing, so that the convolution that takes them is the ordinary one. Source: TVM's operator, whose attributes are
//! tile_rows and tile_cols until 0.14 (K is padded to k) and tile_N and tile_K since 0.15 (K is padded to 4 k).

use super::contraction::{CONV, SIZES, convolution, per_axis};
use super::rearranging::relaid;
use super::shape::fixed;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::convolution as conv;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("nn.contrib_conv2d_gemm_weight_transform", 1, &["tile_rows", "tile_cols", "tile_N", "tile_K"], transformed),
    Built { name: "nn.contrib_conv2d_gemm_without_weight_transform", operands: (2, 2), attributes: CONV, ignored: SIZES, build: convolved },
];

/// Whether the rows of a tile are columns of W.
fn is_turned<'c>(call: &Call<'_, 'c, '_>, weight: Value<'c>) -> Outcome<bool> {
    let dtype = call.dtype(weight)?;
    Ok(dtype.is_int() && dtype.size() == 1)
}

fn transformed<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let weight = call.operand(0);
    let turned = is_turned(call, weight)?;
    let is_older = call.written("tile_rows").is_some();
    let [n, k] = match is_older {
        true => [call.required("tile_rows")?, call.required("tile_cols")?],
        false => [call.required("tile_N")?, call.required("tile_K")?],
    };
    if is_older && !turned {
        return call.fault("takes weights of 8 bits with tile_rows and tile_cols");
    }
    let &[height, width, inputs, outputs] = fixed(call, weight)?.as_slice() else {
        return call.fault("takes weights of the four axes HWIO");
    };
    if !(1..=4096).contains(&n) || !(1..=4096).contains(&k) {
        return call.fault(format!("takes tiles of 1 to 4096 elements a side, found {n} and {k}"));
    }
    let rows = height * width * inputs;
    let padded = [multiple(rows, if is_older { k } else { 4 * k }), multiple(outputs, n)];
    let w = call.reshaped(weight, &[rows, outputs])?;
    let w = call.padded(w, &[0, 0], &[padded[0] - rows, padded[1] - outputs], 0.0)?;
    let w = call.reshaped(w, &[padded[0] / k, k, padded[1] / n, n])?;
    call.transposed(w, if turned { &[2, 0, 3, 1] } else { &[2, 0, 1, 3] }).map(Made::Value)
}

/// The least multiple that is not below.
fn multiple(number: i64, step: i64) -> i64 {
    (number + step - 1) / step * step
}

fn convolved<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (data, tiles) = (call.operand(0), call.operand(1));
    let (layout, order) =
        (call.text("data_layout", "NCHW")?.to_owned(), call.text("kernel_layout", "OIHW")?.to_owned());
    let image = fixed(call, data)?;
    let inputs = layout.chars().position(|axis| axis == 'C').and_then(|axis| image.get(axis).copied());
    let kernel = per_axis(call, "kernel_size", 2)?;
    let (Some(kernel), Some(inputs), 4) = (kernel, inputs.filter(|_| image.len() == 4), layout.len()) else {
        return call.fault("takes data in NHWC or another order of these axes, channels and kernel_size");
    };
    let outputs = call.required("channels")?;
    call.moderate(&kernel)?;
    call.moderate(&[outputs, inputs])?;
    let (turned, given) = (is_turned(call, tiles)?, fixed(call, tiles)?);
    let [columns, rows, a, b] = given[..] else {
        return call.fault(format!("takes weights in tiles of four axes, found {given:?}"));
    };
    let (n, k) = if turned { (a, b) } else { (b, a) };
    let needed = kernel.iter().chain([&inputs]).try_fold(1i64, |count, n| count.checked_mul(*n));
    let Some(needed) = needed.filter(|&needed| {
        kernel.iter().all(|&n| n > 0) && needed <= rows * k && (1..=columns * n).contains(&outputs)
    }) else {
        return call.fault(format!(
            "weights in tiles {given:?} are none of {outputs} channels from {inputs} with a kernel of {kernel:?}"
        ));
    };
    if call.int("groups", 1)? != 1 {
        return call.fault("only groups=1 is supported");
    }
    let w = call.transposed(tiles, if turned { &[1, 3, 0, 2] } else { &[1, 2, 0, 3] })?;
    let w = call.reshaped(w, &[rows * k, columns * n])?;
    let w = call.sliced(w, &[0, 1], &[0, 0], &[needed, outputs])?;
    let w = call.reshaped(w, &[kernel[0], kernel[1], inputs, outputs])?;
    call.arguments[1] = Made::Value(relaid(call, w, "HWIO", &order)?);
    convolution(call, &conv::CONV2D, 2, "NCHW", "OIHW")
}
