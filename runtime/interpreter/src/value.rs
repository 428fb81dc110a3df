//! What values are at run time.
//!
//! Copies share. What is made is counted in bytes, so that a run can be given up before memory is; what is freed is freed by
//! a loop over a list of work, so that a list of a million elements needs no stack.

use crate::InterpretError;
use crate::code::{Code, Constructor};
use crate::held::{Held, count, discount};
use fusion_operators::{Item, Tensor, ValueTree};
use std::cell::RefCell;
use std::rc::Rc;

/// A value at run time; copies are cheap.
#[derive(Clone)]
pub enum Value<'c> {
    /// A tensor.
    Tensor(Rc<Held>),
    /// A tuple.
    Tuple(Rc<Parts<'c>>),
    /// A value of a data type: a constructor and its fields.
    Data(Rc<Constructor>, Rc<Parts<'c>>),
    /// A function with the values it took from around it.
    Closure(Rc<Closure<'c>>),
    /// A mutable cell.
    Cell(Rc<RefCell<Value<'c>>>),
    /// No value yet: a register before it is written.
    Unset,
}

/// A function with the values it took from around it.
pub struct Closure<'c> {
    pub(crate) code: Rc<Code<'c>>,
    pub(crate) captured: Parts<'c>,
}

/// The parts of a value.
pub struct Parts<'c>(Box<[Value<'c>]>);

impl<'c> Parts<'c> {
    /// Of these values.
    pub fn new(values: Vec<Value<'c>>) -> Self {
        let parts = Parts(values.into());
        count(parts.bytes());
        parts
    }

    fn bytes(&self) -> u64 {
        (self.0.len() * size_of::<Value>() + size_of::<Parts>() + 2 * size_of::<usize>()) as u64
    }
}

impl<'c> std::ops::Deref for Parts<'c> {
    type Target = [Value<'c>];
    fn deref(&self) -> &[Value<'c>] {
        &self.0
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        discount(self.bytes());
        if self.0.iter().all(|value| matches!(value, Value::Tensor(_) | Value::Unset)) {
            return;
        }
        let mut work = std::mem::take(&mut self.0).into_vec();
        while let Some(value) = work.pop() {
            // What only this value holds is taken out of it before it is freed.
            match value {
                Value::Tuple(mut parts) | Value::Data(_, mut parts) => {
                    if let Some(parts) = Rc::get_mut(&mut parts) {
                        parts.give(&mut work);
                    }
                }
                Value::Closure(mut closure) => {
                    if let Some(closure) = Rc::get_mut(&mut closure) {
                        closure.captured.give(&mut work);
                    }
                }
                Value::Cell(mut cell) => {
                    if let Some(cell) = Rc::get_mut(&mut cell) {
                        work.push(std::mem::replace(cell.get_mut(), Value::Unset));
                    }
                }
                Value::Tensor(_) | Value::Unset => {}
            }
        }
    }
}

impl<'c> Parts<'c> {
    fn give(&mut self, work: &mut Vec<Value<'c>>) {
        let bytes = self.bytes();
        work.extend(std::mem::take(&mut self.0).into_vec());
        discount(bytes - self.bytes());
    }
}

impl From<Tensor> for Value<'_> {
    fn from(tensor: Tensor) -> Self {
        Value::Tensor(Rc::new(Held::new(tensor)))
    }
}

/// More items of a value are not shown.
const MOST_ITEMS: usize = 10_000_000;

impl<'c> Value<'c> {
    /// A tuple.
    pub fn tuple(elements: Vec<Value<'c>>) -> Self {
        Value::Tuple(Rc::new(Parts::new(elements)))
    }

    /// The tensor of a result.
    pub fn into_tensor(self, function: &str) -> Result<Tensor, InterpretError> {
        match self {
            Value::Tensor(tensor) => Ok(match Rc::try_unwrap(tensor) {
                Ok(held) => held.into_tensor(),
                Err(shared) => Tensor::clone(&shared),
            }),
            _ => Err(InterpretError::NoTensor(function.to_owned())),
        }
    }

    /// What a message calls it.
    pub fn what(&self) -> String {
        match self {
            Value::Tensor(tensor) => tensor.tensor_type().to_string(),
            Value::Tuple(elements) => format!("a tuple of {}", elements.len()),
            Value::Data(constructor, _) => {
                format!("a {} of the data type @{}", constructor.name, constructor.data)
            }
            Value::Closure(_) => "a function".into(),
            Value::Cell(_) => "a reference".into(),
            Value::Unset => "no value".into(),
        }
    }

    /// The value as data, to be printed and compared.
    pub fn tree(&self) -> ValueTree {
        enum Work<'c> {
            Show(Value<'c>),
            Leave,
        }
        let mut items = Vec::new();
        let mut around: Vec<*const RefCell<Value>> = Vec::new();
        let mut work = vec![Work::Show(self.clone())];
        while let Some(next) = work.pop() {
            let value = match next {
                Work::Leave => {
                    around.pop();
                    continue;
                }
                Work::Show(value) => value,
            };
            if items.len() >= MOST_ITEMS {
                items.push(Item::More);
                continue;
            }
            match value {
                Value::Tensor(tensor) => items.push(Item::Tensor(Tensor::clone(&tensor))),
                Value::Tuple(parts) => {
                    items.push(Item::Tuple(parts.len()));
                    work.extend(parts.iter().rev().cloned().map(Work::Show));
                }
                Value::Data(constructor, parts) => {
                    items.push(Item::Data(constructor.name.clone(), parts.len()));
                    work.extend(parts.iter().rev().cloned().map(Work::Show));
                }
                Value::Cell(cell) => {
                    let place = Rc::as_ptr(&cell);
                    if around.contains(&place) {
                        items.push(Item::More);
                        continue;
                    }
                    items.push(Item::Cell);
                    around.push(place);
                    work.push(Work::Leave);
                    work.push(Work::Show(cell.borrow().clone()));
                }
                Value::Closure(_) => items.push(Item::Function),
                Value::Unset => items.push(Item::More),
            }
        }
        ValueTree { items }
    }
}
