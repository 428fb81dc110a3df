//! Fourier transforms, as products with matrices of cosines and sines.
//!
//! ```text
//!   n = n1 n2:  X[k1 + n1 k2] = sum_b w(n2)^(b k2)  w(n)^(b k1)  sum_a x[n2 a + b] w(n1)^(a k1)
//! ```
//! The inner sum is a product with a matrix of n1 rows; the outer one is a transform of n2 elements again (Cooley and Tukey). A length
//! without a small factor is one product.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::arithmetic::apply::Pair;
use crate::stablehlo::ops::arithmetic::complex::mul;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::elementwise as ew;
use std::f64::consts::TAU;

pub const ROWS: &[Row] = &[row("stablehlo.fft", fft)];

/// Factors of a length up to this one are done by one product.
const MOST_FACTOR: usize = 64;
/// A length without smaller factors is done by one product up to this one.
const MOST_LENGTH: usize = 4096;

/// exp(sign 2 pi i r c / n) for rows r and columns c.
fn waves<'c>(
    e: &mut Emitter<'c, '_>,
    dtype: DType,
    rows: usize,
    columns: usize,
    n: usize,
    sign: f64,
) -> Outcome<Pair<'c>> {
    let angle = |place: usize| sign * TAU * ((place / columns) * (place % columns) % n) as f64 / n as f64;
    let cosines: Vec<f64> = (0..rows * columns).map(|i| angle(i).cos()).collect();
    let sines: Vec<f64> = (0..rows * columns).map(|i| angle(i).sin()).collect();
    Ok([e.floats(dtype, &[rows, columns], &cosines)?, e.floats(dtype, &[rows, columns], &sines)?])
}

fn product<'c>(e: &mut Emitter<'c, '_>, a: Pair<'c>, b: Pair<'c>) -> Outcome<Pair<'c>> {
    let (rr, ii, ri, ir) =
        (e.matmul(a[0], b[0])?, e.matmul(a[1], b[1])?, e.matmul(a[0], b[1])?, e.matmul(a[1], b[0])?);
    Ok([e.sub(rr, ii)?, e.add(ri, ir)?])
}

fn both<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    x: Pair<'c>,
    f: impl Fn(&mut Emitter<'c, 'p>, Value<'c>) -> Outcome<Value<'c>>,
) -> Outcome<Pair<'c>> {
    Ok([f(e, x[0])?, f(e, x[1])?])
}

/// Of the last axis of [rows, n], without a factor.
fn transform<'c>(
    e: &mut Emitter<'c, '_>,
    x: Pair<'c>,
    rows: usize,
    n: usize,
    sign: f64,
) -> Outcome<Pair<'c>> {
    let dtype = e.dtype(x[0])?;
    let factor = (2..=MOST_FACTOR.min(n)).rev().find(|f| n.is_multiple_of(*f));
    let first = match factor {
        Some(factor) if n > MOST_FACTOR => factor,
        _ if n <= MOST_LENGTH => {
            let matrix = waves(e, dtype, n, n, n, sign)?;
            return product(e, x, matrix);
        }
        _ => {
            return e.fault(format!(
                "a transform of {n} elements is not supported: it has no factor up to {MOST_FACTOR}"
            ));
        }
    };
    let second = n / first;
    let turned = |e: &mut Emitter<'c, '_>, x: Value<'c>, shape: [usize; 2]| {
        let apart = e.reshape(x, &[rows, shape[0], shape[1]])?;
        e.transpose(apart, &[0, 2, 1])
    };
    // [rows, a, b] as [rows, b, a], and [rows, b, k1] behind it.
    let x = both(e, x, |e, x| turned(e, x, [first, second]))?;
    let matrix = waves(e, dtype, first, first, first, sign)?;
    let inner = product(e, x, matrix)?;
    let twiddles = waves(e, dtype, second, first, n, sign)?;
    let inner = mul(e, inner, twiddles)?;
    let inner = both(e, inner, |e, x| {
        let x = turned(e, x, [second, first])?;
        e.reshape(x, &[rows * first, second])
    })?;
    let outer = transform(e, inner, rows * first, second, sign)?;
    both(e, outer, |e, x| {
        let x = turned(e, x, [first, second])?;
        e.reshape(x, &[rows, n])
    })
}

