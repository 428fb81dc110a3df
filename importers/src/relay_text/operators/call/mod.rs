//! A call of an operator that is being built: its operands, and the rows it becomes.

mod attributes;
mod building;

use super::{Kind, Pair, Same};
use crate::relay_text::emit::{Emitter, Literal, Made};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::{Attribute, Span};
use fusion_dialects::{
    Type, TypeParts, Value, ValueLike, attr_to_mlir, tensor_type, tensor_type_to_mlir, type_parts,
};
use fusion_operators::{Attr, Attrs, DType, Operator, Tensor, TensorType};
use std::rc::Rc;

/// A call.
pub struct Call<'e, 'c, 'p> {
    pub emitter: &'e mut Emitter<'c, 'p>,
    pub name: &'e str,
    pub span: Span,
    pub arguments: Vec<Made<'c>>,
    pub attributes: &'e [Attribute],
    /// The element type of a product where none is written.
    pub out_dtype: Option<DType>,
}

impl<'e, 'c, 'p> Call<'e, 'c, 'p> {
    pub fn new(
        emitter: &'e mut Emitter<'c, 'p>,
        name: &'e str,
        span: Span,
        arguments: Vec<Made<'c>>,
        attributes: &'e [Attribute],
    ) -> Self {
        Call { emitter, name, span, arguments, attributes, out_dtype: None }
    }

    /// A fault about the call.
    pub fn fault<T>(&self, message: impl AsRef<str>) -> Outcome<T> {
        Fault::new(self.span, format!("{}: {}", self.name, message.as_ref()))
    }

    // --- Operands

