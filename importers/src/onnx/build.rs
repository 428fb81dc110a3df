//! Short names for the relay operators that conversions are written with.

use std::rc::Rc;

use fusion_operators::ops::{
    contraction as product, creation, elementwise as ew, indexing, normalization, reduction, shape,
};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType};

use super::emit::EmitError;
use super::error::Fault;
use super::graph::Importer;
use super::known::Def;
use super::node::{Node, Value};
use super::signature::MOST_EXTENT;

/// A value, or why there is none.
pub type Made = Result<Value, Fault>;
/// The results of a conversion.
pub type Converted = Result<Vec<Value>, Fault>;

impl Importer<'_> {
    /// Emits an operator.
    pub fn call(&mut self, op: &'static Operator, operands: &[Value], attrs: Attrs) -> Converted {
        let mut ids = Vec::with_capacity(operands.len());
        for &operand in operands {
            self.ty(operand)?;
            ids.push(self.entries[operand.0 as usize].id);
        }
        let results = self.emit.op(op, &ids, &attrs).map_err(|error| match error {
            EmitError::Violation(violation) => Fault::Relation { operator: op.name, violation },
            EmitError::Evaluation(error) => Fault::Evaluation { operator: op.name, error },
        })?;
        let (operands, attrs): (Rc<[Value]>, _) = (operands.into(), Rc::new(attrs));
        let mut values = Vec::with_capacity(results.len());
        for (result, id) in results.into_iter().enumerate() {
            let def = Def::Call { op, operands: operands.clone(), attrs: attrs.clone(), result };
            let ty = self.emit.tensor_type(id);
            values.push(self.push(def, id, ty));
        }
        Ok(values)
    }

    /// Emits an operator of one result.
    pub fn op(&mut self, op: &'static Operator, operands: &[Value], attrs: Attrs) -> Made {
        let results = self.call(op, operands, attrs)?;
        results.first().copied().ok_or_else(|| Fault::value(format!("relay.{} has no result", op.name)))
    }

    /// An operator of one operand and no attributes.
    pub fn un(&mut self, op: &'static Operator, x: Value) -> Made {
        self.op(op, &[x], Attrs::new())
    }

    /// An operator of two operands and no attributes.
    pub fn bin(&mut self, op: &'static Operator, a: Value, b: Value) -> Made {
        self.op(op, &[a, b], Attrs::new())
    }

    // --- What is known of a value

    /// The type of a tensor.
    pub fn ty(&self, v: Value) -> Result<&TensorType, Fault> {
        let entry = &self.entries[v.0 as usize];
        entry.ty.as_ref().ok_or(Fault::NotATensor {
            found: if matches!(entry.def, Def::Sequence(_)) { "sequence" } else { "missing optional" },
        })
    }

    /// Element type.
    pub fn dtype(&self, v: Value) -> Result<DType, Fault> {
        Ok(self.ty(v)?.dtype)
    }

    /// Number of dimensions.
    pub fn rank(&self, v: Value) -> Result<usize, Fault> {
        Ok(self.ty(v)?.rank())
    }

    /// Extents, where known.
    pub fn dims(&self, v: Value) -> Result<Vec<Dim>, Fault> {
        Ok(self.ty(v)?.dims.clone())
    }

    /// Extents, which must be known; the error calls the value `what`.
    pub fn shape(&self, v: Value, what: &str) -> Result<Vec<i64>, Fault> {
        let ty = self.ty(v)?;
        let unknown = || Fault::NeedsShape { input: what.to_owned(), ty: ty.to_string() };
        let shape = ty.shape().ok_or_else(unknown)?;
        // Products of any of the extents stay in range.
        let most = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d.max(1)).filter(|&n| n < 1 << 60));
        most.ok_or_else(|| Fault::value(format!("{what} is too large: {ty}")))?;
        Ok(shape.into_iter().map(|n| n as i64).collect())
    }

    /// One extent, which must be known.
    pub fn extent(&self, v: Value, axis: usize, what: &str) -> Result<i64, Fault> {
        let ty = self.ty(v)?;
        match ty.dims.get(axis).and_then(Dim::known) {
            Some(n) if n <= MOST_EXTENT => Ok(n as i64),
            Some(n) => Err(Fault::value(format!("extent {n} of {what} is out of range"))),
            None => Err(Fault::NeedsShape { input: what.to_owned(), ty: ty.to_string() }),
        }
    }

    /// An axis that may count from the back.
    pub fn axis(&self, v: Value, axis: i64) -> Result<usize, Fault> {
        axis_in(axis, self.rank(v)?)
    }

    /// The integers an operand holds, which must be known.
    pub fn ints_of(&mut self, node: &Node, index: usize) -> Result<Vec<i64>, Fault> {
        let v = node.input(index)?;
        let t = self.value_of(v, &format!("input {index} ('{}')", node.name(index)))?;
        if t.dtype().is_float() {
            return Err(Fault::value(format!("input {index} must hold integers, found {}", t.tensor_type())));
        }
        t.to_ints()
            .into_iter()
            .map(|n| {
                i64::try_from(n).map_err(|_| Fault::value(format!("{n} in input {index} is out of range")))
            })
            .collect()
    }

    /// As [`Self::ints_of`], of an operand that may be left out.
    pub fn opt_ints_of(&mut self, node: &Node, index: usize) -> Result<Option<Vec<i64>>, Fault> {
        node.opt(index).map(|_| self.ints_of(node, index)).transpose()
    }

    /// The one integer an operand holds.
    pub fn int_of(&mut self, node: &Node, index: usize) -> Result<i64, Fault> {
        match self.ints_of(node, index)?[..] {
            [n] => Ok(n),
            ref list => {
                Err(Fault::value(format!("input {index} must hold one integer, found {}", list.len())))
            }
        }
    }

    /// The numbers an operand holds, which must be known.
    pub fn floats_of(&mut self, node: &Node, index: usize) -> Result<Vec<f64>, Fault> {
        let v = node.input(index)?;
        Ok(self.value_of(v, &format!("input {index} ('{}')", node.name(index)))?.to_f64s())
    }

    // --- Constants

    /// A constant tensor.
    pub fn constant(&mut self, tensor: Tensor) -> Value {
        let id = self.emit.constant(&tensor);
        let ty = tensor.tensor_type();
        self.push(Def::Constant(Rc::new(tensor)), id, Some(ty))
    }

    /// A constant from numbers.
    pub fn floats(&mut self, dtype: DType, shape: &[usize], values: &[f64]) -> Made {
        Ok(self.constant(Tensor::from_f64s(dtype, shape, values)?))
    }

    /// A constant of integers, i64.
    pub fn ints(&mut self, shape: &[usize], values: &[i64]) -> Made {
        Ok(self.constant(Tensor::from_slice(shape, values)?))
    }

    /// A scalar constant.
    pub fn scalar(&mut self, dtype: DType, value: f64) -> Made {
        self.floats(dtype, &[], &[value])
    }

    /// A scalar constant of the element type of `x`.
    pub fn like(&mut self, x: Value, value: f64) -> Made {
        let dtype = self.dtype(x)?;
        self.scalar(dtype, value)
    }

    /// A tensor of one number throughout.
    pub fn full(&mut self, dtype: DType, shape: &[i64], value: f64) -> Made {
        let scalar = self.scalar(dtype, value)?;
        self.broadcast_to(scalar, shape)
    }

    /// An optional value that is not there.
    pub(super) fn absent(&mut self) -> Value {
        self.push(Def::Absent, usize::MAX, None)
    }

    /// A sequence of values.
    pub(super) fn sequence(&mut self, values: Vec<Value>) -> Value {
        self.push(Def::Sequence(values), usize::MAX, None)
    }

    /// start + i * step for each i below size.
    pub fn arange(&mut self, dtype: DType, size: i64, start: f64, step: f64) -> Made {
        let attrs =
            Attrs::new().with("size", size).with("start", start).with("step", step).with("dtype", dtype);
        self.op(&creation::ARANGE, &[], attrs)
    }

    // --- Elementwise

    pub fn add(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::ADD, a, b)
    }
    pub fn sub(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::SUB, a, b)
    }
    pub fn mul(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::MUL, a, b)
    }
    pub fn div(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::DIV, a, b)
    }
    pub fn maximum(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::MAXIMUM, a, b)
    }
    pub fn minimum(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::MINIMUM, a, b)
    }
    pub fn less(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::LESS, a, b)
    }
    pub fn equal(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::EQUAL, a, b)
    }
    pub fn and(&mut self, a: Value, b: Value) -> Made {
        self.bin(&ew::LOGICAL_AND, a, b)
    }
    /// condition ? x : y
    pub fn select(&mut self, condition: Value, x: Value, y: Value) -> Made {
        self.op(&ew::WHERE, &[condition, x, y], Attrs::new())
    }
    /// x + number
    pub fn add_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.add(x, c)
    }
    /// x * number
    pub fn mul_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.mul(x, c)
    }
    /// number - x
    pub fn f_sub(&mut self, number: f64, x: Value) -> Made {
        let c = self.like(x, number)?;
        self.sub(c, x)
    }
    /// x < number
    pub fn less_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.less(x, c)
    }
    /// x == number
    pub fn equal_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.equal(x, c)
    }
    /// max(x, number)
    pub fn max_f(&mut self, x: Value, number: f64) -> Made {
        let c = self.like(x, number)?;
        self.maximum(x, c)
    }
    /// min(max(x, least), most)
    pub fn clip(&mut self, x: Value, least: f64, most: f64) -> Made {
        self.op(&ew::CLIP, &[x], Attrs::new().with("min", least).with("max", most))
    }
    /// Conversion of the element type; nothing when it is that already.
    pub fn cast(&mut self, x: Value, dtype: DType) -> Made {
        if self.dtype(x)? == dtype {
            return Ok(x);
        }
        self.op(&ew::CAST, &[x], Attrs::new().with("dtype", dtype))
    }
    /// Half floats as f32, for computations of several steps; other types as they are.
    pub fn wide(&mut self, x: Value) -> Made {
        match self.dtype(x)? {
            DType::F16 | DType::BF16 => self.cast(x, DType::F32),
            _ => Ok(x),
        }
    }

    // --- Shape

    /// The same elements under another shape, of which one extent may be -1.
    pub fn reshape(&mut self, x: Value, to: &[i64]) -> Made {
        let same = self.ty(x)?.shape().is_some_and(|s| s.iter().map(|&n| n as i64).eq(to.iter().copied()));
        if same {
            return Ok(x);
        }
        self.op(&shape::RESHAPE, &[x], Attrs::new().with("shape", to))
    }
    /// As [`Self::reshape`] to extents of which at most one is unknown.
    pub fn reshape_dims(&mut self, x: Value, to: &[Dim]) -> Made {
        let to: Vec<i64> = to.iter().map(|d| d.known().map_or(-1, |n| n as i64)).collect();
        if to.iter().filter(|&&n| n == -1).count() > 1 {
            let ty = self.ty(x)?.to_string();
            return Err(Fault::NeedsShape { input: "the operand".into(), ty });
        }
        self.reshape(x, &to)
    }
    /// Axis i of the result is axis axes[i] of the operand.
    pub fn transpose(&mut self, x: Value, axes: &[usize]) -> Made {
        if axes.iter().enumerate().all(|(i, &a)| i == a) {
            return Ok(x);
        }
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        self.op(&shape::TRANSPOSE, &[x], Attrs::new().with("axes", axes))
    }
    /// Swaps two axes.
    pub fn swap(&mut self, x: Value, a: usize, b: usize) -> Made {
        let mut axes: Vec<usize> = (0..self.rank(x)?).collect();
        axes.swap(a, b);
        self.transpose(x, &axes)
    }
    /// Inserts axes of extent 1.
    pub fn expand_dims(&mut self, x: Value, axes: &[i64]) -> Made {
        if axes.is_empty() {
            return Ok(x);
        }
        self.op(&shape::EXPAND_DIMS, &[x], Attrs::new().with("axes", axes))
    }
    /// Removes axes of extent 1.
    pub fn squeeze(&mut self, x: Value, axes: &[i64]) -> Made {
        if axes.is_empty() {
            return Ok(x);
        }
        self.op(&shape::SQUEEZE, &[x], Attrs::new().with("axes", axes))
    }
    /// A vector [C] as [C, 1, ...], to stand along axis 1 of a tensor of that rank.
    pub fn along_channels(&mut self, x: Value, rank: usize) -> Made {
        let axes: Vec<i64> = (1..rank.saturating_sub(1) as i64).collect();
        self.expand_dims(x, &axes)
    }
    /// Repeats along axes of extent 1 and new leading axes.
    pub fn broadcast_to(&mut self, x: Value, to: &[i64]) -> Made {
        if self.ty(x)?.shape().is_some_and(|s| s.iter().map(|&n| n as i64).eq(to.iter().copied())) {
            return Ok(x);
        }
        self.op(&shape::BROADCAST_TO, &[x], Attrs::new().with("shape", to))
    }
    /// Joins along an axis.
    pub fn concat(&mut self, parts: &[Value], axis: usize) -> Made {
        match parts {
            [one] => Ok(*one),
            _ => self.op(&shape::CONCAT, parts, Attrs::new().with("axis", axis as i64)),
        }
    }
    /// Cuts into pieces of these extents along an axis.
    pub fn split(&mut self, x: Value, sections: &[i64], axis: usize) -> Converted {
        self.call(&shape::SPLIT, &[x], Attrs::new().with("sections", sections).with("axis", axis as i64))
    }
    /// x[begin:end] along an axis.
    pub fn slice(&mut self, x: Value, axis: usize, begin: i64, end: i64) -> Made {
        let attrs = Attrs::new().with("begin", [begin]).with("end", [end]).with("axes", [axis as i64]);
        self.op(&shape::SLICE, &[x], attrs)
    }
    /// x[index] along an axis, without that axis.
    pub fn select_at(&mut self, x: Value, axis: usize, index: i64) -> Made {
        let piece = self.slice(x, axis, index, index + 1)?;
        self.squeeze(piece, &[axis as i64])
    }
    /// Extends by a number: all beginnings, then all ends.
    pub fn pad(&mut self, x: Value, padding: &[i64], value: f64) -> Made {
        if padding.iter().all(|&p| p == 0) {
            return Ok(x);
        }
        self.op(&shape::PAD, &[x], Attrs::new().with("padding", padding).with("value", value))
    }

    // --- Indexing, reduction, products

    /// x[.., indices, ..] at an axis.
    pub fn gather(&mut self, x: Value, indices: Value, axis: usize) -> Made {
        self.op(&indexing::GATHER, &[x, indices], Attrs::new().with("axis", axis as i64))
    }
    /// A reduction over axes.
    pub fn reduce(&mut self, op: &'static Operator, x: Value, axes: &[usize], keepdims: bool) -> Made {
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        if axes.is_empty() {
            return Ok(x);
        }
        self.op(op, &[x], Attrs::new().with("axes", axes).with("keepdims", keepdims))
    }
    /// Sum over axes.
    pub fn sum(&mut self, x: Value, axes: &[usize], keepdims: bool) -> Made {
        self.reduce(&reduction::REDUCE_SUM, x, axes, keepdims)
    }
    /// Mean over axes.
    pub fn mean(&mut self, x: Value, axes: &[usize], keepdims: bool) -> Made {
        self.reduce(&reduction::REDUCE_MEAN, x, axes, keepdims)
    }
    /// Matrix product of the last two axes.
    pub fn matmul(&mut self, a: Value, b: Value) -> Made {
        self.bin(&product::MATMUL, a, b)
    }
    /// Softmax along an axis.
    pub fn softmax(&mut self, x: Value, axis: usize) -> Made {
        self.op(&normalization::SOFTMAX, &[x], Attrs::new().with("axis", axis as i64))
    }
}

/// An axis that may count from the back, in a tensor of that rank.
pub fn axis_in(axis: i64, rank: usize) -> Result<usize, Fault> {
    fusion_operators::relation::normalize_axis(axis, rank)
        .ok_or_else(|| Fault::value(format!("axis {axis} is out of range for a tensor of rank {rank}")))
}

/// The number of elements of a shape that a model asks for, when all of its extents are in range.
pub fn volume(shape: &[i64], what: &str) -> Result<i64, Fault> {
    let within = |n: i64| (0..=MOST_EXTENT as i64).contains(&n);
    let volume = shape.iter().try_fold(1i64, |n, &d| within(d).then(|| n.checked_mul(d))?);
    volume.ok_or_else(|| Fault::value(format!("{what} is out of range: {shape:?}")))
}
