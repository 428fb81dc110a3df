//! Calls of constants as constants.
//!
//!     source    0.1 * 0.2       computed as the program would, in its element type, when the block is read
//!     rules     c d, 1 / c      computed exactly, and rounded once, when the constant is extracted (`dyadic`)
//!
//! A rule that makes a constant which its element type does not hold as a normal number (which overflows, or has lost digits, or is
//! infinite or NaN) is not applied. Functions other than sums, products and reciprocals of powers of two are computed in double precision.

use super::super::contents;
use super::super::language::{Constant, SMALL_BYTES};
use super::dyadic::Dyadic;
use fusion_operators::ops::elementwise::*;
use fusion_operators::reference::broadcast_steps;
use fusion_operators::{Attrs, Call, DType, Format, FusionKind, Operator, Tensor, TensorType, reference};

/// What a call of constants is.
pub enum Folded {
    /// It stays a call, to be computed when it is extracted.
    Call,
    /// A constant.
    Constant(Constant),
    /// No normal number of its element type.
    OutOfRange,
}

/// The constant that a call of the source with these operands is, computed in its element type.
pub fn of_source(call: &Call, ty: &TensorType, known: &[&Constant]) -> Option<Constant> {
    if let Some(moved) = contents::one_number(call, ty, known) {
        return Some(moved);
    }
    if let Some(numbers) = numbers_of(call.op, known) {
        let scalar = reference::evaluate(call.op, call.attrs, &numbers).ok().filter(|r| r[0].len() == 1)?;
        ty.shape()?;
        return Some(Constant::Splat { ty: ty.clone(), element: scalar[0].bytes().to_vec() });
    }
    let small = |t: &TensorType| t.bytes().is_some_and(|n| n <= SMALL_BYTES as u64);
    if !small(ty) || !known.iter().all(|c| small(c.ty())) {
        return None;
    }
    let operands: Vec<Tensor> = known.iter().map(|c| c.tensor()).collect::<Option<_>>()?;
    Constant::of(reference::evaluate(call.op, call.attrs, &operands).ok()?.first()?)
}

/// What a call that a rule makes, of constants of which those are known, is.
pub fn of_rule(call: &Call, ty: &TensorType, known: &[Option<&Constant>]) -> Folded {
    let Some(known) = known.iter().copied().collect::<Option<Vec<&Constant>>>() else { return Folded::Call };
    if let Some(moved) = contents::one_number(call, ty, &known) {
        return Folded::Constant(moved);
    }
    let are_floats = ty.dtype.is_float() && known.iter().all(|c| c.ty().dtype == ty.dtype);
    let are_numbers = known.iter().all(|c| c.splat().is_some());
    let is_scalar = are_numbers && is_elementwise(call.op) && ty.shape().is_some();
    match (are_floats, is_scalar) {
        (true, true) => match exactly(call, ty, &known) {
            Some(constant) => Folded::Constant(constant),
            None => Folded::OutOfRange,
        },
        // Numbers that differ are rounded once, when they are extracted.
        (true, false) => of_several(call, ty, &known),
        _ => of_source(call, ty, &known).map_or(Folded::Call, Folded::Constant),
    }
}

/// Numbers that differ stay a call, unless some of the results would lose what they are.
fn of_several(call: &Call, ty: &TensorType, known: &[&Constant]) -> Folded {
    let is_small = |ty: &TensorType| ty.bytes().is_some_and(|n| n <= SMALL_BYTES as u64);
    let are_small = is_small(ty) && known.iter().all(|c| is_small(c.ty()));
    if !are_small || !is_elementwise(call.op) {
        return Folded::Call;
    }
    let operands: Option<Vec<Tensor>> = known.iter().map(|c| c.tensor()).collect();
    let Some(operands) = operands else { return Folded::Call };
    match reference::evaluate(call.op, call.attrs, &operands) {
        Ok(results) if loses(call.op, &operands, &results[0]) => Folded::OutOfRange,
        _ => Folded::Call,
    }
}

/// True when a result is infinite or NaN and no operand is, or when a product or a quotient other than 0 is no normal number.
pub fn loses(operator: &Operator, operands: &[Tensor], result: &Tensor) -> bool {
    let Some(format) = Format::of(result.dtype()) else { return false };
    let least = format.least_normal();
    let is_finite = |tensor: &Tensor| tensor.f64s().all(f64::is_finite);
    if !is_finite(result) {
        return operands.iter().all(is_finite);
    }
    let scales = operator.is(&MUL) || operator.is(&DIV);
    let [a, b] = operands else { return false };
    if !scales {
        return false;
    }
    let shape = result.shape();
    let operands = [a, b].map(|operand| (operand, broadcast_steps(shape.len(), operand.shape())));
    let number_at = |(operand, steps): &(&Tensor, Vec<isize>), element: usize| {
        let (mut at, mut rest) = (0, element);
        for (&extent, &step) in shape.iter().zip(steps).rev() {
            at += (rest % extent) * step as usize;
            rest /= extent;
        }
        operand.f64_at(at)
    };
    let mut small = result.f64s().enumerate().filter(|(_, v)| v.abs() < least);
    small.any(|(element, _)| operands.iter().all(|operand| number_at(operand, element) != 0.0))
}

/// One number of floats, computed of one number each.
fn exactly(call: &Call, ty: &TensorType, known: &[&Constant]) -> Option<Constant> {
    let numbers: Vec<Dyadic> = known.iter().map(|c| c.exact()).collect::<Option<_>>()?;
    let is = |operator: &Operator| call.op.is(operator);
    let exact = match &numbers[..] {
        [a, b] if is(&ADD) => a.plus(b)?,
        [a, b] if is(&SUB) => a.plus(&b.negated())?,
        [a, b] if is(&MUL) => a.times(b)?,
        [a, b] if is(&DIV) && b.is_power_of_two() => a.times(&b.reciprocal()?)?,
        [a] if is(&NEG) => a.negated(),
        [a] if is(&RECIPROCAL) && a.is_power_of_two() => a.reciprocal()?,
        _ => Dyadic::of(in_double(call.op, call.attrs, &numbers)?)?,
    };
    Constant::number(ty, &exact)
}

fn in_double(operator: &'static Operator, attrs: &Attrs, numbers: &[Dyadic]) -> Option<f64> {
    let one = |number: &Dyadic| Tensor::from_f64s(DType::F64, &[], &[number.nearest()]).ok();
    let operands: Vec<Tensor> = numbers.iter().map(one).collect::<Option<_>>()?;
    let results = reference::evaluate(operator, attrs, &operands).ok()?;
    results.first().filter(|r| r.len() == 1).map(|r| r.f64_at(0))
}

/// The numbers of operands of an elementwise call that are one number each.
fn numbers_of(operator: &Operator, known: &[&Constant]) -> Option<Vec<Tensor>> {
    if !is_elementwise(operator) {
        return None;
    }
    known.iter().map(|c| c.scalar()).collect()
}

fn is_elementwise(operator: &Operator) -> bool {
    matches!(operator.fusion, FusionKind::Elementwise | FusionKind::Broadcast)
}
