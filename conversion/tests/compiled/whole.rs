//! Whole programs as text: compiled, against the interpreter of relay.

use super::*;
use fusion_dialects::Module;

/// What the interpreter makes of a program, and what the compiled program does; the first difference, if there is one.
pub fn compare(source: &str, inputs: &[Tensor]) -> Option<String> {
    register();
    let context = load_context();
    let said = |why: String| Some(format!("{why}\n{source}"));
    let module: Module = match parse_module(&context, source) {
        Ok(module) => module,
        Err(why) => return said(why.join("\n")),
    };
    let wanted = match fusion_interpreter::run_function(module.as_operation(), "main", inputs) {
        Ok(wanted) => wanted,
        Err(why) => return said(why.to_string()),
    };
    let types: Vec<_> = wanted.iter().map(Tensor::tensor_type).collect();
    let found = match run(source, inputs, &types, 0) {
        Ok(found) => found,
        Err(why) => return said(why),
    };
    let numbers = wanted.iter().filter(|t| t.dtype().is_float()).flat_map(Tensor::to_f64s);
    let scale = numbers.filter(|v| v.is_finite()).fold(1.0f64, |most, v| most.max(v.abs()));
    let differences = found.iter().zip(&wanted).enumerate();
    let first = differences.into_iter().find_map(|(i, (f, w))| Some((i, difference(f, w, scale)?)));
    first.and_then(|(i, why)| said(format!("result {i}: {why}")))
}

/// Compares programs; all failures are told at once.
pub fn compare_all(programs: impl Iterator<Item = (String, Vec<Tensor>)>) {
    let failures: Vec<String> = programs.filter_map(|(source, inputs)| compare(&source, &inputs)).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
