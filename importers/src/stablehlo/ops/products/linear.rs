//! Factorizations and triangular systems, a column at a time, in a loop.
//!
//! ```text
//!   Cholesky      column j of L is (a_j - L L[j]) / sqrt of its element j
//!   triangular    row i of X is (b_i - A[i] X) / A[i, i], of the rows before
//!   LU            the greatest element of column k is brought up, and its multiples are taken from the rows below
//! ```
//! LAPACK's names are those that JAX calls on CPUs.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::control::counted;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, indexing, reduction as red, shape};
use fusion_operators::{Attrs, DType};

pub const ROWS: &[Row] =
    &[row("stablehlo.cholesky", cholesky_op), row("stablehlo.triangular_solve", triangular_op)];

/// As a batch of matrices.
pub fn matrices<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<(Value<'c>, Vec<usize>, [usize; 3])> {
    let shape = e.shape(x)?;
    let [batch @ .., rows, columns] = &shape[..] else { return e.fault("a matrix has rank 2 or more") };
    let extents = [batch.iter().product(), *rows, *columns];
    Ok((e.reshape(x, &extents)?, shape.clone(), extents))
}

/// Where the number along an axis of a batch of matrices is that of the loop.
pub fn at<'c>(e: &mut Emitter<'c, '_>, extent: usize, axis: usize, place: Value<'c>) -> Outcome<Value<'c>> {
    let numbers = e.iota_along(DType::I32, extent, axis, 3)?;
    e.equal(numbers, place)
}

fn swapped<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    e.transpose(x, &[0, 2, 1])
}

/// L of L L^T.
pub fn cholesky<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, lower: bool) -> Outcome<Value<'c>> {
    let (mut a, shape, [batch, n, columns]) = matrices(e, x)?;
    if n != columns {
        return e.fault(format!(
            "a matrix of {n} rows and {columns} columns has no such factor; it must be square"
        ));
    }
    if !lower {
        a = swapped(e, a)?;
    }
    let zero = e.like(a, 0.0)?;
    let start = e.broadcast(zero, &[batch, n, n])?;
    let results = counted(e, n, &[start], |e, j, state| {
        let l = state[0];
        let (column, row) = (e.gather(a, j, 2)?, e.gather(l, j, 1)?);
        let row = e.reshape(row, &[batch, 1, n])?;
        let products = e.mul(l, row)?;
        let done = e.reduce(&red::REDUCE_SUM, products, &[2])?;
        let rest = e.sub(column, done)?;
        let pivot = e.gather(rest, j, 1)?;
        let root = e.un(&ew::SQRT, pivot)?;
        let root = e.reshape(root, &[batch, 1])?;
        let column = e.div(rest, root)?;
        let column = e.reshape(column, &[batch, n, 1])?;
        let numbers = e.iota_along(DType::I32, n, 1, 3)?;
        let below = e.bin(&ew::GREATER_EQUAL, numbers, j)?;
        let zero = e.like(column, 0.0)?;
        let column = e.select(below, column, zero)?;
        let here = at(e, n, 2, j)?;
        Ok(vec![e.select(here, column, l)?])
    })?;
    let mut l = results[0];
    if !lower {
        l = swapped(e, l)?;
    }
    e.reshape(l, &shape)
}

fn cholesky_op<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    Ok(vec![Held::Tensor(cholesky(e, x, op.flag("lower")?)?)])
}

/// What a triangular system is.
#[derive(Clone, Copy)]
pub struct Triangular {
    /// A X = B, else X A = B.
    pub left: bool,
    /// Only the lower triangle is looked at, else the upper one.
    pub lower: bool,
    /// The diagonal is 1.
    pub unit: bool,
    /// The matrix is transposed.
    pub transposed: bool,
}

