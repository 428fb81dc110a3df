//! Runs relay programs and te kernels on host tensors.
//!
//! Calls of operators are computed by their reference semantics, kernels point by point from their bodies, with
//! floats in f64 that are rounded where they are stored. Nothing is shared with the compiler, so a program
//! before and after a pass, or in relay and in te, can be compared with this as the judge.
//!
//! Relay is run whole: data types, functions as values, references and recursion, with or without types known.

mod agree;
mod code;
mod compile;
mod error;
mod flops;
mod held;
mod inputs;
mod program;
pub mod random_graphs;
pub mod random_programs;
mod sampled;
mod scalar;
mod stage;
mod te;
mod value;

pub use agree::{Agreement, Budget, Mismatch, SAMPLES, agree};
pub use code::Constructor;
pub use error::InterpretError;
pub use flops::flops_of;
use fusion_dialects::Op;
use fusion_operators::{Tensor, ValueTree};
pub use held::Held;
pub use program::{Interpreter, Traced};
pub use value::{Closure, Parts, Value};

/// How much a run may do before it is given up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Operations outside kernels, and iterations of loops.
    pub steps: u64,
    /// Calls inside one another, those in tail position not counted.
    pub depth: u32,
    /// Bytes of values, and of the registers of calls.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 10_000_000_000, depth: 1_000_000, memory: 4 << 30 }
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
    let results = interpreter.call(name, inputs);
    let tensors =
        results.and_then(|results| results.into_iter().map(|value| value.into_tensor(name)).collect());
    interpreter.empty_cells();
    tensors
}

/// Runs a function of a module on tensors and gives its values, whatever they are, as data.
pub fn run_program(
    module: Op,
    name: &str,
    inputs: &[Tensor],
    limits: Limits,
) -> Result<Vec<ValueTree>, InterpretError> {
    let inputs: Vec<ValueTree> = inputs.iter().cloned().map(ValueTree::tensor).collect();
    run_program_on(module, name, &inputs, limits)
}

/// As [`run_program`], on values of any sort but functions.
pub fn run_program_on(
    module: Op,
    name: &str,
    inputs: &[ValueTree],
    limits: Limits,
) -> Result<Vec<ValueTree>, InterpretError> {
    let inputs = inputs::values(module, inputs)?;
    let mut interpreter = Interpreter::new(module, limits);
    let results = interpreter.call(name, inputs);
    let trees = results.map(|values| values.iter().map(Value::tree).collect());
    interpreter.empty_cells();
    trees
}
