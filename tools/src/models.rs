//! Models as modules: imported, or parsed, by the extensions of their files.

use crate::bind::bind;
use crate::failure::{DriverError, failed};
use fusion_dialects::{Context, Module, parse_file, run_passes};
use fusion_importers::{onnx, relay_text};
use fusion_operators::Tensor;
use indexmap::IndexMap;
use std::path::Path;

/// Models above this many bytes of text are not read.
const MOST_TEXT_BYTES: u64 = 1 << 30;

/// Imports or parses a model; gives the names of inputs whose values it relies on as well.
pub(crate) fn load_module<'c>(
    context: &'c Context,
    model: &Path,
    shapes: &IndexMap<String, Vec<u64>>,
    bound: &IndexMap<String, Tensor>,
) -> Result<(Module<'c>, Vec<String>), DriverError> {
    if model.extension().is_some_and(|e| e == "mlir") {
        let size = std::fs::metadata(model)
            .map_err(|e| failed(format!("cannot read {}: {e}", model.display())))?
            .len();
        if size > MOST_TEXT_BYTES {
            return Err(failed(format!(
                "{} has {size} bytes, at most {MOST_TEXT_BYTES} are read",
                model.display()
            )));
        }
        let module = parse_file(context, model).map_err(|errors| failed(errors.join("\n")))?;
        bind(&module, bound)?;
        return Ok((module, Vec::new()));
    }
    if model.extension().is_some_and(|e| e == "relay" || e == "rly") {
        crate::register_passes();
        let module = relay_text::import_file(context, model).map_err(failed)?;
        run_passes(&module, "builtin.module(relay-infer-types)")
            .map_err(|errors| failed(errors.join("\n")))?;
        bind(&module, bound)?;
        return Ok((module, Vec::new()));
    }
    let loaded = onnx::Model::open(model).map_err(|e| failed(format!("{}: {e}", model.display())))?;
    let known = onnx::signature(&loaded, &onnx::Options::default());
    // Shapes may be given for inputs that are none of the model's graph; those are the caller's business.
    let mut shapes = shapes.clone();
    if let Ok(inputs) = &known {
        shapes.retain(|name, _| inputs.iter().any(|i| i.name == *name));
    }
    let onnx_options = onnx::Options { bound: bound.clone(), shapes };
    let program =
        onnx::import_module(context, &loaded, &onnx_options).map_err(|error| match error.needed_input() {
            Some(input) => DriverError::NeedsConstant(input.to_owned()),
            None if error.is_unsupported() => DriverError::Unsupported(error.to_string()),
            None => failed(format!("{}: {error}", model.display())),
        })?;
    Ok((program.module, program.specialized))
}
