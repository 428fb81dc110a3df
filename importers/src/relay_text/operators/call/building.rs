//! Short names for the rows that operators are built from, and for constants.
//!
//!     call.transposed(x, &[0, 2, 1])      relay.transpose %x {axes = [0, 2, 1]}
//!     call.times(x, 0.5)                  relay.mul %x, 0.5, of x's element type

use super::Call;
use crate::relay_text::emit::{Literal, Made};
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, indexing, reduction, shape};
use fusion_operators::{Attrs, DType, Operator, Tensor};
use std::rc::Rc;

/// Tables that are worked out while a text is read have at most so many elements.
const MOST_ELEMENTS: i64 = 1 << 22;

impl<'c> Call<'_, 'c, '_> {
    // --- Constants

    pub fn table(&mut self, tensor: Result<Tensor, impl std::fmt::Display>) -> Outcome<Value<'c>> {
        match tensor {
            Ok(tensor) => Ok(self.emitter.value(&Made::Literal(Literal::Scalar(Rc::new(tensor))), self.span)),
            Err(error) => self.fault(error.to_string()),
        }
    }

    /// Integers in a shape.
    pub fn ints_in(&mut self, dtype: DType, shape: &[i64], numbers: &[i64]) -> Outcome<Value<'c>> {
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let numbers: Vec<i128> = numbers.iter().map(|&n| n.into()).collect();
        self.table(Tensor::from_ints(dtype, &shape, &numbers))
    }

    /// Numbers in a shape.
    pub fn floats_in(&mut self, dtype: DType, shape: &[i64], numbers: &[f64]) -> Outcome<Value<'c>> {
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        self.table(Tensor::from_f64s(dtype, &shape, numbers))
    }

    /// How many elements a shape has; a fault where a table of so many would be too large.
    pub fn countable(&self, shape: &[i64]) -> Outcome<i64> {
        let count = shape.iter().try_fold(1i64, |count, &n| count.checked_mul(n));
        match count.filter(|count| (0..=MOST_ELEMENTS).contains(count)) {
            Some(count) => Ok(count),
            None => self.fault(format!("a table of extents {shape:?} is too large to be worked out here")),
        }
    }

    /// Numbers that sums and products of a few of them may be made of.
    pub fn moderate(&self, numbers: &[i64]) -> Outcome<()> {
        match numbers.iter().find(|n| n.unsigned_abs() > 1 << 31) {
            Some(number) => self.fault(format!("the number {number} is out of range")),
            None => Ok(()),
        }
    }

    /// The integers that an operand is known to be.
    pub fn known_ints(&mut self, index: usize) -> Outcome<Vec<i64>> {
        let tensor = self.constant(index)?;
        if !tensor.dtype().is_int() {
            return self.fault(format!("argument {} must be made of integers", index + 1));
        }
        Ok((0..tensor.len()).map(|i| tensor.f64_at(i) as i64).collect())
    }

    /// An attribute that must be written.
    pub fn required(&self, name: &str) -> Outcome<i64> {
        match self.maybe_int(name)? {
            Some(value) => Ok(value),
            None => self.fault(format!("the attribute {name} is missing")),
        }
    }

    // --- Elementwise

    pub fn add(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.plain(&ew::ADD, &[a, b])
    }

    pub fn sub(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.plain(&ew::SUB, &[a, b])
    }

    pub fn mul(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.plain(&ew::MUL, &[a, b])
    }

    pub fn div(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.plain(&ew::DIV, &[a, b])
    }

    pub fn times(&mut self, x: Value<'c>, number: f64) -> Outcome<Value<'c>> {
        let number = self.like(x, number)?;
        self.mul(x, number)
    }

    pub fn plus(&mut self, x: Value<'c>, number: f64) -> Outcome<Value<'c>> {
        let number = self.like(x, number)?;
        self.add(x, number)
    }

    pub fn clipped(&mut self, x: Value<'c>, least: f64, most: f64) -> Outcome<Value<'c>> {
        self.row(&ew::CLIP, &[x], Attrs::new().with("min", least).with("max", most))
    }

    pub fn select(&mut self, condition: Value<'c>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.plain(&ew::WHERE, &[condition, a, b])
    }

    // --- Shapes

    pub fn reshaped(&mut self, x: Value<'c>, shape: &[i64]) -> Outcome<Value<'c>> {
        self.row(&shape::RESHAPE, &[x], Attrs::new().with("shape", shape.to_vec()))
    }

    pub fn transposed(&mut self, x: Value<'c>, axes: &[i64]) -> Outcome<Value<'c>> {
        if axes.iter().zip(0..).all(|(axis, place)| *axis == place) {
            return Ok(x);
        }
        self.row(&shape::TRANSPOSE, &[x], Attrs::new().with("axes", axes.to_vec()))
    }

    pub fn expanded(&mut self, x: Value<'c>, axes: &[i64]) -> Outcome<Value<'c>> {
        if axes.is_empty() {
            return Ok(x);
        }
        self.row(&shape::EXPAND_DIMS, &[x], Attrs::new().with("axes", axes.to_vec()))
    }

    pub fn broadcast(&mut self, x: Value<'c>, shape: &[i64]) -> Outcome<Value<'c>> {
        self.row(&shape::BROADCAST_TO, &[x], Attrs::new().with("shape", shape.to_vec()))
    }

    pub fn joined(&mut self, parts: &[Value<'c>], axis: i64) -> Outcome<Value<'c>> {
        match parts {
            [only] => Ok(*only),
            _ => self.row(&shape::CONCAT, parts, Attrs::new().with("axis", axis)),
        }
    }

    /// The elements from `begin` to `end` of some axes.
    pub fn sliced(&mut self, x: Value<'c>, axes: &[i64], begin: &[i64], end: &[i64]) -> Outcome<Value<'c>> {
        let attrs =
            Attrs::new().with("begin", begin.to_vec()).with("end", end.to_vec()).with("axes", axes.to_vec());
        self.row(&shape::SLICE, &[x], attrs)
    }

    /// One place of an axis, without the axis.
    pub fn at(&mut self, x: Value<'c>, axis: i64, place: i64) -> Outcome<Value<'c>> {
        let slice = self.sliced(x, &[axis], &[place], &[place + 1])?;
        self.row(&shape::SQUEEZE, &[slice], Attrs::new().with("axes", [axis]))
    }

    pub fn padded(&mut self, x: Value<'c>, begin: &[i64], end: &[i64], value: f64) -> Outcome<Value<'c>> {
        if begin.iter().chain(end).all(|&n| n == 0) {
            return Ok(x);
        }
        let padding: Vec<i64> = begin.iter().chain(end).copied().collect();
        self.row(&shape::PAD, &[x], Attrs::new().with("padding", padding).with("value", value))
    }

    pub fn gathered(&mut self, x: Value<'c>, places: Value<'c>, axis: i64) -> Outcome<Value<'c>> {
        self.row(&indexing::GATHER, &[x, places], Attrs::new().with("axis", axis))
    }

    /// The element of each line along an axis at each of its places.
    pub fn gathered_elements(&mut self, x: Value<'c>, places: Value<'c>, axis: i64) -> Outcome<Value<'c>> {
        self.row(&indexing::GATHER_ELEMENTS, &[x, places], Attrs::new().with("axis", axis))
    }

    /// A reduction along axes, which go or stay with extent 1.
    pub fn reduced(
        &mut self,
        row: &'static Operator,
        x: Value<'c>,
        axes: &[i64],
        keep: bool,
    ) -> Outcome<Value<'c>> {
        if axes.is_empty() {
            return Ok(x);
        }
        let mut attrs = Attrs::new().with("axes", axes.to_vec());
        if keep {
            attrs.set("keepdims", true);
        }
        self.row(row, &[x], attrs)
    }

    pub fn summed(&mut self, x: Value<'c>, axes: &[i64]) -> Outcome<Value<'c>> {
        self.reduced(&reduction::REDUCE_SUM, x, axes, false)
    }
}
