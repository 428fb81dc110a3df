//! The reference evaluator: computes each operator as it is emitted, with the reference semantics.
//!
//! With it an ONNX model runs without any compiler, which is how the importer is checked against
//! ONNX's own test data, and how a compiled model is checked against its source.

use std::cell::RefCell;

use fusion_operators::ops::shape;
use fusion_operators::reference::{EvalError, evaluate};
use fusion_operators::{Attrs, Dim, Operator, Tensor, TensorType};

use super::emit::{Emit, EmitError, Fill, Held, Id, ListOp, Region};
use super::error::ImportError;
use super::{Model, Options, Output, import};

/// No larger tensor is computed.
const MOST_BYTES: u64 = 1 << 32;

/// A value.
#[derive(Clone, Debug)]
pub enum Computed {
    /// A tensor.
    Tensor(Tensor),
    /// A sequence of tensors.
    List(Vec<Tensor>),
}

/// Values computed so far.
#[derive(Default)]
pub struct Eager {
    values: RefCell<Vec<Computed>>,
}

impl Eager {
    /// Adds a tensor.
    pub fn push(&self, tensor: Tensor) -> Id {
        self.add(Computed::Tensor(tensor))
    }

    fn add(&self, value: Computed) -> Id {
        let mut values = self.values.borrow_mut();
        values.push(value);
        values.len() - 1
    }

    /// The tensors a value is: those of a list, or the only one.
    pub fn tensors(&self, value: Id) -> Vec<Tensor> {
        match &self.values.borrow()[value] {
            Computed::Tensor(tensor) => vec![tensor.clone()],
            Computed::List(tensors) => tensors.clone(),
        }
    }

    fn tensor(&self, value: Id) -> Result<Tensor, EvalError> {
        match &self.values.borrow()[value] {
            Computed::Tensor(tensor) => Ok(tensor.clone()),
            Computed::List(_) => {
                Err(EvalError::Value("a sequence is given where a tensor is expected".into()))
            }
        }
    }

    fn is_true(&self, value: Id) -> bool {
        self.tensor(value).is_ok_and(|tensor| !tensor.is_empty() && tensor.int_at(0) != 0)
    }

    /// The place in a list that a position names, of `count` that there are.
    fn place(&self, position: Id, len: usize, count: usize) -> Result<usize, EvalError> {
        let position = self.tensor(position)?.int_at(0);
        let place = if position < 0 { position + len as i128 } else { position };
        usize::try_from(place).ok().filter(|&place| place < count).ok_or_else(|| {
            EvalError::Value(format!("the position {position} is out of range for a sequence of {len}"))
        })
    }
}

/// The elements of a list side by side.
fn joined(parts: &[Tensor], axis: usize) -> Result<Tensor, EvalError> {
    match parts {
        [] => Err(EvalError::Value("the sequence is empty".into())),
        [one] => Ok(one.clone()),
        _ => first(evaluate(&shape::CONCAT, &Attrs::new().with("axis", axis as i64), parts)?),
    }
}

fn first(results: Vec<Tensor>) -> Result<Tensor, EvalError> {
    results.into_iter().next().ok_or_else(|| EvalError::Value("there is no result".into()))
}

/// The elements along a new axis; of none there is a tensor without elements.
fn stacked(list: &[Tensor], axis: usize, element: &TensorType) -> Result<Tensor, EvalError> {
    if list.is_empty() {
        let known = |dim: &Dim| dim.known().map_or(0, |n| n as usize);
        let mut shape: Vec<usize> = element.dims.iter().map(known).collect();
        shape.insert(axis.min(shape.len()), 0);
        return Ok(Tensor::from_f64s(element.dtype, &shape, &[])?);
    }
    let attrs = Attrs::new().with("axes", [axis as i64]);
    let row = |x: &Tensor| first(evaluate(&shape::EXPAND_DIMS, &attrs, std::slice::from_ref(x))?);
    joined(&list.iter().map(row).collect::<Result<Vec<_>, _>>()?, axis)
}

impl Emit for Eager {
    fn location(&self, _: &str) {}

    fn op(&self, op: &'static Operator, operands: &[Id], attrs: &Attrs) -> Result<Vec<Id>, EmitError> {
        let inputs: Vec<Tensor> = operands.iter().map(|&v| self.tensor(v)).collect::<Result<_, _>>()?;
        let types: Vec<TensorType> = inputs.iter().map(Tensor::tensor_type).collect();
        for result in op.infer(&types, attrs)? {
            // What follows from values is bounded by what computes it.
            let is_counted = result.dims.contains(&Dim::Any);
            if !is_counted && result.bytes().is_none_or(|bytes| bytes > MOST_BYTES) {
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
        match self.values.borrow().get(value)? {
            Computed::Tensor(tensor) => Some(tensor.tensor_type()),
            Computed::List(_) => None,
        }
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

    fn list(&self, op: ListOp, element: &TensorType, operands: &[Id]) -> Result<Id, EmitError> {
        let mut list = operands.first().map_or_else(Vec::new, |&list| self.tensors(list));
        let len = list.len();
        match (op, operands) {
            (ListOp::Push, &[_, x]) => list.push(self.tensor(x)?),
            (ListOp::Insert, &[_, position, x]) => {
                list.insert(self.place(position, len, len + 1)?, self.tensor(x)?);
            }
            (ListOp::Erase, &[_, position]) => {
                list.remove(self.place(position, len, len)?);
            }
            (ListOp::At, &[_, position]) => {
                return Ok(self.push(list.swap_remove(self.place(position, len, len)?)));
            }
            (ListOp::Length, _) => {
                return Ok(self.push(Tensor::from_slice(&[], &[len as i64]).map_err(EvalError::from)?));
            }
            (ListOp::Concat(axis), _) => return Ok(self.push(joined(&list, axis)?)),
            (ListOp::Stack(axis), _) => return Ok(self.push(stacked(&list, axis, element)?)),
            _ => {}
        }
        Ok(self.add(Computed::List(list)))
    }

    fn held_as(&self, value: Id, _: &Held) -> Id {
        value
    }
}

/// A result of a model: a tensor, or the elements of a sequence.
pub type Results = Vec<(String, Vec<Tensor>)>;

/// Runs a model on the inputs its [`signature`](super::signature) asks for, in that order.
pub fn run(model: &Model, options: &Options, inputs: &[Tensor]) -> Result<Results, ImportError> {
    let inputs: Vec<Computed> = inputs.iter().cloned().map(Computed::Tensor).collect();
    run_on(model, options, &inputs)
}

/// As [`run`], on sequences as well.
pub fn run_on(model: &Model, options: &Options, inputs: &[Computed]) -> Result<Results, ImportError> {
    let eager = Eager::default();
    let ids: Vec<Id> = inputs.iter().map(|value| eager.add(value.clone())).collect();
    let imported = import(model, options, &eager, &ids)?;
    let tensors = |output: &Output| match output {
        Output::Tensor(id) | Output::List(id) => eager.tensors(*id),
        Output::Sequence(ids) => ids.iter().flat_map(|&id| eager.tensors(id)).collect(),
    };
    Ok(imported.outputs.iter().map(|(name, output)| (name.clone(), tensors(output))).collect())
}
