//! Running error analysis: what a call truly is, beside a bound of what rounding may make of it.
//!
//! ```text
//!   value    f(x) in double precision, of operands that are themselves true
//!   error    the most of |fl(f(x')) - f(x)| for |x' - x| <= error of x:   how f carries x's error on, + c u |f(x)| + tiny
//!   own      fl(f(fl(...))), as the element types of the program have it
//! ```
//! u is the unit roundoff of the result's element type, c how many roundings the operator makes, tiny the least positive number, for
//! what underflows (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, sections 2.1 and 3.3). Where `own` is infinite or no number, or
//! within 2^24 of the limits of its type, which forms of f32, bf16 and f64 may use, the error is infinite: of such an element nothing is said. So two forms of a program can be compared: each lies
//! within a small factor of the bound of its source, or one of them is wrong.

mod elementwise;
mod rows;
mod sums;

pub use rows::is_bounded;

use crate::dtype::Class;
use crate::reference::{EvalError, evaluate};
use crate::{Attr, Attrs, DType, Format, Operator, Tensor};
use std::fmt;

/// A tensor of a program with what it truly is.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The true numbers; of floats as f64, else as they are.
    pub value: Tensor,
    /// How far rounding may take each from that; of truths and integers, 0 where they are certain.
    pub error: Tensor,
    /// The numbers as the program has them.
    pub own: Tensor,
}

/// A call whose result is bounded.
pub(crate) struct Bounding<'a> {
    pub op: &'static Operator,
    /// As in double precision.
    pub attrs: Attrs,
    pub operands: &'a [&'a Bounded],
    /// The true result.
    pub value: &'a Tensor,
    /// The unit roundoff of the result's type.
    pub unit: f64,
    /// The greatest finite number of that type.
    pub greatest: f64,
}

impl Bounding<'_> {
    /// The operator, or another of the same attributes, on tensors of f64.
    fn evaluate(&self, op: &'static Operator, operands: &[Tensor]) -> Result<Tensor, EvalError> {
        evaluate(op, &self.attrs, operands).map(|mut results| results.remove(0))
    }

    /// A tensor of f64 with the shape of the result.
    fn result(&self, numbers: Vec<f64>) -> Result<Tensor, EvalError> {
        Ok(Tensor::from_f64s(DType::F64, self.value.shape(), &numbers)?)
    }
}

/// The unit roundoff of an element type; 0 where nothing is rounded.
pub fn unit_roundoff(dtype: DType) -> f64 {
    Format::of(dtype).map_or(0.0, Format::unit_roundoff)
}

/// The least positive number of an element type; 0 of integers.
pub fn least_positive(dtype: DType) -> f64 {
    Format::of(dtype).map_or(0.0, Format::least_positive)
}

/// The greatest finite number of an element type; that of f64 of integers.
pub fn greatest(dtype: DType) -> f64 {
    Format::of(dtype).map_or(f64::MAX, Format::greatest_number)
}

/// The same tensor in double precision, where it is of floats.
fn doubled(tensor: &Tensor) -> Result<Tensor, EvalError> {
    match tensor.dtype().is_float() {
        true => Ok(Tensor::from_f64s(DType::F64, tensor.shape(), &tensor.to_f64s())?),
        false => Ok(tensor.clone()),
    }
}

/// Attributes with f64 in place of other floats.
fn doubled_attrs(attrs: &Attrs) -> Attrs {
    let mut doubled = Attrs::new();
    for (name, attr) in attrs.iter() {
        doubled.set(
            name,
            match attr {
                Attr::Type(dtype) if dtype.is_float() => Attr::Type(DType::F64),
                other => other.clone(),
            },
        );
    }
    doubled
}

impl Bounded {
    /// What comes from outside of a program, which is what it is.
    pub fn exact(own: Tensor) -> Result<Self, EvalError> {
        let dtype = own.dtype();
        let error =
            |v: f64| if dtype.is_float() && is_near_limit(v, 0.0, dtype) { f64::INFINITY } else { 0.0 };
        let errors: Vec<f64> = own.to_f64s().into_iter().map(error).collect();
        let error = Tensor::from_f64s(DType::F64, own.shape(), &errors)?;
        Ok(Bounded { value: doubled(&own)?, error, own })
    }

