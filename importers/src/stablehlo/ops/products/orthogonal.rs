//! QR factorizations by Householder's reflections, a column at a time, in a loop.
//!
//! ```text
//!   v = x - beta e_k with beta = -sign(x_k) |x|,  tau = (beta - x_k) / beta,  A = A - tau v (v^T A)
//! ```
//! As in LAPACK, `geqrf` keeps R above the diagonal and the reflections below, and `orgqr` makes Q of these.

use super::linear::{at, matrices};
use crate::sources::Outcome;
use crate::stablehlo::emit::Emitter;
use crate::stablehlo::ops::control::counted;
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::{elementwise as ew, reduction as red};

/// R and the reflections in one matrix, and the factor tau of each reflection.
pub fn geqrf<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<[Value<'c>; 2]> {
    let (a, shape, [batch, n, m]) = matrices(e, x)?;
    let steps = n.min(m);
    let zero = e.like(a, 0.0)?;
    let factors = e.broadcast(zero, &[batch, steps])?;
    let results = counted(e, steps, &[a, factors], |e, k, state| {
        let (a, factors) = (state[0], state[1]);
        let column = e.gather(a, k, 2)?;
        let alpha = e.gather(column, k, 1)?;
        let numbers = e.iota_along(DType::I32, n, 1, 2)?;
        let (below, zero, one) = (e.less(k, numbers)?, e.like(a, 0.0)?, e.like(a, 1.0)?);
        let rest = e.select(below, column, zero)?;
        let squares = e.mul(rest, rest)?;
        let sum = e.reduce(&red::REDUCE_SUM, squares, &[1])?;
        let square = e.mul(alpha, alpha)?;
        let whole = e.add(sum, square)?;
        let size = e.un(&ew::SQRT, whole)?;
        let (negative, minus) = (e.less(alpha, zero)?, e.un(&ew::NEG, size)?);
        let beta = e.select(negative, size, minus)?;
        // A column that is zero below is left as it is.
        let done = e.equal(sum, zero)?;
        let beta = e.select(done, alpha, beta)?;
        let (divisor, difference) = (e.select(done, one, beta)?, e.sub(beta, alpha)?);
        let tau = e.div(difference, divisor)?;
        let scale = e.un(&ew::NEG, difference)?;
        let scale = e.select(done, one, scale)?;
        let scale = e.reshape(scale, &[batch, 1])?;
        let tail = e.div(rest, scale)?;
        let is_k = e.equal(numbers, k)?;
        let v = e.select(is_k, one, tail)?;
        let a = reflected(e, a, v, tau, [batch, n, m], Some(k))?;
        let (tail, beta) = (e.reshape(tail, &[batch, n, 1])?, e.reshape(beta, &[batch, 1, 1])?);
        let (row, own) = (at(e, n, 1, k)?, at(e, m, 2, k)?);
        let numbers = e.iota_along(DType::I32, n, 1, 3)?;
        let below = e.less(k, numbers)?;
        let (corner, under) = (e.and(row, own)?, e.and(below, own)?);
        let a = e.select(corner, beta, a)?;
        let a = e.select(under, tail, a)?;
        let places = e.iota_along(DType::I32, steps, 1, 2)?;
        let (here, tau) = (e.equal(places, k)?, e.reshape(tau, &[batch, 1])?);
        Ok(vec![a, e.select(here, tau, factors)?])
    })?;
    let packed = e.reshape(results[0], &shape)?;
    let factors = e.reshape(results[1], &[&shape[..shape.len() - 2], &[steps]].concat())?;
    Ok([packed, factors])
}

/// A - tau v (v^T A), of all columns or of those behind one.
fn reflected<'c>(
    e: &mut Emitter<'c, '_>,
    a: Value<'c>,
    v: Value<'c>,
    tau: Value<'c>,
    [batch, n, m]: [usize; 3],
    behind: Option<Value<'c>>,
) -> Outcome<Value<'c>> {
    let v = e.reshape(v, &[batch, n, 1])?;
    let products = e.mul(a, v)?;
    let row = e.reduce(&red::REDUCE_SUM, products, &[1])?;
    let (row, tau) = (e.reshape(row, &[batch, 1, m])?, e.reshape(tau, &[batch, 1, 1])?);
    let row = e.mul(row, tau)?;
    let change = e.mul(v, row)?;
    let next = e.sub(a, change)?;
    match behind {
        None => Ok(next),
        Some(k) => {
            let columns = e.iota_along(DType::I32, m, 2, 3)?;
            let right = e.less(k, columns)?;
            e.select(right, next, a)
        }
    }
}

/// Q of as many columns as the matrix has, from its reflections: the last one is applied first.
pub fn orgqr<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, factors: Value<'c>) -> Outcome<Value<'c>> {
    let (a, shape, [batch, n, m]) = matrices(e, x)?;
    let steps = e.shape(factors)?.last().copied().unwrap_or(0);
    let factors = e.reshape(factors, &[batch, steps])?;
    let (i, j) = (e.iota_along(DType::I32, n, 1, 3)?, e.iota_along(DType::I32, m, 2, 3)?);
    let diagonal = e.equal(i, j)?;
    let dtype = e.dtype(a)?;
    let identity = e.cast(diagonal, dtype)?;
    let identity = e.broadcast(identity, &[batch, n, m])?;
    let results = counted(e, steps, &[identity], |e, turn, state| {
        let last = e.int(DType::I32, steps as i128 - 1)?;
        let k = e.sub(last, turn)?;
        let (column, tau) = (e.gather(a, k, 2)?, e.gather(factors, k, 1)?);
        let numbers = e.iota_along(DType::I32, n, 1, 2)?;
        let (below, own) = (e.less(k, numbers)?, e.equal(numbers, k)?);
        let (zero, one) = (e.like(a, 0.0)?, e.like(a, 1.0)?);
        let tail = e.select(below, column, zero)?;
        let v = e.select(own, one, tail)?;
        Ok(vec![reflected(e, state[0], v, tau, [batch, n, m], None)?])
    })?;
    e.reshape(results[0], &shape)
}