    /// An operand.
    pub fn operand(&mut self, index: usize) -> Value<'c> {
        let made = self.arguments[index].clone();
        self.emitter.value(&made, self.span)
    }

    /// All operands.
    pub fn operands(&mut self) -> Vec<Value<'c>> {
        let made = self.arguments.clone();
        self.emitter.values(&made, self.span)
    }

    /// The elements of an operand that is a tuple.
    pub fn elements(&mut self, index: usize) -> Outcome<Vec<Value<'c>>> {
        let made = self.arguments[index].clone();
        if let Made::Several(parts) = &made {
            return Ok(self.emitter.values(parts, self.span));
        }
        let tuple = self.emitter.value(&made, self.span);
        let TypeParts::Tuple(parts) = type_parts(tuple.r#type()) else {
            return self.fault(format!(
                "how many tensors are in argument {} is not known here; write the tuple itself, (%a, %b), or its type",
                index + 1
            ));
        };
        let tuple = Made::Value(tuple);
        let parts = (0..parts.len() as u64).map(|i| self.emitter.project(&tuple, i, self.span));
        let parts = parts.collect::<Outcome<Vec<_>>>()?;
        Ok(self.emitter.values(&parts, self.span))
    }

    /// The tensor that an operand is known to be.
    pub fn constant(&mut self, index: usize) -> Outcome<Tensor> {
        match &self.arguments[index] {
            Made::Literal(Literal::Scalar(tensor)) => Ok((**tensor).clone()),
            other => {
                let other = other.clone();
                let value = self.emitter.value(&other, self.span);
                match fusion_dialects::relay::constant_value(value) {
                    Some(tensor) => Ok(tensor),
                    None => self.fault(format!("argument {} must be a constant", index + 1)),
                }
            }
        }
    }

    // --- What is known of a value

    /// The type of a tensor, when it is known; a fault for what is no tensor.
    pub fn ty(&self, value: Value<'c>) -> Outcome<Option<TensorType>> {
        match type_parts(value.r#type()) {
            TypeParts::Hole => Ok(None),
            TypeParts::Tensor(ty) => Ok(Some(ty)),
            _ => self.fault(format!(
                "takes tensors, found a value of type {}",
                crate::relay_text::print::type_text(value.r#type())
            )),
        }
    }

    /// The type of a tensor, which must be known.
    pub fn known(&self, value: Value<'c>, what: &str) -> Outcome<TensorType> {
        match self.ty(value)? {
            Some(ty) => Ok(ty),
            None => self.fault(format!(
                "{what} of its operand must be known here; write its type where it is bound, as in \
                 let %x: Tensor[(1, 10), float32] = ..., or at the parameter it comes from"
            )),
        }
    }

    /// The number of axes, which must be known.
    pub fn rank(&self, value: Value<'c>) -> Outcome<usize> {
        Ok(self.known(value, "the number of axes")?.rank())
    }

    /// An axis that may count from the back.
    pub fn axis_in(&self, axis: i64, rank: usize) -> Outcome<usize> {
        let found = fusion_operators::relation::normalize_axis(axis, rank);
        found.map_or_else(
            || self.fault(format!("axis {axis} is out of range for a tensor with {rank} axes")),
            Ok,
        )
    }

    /// The element type; float32 where it is not known.
    pub fn dtype(&self, value: Value<'c>) -> Outcome<DType> {
        Ok(self.ty(value)?.map_or(DType::F32, |ty| ty.dtype))
    }

    // --- Building

    /// A row with all its results.
    pub fn rows(
        &mut self,
        row: &'static Operator,
        operands: &[Value<'c>],
        attrs: &Attrs,
        results: usize,
    ) -> Outcome<Vec<Value<'c>>> {
        let mut known = Vec::with_capacity(operands.len());
        for value in operands {
            known.extend(self.ty(*value)?);
        }
        let context = self.emitter.context;
        let found: Vec<Type> = if known.len() == operands.len() {
            let related = row.infer(&known, attrs).map_err(|violation| {
                let operands: Vec<String> =
                    operands.iter().map(|v| crate::relay_text::print::type_text(v.r#type())).collect();
                Fault::boxed(self.span, format!("{} of {} {violation}", self.name, operands.join(", ")))
            })?;
            related.iter().map(|ty| tensor_type_to_mlir(context, ty)).collect()
        } else {
            vec![self.emitter.hole(); results]
        };
        let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name, attr_to_mlir(context, attr))).collect();
        self.emitter.locate(self.span);
        let op = self.emitter.at.op(&format!("relay.{}", row.name), operands, &found, &attrs);
        Ok(fusion_dialects::OpExt::result_values(op))
    }

    /// A row of one result.
    pub fn row(
        &mut self,
        row: &'static Operator,
        operands: &[Value<'c>],
        attrs: Attrs,
    ) -> Outcome<Value<'c>> {
        let results = self.rows(row, operands, &attrs, 1)?;
        match results.first() {
            Some(value) => Ok(*value),
            None => self.fault("gives nothing"),
        }
    }

    /// A row without attributes.
    pub fn plain(&mut self, row: &'static Operator, operands: &[Value<'c>]) -> Outcome<Value<'c>> {
        self.row(row, operands, Attrs::new())
    }

    /// A scalar.
    pub fn scalar(&mut self, dtype: DType, number: f64) -> Outcome<Value<'c>> {
        match Tensor::from_f64s(dtype, &[], &[number]) {
            Ok(tensor) => Ok(self.emitter.value(&Made::Literal(Literal::Scalar(Rc::new(tensor))), self.span)),
            Err(error) => self.fault(error.to_string()),
        }
    }

    /// A scalar of a value's element type.
    pub fn like(&mut self, value: Value<'c>, number: f64) -> Outcome<Value<'c>> {
        let dtype = self.dtype(value)?;
        self.scalar(dtype, number)
    }

    /// Another element type, unless it is that already.
    pub fn cast(&mut self, value: Value<'c>, dtype: DType) -> Outcome<Value<'c>> {
        if tensor_type(value).is_some_and(|ty| ty.dtype == dtype) {
            return Ok(value);
        }
        self.row(&fusion_operators::ops::elementwise::CAST, &[value], Attrs::new().with("dtype", dtype))
    }

    // --- Rows that both have

    pub fn same(&mut self, same: &'static Same) -> Outcome<Made<'c>> {
        self.only(&|name| {
            same.attributes.iter().any(|pair| pair.theirs == name)
                || crate::relay_text::operators::HINTS.contains(&name)
        })?;
        let operands = self.operands();
        let mut attrs = Attrs::new();
        for pair in same.attributes {
            if let Some(value) = self.pair(pair)? {
                attrs.set(pair.ours, value);
            }
        }
        Ok(Made::Value(self.row(same.row, &operands, attrs)?))
    }

    fn pair(&self, pair: &Pair) -> Outcome<Option<Attr>> {
        let name = pair.theirs;
        Ok(match pair.kind {
            Kind::Int => self.maybe_int(name)?.map(Attr::Int),
            Kind::Float => self.maybe_float(name)?.map(Attr::Float),
            Kind::Ints => self.maybe_ints(name)?.map(Attr::Ints),
            Kind::Element => match self.maybe_element(name)? {
                Some(dtype) => Some(Attr::Type(dtype)),
                None => return self.fault(format!("the attribute {name} is missing")),
            },
        })
    }

    /// One of our rows, with its attributes under their own names.
    pub fn ours(&mut self, row: &'static Operator) -> Outcome<Made<'c>> {
        let operands = self.operands();
        let mut attrs = Attrs::new();
        for attribute in self.attributes {
            let name = attribute.name.text.as_str();
            let value = match self.own_value(name, &attribute.value) {
                Some(value) => value,
                None => {
                    return Fault::new(attribute.span, format!("{}: this is no value for {name}", self.name));
                }
            };
            attrs.set(name, value);
        }
        let results = match attrs.ints("sections") {
            Some(sections) => sections.len(),
            None if row.is(&fusion_operators::ops::reduction::TOPK) => 2,
            None => 1,
        };
        let values = self.rows(row, &operands, &attrs, results)?;
        Ok(match values[..] {
            [only] if attrs.ints("sections").is_none() => Made::Value(only),
            _ => Made::several(values),
        })
    }
}
