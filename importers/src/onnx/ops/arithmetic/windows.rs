//! Window functions and filter banks, which are constants, and Fourier transforms, which are products
//! with matrices of cosines and sines.

use std::cmp::Ordering;
use std::f64::consts::TAU;

use fusion_operators::DType;

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("HannWindow", |im, node| window(im, node, &[0.5, -0.5])),
    row("HammingWindow", |im, node| window(im, node, &[25.0 / 46.0, -21.0 / 46.0])),
    row("BlackmanWindow", |im, node| window(im, node, &[0.42, -0.5, 0.08])),
    row("MelWeightMatrix", mel_weights),
    row("DFT", dft),
    row("STFT", stft),
];

/// Longest transform or window made at import.
const LONGEST: i64 = 1 << 12;

/// sum_k c[k] cos(2 pi k n / N), with N the size, or one less for a symmetric window.
fn window(im: &mut Importer, node: &Node, coefficients: &[f64]) -> Converted {
    let size = im.int_of(node, 0)?;
    if !(0..=1 << 24).contains(&size) {
        return Err(Fault::value(format!("size {size} is out of range")));
    }
    let period = if node.int("periodic", 1)? != 0 { size } else { size - 1 } as f64;
    let at = |n: i64| -> f64 {
        let angle = TAU * n as f64 / period.max(1.0);
        coefficients.iter().enumerate().map(|(k, c)| c * (k as f64 * angle).cos()).sum()
    };
    let values: Vec<f64> = (0..size).map(at).collect();
    let dtype = node.opt_dtype("output_datatype")?.unwrap_or(DType::F32);
    Ok(vec![im.floats(dtype, &[values.len()], &values)?])
}

/// Triangles in the mel scale over the bins of a spectrum.
fn mel_weights(im: &mut Importer, node: &Node) -> Converted {
    let mut numbers = [0.0; 5];
    for (i, number) in numbers.iter_mut().enumerate() {
        *number = im.floats_of(node, i)?.first().copied().unwrap_or(0.0);
    }
    let [bands, length, rate, low, high] = numbers;
    if !(1.0..=4096.0).contains(&bands) || !(1.0..=65536.0).contains(&length) || rate <= 0.0 {
        return Err(Fault::value(format!(
            "{bands} bands over {length} samples at rate {rate} are out of range"
        )));
    }
    let (bands, bins) = (bands as usize, length as usize / 2 + 1);
    if bands * bins > 1 << 24 {
        return Err(Fault::unsupported(format!("a matrix of {bins} by {bands} weights")));
    }
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let (low, high) = (mel(low), mel(high));
    let step = (high - low) / (bands as f64 + 2.0);
    let bin = |i: usize| {
        let hertz = 700.0 * (10f64.powf((low + step * i as f64) / 2595.0) - 1.0);
        ((length + 1.0) * hertz / rate).floor() as i64
    };
    let mut weights = vec![0.0; bins * bands];
    for band in 0..bands {
        let (lower, centre, upper) = (bin(band), bin(band + 1), bin(band + 2));
        // It rises from the lower bin to 1 at the centre, and falls to 0 at the upper one.
        for i in lower.max(0)..=upper.min(bins as i64 - 1) {
            let rise = (i - lower) as f64 / (centre - lower).max(1) as f64;
            let fall = (upper - i) as f64 / (upper - centre).max(1) as f64;
            weights[i as usize * bands + band] = match i.cmp(&centre) {
                Ordering::Less => rise,
                Ordering::Equal => 1.0,
                Ordering::Greater => fall,
            };
        }
    }
    let dtype = node.opt_dtype("output_datatype")?.unwrap_or(DType::F32);
    Ok(vec![im.floats(dtype, &[bins, bands], &weights)?])
}

/// The transform along the last axis of the real and imaginary parts (`None` where it is zero).
fn transform(
    im: &mut Importer,
    re: Value,
    imaginary: Option<Value>,
    (from, to, length): (i64, i64, i64),
    inverse: bool,
) -> Result<(Value, Value), Fault> {
    if length > LONGEST {
        return Err(Fault::unsupported(format!("a Fourier transform of {length} samples")));
    }
    let dtype = im.dtype(re)?;
    let (sign, scale) = if inverse { (1.0, 1.0 / length as f64) } else { (-1.0, 1.0) };
    let table = |im: &mut Importer, f: fn(f64) -> f64, factor: f64| {
        let mut values = Vec::with_capacity((from * to) as usize);
        for n in 0..from {
            for k in 0..to {
                values.push(factor * f(TAU * ((n * k) % length) as f64 / length as f64));
            }
        }
        im.floats(dtype, &[from as usize, to as usize], &values)
    };
    let (cos, sin) = (table(im, f64::cos, scale)?, table(im, f64::sin, sign * scale)?);
    let (mut y_re, mut y_im) = (im.matmul(re, cos)?, im.matmul(re, sin)?);
    if let Some(imaginary) = imaginary {
        let (a, b) = (im.matmul(imaginary, sin)?, im.matmul(imaginary, cos)?);
        y_re = im.sub(y_re, a)?;
        y_im = im.add(y_im, b)?;
    }
    Ok((y_re, y_im))
}

