//! What is written: the ONNX file with the edges that were chosen, or the realized program.

use super::probe::Choice;
use super::program::Program;
use crate::error::{Error, failed};
use crate::models::open_onnx;
use crate::source::Source;
use fusion_dialects::{module_copy, module_op, run_passes};
use fusion_importers::onnx::rewrite::quantize::{QuantizedInput, quantize};
use fusion_relay::quantize::realize::integers;
use std::path::Path;

/// The model's file with its inputs quantized as chosen.
pub fn onnx(source: &Source, path: &Path, program: &Program, chosen: &[Choice]) -> Result<Vec<u8>, Error> {
    let edges = program.simulated()?;
    let mut inputs = Vec::new();
    for layer in &program.layers {
        for &edge in &layer.edges {
            let (facts, choice, simulated) = (&program.edges[edge], &chosen[edge], &edges[edge]);
            let Choice { parameters, numbers } = choice;
            if parameters.is_none() {
                continue;
            }
            parameters.check(numbers).map_err(Error::Quantize)?;
            let constant =
                simulated.constant().map(|weight| integers(&weight, simulated, parameters, numbers));
            inputs.push(QuantizedInput {
                node: layer.node,
                input: facts.input,
                dtype: simulated.dtype(),
                scales: parameters.scales.clone(),
                zeros: parameters.zeros.clone(),
                axis: simulated.axis().filter(|_| parameters.scales.len() > 1),
                bits: numbers.bits(),
                integers: numbers.dtype(),
                constant: constant.transpose().map_err(Error::Quantize)?,
            });
        }
    }
    let bytes = std::fs::read(path).map_err(Error::file("read", path))?;
    Ok(quantize(&open_onnx(source)?, &bytes, &inputs).map_err(failed)?)
}

/// The realized program, as text.
pub fn mlir(program: &Program) -> Result<Vec<u8>, Error> {
    let copy = module_copy(module_op(&program.module))
        .ok_or_else(|| Error::Quantize("the program is no module".to_owned()))?;
    let passes = "builtin.module(func.func(relay-quantize-realize))";
    run_passes(&copy, passes).map_err(|errors| failed(errors.join("\n")))?;
    Ok(format!("{}\n", copy.as_operation()).into_bytes())
}
