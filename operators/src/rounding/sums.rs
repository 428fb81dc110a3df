//! Sums of many terms, in any order and of any tree.
//!
//!     sum of n        sum of e, + n u sum |x|                          (Higham, 4.2)
//!     sum of x y      sum of |x| ey + ex |y| + ex ey, + n u sum |x y|
//!     softmax         p (exp(e + max e) - 1), + p u (|x - m| + the most of |x - m| + n)
//!
//! An operator that is linear in an operand carries errors as it carries numbers, by the absolute values of the other one.

use super::Bounding;
use super::elementwise::added;
use crate::reference::{EvalError, evaluate};
use crate::{Attrs, DType, Operator, Tensor, ops};

fn absolute(tensor: &Tensor) -> Result<Tensor, EvalError> {
    let numbers: Vec<f64> = tensor.to_f64s().into_iter().map(f64::abs).collect();
    Ok(Tensor::from_f64s(DType::F64, tensor.shape(), &numbers)?)
}

/// What rounding makes of sums of so many terms, by the sums of their absolute values; where those overflow, sums in another order may.
fn rounding(call: &Bounding, sums: &Tensor, terms: f64) -> Result<Tensor, EvalError> {
    let one = |sum: f64| if sum > call.greatest { f64::INFINITY } else { terms * call.unit * sum };
    let numbers: Vec<f64> = sums.to_f64s().into_iter().map(one).collect();
    Ok(Tensor::from_f64s(DType::F64, sums.shape(), &numbers)?)
}

/// A linear operator of one operand, of so many terms each.
fn linear(call: &Bounding, sizes: (&'static Operator, f64), terms: f64) -> Result<Option<Tensor>, EvalError> {
    let x = call.operands[0];
    let carried = call.evaluate(call.op, std::slice::from_ref(&x.error))?;
    let (op, by) = sizes;
    let sums = call.evaluate(op, &[absolute(&x.value)?])?;
    let rounded = rounding(call, &sums, terms)?;
    let numbers: Vec<f64> = rounded.to_f64s().into_iter().map(|v| v * by).collect();
    added(&carried, &call.result(numbers)?).map(Some)
}

fn terms(call: &Bounding) -> f64 {
    call.operands[0].value.len() as f64 / call.value.len().max(1) as f64
}

/// `sum of x`
pub fn sum_of(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    linear(call, (call.op, 1.0), terms(call))
}

/// `sum of x / n`
pub fn mean_of(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    linear(call, (&ops::reduction::REDUCE_SUM, 1.0 / terms(call)), terms(call))
}

/// Means of windows, which have no more terms than the operand.
pub fn pooled_mean(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let kernel = call.attrs.ints("kernel").map(|k| k.iter().product::<i64>() as f64);
    linear(call, (call.op, 1.0), kernel.unwrap_or_else(|| terms(call)))
}

/// The greatest or the least of many is off by no more than the greatest error.
pub fn greatest_of(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    call.evaluate(&ops::reduction::REDUCE_MAX, std::slice::from_ref(&call.operands[0].error)).map(Some)
}

/// Elements that go elsewhere take their errors along.
pub fn moved(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    if !call.value.dtype().is_float() || call.operands.is_empty() {
        return Ok(Some(Tensor::zeros(DType::F64, call.value.shape())?));
    }
    let errors: Vec<Tensor> = call
        .operands
        .iter()
        .map(|x| if x.own.dtype().is_float() { x.error.clone() } else { x.own.clone() })
        .collect();
    // What an attribute fills in has no error; that it gets one here is on the safe side.
    absolute(&call.evaluate(call.op, &errors)?).map(Some)
}

/// Products of matrices and convolutions: linear in both operands.
pub fn products(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let [x, y] = call.operands else { return Ok(None) };
    let of = |x: &Tensor, y: &Tensor| call.evaluate(call.op, &[x.clone(), y.clone()]);
    let ones = |t: &Tensor| Tensor::from_f64s(DType::F64, t.shape(), &vec![1.0; t.len()]);
    let (size_x, size_y) = (absolute(&x.value)?, absolute(&y.value)?);
    let terms = of(&ones(&x.value)?, &ones(&y.value)?)?.to_f64s().into_iter().fold(0.0, f64::max);
    let carried = added(&of(&size_x, &y.error)?, &of(&x.error, &added(&size_y, &y.error)?)?)?;
    added(&carried, &rounding(call, &of(&size_x, &size_y)?, terms)?).map(Some)
}

/// The greatest of each row along the axis of the call, for each element of the row.
fn greatest_of_row(call: &Bounding, tensor: &Tensor) -> Result<Vec<f64>, EvalError> {
    let axis = call.attrs.int_or("axis", -1);
    let attrs = Attrs::new().with("axes", [axis]).with("keepdims", true);
    let greatest = evaluate(&ops::reduction::REDUCE_MAX, &attrs, std::slice::from_ref(tensor))?.remove(0);
    let zeros = Tensor::zeros(DType::F64, tensor.shape())?;
    Ok(added(&zeros, &greatest)?.to_f64s())
}

/// What rows of exponentials are made of: how far each element is below the greatest, the most of that in its row, and the greatest error.
struct RowOf {
    below: Vec<f64>,
    most_below: Vec<f64>,
    error: Vec<f64>,
    worst: Vec<f64>,
    terms: f64,
}

fn row_of(call: &Bounding) -> Result<RowOf, EvalError> {
    let x = call.operands[0];
    let greatest = greatest_of_row(call, &x.value)?;
    let below: Vec<f64> = x.value.to_f64s().iter().zip(&greatest).map(|(x, m)| m - x).collect();
    let most_below = greatest_of_row(call, &call.result(below.clone())?)?;
    let axis = call.attrs.int_or("axis", -1);
    let rank = x.value.shape().len() as i64;
    let terms = x.value.shape()[if axis < 0 { axis + rank } else { axis } as usize] as f64;
    let worst = greatest_of_row(call, &x.error)?;
    Ok(RowOf { below, most_below, error: x.error.to_f64s(), worst, terms })
}

/// `exp(x - m) / sum of exp(x - m)`
pub fn softmax(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let (row, value) = (row_of(call)?, call.value.to_f64s());
    // Terms that are far below the greatest weigh too little for their rounding to count.
    let one = |i: usize| {
        let rounded = call.unit * (row.below[i] + row.most_below[i].min(64.0) + row.terms);
        (value[i] * (row.error[i] + row.worst[i] + rounded).exp_m1()).min(1.0)
    };
    call.result((0..value.len()).map(one).collect()).map(Some)
}

/// `x - m - log(sum of exp(x - m))`
pub fn log_softmax(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let (row, x) = (row_of(call)?, call.operands[0].value.to_f64s());
    let one = |i: usize| {
        let rounded = call.unit
            * (2.0 * x[i].abs() + 2.0 * row.below[i] + row.most_below[i].min(64.0) + row.terms + 2.0);
        row.error[i] + row.worst[i] + rounded
    };
    call.result((0..x.len()).map(one).collect()).map(Some)
}