/// The real signal along the last axis whose spectrum starts with these bins; the other half mirrors them.
fn real(im: &mut Importer, re: Value, imaginary: Option<Value>, from: i64, length: i64) -> Made {
    if length > LONGEST {
        return Err(Fault::unsupported(format!("a Fourier transform of {length} samples")));
    }
    let dtype = im.dtype(re)?;
    let table = |im: &mut Importer, f: fn(f64) -> f64, sign: f64| {
        let mut values = Vec::with_capacity((from * length) as usize);
        for k in 0..from {
            // The first bin, and the middle one of an even number, mirror themselves.
            let times = if k == 0 || 2 * k == length { 1.0 } else { 2.0 };
            for n in 0..length {
                values
                    .push(sign * times / length as f64 * f(TAU * ((n * k) % length) as f64 / length as f64));
            }
        }
        im.floats(dtype, &[from as usize, length as usize], &values)
    };
    let cos = table(im, f64::cos, 1.0)?;
    let y = im.matmul(re, cos)?;
    let Some(imaginary) = imaginary else { return Ok(y) };
    let sin = table(im, f64::sin, -1.0)?;
    let odd = im.matmul(imaginary, sin)?;
    im.add(y, odd)
}

/// Splits [..., 1 or 2] into real and imaginary parts.
fn parts(im: &mut Importer, x: Value) -> Result<(Value, Option<Value>), Fault> {
    let last = im.rank(x)? - 1;
    match im.extent(x, last, "the signal")? {
        1 => Ok((im.squeeze(x, &[last as i64])?, None)),
        2 => Ok((im.select_at(x, last, 0)?, Some(im.select_at(x, last, 1)?))),
        n => {
            Err(Fault::value(format!("the last axis must have 1 (real) or 2 (complex) elements, found {n}")))
        }
    }
}

fn joined(im: &mut Importer, re: Value, imaginary: Value) -> Made {
    let axis = im.rank(re)?;
    let (re, imaginary) = (im.expand_dims(re, &[axis as i64])?, im.expand_dims(imaginary, &[axis as i64])?);
    im.concat(&[re, imaginary], axis)
}

/// The axis is an attribute before version 20, then an operand.
fn dft(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)?;
    let axis = match (node.version >= 20, node.opt(2)) {
        (true, Some(_)) => im.int_of(node, 2)?,
        (true, None) => -2,
        (false, _) => node.int("axis", 1)?,
    };
    let axis = im.axis(x, axis)?;
    if rank < 2 || axis + 1 >= rank {
        return Err(Fault::value("the axis must not be the last one, which holds real and imaginary parts"));
    }
    let extent = im.extent(x, axis, "the signal")?;
    let onesided = node.flag("onesided")?;
    let inverse = node.flag("inverse")?;
    let length = match node.opt(1) {
        Some(_) => im.int_of(node, 1)?,
        // Half a spectrum is that of an even number of samples.
        None if onesided && inverse => 2 * (extent - 1),
        None => extent,
    };
    if length < 1 {
        return Err(Fault::value(format!("the length must be positive, found {length}")));
    }
    let (re, imaginary) = parts(im, x)?;
    let from = extent.min(if onesided && inverse { length / 2 + 1 } else { length });
    let to = if onesided { length / 2 + 1 } else { length };
    let last = rank - 2;
    let ready = |im: &mut Importer, v: Value| {
        let v = im.slice(v, axis, 0, from)?;
        im.swap(v, axis, last)
    };
    let re = ready(im, re)?;
    let imaginary = imaginary.map(|v| ready(im, v)).transpose()?;
    if onesided && inverse {
        let y = real(im, re, imaginary, from, length)?;
        let y = im.swap(y, axis, last)?;
        return Ok(vec![im.expand_dims(y, &[rank as i64 - 1])?]);
    }
    let (re, imaginary) = transform(im, re, imaginary, (from, to, length), inverse)?;
    let (re, imaginary) = (im.swap(re, axis, last)?, im.swap(imaginary, axis, last)?);
    Ok(vec![joined(im, re, imaginary)?])
}

/// Transforms of overlapping frames of a signal [batch, length, 1 or 2].
fn stft(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    if im.rank(x)? != 3 {
        return Err(Fault::value(format!("the signal must have rank 3, found {}", im.ty(x)?)));
    }
    let step = im.int_of(node, 1)?;
    let length = match (node.opt(3), node.opt(2)) {
        (Some(_), _) => im.int_of(node, 3)?,
        (None, Some(window)) => im.extent(window, 0, "the window")?,
        (None, None) => return Err(Fault::MissingInput { index: 3 }),
    };
    let extent = im.extent(x, 1, "the signal")?;
    if step < 1 || length < 1 || length > extent {
        return Err(Fault::value(format!("frames of {length} every {step} do not fit a signal of {extent}")));
    }
    let frames = (extent - length) / step + 1;
    if frames.saturating_mul(length) > 1 << 24 {
        return Err(Fault::unsupported("a transform of so many frames"));
    }
    let places: Vec<i64> = (0..frames).flat_map(|f| (0..length).map(move |i| f * step + i)).collect();
    let places = im.ints(&[frames as usize, length as usize], &places)?;
    let (re, imaginary) = parts(im, x)?;
    let ready = |im: &mut Importer, v: Value| {
        let v = im.gather(v, places, 1)?;
        match node.opt(2) {
            Some(window) => im.mul(v, window),
            None => Ok(v),
        }
    };
    let re = ready(im, re)?;
    let imaginary = imaginary.map(|v| ready(im, v)).transpose()?;
    let to = if node.int("onesided", 1)? != 0 { length / 2 + 1 } else { length };
    let (re, imaginary) = transform(im, re, imaginary, (length, to, length), false)?;
    Ok(vec![joined(im, re, imaginary)?])
}
