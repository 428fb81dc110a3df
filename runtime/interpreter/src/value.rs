//! What values are at run time.

use crate::InterpretError;
use fusion_dialects::Op;
use fusion_operators::Tensor;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The values of a function that are known so far, by their keys.
pub type Frame<'c> = HashMap<usize, Value<'c>>;

/// A value at run time; copies are cheap.
#[derive(Clone)]
pub enum Value<'c> {
    /// A tensor.
    Tensor(Rc<Tensor>),
    /// A tuple.
    Tuple(Rc<[Value<'c>]>),
    /// A `relay.fn` with the values around it.
    Closure(Rc<(Op<'c>, Frame<'c>)>),
    /// A mutable cell.
    Cell(Rc<RefCell<Value<'c>>>),
}

impl From<Tensor> for Value<'_> {
    fn from(tensor: Tensor) -> Self {
        Value::Tensor(Rc::new(tensor))
    }
}

impl Value<'_> {
    /// The tensor of a result.
    pub fn into_tensor(self, function: &str) -> Result<Tensor, InterpretError> {
        match self {
            Value::Tensor(tensor) => Ok(Rc::unwrap_or_clone(tensor)),
            _ => Err(InterpretError::NoTensor(function.to_owned())),
        }
    }

    /// What a message calls it.
    pub fn what(&self) -> String {
        match self {
            Value::Tensor(tensor) => tensor.tensor_type().to_string(),
            Value::Tuple(elements) => format!("a tuple of {}", elements.len()),
            Value::Closure(_) => "a closure".into(),
            Value::Cell(_) => "a reference".into(),
        }
    }
}
