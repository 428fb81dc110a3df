//! Builds relay programs: result types are inferred, calls of constants are computed at once.

use crate::rows::Kind;
use crate::{
    Build, Location, Op, OpExt, Type, Value, ValueLike, attr_to_mlir, defining_op, kind_of, read_tensor,
    tensor_type, tensor_type_to_mlir, write_tensor,
};
use fusion_operators::{Attrs, Operator, Tensor, TensorType, Violation, reference};

/// Builds relay operations at the end of a block.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    build: Build<'c>,
}

impl<'c> Builder<'c> {
    /// At a place.
    pub fn new(build: Build<'c>) -> Self {
        Builder { build }
    }

    /// The place built at.
    pub fn build(&self) -> &Build<'c> {
        &self.build
    }

    /// Names the source (an ONNX node, say) of the operations built from now on.
    pub fn set_location(&mut self, name: &str) {
        let context = self.build.context();
        self.build.location = Location::name(context, name, Location::unknown(context));
    }

    /// Calls an operator. The result types follow from its type relation; a call whose operands are small
    /// constants is computed now.
    pub fn op(
        &self,
        operator: &'static Operator,
        operands: &[Value<'c>],
        attrs: &Attrs,
    ) -> Result<Vec<Value<'c>>, Violation> {
        let types = operands.iter().map(|v| {
            tensor_type(*v).ok_or_else(|| {
                Violation::new(0, format!("relay.{} takes tensors, found {}", operator.name, v.r#type()))
            })
        });
        let types: Vec<TensorType> = types.collect::<Result<_, _>>()?;
        let results = operator.infer(&types, attrs)?;
        if super::fold::is_worth(operator, &types, &results)
            && let Some(known) = operands.iter().map(|v| self.constant_value(*v)).collect::<Option<Vec<_>>>()
            && let Ok(values) = reference::evaluate(operator, attrs, &known)
        {
            return Ok(values.iter().map(|t| self.constant(t)).collect());
        }
        let context = self.build.context();
        let results: Vec<Type> = results.iter().map(|t| tensor_type_to_mlir(context, t)).collect();
        let attrs: Vec<_> = attrs.iter().map(|(n, a)| (n, attr_to_mlir(context, a))).collect();
        let op = self.build.op(&format!("relay.{}", operator.name), operands, &results, &attrs);
        Ok(op.result_values())
    }

    /// A constant.
    pub fn constant(&self, tensor: &Tensor) -> Value<'c> {
        self.named_constant(tensor, "constant")
    }

    /// A constant whose resource, when it is large, has that name.
    pub fn named_constant(&self, tensor: &Tensor, name: &str) -> Value<'c> {
        let context = self.build.context();
        let value = write_tensor(context, tensor, name);
        let ty = tensor_type_to_mlir(context, &tensor.tensor_type());
        self.build.value(super::Op::Constant.name(), &[], ty, &[("value", value)])
    }

    /// The tensor type of a value; `None` for tuples, functions and the like.
    pub fn tensor_type(&self, value: Value<'c>) -> Option<TensorType> {
        tensor_type(value)
    }

    /// The tensor a value is known to be, when it is a constant.
    pub fn constant_value(&self, value: Value<'c>) -> Option<Tensor> {
        constant_value(value)
    }

    /// `condition ? then : otherwise`, with each branch in its own region. Both yield values of the same types.
    pub fn if_<E>(
        &self,
        condition: Value<'c>,
        then: impl FnOnce(Builder<'c>) -> Result<Vec<Value<'c>>, E>,
        otherwise: impl FnOnce(Builder<'c>) -> Result<Vec<Value<'c>>, E>,
    ) -> Result<Op<'c>, E> {
        let mut types = Vec::new();
        let first = self.region(&[], |b, _| then(b), &mut types)?;
        let second = self.region(&[], |b, _| otherwise(b), &mut Vec::new())?;
        Ok(self.build.op_with_regions(super::Op::If.name(), &[condition], &types, &[], vec![first, second]))
    }

    /// `while condition(state) { state = body(state) }`.
    pub fn while_<E>(
        &self,
        state: &[Value<'c>],
        condition: impl FnOnce(Builder<'c>, &[Value<'c>]) -> Result<Value<'c>, E>,
        body: impl FnOnce(Builder<'c>, &[Value<'c>]) -> Result<Vec<Value<'c>>, E>,
    ) -> Result<Op<'c>, E> {
        let types: Vec<Type> = state.iter().map(|v| v.r#type()).collect();
        let test = self.region(&types, |b, args| Ok(vec![condition(b, args)?]), &mut Vec::new())?;
        let step = self.region(&types, body, &mut Vec::new())?;
        Ok(self.build.op_with_regions(super::Op::While.name(), state, &types, &[], vec![test, step]))
    }

    fn region<E>(
        &self,
        inputs: &[Type<'c>],
        body: impl FnOnce(Builder<'c>, &[Value<'c>]) -> Result<Vec<Value<'c>>, E>,
        types: &mut Vec<Type<'c>>,
    ) -> Result<melior::ir::Region<'c>, E> {
        let mut outcome = Ok(());
        let region = self.build.region(inputs, |inner, args| match body(Builder::new(inner), args) {
            Ok(values) => {
                types.extend(values.iter().map(|v| v.r#type()));
                inner.op(super::Op::Yield.name(), &values, &[], &[]);
            }
            Err(error) => outcome = Err(error),
        });
        outcome.map(|()| region)
    }
}

/// The tensor a value is known to be, when it is a constant.
pub fn constant_value(value: Value) -> Option<Tensor> {
    let op = defining_op(value)?;
    matches!(kind_of(op), Some(Kind::Relay(super::Op::Constant))).then(|| read_tensor(op.attr("value")?))?
}
