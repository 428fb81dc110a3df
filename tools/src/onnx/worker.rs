//! Running one case: compile, run on every data set, compare.

use super::Verdict;
use super::case::{self, Case};
use crate::failure::Failure;
use crate::ports::Port;
use fusion::driver::{CompileOptions, DriverError};
use fusion::load::{self, Runnable};
use fusion::models::open_onnx;
use fusion::programs;
use fusion::source::Source;
use fusion_importers::onnx::freedom::Freedom;
use fusion_operators::{Item, Tensor, ValueTree};
use fusion_runtime::Module;
use fusion_runtime::compare::{self, Tolerance};

/// Runs a case and says how it ended; without a tolerance it is compiled and loaded only.
pub fn run(case: &Case, options: &CompileOptions, tolerance: Option<Tolerance>) -> Verdict {
    match try_run(case, options, tolerance) {
        Ok(None) => Verdict::Pass,
        Ok(Some(why)) => Verdict::Fail(why),
        Err(Failure::Fusion(fusion::Error::Compile(DriverError::Unsupported(why)))) => {
            Verdict::Unsupported(why)
        }
        Err(Failure::Fusion(fusion::Error::Compile(why @ DriverError::NoPrograms(_)))) => {
            Verdict::Unsupported(why.to_string())
        }
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
    let model = open_onnx(&Source::file(&case.model()))?;
    let (ports, freedom) = (model.ports(), model.freedom());
    let mut last: Option<(CompileOptions, Runnable)> = None;
    for (i, set) in sets.iter().enumerate() {
        let inputs = case::read(&set.inputs, &ports.0)?;
        let expected = case::read(&set.outputs, &ports.1)?;
        // The same model serves the next data set unless shapes or constants are others.
        let wanted = options_for(options, &inputs, last.as_ref().map(|(o, _)| o));
        let (options, runnable) = match last {
            Some((options, runnable)) if options == wanted => (options, runnable),
            _ => compile(case, &wanted, &inputs)?,
        };
        let Some(tolerance) = tolerance else {
            last = Some((options, runnable));
            continue;
        };
        let outputs = outputs(&runnable, &ports.0, inputs)?;
        if let Some(why) = difference(&outputs, &expected, tolerance, freedom) {
            return Ok(Some(if sets.len() > 1 { format!("data set {i}: {why}") } else { why }));
        }
        last = Some((options, runnable));
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
        let shape = tensor.shape().iter().map(|&n| (n as u64).into()).collect();
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
) -> Result<(CompileOptions, Runnable), Failure> {
    let named = inputs.iter().filter(|(name, _)| !name.is_empty()).cloned().collect();
    let (runnable, options) = load::load_for(&case.model(), options, &named)?;
    Ok((options, runnable))
}

/// What a model gives, with names; the tensors of a sequence are outputs of their own.
fn outputs(
    runnable: &Runnable,
    ports: &[Port],
    inputs: Vec<(String, Tensor)>,
) -> Result<Vec<(String, Tensor)>, Failure> {
    match runnable {
        Runnable::Model(module) => {
            let names = module.description().outputs.iter().map(|output| output.name.clone());
            Ok(names.zip(module.run(&bind(module, inputs)?)?).collect())
        }
        Runnable::Program(program) => {
            let value_of = |port: &Port| {
                let mut own = inputs.iter().filter(|(name, _)| *name == port.name).map(|(_, tensor)| tensor);
                match port.is_tensor {
                    true => own.next().cloned().map(ValueTree::tensor),
                    false => Some(list(own.cloned().collect())),
                }
            };
            let named = ports.iter().filter_map(|port| Some((port.name.clone(), value_of(port)?))).collect();
            let value = programs::run_native(program, None, named)?;
            let tensors = value.items.into_iter().filter_map(|item| match item {
                Item::Tensor(tensor) => Some(tensor),
                _ => None,
            });
            Ok(tensors.enumerate().map(|(i, tensor)| (format!("output {i}"), tensor)).collect())
        }
    }
}

/// A sequence as a list of the language.
fn list(tensors: Vec<Tensor>) -> ValueTree {
    let cells = tensors.into_iter().flat_map(|tensor| [Item::Data("Cons".into(), 2), Item::Tensor(tensor)]);
    ValueTree { items: cells.chain([Item::Data("Nil".into(), 0)]).collect() }
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
    outputs: &[(String, Tensor)],
    expected: &[(String, Tensor)],
    tolerance: Tolerance,
    freedom: Freedom,
) -> Option<String> {
    if outputs.len() != expected.len() {
        return Some(format!(
            "the model gives {} outputs, but {} were expected",
            outputs.len(),
            expected.len()
        ));
    }
    outputs.iter().zip(expected).find_map(|((name, output), (_, expected))| {
        let mismatch = compare::check(output, expected, tolerance).err()?;
        if freedom.allows(output, expected) {
            return None;
        }
        Some(format!("output {name:?}: {mismatch}"))
    })
}
