//! Runs relay programs and te kernels on host tensors.
//!
//! Calls of operators are computed by their reference semantics, kernels point by point from their bodies, with
//! floats in f64 that are rounded where they are stored. Nothing is shared with the compiler, so a program
//! before and after a pass, or in relay and in te, can be compared with this as the judge.

mod agree;
mod error;
mod flops;
mod program;
mod scalar;
mod te;
mod value;

pub use agree::{Agreement, Budget, Mismatch, agree};
pub use error::InterpretError;
pub use flops::flops_of;
use fusion_dialects::Op;
use fusion_operators::Tensor;
use program::Interpreter;
use value::Value;

/// How much a run may do before it is given up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Operations outside kernels, and iterations of loops.
    pub steps: u64,
    /// Calls and regions inside one another.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 10_000_000, depth: 128 }
    }
}

/// Runs a function of a module.
pub fn run_function(module: Op, name: &str, inputs: &[Tensor]) -> Result<Vec<Tensor>, InterpretError> {
    run_function_within(module, name, inputs, Limits::default())
}

/// As [`run_function`], with limits of its own.
pub fn run_function_within(
    module: Op,
    name: &str,
    inputs: &[Tensor],
    limits: Limits,
) -> Result<Vec<Tensor>, InterpretError> {
    let mut interpreter = Interpreter::new(module, limits);
    let inputs = inputs.iter().cloned().map(Value::from).collect();
    let results = interpreter.call(name, inputs)?;
    results.into_iter().map(|value| value.into_tensor(name)).collect()
}
