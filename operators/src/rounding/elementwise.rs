//! Elementwise functions of operands that may be off.
//!
//!     monotone f      |f(x') - f(x)|  <=  the greater of |f(x + e) - f(x)| and |f(x - e) - f(x)|
//!     x y             |x| ey + |y| ex + ex ey
//!     x / y           (ex + |x / y| ey) / (|y| - ey), infinite where y may be zero
//!
//! Where the interval of an operand leaves the domain, a function has no number and the error is infinite.

use super::Bounding;
use crate::reference::EvalError;
use crate::reference::elementwise::broadcast_indices;
use crate::{Tensor, ops};

/// Numbers of f64 of an operand for each element of the result.
fn spread(call: &Bounding, tensor: &Tensor) -> Vec<f64> {
    let numbers = super::numbers(tensor);
    broadcast_indices(call.value.shape(), tensor.shape()).into_iter().map(|i| numbers[i]).collect()
}

/// The true numbers and the errors of an operand.
fn operand(call: &Bounding, at: usize) -> (Vec<f64>, Vec<f64>) {
    let operand = call.operands[at];
    (spread(call, &operand.value), spread(call, &operand.error))
}

/// A function of one number of which no two values are farther apart than their numbers.
pub fn lipschitz(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let (from, to) = (call.operands[0].own.dtype(), call.value.dtype());
    // Of a cast of floats to integers or truths nothing is known.
    Ok((!from.is_float() || to.is_float()).then(|| call.operands[0].error.clone()))
}

/// A function that only rises or only falls.
pub fn monotone(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let (x, e) = operand(call, 0);
    let at = |sign: f64| {
        let numbers = x.iter().zip(&e).map(|(x, e)| if *e == 0.0 { *x } else { x + sign * e }).collect();
        Ok::<_, EvalError>(call.evaluate(call.op, &[call.result(numbers)?])?.to_f64s())
    };
    let (low, high, value) = (at(-1.0)?, at(1.0)?, call.value.to_f64s());
    let far = |i: usize| {
        let (low, high) = ((low[i] - value[i]).abs(), (high[i] - value[i]).abs());
        // Equal infinities and what is no number: `rounded` makes of them what they are.
        if e[i] == 0.0 { 0.0 } else { low.max(high) + 0.0 * (low + high) }
    };
    call.result((0..x.len()).map(far).collect()).map(Some)
}

/// `x y`
pub fn product(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let ((x, ex), (y, ey)) = (operand(call, 0), operand(call, 1));
    let one = |i: usize| x[i].abs() * ey[i] + y[i].abs() * ex[i] + ex[i] * ey[i];
    call.result((0..x.len()).map(one).collect()).map(Some)
}

/// `x / y`, and `1 / y` of one operand.
pub fn quotient(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let value = call.value.to_f64s();
    let (y, ey) = operand(call, call.operands.len() - 1);
    let ex = match call.operands.len() {
        1 => vec![0.0; y.len()],
        _ => operand(call, 0).1,
    };
    let one = |i: usize| match y[i].abs() - ey[i] {
        room if room > 0.0 => (ex[i] + value[i].abs() * ey[i]) / room,
        _ => f64::INFINITY,
    };
    call.result((0..y.len()).map(one).collect()).map(Some)
}

/// `x^y`: at the corners of what both may be, and at zero; `exp(y log x)` rounds `y log x`.
pub fn power(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let ((x, ex), (y, ey)) = (operand(call, 0), operand(call, 1));
    let value = call.value.to_f64s();
    let one = |i: usize| {
        let mut corners = vec![];
        for base in [x[i] - ex[i], x[i] + ex[i]] {
            corners.extend([y[i] - ey[i], y[i] + ey[i]].map(|exponent| base.powf(exponent)));
        }
        let holds_zero = ex[i] > 0.0 && x[i].abs() <= ex[i];
        if holds_zero {
            corners.push(0f64.powf(y[i] - ey[i]));
        }
        let far = corners.iter().map(|corner| (corner - value[i]).abs());
        let carried = far.fold(0.0, |most, far| if far.is_nan() || far > most { far } else { most });
        let logarithm = (x[i].abs().ln() * y[i]).abs();
        let rounded = if logarithm.is_finite() { logarithm * call.unit * value[i].abs() } else { 0.0 };
        carried + rounded
    };
    call.result((0..x.len()).map(one).collect()).map(Some)
}

/// The greater or the lesser of two is off by no more than both.
pub fn widest(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let ((_, ex), (_, ey)) = (operand(call, 0), operand(call, 1));
    call.result(ex.iter().zip(&ey).map(|(x, y)| x.max(*y)).collect()).map(Some)
}

/// A comparison is uncertain where both may be equal.
pub fn compared(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let ((x, ex), (y, ey)) = (operand(call, 0), operand(call, 1));
    let certain = |i: usize| {
        let errors = ex[i] + ey[i];
        errors == 0.0 && !(x[i] - y[i]).is_nan() || (x[i] - y[i]).abs() > errors
    };
    call.result((0..x.len()).map(|i| f64::from(u8::from(!certain(i)))).collect()).map(Some)
}

/// Of truths one of which is uncertain.
pub fn logical(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let mut uncertain = vec![0f64; call.value.len()];
    for at in 0..call.operands.len() {
        let errors = operand(call, at).1;
        uncertain.iter_mut().zip(errors).for_each(|(most, error)| *most = most.max(error));
    }
    call.result(uncertain).map(Some)
}

/// `condition ? x : y`; where the condition is uncertain, either.
pub fn chosen(call: &Bounding) -> Result<Option<Tensor>, EvalError> {
    let (_, uncertain) = operand(call, 0);
    let ((x, ex), (y, ey)) = (operand(call, 1), operand(call, 2));
    let condition = spread(call, &call.operands[0].value);
    let one = |i: usize| match (uncertain[i] > 0.0, condition[i] != 0.0) {
        (true, _) => (x[i] - y[i]).abs() + ex[i].max(ey[i]),
        (false, true) => ex[i],
        (false, false) => ey[i],
    };
    call.result((0..x.len()).map(one).collect()).map(Some)
}

/// The sum of two tensors of f64, broadcast.
pub fn added(a: &Tensor, b: &Tensor) -> Result<Tensor, EvalError> {
    let both = [a.clone(), b.clone()];
    Ok(crate::reference::evaluate(&ops::elementwise::ADD, &crate::Attrs::new(), &both)?.remove(0))
}