    /// The result of a call; `None` for operators without a row in `rows.rs`, and for those of several results.
    pub fn call(
        op: &'static Operator,
        attrs: &Attrs,
        operands: &[&Bounded],
    ) -> Result<Option<Self>, EvalError> {
        let Some(row) = rows::row(op) else { return Ok(None) };
        let own: Vec<Tensor> = operands.iter().map(|x| x.own.clone()).collect();
        let [own] = &evaluate(op, attrs, &own)?[..] else { return Ok(None) };
        let dtype = own.dtype();
        let attrs = doubled_attrs(attrs);
        let values: Vec<Tensor> = operands.iter().map(|x| x.value.clone()).collect();
        let value = evaluate(op, &attrs, &values)?.remove(0);
        let call = Bounding {
            op,
            attrs,
            operands,
            value: &value,
            unit: unit_roundoff(dtype),
            greatest: greatest(dtype),
        };
        let Some(carried) = (row.carries)(&call)? else { return Ok(None) };
        let mut error = carried.to_f64s();
        if dtype.class() == Class::Float {
            let (own, value) = (own.to_f64s(), value.to_f64s());
            for (i, error) in error.iter_mut().enumerate() {
                *error = rounded(*error, own[i], value[i], row.roundings, dtype);
            }
        }
        let error = Tensor::from_f64s(DType::F64, own.shape(), &error)?;
        Ok(Some(Bounded { value, error, own: own.clone() }))
    }

    /// What a tensor that should be this one differs in: in an element whose error is finite it is off by more than `factor` times that, and by
    /// more than some units in the last place.
    pub fn outside(&self, found: &Tensor, factor: f64) -> Option<Outside> {
        let dtype = self.own.dtype();
        if found.shape() != self.own.shape() || found.dtype() != dtype {
            let (wanted, found) = (self.own.tensor_type(), found.tensor_type());
            return Some(Outside::Type { wanted: wanted.to_string(), found: found.to_string() });
        }
        let (value, error, own) = (numbers(&self.value), self.error.to_f64s(), numbers(&self.own));
        let found = numbers(found);
        let one = |at: usize| {
            let (value, error, own, found) = (value[at], error[at], own[at], found[at]);
            let slack = ULPS * unit_roundoff(dtype) * value.abs() + ULPS * least_positive(dtype);
            let allowed = factor * error + slack;
            let is_right = !error.is_finite()
                || (value - found).abs() <= allowed
                // What only just does not overflow may do so in another form.
                || !found.is_finite() && value.abs() + allowed > greatest(dtype);
            (!is_right).then_some(Outside::Element { at, value, own, found, allowed })
        };
        (0..value.len()).find_map(one)
    }
}

/// Units in the last place of a result that no bound speaks of: what is exact in one form is rounded in another.
const ULPS: f64 = 8.0;

fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype().is_float() {
        true => tensor.to_f64s(),
        false => tensor.to_ints().into_iter().map(|v| v as f64).collect(),
    }
}

/// An error that was carried on, with that of rounding the result.
fn rounded(carried: f64, own: f64, value: f64, roundings: f64, dtype: DType) -> f64 {
    // Zeros of zeros are exact.
    let tiny = if value == 0.0 && carried == 0.0 || roundings == 0.0 { 0.0 } else { least_positive(dtype) };
    let error = carried + roundings * unit_roundoff(dtype) * value.abs() + tiny;
    let is_unknown = !own.is_finite() || !error.is_finite() || is_near_limit(value, error, dtype);
    if is_unknown { f64::INFINITY } else { error }
}

/// True where another form may overflow or lose digits, and for what is no number.
fn is_near_limit(value: f64, error: f64, dtype: DType) -> bool {
    let room = room(dtype);
    let least_normal = Format::of(dtype).map_or(0.0, Format::least_normal);
    let may_underflow = room > 1.0 && value != 0.0 && value.abs() < least_normal * room;
    let fits = value.abs() + error <= greatest(dtype) / room;
    may_underflow || !fits
}

/// How many times larger or smaller a value between may be in another form than the values of the source. f16 has no room for that.
fn room(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1.0,
        _ => 2f64.powi(24),
    }
}

/// How a tensor is not what it should be.
#[derive(Clone, Debug, PartialEq)]
pub enum Outside {
    /// In its type.
    #[allow(missing_docs)]
    Type { wanted: String, found: String },
    /// In an element, the first of those.
    #[allow(missing_docs)]
    Element { at: usize, value: f64, own: f64, found: f64, allowed: f64 },
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outside::Type { wanted, found } => write!(f, "the type is {found}, expected {wanted}"),
            Outside::Element { at, value, own, found, allowed } => write!(
                f,
                "element {at} is {found:e}, expected {value:e} up to {allowed:.1e} (as the source computes it: {own:e})"
            ),
        }
    }
}
