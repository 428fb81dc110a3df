//! The reference evaluator: computes each operator as it is emitted, with the reference semantics.
//!
//! With it an ONNX model runs without any compiler, which is how the importer is checked against
//! ONNX's own test data, and how a compiled model is checked against its source.

use std::cell::RefCell;

use fusion_operators::reference::{EvalError, evaluate};
use fusion_operators::{Attrs, Operator, Tensor, TensorType};

use super::emit::{Emit, EmitError, Fill, Id, Region};
use super::error::ImportError;
use super::{Model, Options, Output, import};

/// No larger tensor is computed.
const MOST_BYTES: u64 = 1 << 32;

/// Values computed so far.
#[derive(Default)]
pub struct Eager {
    tensors: RefCell<Vec<Tensor>>,
}

impl Eager {
    /// Adds a value.
    pub fn push(&self, tensor: Tensor) -> Id {
        let mut tensors = self.tensors.borrow_mut();
        tensors.push(tensor);
        tensors.len() - 1
    }

    /// The tensor a value is.
    pub fn tensor(&self, value: Id) -> Tensor {
        self.tensors.borrow()[value].clone()
    }

    fn is_true(&self, value: Id) -> bool {
        let tensors = self.tensors.borrow();
        !tensors[value].is_empty() && tensors[value].int_at(0) != 0
    }
}

impl Emit for Eager {
    fn location(&self, _: &str) {}

    fn op(&self, op: &'static Operator, operands: &[Id], attrs: &Attrs) -> Result<Vec<Id>, EmitError> {
        let inputs: Vec<Tensor> = operands.iter().map(|&v| self.tensor(v)).collect();
        let types: Vec<TensorType> = inputs.iter().map(Tensor::tensor_type).collect();
        for result in op.infer(&types, attrs)? {
            if result.bytes().is_none_or(|bytes| bytes > MOST_BYTES) {
                return Err(EvalError::Value(format!("a result of type {result} is too large")).into());
            }
        }
        let results = evaluate(op, attrs, &inputs)?;
        Ok(results.into_iter().map(|t| self.push(t)).collect())
    }

    fn constant(&self, tensor: &Tensor) -> Id {
        self.push(tensor.clone())
    }

    fn tensor_type(&self, value: Id) -> Option<TensorType> {
        self.tensors.borrow().get(value).map(Tensor::tensor_type)
    }

    fn if_(&self, condition: Id, fill: Fill) -> Result<Vec<Id>, ImportError> {
        fill(if self.is_true(condition) { Region::Then } else { Region::Else }, &[])
    }

    fn while_(&self, state: &[Id], fill: Fill) -> Result<Vec<Id>, ImportError> {
        let mut state = state.to_vec();
        while fill(Region::Condition, &state)?.first().is_some_and(|&c| self.is_true(c)) {
            state = fill(Region::Body, &state)?;
        }
        Ok(state)
    }
}

/// A result of a model: a tensor, or the elements of a sequence.
pub type Results = Vec<(String, Vec<Tensor>)>;

/// Runs a model on the inputs its [`signature`](super::signature) asks for, in that order.
pub fn run(model: &Model, options: &Options, inputs: &[Tensor]) -> Result<Results, ImportError> {
    let eager = Eager::default();
    let ids: Vec<Id> = inputs.iter().map(|t| eager.push(t.clone())).collect();
    let imported = import(model, options, &eager, &ids)?;
    let tensors = |output: &Output| match output {
        Output::Tensor(id) => vec![eager.tensor(*id)],
        Output::Sequence(ids) => ids.iter().map(|&id| eager.tensor(id)).collect(),
    };
    Ok(imported.outputs.iter().map(|(name, output)| (name.clone(), tensors(output))).collect())
}
