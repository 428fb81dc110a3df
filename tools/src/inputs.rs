//! What models are run on: tensors from a file, or random ones.

use crate::failure::Failure;
use fusion_operators::Tensor;
use fusion_runtime::random::Random;
use fusion_runtime::{ArgumentDescription, ModelDescription, Module, npz};
use std::path::Path;

/// The inputs in a file if there is one, else random ones: floats between -1 and 1, integers 0 or 1; but what the model was
/// compiled for where it relies on a value.
pub fn inputs(module: &Module, file: Option<&Path>, seed: u64) -> Result<Vec<Tensor>, Failure> {
    match file {
        Some(file) => Ok(module.bind(npz::read(file)?)?),
        None => random(module, seed),
    }
}

/// Random ones; what the model was compiled for where it relies on a value.
pub fn random(module: &Module, seed: u64) -> Result<Vec<Tensor>, Failure> {
    random_of(module.description(), seed)
}

/// Random ones for what is described so.
pub fn random_of(description: &ModelDescription, seed: u64) -> Result<Vec<Tensor>, Failure> {
    let mut random = Random::new(seed);
    let tensor = |input: &ArgumentDescription| match input.only_value()? {
        Some(value) => Ok(value),
        None => random.tensor(input.dtype, &input.shape),
    };
    Ok(description.inputs.iter().map(tensor).collect::<Result<_, _>>()?)
}
