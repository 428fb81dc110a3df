//! Distances between all rows of two matrices, and the inverse of a matrix.
//!
//!     CDist     y[i, j] = sum_k (a[i, k] - b[j, k])^2            its root for `euclidean`
//!     Inverse   by elimination with pivots (Gauss-Jordan), unrolled over the columns

use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{Attrs, DType};

use super::row;
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] = &[row("CDist", distances), row("Inverse", inverse)];

/// Greatest matrices that are inverted: the program grows with them.
const MOST_ROWS: i64 = 128;

fn distances(im: &mut Importer, node: &Node) -> Converted {
    let root = match node.string("metric", "sqeuclidean")? {
        "sqeuclidean" => false,
        "euclidean" => true,
        other => return Err(Fault::unsupported(format!("the metric '{other}'"))),
    };
    let (a, b) = (im.expand_dims(node.input(0)?, &[1])?, im.expand_dims(node.input(1)?, &[0])?);
    let apart = im.sub(a, b)?;
    let square = im.mul(apart, apart)?;
    let y = im.sum(square, &[2], false)?;
    Ok(vec![if root { im.un(&ew::SQRT, y)? } else { y }])
}

/// Swaps the row of the greatest element of column k to place k, makes it 1 there, and takes it from the others.
fn inverse(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)?;
    if rank < 2 {
        return Err(Fault::value(format!("the operand must have rank 2 or more, found {}", im.ty(x)?)));
    }
    let shape = im.shape(x, "the operand")?;
    let n = shape[rank - 1];
    if shape[rank - 2] != n || !(1..=MOST_ROWS).contains(&n) {
        return Err(Fault::unsupported(format!(
            "the inverse of {}; it must be square, with at most {MOST_ROWS} rows,",
            im.ty(x)?
        )));
    }
    let batch: i64 = shape[..rank - 2].iter().product();
    let dtype = im.dtype(x)?;
    let wide = im.wide(x)?;
    let own = im.reshape(wide, &[batch, n, n])?;
    let places = im.arange(DType::I64, n, 0.0, 1.0)?;
    let (down, across) = (im.reshape(places, &[n, 1])?, im.reshape(places, &[1, n])?);
    let diagonal = im.equal(down, across)?;
    let identity = im.cast(diagonal, im.dtype(own)?)?;
    let identity = im.broadcast_to(identity, &[batch, n, n])?;
    // The matrix and its inverse side by side: [batch, n, 2 n].
    let mut both = im.concat(&[own, identity], 2)?;
    for k in 0..n {
        let column = im.slice(both, 2, k, k + 1)?;
        let size = im.un(&ew::ABS, column)?;
        let done = im.less_f(down, k as f64)?;
        let none = im.like(size, -1.0)?;
        let candidates = im.select(done, none, size)?;
        let attrs = Attrs::new().with("axis", 1i64).with("keepdims", true);
        let pivot = im.op(&reduction::ARGMAX, &[candidates], attrs)?;
        let chosen = im.equal(down, pivot)?;
        let row = masked_row(im, both, chosen)?;
        let at = im.like(down, k as f64)?;
        let here = im.equal(down, at)?;
        let old = im.slice(both, 1, k, k + 1)?;
        let moved = im.select(chosen, old, both)?;
        let head = im.slice(row, 2, k, k + 1)?;
        let row = im.div(row, head)?;
        let factors = im.slice(moved, 2, k, k + 1)?;
        let part = im.mul(factors, row)?;
        let rest = im.sub(moved, part)?;
        both = im.select(here, row, rest)?;
    }
    let y = im.slice(both, 2, n, 2 * n)?;
    let y = im.reshape(y, &shape)?;
    Ok(vec![im.cast(y, dtype)?])
}

/// The row of a matrix that the mask, a column, chooses.
fn masked_row(im: &mut Importer, x: Value, chosen: Value) -> Made {
    let zero = im.like(x, 0.0)?;
    let kept = im.select(chosen, x, zero)?;
    im.sum(kept, &[1], true)
}
