//! Products of quantized numbers, with sums of i32: zero points are taken out of the sums, so that what is multiplied stays in few bits.
//!
//!     sum of (a - p) (b - q)  =  sum of a b  -  p (sum of b - K q)  -  q sum of a             K terms
//!
//! (Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018, section 2.3.)
//! Sums of a weight are constants, and mostly its zero point is 0. Data of a convolution is padded with its own zero point. Sums
//! wrap around, so both sides are equal always.

use fusion_operators::ops::contraction;
use fusion_operators::{Attrs, DType};

use crate::onnx::build::Made;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::arithmetic::contraction::{matrices, without_added};
use crate::onnx::ops::nn::convolution::convolve_with;

/// Numbers, of which the zero point is 0.
#[derive(Clone, Copy)]
pub struct Quantized {
    pub numbers: Value,
    pub zero: Option<Value>,
}

/// Where a vector of zero points or scales stands.
#[derive(Clone, Copy)]
pub enum Place {
    /// Along the last axis but one.
    Rows,
    /// Along the last axis.
    Columns,
    /// Along the first axis.
    Filters,
}

/// A vector along an axis of a tensor of that rank; one number is a scalar.
pub fn placed(im: &mut Importer, v: Value, rank: usize, place: Place) -> Made {
    if im.rank(v)? != 1 {
        return Ok(v);
    }
    if im.ty(v)?.elements() == Some(1) {
        return im.reshape(v, &[]);
    }
    match place {
        Place::Columns => Ok(v),
        Place::Rows => im.expand_dims(v, &[1]),
        Place::Filters => im.expand_dims(v, &(1..rank as i64).collect::<Vec<_>>()),
    }
}

impl Quantized {
    /// The zero point as i32, along an axis of a tensor of that rank; none where it is known to be 0.
    fn zero_point(self, im: &mut Importer, rank: usize, place: Place) -> Result<Option<Value>, Fault> {
        let Some(zero) = self.zero else { return Ok(None) };
        if im.constant_of(zero).is_some_and(|t| t.to_ints().iter().all(|n| *n == 0)) {
            return Ok(None);
        }
        let zero = placed(im, zero, rank, place)?;
        im.cast(zero, DType::I32).map(Some)
    }

    /// The numbers less the zero point, as i32.
    fn centred(self, im: &mut Importer, place: Place) -> Made {
        let rank = im.rank(self.numbers)?;
        let x = im.cast(self.numbers, DType::I32)?;
        match self.zero_point(im, rank, place)? {
            Some(zero) => im.sub(x, zero),
            None => Ok(x),
        }
    }
}

/// Sums over some axes, which stay.
fn sums(im: &mut Importer, x: Value, axes: &[usize]) -> Made {
    let x = im.cast(x, DType::I32)?;
    im.sum(x, axes, true)
}

/// `y - p (of_b - K q) - q of_a`, of which each is computed where it is needed.
fn without_zero_points(
    im: &mut Importer,
    y: Value,
    (p, q): (Option<Value>, Option<Value>),
    of_b: impl FnOnce(&mut Importer) -> Made,
    terms: impl FnOnce(&mut Importer) -> Made,
    of_a: impl FnOnce(&mut Importer) -> Made,
) -> Made {
    let mut y = y;
    if let Some(p) = p {
        let mut sums = of_b(im)?;
        if let Some(q) = q {
            let terms = terms(im)?;
            let all = im.mul(terms, q)?;
            sums = im.sub(sums, all)?;
        }
        let part = im.mul(p, sums)?;
        y = im.sub(y, part)?;
    }
    if let Some(q) = q {
        let sums = of_a(im)?;
        let part = im.mul(q, sums)?;
        y = im.sub(y, part)?;
    }
    Ok(y)
}

/// The product of two matrices, or of stacks of them.
pub fn matmul(im: &mut Importer, a: Quantized, b: Quantized) -> Made {
    let ranks = (im.rank(a.numbers)?, im.rank(b.numbers)?);
    if ranks.0 == 0 || ranks.1 == 0 {
        return Err(Fault::value("a scalar has no matrix product; write Mul"));
    }
    let (x, w) = matrices(im, a.numbers, b.numbers)?;
    let (rank_x, rank_w) = (im.rank(x)?, im.rank(w)?);
    let zeros = (a.zero_point(im, rank_x, Place::Rows)?, b.zero_point(im, rank_w, Place::Columns)?);
    let attrs = Attrs::new().with("out_dtype", DType::I32);
    let y = im.op(&contraction::MATMUL, &[x, w], attrs)?;
    let y = without_zero_points(
        im,
        y,
        zeros,
        |im| sums(im, w, &[rank_w - 2]),
        |im| {
            let extent = im.extent_of(x, rank_x - 1)?;
            im.cast(extent, DType::I32)
        },
        |im| sums(im, x, &[rank_x - 1]),
    )?;
    without_added(im, y, ranks)
}

/// A product of integers as floats: times both scales.
pub fn scaled(im: &mut Importer, (a, a_scale): (Quantized, Value), (b, b_scale): (Quantized, Value)) -> Made {
    let dtype = im.dtype(a_scale)?;
    let rank = im.rank(a.numbers)?;
    let a_scale = placed(im, a_scale, rank, Place::Rows)?;
    let b_scale = placed(im, b_scale, rank, Place::Columns)?;
    let factor = im.mul(a_scale, b_scale)?;
    let sum = matmul(im, a, b)?;
    let sum = im.cast(sum, dtype)?;
    im.mul(sum, factor)
}

/// The convolution that a node's attributes describe.
pub fn convolve(im: &mut Importer, node: &Node, x: Quantized, w: Quantized) -> Made {
    let rank = im.rank(x.numbers)?;
    let zero = x.zero_point(im, rank, Place::Columns)?;
    let around = match zero {
        None => Some(0),
        Some(zero) => im.constant_of(zero).and_then(|t| t.to_ints().first().copied()),
    };
    let Some(around) = around else {
        // Data is padded with numbers that are known.
        let (x, w) = (x.centred(im, Place::Columns)?, w.centred(im, Place::Filters)?);
        return convolve_with(im, node, (x, w), 0.0, None);
    };
    let of = |im: &mut Importer, w: Value| {
        convolve_with(im, node, (x.numbers, w), around as f64, Some(DType::I32))
    };
    let y = of(im, w.numbers)?;
    let shape = im.shape(w.numbers, "the weight")?;
    let along_filters = |im: &mut Importer, v: Value| match im.ty(v)?.elements() {
        Some(1) => im.reshape(v, &[]),
        _ => {
            let v = im.reshape(v, &[-1])?;
            im.along_channels(v, rank)
        }
    };
    let zero_of_filters = match w.zero_point(im, rank, Place::Columns)? {
        Some(zero) => Some(along_filters(im, zero)?),
        None => None,
    };
    without_zero_points(
        im,
        y,
        (zero, zero_of_filters),
        |im| {
            let of_filters = sums(im, w.numbers, &(1..rank).collect::<Vec<_>>())?;
            along_filters(im, of_filters)
        },
        |im| im.scalar(DType::I32, shape[1..].iter().product::<i64>() as f64),
        |im| {
            let mut ones = shape.clone();
            if node.int("group", 1)? == 1 {
                ones[0] = 1;
            }
            let ones = im.full(DType::I8, &ones, 1.0)?;
            of(im, ones)
        },
    )
}
