//! What conversions are written with: calls of relay's operators, what is known of a value, constants.

use super::{Emitter, Held};
use crate::sources::Outcome;
use crate::stablehlo::graph::Operation;
use fusion_dialects::{OpExt, Value, ValueLike, defining_op, kind_of, rows::Kind};
use fusion_operators::ops::{contraction, creation, elementwise as ew, indexing, shape};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType};

/// No operation gives more elements.
const MOST_ELEMENTS: u64 = 1 << 40;

impl<'c> Emitter<'c, '_> {
    /// Calls an operator.
    pub fn ops(
        &mut self,
        operator: &'static Operator,
        operands: &[Value<'c>],
        attrs: Attrs,
    ) -> Outcome<Vec<Value<'c>>> {
        let results = match self.builder.op(operator, operands, &attrs) {
            Ok(results) => results,
            Err(violation) => {
                return self
                    .fault(format!("this becomes relay.{}, which violates {violation}", operator.name));
            }
        };
        for &result in &results {
            let ty = self.ty(result)?;
            if ty.elements().is_some_and(|n| n > MOST_ELEMENTS) {
                return self.fault(format!("this needs a tensor of type {ty}, which is too large"));
            }
        }
        Ok(results)
    }

    /// Calls an operator of one result.
    pub fn op(
        &mut self,
        operator: &'static Operator,
        operands: &[Value<'c>],
        attrs: Attrs,
    ) -> Outcome<Value<'c>> {
        let results = self.ops(operator, operands, attrs)?;
        match results.first() {
            Some(&result) => Ok(result),
            None => self.fault(format!("relay.{} gives no result", operator.name)),
        }
    }

    /// An operator of one operand and no attributes.
    pub fn un(&mut self, operator: &'static Operator, x: Value<'c>) -> Outcome<Value<'c>> {
        self.op(operator, &[x], Attrs::new())
    }
    /// An operator of two operands and no attributes.
    pub fn bin(&mut self, operator: &'static Operator, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.op(operator, &[a, b], Attrs::new())
    }
    pub fn add(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::ADD, a, b)
    }
    pub fn sub(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::SUB, a, b)
    }
    pub fn mul(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::MUL, a, b)
    }
    pub fn div(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::DIV, a, b)
    }
    pub fn less(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::LESS, a, b)
    }
    pub fn equal(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::EQUAL, a, b)
    }
    pub fn and(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::LOGICAL_AND, a, b)
    }
    pub fn or(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&ew::LOGICAL_OR, a, b)
    }
    pub fn not(&mut self, x: Value<'c>) -> Outcome<Value<'c>> {
        self.un(&ew::LOGICAL_NOT, x)
    }
    /// condition ? x : y
    pub fn select(&mut self, condition: Value<'c>, x: Value<'c>, y: Value<'c>) -> Outcome<Value<'c>> {
        self.op(&ew::WHERE, &[condition, x, y], Attrs::new())
    }
    /// Conversion of the element type; nothing when it is that already.
    pub fn cast(&mut self, x: Value<'c>, dtype: DType) -> Outcome<Value<'c>> {
        if self.dtype(x)? == dtype {
            return Ok(x);
        }
        self.op(&ew::CAST, &[x], Attrs::new().with("dtype", dtype))
    }
    /// The same bits as another element type of that size.
    pub fn bitcast(&mut self, x: Value<'c>, dtype: DType) -> Outcome<Value<'c>> {
        if self.dtype(x)? == dtype {
            return Ok(x);
        }
        self.op(&ew::BITCAST, &[x], Attrs::new().with("dtype", dtype))
    }
    /// x + number
    pub fn add_f(&mut self, x: Value<'c>, number: f64) -> Outcome<Value<'c>> {
        let c = self.like(x, number)?;
        self.add(x, c)
    }
    /// x * number
    pub fn mul_f(&mut self, x: Value<'c>, number: f64) -> Outcome<Value<'c>> {
        let c = self.like(x, number)?;
        self.mul(x, c)
    }
    /// The sum of numbers times powers of x, the highest power first.
    pub fn polynomial(&mut self, x: Value<'c>, coefficients: &[f64]) -> Outcome<Value<'c>> {
        let mut sum = self.like(x, coefficients.first().copied().unwrap_or(0.0))?;
        for &coefficient in coefficients.iter().skip(1) {
            let scaled = self.mul(sum, x)?;
            sum = self.add_f(scaled, coefficient)?;
        }
        Ok(sum)
    }

    // --- What is known of a value

    pub fn ty(&self, v: Value<'c>) -> Outcome<TensorType> {
        match self.builder.tensor_type(v) {
            Some(ty) => Ok(ty),
            None => self.fault(format!("expected a tensor, found a value of type {}", v.r#type())),
        }
    }
    pub fn dtype(&self, v: Value<'c>) -> Outcome<DType> {
        Ok(self.ty(v)?.dtype)
    }
    pub fn rank(&self, v: Value<'c>) -> Outcome<usize> {
        Ok(self.ty(v)?.rank())
    }
    pub fn dims(&self, v: Value<'c>) -> Outcome<Vec<Dim>> {
        Ok(self.ty(v)?.dims)
    }
    /// Extents, which must be known.
    pub fn shape(&self, v: Value<'c>) -> Outcome<Vec<usize>> {
        let ty = self.ty(v)?;
        match ty.shape() {
            Some(shape) => Ok(shape.into_iter().map(|n| n as usize).collect()),
            None => {
                self.fault(format!("the extents of {ty} must be known here; give the model's inputs shapes"))
            }
        }
    }

    // --- Operands

    /// A real operand.
    pub fn tensor(&self, operation: &Operation, operands: &[Held<'c>], index: usize) -> Outcome<Value<'c>> {
        match operands.get(index) {
            Some(Held::Tensor(value)) => Ok(*value),
            Some(Held::Complex(..)) => operation.fault(format!("operand {index} must not be complex")),
            Some(Held::Tuple(_) | Held::Token) => {
                operation.fault(format!("operand {index} must be a tensor"))
            }
            None => operation.fault(format!("operand {index} is missing")),
        }
    }

    /// An operand that may be complex: its parts.
    pub fn parts(
        &self,
        operation: &Operation,
        operands: &[Held<'c>],
        index: usize,
    ) -> Outcome<Vec<Value<'c>>> {
        match operands.get(index) {
            Some(Held::Complex(re, im)) => Ok(vec![*re, *im]),
            _ => Ok(vec![self.tensor(operation, operands, index)?]),
        }
    }

    /// A value of one or two parts.
    pub fn of_parts(parts: &[Value<'c>]) -> Held<'c> {
        match parts {
            [re, im] => Held::Complex(*re, *im),
            _ => parts.first().map_or(Held::Token, |&x| Held::Tensor(x)),
        }
    }

    /// Integers that an operand holds, which must be known when the program is read.
    pub fn known_ints(&self, operation: &Operation, x: Value<'c>, what: &str) -> Outcome<Vec<i64>> {
        match self.builder.constant_value(x) {
            Some(tensor) if !tensor.dtype().is_float() => Ok(tensor
                .to_ints()
                .into_iter()
                .map(|n| n.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
                .collect()),
            _ => {
                operation.fault(format!("{what} must be known when the program is read, and it is computed"))
            }
        }
    }

    /// The constant that a value is, or of which it is a broadcast.
    pub fn known(&self, x: Value<'c>) -> Option<Tensor> {
        if let Some(tensor) = self.builder.constant_value(x) {
            return Some(tensor);
        }
        let op = defining_op(x)?;
        let moves = match kind_of(op) {
            Some(Kind::Operator(operator)) => {
                operator.is(&shape::BROADCAST_TO) || operator.is(&shape::RESHAPE)
            }
            _ => false,
        };
        if moves { self.known(op.operand_values().first().copied()?) } else { None }
    }

    /// The one number that all elements of a value are, where it is known.
    pub fn known_number(&self, x: Value<'c>) -> Option<f64> {
        let tensor = self.known(x)?;
        let first = (!tensor.is_empty()).then(|| tensor.f64_at(0))?;
        let same = tensor.len() <= 1 << 16 && (1..tensor.len()).all(|i| tensor.f64_at(i) == first);
        same.then_some(first)
    }

    // --- Constants

    pub fn constant(&mut self, tensor: &Tensor) -> Value<'c> {
        self.builder.constant(tensor)
    }
    pub fn floats(&mut self, dtype: DType, shape: &[usize], values: &[f64]) -> Outcome<Value<'c>> {
        match Tensor::from_f64s(dtype, shape, values) {
            Ok(tensor) => Ok(self.constant(&tensor)),
            Err(error) => self.fault(error.to_string()),
        }
    }
    pub fn ints(&mut self, dtype: DType, shape: &[usize], values: &[i64]) -> Outcome<Value<'c>> {
        let values: Vec<i128> = values.iter().map(|&n| n.into()).collect();
        match Tensor::from_ints(dtype, shape, &values) {
            Ok(tensor) => Ok(self.constant(&tensor)),
            Err(error) => self.fault(error.to_string()),
        }
    }
    pub fn scalar(&mut self, dtype: DType, value: f64) -> Outcome<Value<'c>> {
        self.floats(dtype, &[], &[value])
    }
    /// A scalar of integers of any size.
    pub fn int(&mut self, dtype: DType, value: i128) -> Outcome<Value<'c>> {
        match Tensor::from_ints(dtype, &[], &[value]) {
            Ok(tensor) => Ok(self.constant(&tensor)),
            Err(error) => self.fault(error.to_string()),
        }
    }
    /// A scalar of the element type of `x`.
    pub fn like(&mut self, x: Value<'c>, value: f64) -> Outcome<Value<'c>> {
        let dtype = self.dtype(x)?;
        self.scalar(dtype, value)
    }
    /// 0, 1, 2, ... below an extent.
    pub fn iota(&mut self, dtype: DType, extent: &Dim) -> Outcome<Value<'c>> {
        let mut attrs = Attrs::new();
        attrs.set_dim("size", extent.clone());
        self.op(&creation::ARANGE, &[], attrs.with("dtype", dtype))
    }
    /// The same, along one axis of a tensor of that rank.
    pub fn iota_along(
        &mut self,
        dtype: DType,
        extent: usize,
        axis: usize,
        rank: usize,
    ) -> Outcome<Value<'c>> {
        let numbers = self.iota(dtype, &Dim::Static(extent as u64))?;
        let shape: Vec<usize> = (0..rank).map(|a| if a == axis { extent } else { 1 }).collect();
        self.reshape(numbers, &shape)
    }

    // --- Shape

    pub fn reshape(&mut self, x: Value<'c>, to: &[usize]) -> Outcome<Value<'c>> {
        let to: Vec<Dim> = to.iter().map(|&n| Dim::Static(n as u64)).collect();
        self.reshape_dims(x, to)
    }
    /// At most one of the extents may be `?`.
    pub fn reshape_dims(&mut self, x: Value<'c>, to: Vec<Dim>) -> Outcome<Value<'c>> {
        if self.dims(x)? == to {
            return Ok(x);
        }
        let mut attrs = Attrs::new();
        attrs.set_dims("shape", to);
        self.op(&shape::RESHAPE, &[x], attrs)
    }
    pub fn transpose(&mut self, x: Value<'c>, axes: &[usize]) -> Outcome<Value<'c>> {
        if axes.iter().enumerate().all(|(i, &a)| i == a) {
            return Ok(x);
        }
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        self.op(&shape::TRANSPOSE, &[x], Attrs::new().with("axes", axes))
    }
    pub fn broadcast_dims(&mut self, x: Value<'c>, to: Vec<Dim>) -> Outcome<Value<'c>> {
        if self.dims(x)? == to {
            return Ok(x);
        }
        let mut attrs = Attrs::new();
        attrs.set_dims("shape", to);
        self.op(&shape::BROADCAST_TO, &[x], attrs)
    }
    pub fn broadcast(&mut self, x: Value<'c>, to: &[usize]) -> Outcome<Value<'c>> {
        self.broadcast_dims(x, to.iter().map(|&n| Dim::Static(n as u64)).collect())
    }
    pub fn concat(&mut self, parts: &[Value<'c>], axis: usize) -> Outcome<Value<'c>> {
        match parts {
            [one] => Ok(*one),
            _ => self.op(&shape::CONCAT, parts, Attrs::new().with("axis", axis as i64)),
        }
    }
    /// x[begin:end:stride] along an axis.
    pub fn slice(
        &mut self,
        x: Value<'c>,
        axis: usize,
        [begin, end, stride]: [usize; 3],
    ) -> Outcome<Value<'c>> {
        if begin == 0 && stride == 1 && self.dims(x)?.get(axis).and_then(Dim::known) == Some(end as u64) {
            return Ok(x);
        }
        let attrs = Attrs::new().with("begin", [begin as i64]).with("end", [end as i64]);
        self.op(&shape::SLICE, &[x], attrs.with("axes", [axis as i64]).with("strides", [stride as i64]))
    }
    /// Pads by a number, or by a scalar that is computed. Negative paddings remove.
    pub fn pad(&mut self, x: Value<'c>, low: &[i64], high: &[i64], with: Value<'c>) -> Outcome<Value<'c>> {
        if low.iter().chain(high).all(|&n| n == 0) {
            return Ok(x);
        }
        let padding = [low, high].concat();
        let attrs = |value: f64| Attrs::new().with("padding", padding.clone()).with("value", value);
        let dtype = self.dtype(x)?;
        if let Some(tensor) = self.known(with).filter(|t| t.len() == 1) {
            let exact = dtype.is_float() || tensor.int_at(0).unsigned_abs() < 1 << 53;
            if exact && dtype != DType::Bool {
                return self.op(&shape::PAD, &[x], attrs(tensor.f64_at(0)));
            }
        }
        if low.iter().chain(high).all(|&n| n <= 0) {
            return self.op(&shape::PAD, &[x], attrs(0.0));
        }
        // A number that is computed stands where a tensor of ones, padded with zeros, has zeros.
        let ones = self.int(DType::U8, 1)?;
        let dims = self.dims(x)?;
        let ones = self.broadcast_dims(ones, dims)?;
        let inside = self.op(&shape::PAD, &[ones], attrs(0.0))?;
        let inside = self.cast(inside, DType::Bool)?;
        let padded = match dtype {
            DType::Bool => {
                let bytes = self.cast(x, DType::U8)?;
                let padded = self.op(&shape::PAD, &[bytes], attrs(0.0))?;
                self.cast(padded, DType::Bool)?
            }
            _ => self.op(&shape::PAD, &[x], attrs(0.0))?,
        };
        self.select(inside, padded, with)
    }
    pub fn gather(&mut self, x: Value<'c>, indices: Value<'c>, axis: usize) -> Outcome<Value<'c>> {
        self.op(&indexing::GATHER, &[x, indices], Attrs::new().with("axis", axis as i64))
    }
    pub fn matmul(&mut self, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
        self.bin(&contraction::MATMUL, a, b)
    }
    /// A reduction over axes.
    pub fn reduce(
        &mut self,
        operator: &'static Operator,
        x: Value<'c>,
        axes: &[usize],
    ) -> Outcome<Value<'c>> {
        if axes.is_empty() {
            return Ok(x);
        }
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        self.op(operator, &[x], Attrs::new().with("axes", axes))
    }
}