/// X of A X = B or X A = B.
pub fn triangular<'c>(
    e: &mut Emitter<'c, '_>,
    a: Value<'c>,
    b: Value<'c>,
    t: Triangular,
) -> Outcome<Value<'c>> {
    let (mut a, _, [batch, n, columns]) = matrices(e, a)?;
    let (mut b, shape, [_, rows, width]) = matrices(e, b)?;
    if n != columns || n != if t.left { rows } else { width } {
        return e.fault(format!(
            "the matrix of {n} rows and {columns} columns must be square, and fit the other operand"
        ));
    }
    let (mut lower, mut transposed) = (t.lower, t.transposed);
    if !t.left {
        (b, transposed) = (swapped(e, b)?, !transposed);
    }
    if transposed {
        (a, lower) = (swapped(e, a)?, !lower);
    }
    let backwards = |e: &mut Emitter<'c, '_>, x: Value<'c>, axes: &[i64]| {
        e.op(&shape::REVERSE, &[x], Attrs::new().with("axes", axes))
    };
    // An upper triangle is a lower one from the other end.
    if !lower {
        (a, b) = (backwards(e, a, &[1, 2])?, backwards(e, b, &[1])?);
    }
    let m = if t.left { width } else { rows };
    let zero = e.like(b, 0.0)?;
    let start = e.broadcast(zero, &[batch, n, m])?;
    let results = counted(e, n, &[start], |e, i, state| {
        let solved = state[0];
        let (row, right) = (e.gather(a, i, 1)?, e.gather(b, i, 1)?);
        let factors = e.reshape(row, &[batch, n, 1])?;
        // What is beyond the diagonal counts for nothing, whatever it is.
        let numbers = e.iota_along(DType::I32, n, 1, 3)?;
        let (before, zero) = (e.less(numbers, i)?, e.like(factors, 0.0)?);
        let factors = e.select(before, factors, zero)?;
        let products = e.mul(factors, solved)?;
        let done = e.reduce(&red::REDUCE_SUM, products, &[1])?;
        let mut rest = e.sub(right, done)?;
        if !t.unit {
            let pivot = e.gather(row, i, 1)?;
            let pivot = e.reshape(pivot, &[batch, 1])?;
            rest = e.div(rest, pivot)?;
        }
        let rest = e.reshape(rest, &[batch, 1, m])?;
        let here = at(e, n, 1, i)?;
        Ok(vec![e.select(here, rest, solved)?])
    })?;
    let mut x = results[0];
    if !lower {
        x = backwards(e, x, &[1])?;
    }
    if !t.left {
        x = swapped(e, x)?;
    }
    e.reshape(x, &shape)
}

fn triangular_op<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (a, b) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    let transposed = !matches!(op.word("transpose_a"), None | Some("NO_TRANSPOSE"));
    let (left, lower, unit) = (op.flag("left_side")?, op.flag("lower")?, op.flag("unit_diagonal")?);
    Ok(vec![Held::Tensor(triangular(e, a, b, Triangular { left, lower, unit, transposed })?)])
}

/// L and U in one matrix, and for each column the row that was brought up, counted from 1.
pub fn lu<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<[Value<'c>; 2]> {
    let (a, shape, [batch, n, m]) = matrices(e, x)?;
    let steps = n.min(m);
    let zero = e.int(DType::I32, 0)?;
    let pivots = e.broadcast(zero, &[batch, steps])?;
    let results = counted(e, steps, &[a, pivots], |e, k, state| {
        let (a, pivots) = (state[0], state[1]);
        let column = e.gather(a, k, 2)?;
        let numbers = e.iota_along(DType::I32, n, 1, 2)?;
        let (size, none) = (e.un(&ew::ABS, column)?, e.like(column, -1.0)?);
        let from_here = e.bin(&ew::GREATER_EQUAL, numbers, k)?;
        let size = e.select(from_here, size, none)?;
        let greatest = e.op(&red::ARGMAX, &[size], Attrs::new().with("axis", 1i64))?;
        let greatest = e.cast(greatest, DType::I32)?;
        let up = e.reshape(greatest, &[batch, 1])?;
        // Rows k and `up` change places.
        let (is_k, is_up) = (e.equal(numbers, k)?, e.equal(numbers, up)?);
        let order = e.select(is_up, k, numbers)?;
        let order = e.select(is_k, up, order)?;
        let order = e.broadcast(order, &[batch, n])?;
        let order = e.reshape(order, &[batch, n, 1])?;
        let rows = Attrs::new().with("batch_dims", 1i64);
        let a = e.op(&indexing::GATHER_ND, &[a, order], rows)?;
        let (row, column) = (e.gather(a, k, 1)?, e.gather(a, k, 2)?);
        let pivot = e.gather(row, k, 1)?;
        let (zero, one) = (e.like(pivot, 0.0)?, e.like(pivot, 1.0)?);
        let singular = e.equal(pivot, zero)?;
        let divisor = e.select(singular, one, pivot)?;
        let divisor = e.reshape(divisor, &[batch, 1])?;
        let factors = e.div(column, divisor)?;
        let (factors, row) = (e.reshape(factors, &[batch, n, 1])?, e.reshape(row, &[batch, 1, m])?);
        let product = e.mul(factors, row)?;
        let less = e.sub(a, product)?;
        let (i, j) = (e.iota_along(DType::I32, n, 1, 3)?, e.iota_along(DType::I32, m, 2, 3)?);
        let (below, right, here) = (e.less(k, i)?, e.less(k, j)?, e.equal(j, k)?);
        let (inner, left) = (e.and(below, right)?, e.and(below, here)?);
        let a = e.select(inner, less, a)?;
        let a = e.select(left, factors, a)?;
        let number = e.add_f(up, 1.0)?;
        let places = e.iota_along(DType::I32, steps, 1, 2)?;
        let here = e.equal(places, k)?;
        Ok(vec![a, e.select(here, number, pivots)?])
    })?;
    let factors = e.reshape(results[0], &shape)?;
    let pivots = e.reshape(results[1], &[&shape[..shape.len() - 2], &[steps]].concat())?;
    Ok([factors, pivots])
}
