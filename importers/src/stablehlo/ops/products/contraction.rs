//! Products: dot_general, dot and einsum become matrix products.
//!
//! ```text
//!   lhs [batch, rows, contracted]   rhs [batch, columns, contracted]   with one axis for each of the four
//!   matmul (with a flag where the contracted axis comes first)         [batch, rows, columns]
//! ```

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::contraction;
use fusion_operators::{Attrs, DType};

pub const ROWS: &[Row] = &[
    row("stablehlo.dot_general", |e, op, x| {
        let (left, right) = ranks(e, op, x)?;
        let axes = Axes {
            batch: [op.axes("lhs_batching_dimensions", left)?, op.axes("rhs_batching_dimensions", right)?],
            contracted: [
                op.axes("lhs_contracting_dimensions", left)?,
                op.axes("rhs_contracting_dimensions", right)?,
            ],
        };
        dot(e, op, x, &axes)
    }),
    row("stablehlo.dot", |e, op, x| {
        let (left, right) = ranks(e, op, x)?;
        if left == 0 || right == 0 {
            return op.fault("the operands must have rank 1 or more");
        }
        let contracted = [vec![left - 1], vec![0]];
        dot(e, op, x, &Axes { batch: [Vec::new(), Vec::new()], contracted })
    }),
];

fn ranks<'c>(e: &Emitter<'c, '_>, op: &Operation, x: &[Held<'c>]) -> Outcome<(usize, usize)> {
    Ok((e.rank(e.parts(op, x, 0)?[0])?, e.rank(e.parts(op, x, 1)?[0])?))
}

/// Which axes a product is over.
pub struct Axes {
    /// Of both operands, those that both and the result have.
    pub batch: [Vec<usize>; 2],
    /// Of both operands, those that are summed over.
    pub contracted: [Vec<usize>; 2],
}

/// An operand as a matrix, or a batch of them.
struct Matrix<'c> {
    value: Value<'c>,
    batch: Vec<usize>,
    free: Vec<usize>,
    /// Whether the contracted axis comes before the free one.
    contracted_first: bool,
}

fn matrix<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    x: Value<'c>,
    axes: &Axes,
    side: usize,
) -> Outcome<Matrix<'c>> {
    let shape = e.shape(x)?;
    let (batch, contracted) = (&axes.batch[side], &axes.contracted[side]);
    if batch.iter().any(|a| contracted.contains(a)) {
        return op.fault("an axis is a batching and a contracting one");
    }
    let free: Vec<usize> =
        (0..shape.len()).filter(|a| !batch.contains(a) && !contracted.contains(a)).collect();
    // As it lies in memory, where that is one of the two orders that a product takes.
    let contracted_first = shape.len() == batch.len() + free.len() + contracted.len()
        && [&batch[..], contracted, &free].concat().iter().enumerate().all(|(i, &a)| i == a)
        && !free.is_empty();
    let order = match contracted_first {
        true => (0..shape.len()).collect(),
        false => [&batch[..], &free, contracted].concat(),
    };
    let turned = e.transpose(x, &order)?;
    let of = |axes: &[usize]| axes.iter().map(|&a| shape[a]).collect::<Vec<_>>();
    let count = |axes: &[usize]| axes.iter().map(|&a| shape[a]).product::<usize>();
    let (rows, depth) = (count(&free), count(contracted));
    let last = if contracted_first { [depth, rows] } else { [rows, depth] };
    let batch_count: Vec<usize> = if batch.is_empty() { Vec::new() } else { vec![count(batch)] };
    let value = e.reshape(turned, &[&batch_count[..], &last].concat())?;
    Ok(Matrix { value, batch: of(batch), free: of(&free), contracted_first })
}

/// The product of two operands.
pub fn product<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    a: Value<'c>,
    b: Value<'c>,
    axes: &Axes,
    result: DType,
) -> Outcome<Value<'c>> {
    let depth = |e: &Emitter<'c, '_>, x: Value<'c>, side: usize| -> Outcome<Vec<usize>> {
        let shape = e.shape(x)?;
        Ok(axes.contracted[side].iter().chain(&axes.batch[side]).map(|&axis| shape[axis]).collect())
    };
    if depth(e, a, 0)? != depth(e, b, 1)? {
        return op.fault("the extents of batching and contracting axes must agree");
    }
    // Sums are of the result's type; relay sums integers of 8 bits in 32 by itself.
    let (left, right) = (e.dtype(a)?, e.dtype(b)?);
    let bytes = |dtype: DType| matches!(dtype, DType::I8 | DType::U8);
    let as_they_are = left == right
        && (left == result || (left.is_float() && result.is_float() && left.size() < result.size()))
        || (bytes(left) && bytes(right) && result == DType::I32);
    let (a, b) = match as_they_are {
        true => (a, b),
        false => {
            let wide = if result == DType::Bool { DType::I32 } else { result };
            (e.cast(a, wide)?, e.cast(b, wide)?)
        }
    };
    let (a, b) = (matrix(e, op, a, axes, 0)?, matrix(e, op, b, axes, 1)?);
    let mut attrs = Attrs::new();
    if a.contracted_first {
        attrs.set("transpose_a", true);
    }
    if !b.contracted_first {
        attrs.set("transpose_b", true);
    }
    if e.dtype(a.value)? != result && result != DType::Bool {
        attrs.set("out_dtype", result);
    }
    let product = e.op(&contraction::MATMUL, &[a.value, b.value], attrs)?;
    let product = e.reshape(product, &[&a.batch[..], &a.free, &b.free].concat())?;
    e.cast(product, result)
}

fn dot<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>], axes: &Axes) -> Results<'c> {
    let element = &e.result_type(op, 0)?.element;
    let dtype = match element {
        crate::stablehlo::types::Element::Quantized(quantized) => Some(quantized.expressed),
        other => other.kept(),
    };
    let Some(dtype) = dtype else { return op.fault(format!("elements of type {element} are not supported")) };
    let (a, b) = (e.parts(op, x, 0)?, e.parts(op, x, 1)?);
    match (&a[..], &b[..]) {
        ([a], [b]) => Ok(vec![Held::Tensor(product(e, op, *a, *b, axes, dtype)?)]),
        ([ar, ai], [br, bi]) => {
            let mut of = |a: &Value<'c>, b: &Value<'c>| product(e, op, *a, *b, axes, dtype);
            let (rr, ii, ri, ir) = (of(ar, br)?, of(ai, bi)?, of(ar, bi)?, of(ai, br)?);
            Ok(vec![Held::Complex(e.sub(rr, ii)?, e.add(ri, ir)?)])
        }
        _ => op.fault("both operands must be real, or both complex"),
    }
}