/// Of one axis; the inverse divides by the length.
fn along<'c>(e: &mut Emitter<'c, '_>, x: Pair<'c>, axis: usize, inverse: bool) -> Outcome<Pair<'c>> {
    let shape = e.shape(x[0])?;
    let (rank, n) = (shape.len(), shape[axis]);
    let rows: usize = shape.iter().product::<usize>().checked_div(n).unwrap_or(0);
    if n <= 1 || rows == 0 {
        return Ok(x);
    }
    let mut order: Vec<usize> = (0..rank).filter(|&a| a != axis).collect();
    order.push(axis);
    let mut turned = Vec::new();
    order.iter().for_each(|&a| turned.push(shape[a]));
    let lines = both(e, x, |e, x| {
        let x = e.transpose(x, &order)?;
        e.reshape(x, &[rows, n])
    })?;
    let done = transform(e, lines, rows, n, if inverse { 1.0 } else { -1.0 })?;
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(place, &a)| back[a] = place);
    both(e, done, |e, x| {
        let x = if inverse { e.mul_f(x, 1.0 / n as f64)? } else { x };
        let x = e.reshape(x, &turned)?;
        e.transpose(x, &back)
    })
}

fn fft<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (kind, lengths) = (op.word("fft_type").unwrap_or(""), op.sizes("fft_length")?);
    let parts = e.parts(op, x, 0)?;
    let rank = e.rank(parts[0])?;
    if lengths.is_empty() || lengths.len() > rank {
        return op.fault(format!("fft_length {lengths:?} must have 1 to {rank} numbers"));
    }
    let axes: Vec<usize> = (rank - lengths.len()..rank).collect();
    let last = rank - 1;
    let zero = e.like(parts[0], 0.0)?;
    let dims = e.dims(parts[0])?;
    let imaginary = match parts.get(1) {
        Some(&im) => im,
        None => e.broadcast_dims(zero, dims)?,
    };
    let mut x = [parts[0], imaginary];
    match kind {
        "FFT" | "IFFT" => {
            for &axis in &axes {
                x = along(e, x, axis, kind == "IFFT")?;
            }
            Ok(vec![Held::Complex(x[0], x[1])])
        }
        "RFFT" => {
            let n = lengths[lengths.len() - 1];
            x = along(e, x, last, false)?;
            x = both(e, x, |e, x| e.slice(x, last, [0, n / 2 + 1, 1]))?;
            for &axis in axes[..axes.len() - 1].iter().rev() {
                x = along(e, x, axis, false)?;
            }
            Ok(vec![Held::Complex(x[0], x[1])])
        }
        "IRFFT" => {
            for &axis in &axes[..axes.len() - 1] {
                x = along(e, x, axis, true)?;
            }
            let n = lengths[lengths.len() - 1];
            x = whole(e, op, x, last, n)?;
            Ok(vec![Held::Tensor(along(e, x, last, true)?[0])])
        }
        other => op.fault(format!("the kind {other:?} is not known; write one of FFT, IFFT, RFFT, IRFFT")),
    }
}

/// The whole of a symmetric spectrum of which the first half is there: X[n - k] is the conjugate of X[k].
fn whole<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    x: Pair<'c>,
    axis: usize,
    n: usize,
) -> Outcome<Pair<'c>> {
    let half = n / 2 + 1;
    if e.shape(x[0])?[axis] != half {
        return op.fault(format!("the last axis must have {half} elements for a length of {n}"));
    }
    // What a real signal has no imaginary part of.
    let mut mirror = |x: Value<'c>, conjugate: bool| {
        let count = n - half;
        if count == 0 {
            return Ok(x);
        }
        let piece = e.slice(x, axis, [1, 1 + count, 1])?;
        let attrs = fusion_operators::Attrs::new().with("axes", [axis as i64]);
        let mut piece = e.op(&fusion_operators::ops::shape::REVERSE, &[piece], attrs)?;
        if conjugate {
            piece = e.un(&ew::NEG, piece)?;
        }
        e.concat(&[x, piece], axis)
    };
    Ok([mirror(x[0], false)?, mirror(x[1], true)?])
}
