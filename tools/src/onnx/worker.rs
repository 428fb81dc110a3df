//! Running one case: compile, run on every data set, compare.

use super::Verdict;
use super::case::{self, Case};
use crate::driver::{CompileOptions, DriverError};
use crate::failure::Failure;
use crate::load;
use fusion_operators::Tensor;
use fusion_runtime::Module;
use fusion_runtime::compare::{self, Tolerance};

/// Runs a case and says how it ended; without a tolerance it is compiled and loaded only.
pub fn run(case: &Case, options: &CompileOptions, tolerance: Option<Tolerance>) -> Verdict {
    match try_run(case, options, tolerance) {
        Ok(None) => Verdict::Pass,
        Ok(Some(why)) => Verdict::Fail(why),
        Err(Failure::Driver(DriverError::Unsupported(why))) => Verdict::Unsupported(why),
        Err(failure) => Verdict::Fail(failure.to_string()),
    }
}

/// What is wrong with the outputs, if anything.
fn try_run(
    case: &Case,
    options: &CompileOptions,
    tolerance: Option<Tolerance>,
) -> Result<Option<String>, Failure> {
    let sets = case.data_sets()?;
    if sets.is_empty() {
        return Ok(Some("it has no test_data_set_N directory".to_owned()));
    }
    let ports = crate::driver::onnx_ports(&case.model())?;
    let mut last: Option<(CompileOptions, Module)> = None;
    for (i, set) in sets.iter().enumerate() {
        let inputs = case::read(&set.inputs, &ports.0)?;
        let expected = case::read(&set.outputs, &ports.1)?;
        // The same model serves the next data set unless shapes or constants are others.
        let wanted = options_for(options, &inputs, last.as_ref().map(|(o, _)| o));
        let (options, module) = match last {
            Some((options, module)) if options == wanted => (options, module),
            _ => compile(case, &wanted, &inputs)?,
        };
        let Some(tolerance) = tolerance else {
            last = Some((options, module));
            continue;
        };
        let outputs = module.run(&bind(&module, inputs)?)?;
        if let Some(why) = difference(&module, &outputs, &expected, tolerance) {
            return Ok(Some(if sets.len() > 1 { format!("data set {i}: {why}") } else { why }));
        }
        last = Some((options, module));
    }
    Ok(None)
}

/// The options for a data set: the shapes of its inputs, and as constants what the last had.
fn options_for(
    base: &CompileOptions,
    inputs: &[(String, Tensor)],
    last: Option<&CompileOptions>,
) -> CompileOptions {
    let mut options = base.clone();
    for (name, tensor) in inputs.iter().filter(|(name, _)| !name.is_empty()) {
        let shape = tensor.shape().iter().map(|&n| n as u64).collect();
        options.shapes.insert(name.clone(), shape);
        if last.is_some_and(|last| last.bound.contains_key(name)) {
            options.bound.insert(name.clone(), tensor.clone());
        }
    }
    options
}

/// Compiles for the inputs of a data set.
fn compile(
    case: &Case,
    options: &CompileOptions,
    inputs: &[(String, Tensor)],
) -> Result<(CompileOptions, Module), Failure> {
    let named = inputs.iter().filter(|(name, _)| !name.is_empty()).cloned().collect();
    let (module, options) = load::load_for(&case.model(), options, &named)?;
    Ok((options, module))
}

/// The inputs the model takes: by name where all have one, else by position.
fn bind(module: &Module, inputs: Vec<(String, Tensor)>) -> Result<Vec<Tensor>, Failure> {
    let known = |name: &String| module.description().inputs.iter().any(|input| input.name == *name);
    if inputs.iter().all(|(name, _)| !name.is_empty()) {
        return Ok(module.bind(inputs.into_iter().filter(|(name, _)| known(name)).collect())?);
    }
    Ok(inputs.into_iter().map(|(_, tensor)| tensor).collect())
}

fn difference(
    module: &Module,
    outputs: &[Tensor],
    expected: &[(String, Tensor)],
    tolerance: Tolerance,
) -> Option<String> {
    if outputs.len() != expected.len() {
        return Some(format!(
            "the model gives {} outputs, but {} were expected",
            outputs.len(),
            expected.len()
        ));
    }
    let described = &module.description().outputs;
    outputs.iter().zip(expected).zip(described).find_map(|((output, (_, expected)), described)| {
        let mismatch = compare::check(output, expected, tolerance).err()?;
        Some(format!("output {:?}: {mismatch}", described.name))
    })
}
