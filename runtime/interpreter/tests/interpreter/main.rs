//! Programs whose results are known, programs that have none, and random programs before and after passes.

mod kernels;
mod language;
mod programs;
mod random;
mod random_graphs;
mod random_language;
mod samples;

use fusion_dialects::{Op, load_context, parse_module};
use fusion_interpreter::{InterpretError, Limits, run_function_within};
use fusion_operators::{DType, Tensor};

/// Runs `@main` of a program.
fn run(source: &str, inputs: &[Tensor]) -> Result<Vec<Tensor>, InterpretError> {
    run_within(source, inputs, Limits::default())
}

fn run_within(source: &str, inputs: &[Tensor], limits: Limits) -> Result<Vec<Tensor>, InterpretError> {
    let context = load_context();
    let module = parse_module(&context, source).unwrap();
    run_function_within(module.as_operation(), "main", inputs, limits)
}

/// The message of a program that has no result.
fn message(source: &str, inputs: &[Tensor]) -> String {
    run(source, inputs).unwrap_err().to_string()
}

fn f32s(shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_f64s(DType::F32, shape, values).unwrap()
}
