//! What a kernel takes and gives, and which argument of its function each of it is.

use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Context, Op, OpExt, PassError, Type, Value, buffer_type, defining_op, key, kind_of, tensor_type,
};
use fusion_operators::TensorType;
use fusion_schedule::schedule::Schedule;
use std::collections::HashMap;

/// What a kernel takes and gives.
pub(super) struct Interface<'c> {
    kernel: Op<'c>,
    pub(super) inputs: Vec<Value<'c>>,
    returned: Vec<Value<'c>>,
    /// Results that a stage gives, by their tensors: where they are returned first.
    direct: HashMap<usize, usize>,
}

impl<'c> Interface<'c> {
    pub(super) fn of(kernel: Op<'c>, inputs: &[Value<'c>], ops: &[Op<'c>]) -> Result<Self, PassError<'c>> {
        let returned = ops
            .iter()
            .find(|op| matches!(kind_of(**op), Some(Kind::Te(Te::Return))))
            .map(|op| op.operand_values())
            .ok_or_else(|| PassError::at(kernel, "does not return"))?;
        let mut direct: HashMap<usize, usize> = HashMap::new();
        for (i, tensor) in returned.iter().enumerate() {
            if defining_op(*tensor).is_some() {
                direct.entry(key(*tensor)).or_insert(i);
            }
        }
        Ok(Interface { kernel, inputs: inputs.to_vec(), returned, direct })
    }

    /// The type of a tensor, and how many elements it has.
    pub(super) fn known(&self, tensor: Value<'c>) -> Result<(TensorType, u64), PassError<'c>> {
        let ty = tensor_type(tensor).and_then(|t| t.elements().map(|n| (t, n)));
        ty.ok_or_else(|| {
            PassError::at(
                self.kernel,
                "has a tensor with an unknown extent; give the shapes of the model's inputs",
            )
        })
    }

    /// Types of the buffers of what it takes and gives.
    pub(super) fn types(&self, context: &'c Context) -> Result<Vec<Type<'c>>, PassError<'c>> {
        let buffer = |tensor: &Value<'c>| {
            let (ty, elements) = self.known(*tensor)?;
            Ok(buffer_type(context, elements, ty.dtype))
        };
        self.inputs.iter().chain(&self.returned).map(buffer).collect()
    }

    /// True when a tensor is computed in an argument.
    pub(super) fn is_direct(&self, tensor: Value<'c>) -> bool {
        self.direct.contains_key(&key(tensor))
    }

    /// Results with their arguments; those that are computed there, or the others.
    pub(super) fn results(&self, direct: bool) -> impl Iterator<Item = (Value<'c>, usize)> {
        let is_direct = |i: usize, tensor: Value<'c>| self.direct.get(&key(tensor)) == Some(&i);
        let all = self.returned.iter().copied().enumerate();
        all.filter(move |&(i, tensor)| is_direct(i, tensor) == direct)
            .map(|(i, tensor)| (tensor, self.inputs.len() + i))
    }

    /// Arguments that are stored past the caches.
    pub(super) fn streamed(&self, tree: &Schedule<'c>) -> Vec<usize> {
        let streams = |tensor: Value<'c>| tree.giving(tensor).is_some_and(|stage| tree.stages[stage].streams);
        self.results(true).filter(|&(tensor, _)| streams(tensor)).map(|(_, argument)| argument).collect()
    }

    /// Results that are copied, and the arguments they are copied to.
    pub(super) fn copied(&self) -> impl Iterator<Item = (Value<'c>, usize)> {
        self.results(false)
    }

    /// The nest that gives the only result by updating an argument that nothing else reads, and that argument.
    pub(super) fn updated_argument(&self) -> Option<(Op<'c>, usize)> {
        let [result] = self.returned[..] else { return None };
        let nest = defining_op(result)?;
        let updates = usize::try_from(nest.int("updates")?).ok()?;
        let operand = *nest.operand_values().get(updates)?;
        let argument = self.inputs.iter().position(|input| *input == operand)?;
        (fusion_dialects::users(operand).len() == 1).then_some((nest, argument))
    }
}
