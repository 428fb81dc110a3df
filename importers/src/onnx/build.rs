//! What conversions are written with: calls of operators, what is known of a value, constants.
//! Short names for operators are in `names`.

use std::rc::Rc;

use fusion_operators::ops::creation;
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType};

use super::definitions::{Def, Parts};
use super::emit::EmitError;
use super::error::Fault;
use super::importer::Importer;
use super::known::Extent;
use super::node::{Node, Value};
use super::tensor::MOST_EXTENT;

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
        entry.ty.as_ref().ok_or_else(|| match entry.def {
            Def::Parts(Parts::Complex, _) => {
                Fault::unsupported("a tensor of complex numbers, which is only moved,")
            }
            Def::Parts(Parts::Map, _) => Fault::NotATensor { found: "map" },
            Def::Sequence(_) | Def::List(_) => Fault::NotATensor { found: "sequence" },
            _ => Fault::NotATensor { found: "missing optional" },
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
        let known = |extent: &Extent| if let Extent::Known(n) = extent { Some(*n) } else { None };
        if let Some(numbers) =
            self.extents(v).and_then(|all| all.iter().map(known).collect::<Option<Vec<_>>>())
        {
            return Ok(numbers);
        }
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

    /// A constant of strings.
    pub fn strings<S: AsRef<str>>(&mut self, shape: &[usize], values: &[S]) -> Made {
        Ok(self.constant(Tensor::from_strings(shape, values)?))
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

    /// As [`Self::full`] of extents that need not be known.
    pub fn full_dims(&mut self, dtype: DType, dims: &[Dim], value: f64) -> Made {
        let scalar = self.scalar(dtype, value)?;
        self.broadcast_dims(scalar, dims)
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
        self.arange_dim(dtype, &Dim::Static(size.max(0) as u64), start, step)
    }

    /// As [`Self::arange`] of an extent that need not be known.
    pub fn arange_dim(&mut self, dtype: DType, size: &Dim, start: f64, step: f64) -> Made {
        let mut attrs = Attrs::new();
        attrs.set_dim("size", size.clone());
        let attrs = attrs.with("start", start).with("step", step).with("dtype", dtype);
        self.op(&creation::ARANGE, &[], attrs)
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
