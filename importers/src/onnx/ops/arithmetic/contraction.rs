//! Matrix products.

use fusion_operators::Attrs;
use fusion_operators::ops::contraction as product;

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("MatMul", |im, node| Ok(vec![matmul(im, node.input(0)?, node.input(1)?)?])),
    row("Gemm", gemm),
    row("Det", det),
];

/// NumPy's product: a vector on the left is a row, on the right a column, and its axis goes again.
pub fn matmul(im: &mut Importer, a: Value, b: Value) -> Made {
    let (rank_a, rank_b) = (im.rank(a)?, im.rank(b)?);
    if rank_a == 0 || rank_b == 0 {
        return Err(Fault::value("a scalar has no matrix product; write Mul"));
    }
    let (a, b) = matrices(im, a, b)?;
    let result = im.matmul(a, b)?;
    without_added(im, result, (rank_a, rank_b))
}

/// A vector on the left as a row, one on the right as a column.
pub fn matrices(im: &mut Importer, a: Value, b: Value) -> Result<(Value, Value), Fault> {
    let row = if im.rank(a)? == 1 { im.expand_dims(a, &[0])? } else { a };
    let column = if im.rank(b)? == 1 { im.expand_dims(b, &[1])? } else { b };
    Ok((row, column))
}

/// A product without the axes that [`matrices`] gave operands of those ranks.
pub fn without_added(im: &mut Importer, result: Value, (rank_a, rank_b): (usize, usize)) -> Made {
    let rank = im.rank(result)? as i64;
    match (rank_a, rank_b) {
        (1, 1) => im.squeeze(result, &[rank - 2, rank - 1]),
        (1, _) => im.squeeze(result, &[rank - 2]),
        (_, 1) => im.squeeze(result, &[rank - 1]),
        _ => Ok(result),
    }
}

/// alpha * A' * B' + beta * C
fn gemm(im: &mut Importer, node: &Node) -> Converted {
    let (mut a, b) = (node.input(0)?, node.input(1)?);
    let (alpha, beta) = (node.float("alpha", 1.0)?, node.float("beta", 1.0)?);
    for (v, which) in [(a, "first"), (b, "second")] {
        if im.rank(v)? != 2 {
            return Err(Fault::value(format!("the {which} operand must be a matrix, found {}", im.ty(v)?)));
        }
    }
    let (flip_a, flip_b) = (node.flag("transA")?, node.flag("transB")?);
    if flip_a {
        a = im.transpose(a, &[1, 0])?;
    }
    let mut y = match flip_b {
        true => im.bin(&product::DENSE, a, b)?,
        false => im.op(&product::MATMUL, &[a, b], Attrs::new())?,
    };
    if alpha != 1.0 {
        y = im.mul_f(y, alpha)?;
    }
    if let Some(mut c) = node.opt(2).filter(|_| beta != 0.0) {
        if beta != 1.0 {
            c = im.mul_f(c, beta)?;
        }
        y = im.add(y, c)?;
    }
    Ok(vec![y])
}

/// The determinant by expansion along the first row, of matrices up to 4 by 4.
fn det(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)?;
    if rank < 2 {
        return Err(Fault::value(format!("the operand must have rank 2 or more, found {}", im.ty(x)?)));
    }
    let (rows, columns) = (im.extent(x, rank - 2, "the operand")?, im.extent(x, rank - 1, "the operand")?);
    if rows != columns || rows == 0 {
        return Err(Fault::value(format!("the matrix must be square and not empty, found {}", im.ty(x)?)));
    }
    if rows > 4 {
        return Err(Fault::unsupported(format!("the determinant of a {rows} by {rows} matrix")));
    }
    let columns: Vec<i64> = (0..columns).collect();
    Ok(vec![minor(im, x, rank, 0, &columns)?])
}

fn minor(im: &mut Importer, x: Value, rank: usize, row: i64, columns: &[i64]) -> Made {
    let mut sum: Option<Value> = None;
    for (i, &column) in columns.iter().enumerate() {
        let line = im.select_at(x, rank - 2, row)?;
        let mut term = im.select_at(line, rank - 2, column)?;
        if columns.len() > 1 {
            let rest: Vec<i64> = columns.iter().copied().filter(|&c| c != column).collect();
            let below = minor(im, x, rank, row + 1, &rest)?;
            term = im.mul(term, below)?;
        }
        sum = Some(match sum {
            None => term,
            Some(sum) if i % 2 == 0 => im.add(sum, term)?,
            Some(sum) => im.sub(sum, term)?,
        });
    }
    sum.ok_or_else(|| Fault::value("the matrix is empty"))
}
