//! Fourier transforms, as products with the matrices of cosines and sines.
//!
//! They take time proportional to the square of the length, as TVM's do.

use super::shape::fixed;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::contraction;
use fusion_operators::{Attrs, DType};
use std::f64::consts::TAU;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("dft", 2, &["inverse"], dft),
    built("stft", 2, &["n_fft", "hop_length", "win_length", "normalized", "onesided"], stft),
];

/// cos and sin of 2 pi i k / n, for i below the rows and k below the columns.
fn waves<'c>(
    call: &mut Call<'_, 'c, '_>,
    dtype: DType,
    [rows, columns]: [i64; 2],
    n: i64,
) -> Outcome<[Value<'c>; 2]> {
    call.countable(&[rows, columns])?;
    let angle = |i: i64| TAU * ((i / columns) * (i % columns) % n) as f64 / n as f64;
    let cosines: Vec<f64> = (0..rows * columns).map(|i| angle(i).cos()).collect();
    let sines: Vec<f64> = (0..rows * columns).map(|i| angle(i).sin()).collect();
    let shape = [rows, columns];
    Ok([call.floats_in(dtype, &shape, &cosines)?, call.floats_in(dtype, &shape, &sines)?])
}

fn product<'c>(call: &mut Call<'_, 'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    call.row(&contraction::MATMUL, &[a, b], Attrs::new())
}

/// Of the last axis of a real and an imaginary part.
fn dft<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (real, imaginary, inverse) = (call.operand(0), call.operand(1), call.flag("inverse", false)?);
    let (shape, dtype) = (fixed(call, real)?, call.dtype(real)?);
    let Some(&n) = shape.last().filter(|n| **n > 0) else {
        return call.fault("takes an axis that is not empty");
    };
    let [cosines, sines] = waves(call, dtype, [n, n], n)?;
    let wide = if shape.len() == 1 { vec![1, n] } else { shape.clone() };
    let (real, imaginary) = (call.reshaped(real, &wide)?, call.reshaped(imaginary, &wide)?);
    let parts = [(real, cosines), (imaginary, sines), (imaginary, cosines), (real, sines)];
    let mut products = Vec::new();
    for (part, wave) in parts {
        products.push(product(call, part, wave)?);
    }
    // e^(-it) = cos t - i sin t; the inverse turns the other way, and divides by n.
    let (mut re, mut im) = if inverse {
        (call.sub(products[0], products[1])?, call.add(products[2], products[3])?)
    } else {
        (call.add(products[0], products[1])?, call.sub(products[2], products[3])?)
    };
    if inverse {
        (re, im) = (call.times(re, 1.0 / n as f64)?, call.times(im, 1.0 / n as f64)?);
    }
    let (re, im) = (call.reshaped(re, &shape)?, call.reshaped(im, &shape)?);
    Ok(Made::several(vec![re, im]))
}

/// Frames of the signal, each weighted by the window and transformed: [batch, frequencies, frames, 2].
fn stft<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, window) = (call.operand(0), call.operand(1));
    let n = call.required("n_fft")?;
    let or = |given: i64, other: i64| if given > 0 { given } else { other };
    let hop = or(call.int("hop_length", -1)?, n / 4);
    let length = or(call.int("win_length", -1)?, n);
    let (shape, dtype) = (fixed(call, x)?, call.dtype(x)?);
    let (batch, signal) = match shape[..] {
        [signal] => (1, signal),
        [batch, signal] => (batch, signal),
        _ => return call.fault("takes one signal or a batch of them"),
    };
    if n < 1 || hop < 1 || length > n || signal < n {
        return call.fault(format!(
            "n_fft={n}, hop_length={hop} and win_length={length} do not fit a signal of {signal}"
        ));
    }
    let (frames, rows) = ((signal - n) / hop + 1, if call.flag("onesided", true)? { n / 2 + 1 } else { n });
    call.countable(&[frames, length])?;
    let places: Vec<i64> = (0..frames).flat_map(|frame| (0..length).map(move |i| frame * hop + i)).collect();
    let places = call.ints_in(DType::I64, &[frames, length], &places)?;
    let x = call.reshaped(x, &[batch, signal])?;
    let framed = call.gathered(x, places, 1)?;
    let framed = call.mul(framed, window)?;
    let [cosines, sines] = waves(call, dtype, [length, rows], length)?;
    let scale = if call.flag("normalized", false)? { 1.0 / (n as f64).sqrt() } else { 1.0 };
    let mut parts = Vec::new();
    for (wave, sign) in [(cosines, 1.0), (sines, -1.0)] {
        let part = product(call, framed, wave)?;
        let part = call.times(part, sign * scale)?;
        let part = call.transposed(part, &[0, 2, 1])?;
        parts.push(call.expanded(part, &[3])?);
    }
    let both = call.joined(&parts, 3)?;
    if shape.len() == 1 {
        return call.reshaped(both, &[rows, frames, 2]).map(Made::Value);
    }
    Ok(Made::Value(both))
}
