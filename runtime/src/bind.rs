//! Inputs by name, in the order that a model takes them, and whether they are what it takes.

use crate::description::ModelDescription;
use crate::module::RunError;
use fusion_operators::{AsTensor, Tensor};
use indexmap::IndexMap;

impl ModelDescription {
    /// Puts named tensors into the order of the model's inputs. Names that numpy makes up
    /// (`arr_0`, `arr_1`...) stand for positions when the model has no such inputs.
    pub fn bind(&self, mut tensors: IndexMap<String, Tensor>) -> Result<Vec<Tensor>, RunError> {
        let inputs = &self.inputs;
        let made_up = tensors.keys().enumerate().all(|(i, name)| *name == format!("arr_{i}"));
        if made_up && tensors.len() == inputs.len() && !inputs.iter().any(|i| tensors.contains_key(&i.name)) {
            return Ok(tensors.into_values().collect());
        }
        if let Some(name) = tensors.keys().find(|name| inputs.iter().all(|input| input.name != **name)) {
            return Err(RunError::Unknown {
                name: name.clone(),
                names: names(inputs.iter().map(|i| &*i.name)),
            });
        }
        let mut bound = vec![];
        for input in inputs {
            let Some(tensor) = tensors.shift_remove(&input.name) else {
                let found = names(tensors.keys().map(String::as_str));
                return Err(RunError::Missing {
                    name: input.name.clone(),
                    expected: input.tensor_type(),
                    found,
                });
            };
            bound.push(tensor);
        }
        Ok(bound)
    }

    /// Whether tensors are what the model takes, in its order.
    pub fn check<T: AsTensor>(&self, inputs: &[T]) -> Result<(), RunError> {
        let expected = &self.inputs;
        if inputs.len() != expected.len() {
            return Err(RunError::Count {
                expected: expected.len(),
                names: names(expected.iter().map(|i| &*i.name)),
                found: inputs.len(),
            });
        }
        for (index, (input, expected)) in inputs.iter().zip(expected).enumerate() {
            if input.dtype() != expected.dtype || input.shape() != expected.shape {
                return Err(RunError::Type {
                    index,
                    name: expected.name.clone(),
                    expected: expected.tensor_type(),
                    found: input.tensor_type(),
                });
            }
            if expected.value.as_deref().is_some_and(|value| value != input.bytes())
                && let Some(value) = expected.only_value()?
            {
                return Err(RunError::Value {
                    index,
                    name: expected.name.clone(),
                    expected: Box::new(value),
                    found: Box::new(Tensor::from_bytes(input.dtype(), input.shape(), input.bytes())?),
                });
            }
        }
        Ok(())
    }
}

/// Names as a sentence lists them.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
