//! Models as modules: imported, or parsed, by their form.

use crate::bind::bind;
use crate::error::{DriverError, Error, failed};
use crate::passes::register_passes;
use crate::shapes::{Axis, dims};
use crate::source::{Content, Format, Source};
use fusion_dialects::{Context, Module, parse_file, parse_module, run_passes};
pub use fusion_importers::onnx::{Declared, Extent, Facts, Labels};
use fusion_importers::{onnx, relay_text, stablehlo};
use fusion_operators::Tensor;
use indexmap::IndexMap;
use std::path::Path;

/// Models above this many bytes of text are not read.
const MOST_TEXT_BYTES: u64 = 1 << 30;

/// Imports or parses a model; gives the names of inputs whose values it relies on as well.
pub fn load_module<'c>(
    context: &'c Context,
    model: &Source,
    shapes: &IndexMap<String, Vec<Axis>>,
    bound: &IndexMap<String, Tensor>,
) -> Result<(Module<'c>, Vec<String>), DriverError> {
    let traced = load_traced(context, model, shapes, bound)?;
    Ok((traced.module, traced.specialized))
}

/// As [`load_module`], with what values are in an ONNX file.
pub(crate) fn load_traced<'c>(
    context: &'c Context,
    model: &Source,
    shapes: &IndexMap<String, Vec<Axis>>,
    bound: &IndexMap<String, Tensor>,
) -> Result<onnx::Program<'c>, DriverError> {
    let module = match model.format() {
        Format::Onnx => return import_onnx(context, model, shapes, bound),
        Format::Mlir => read_mlir(context, model, shapes)?,
        Format::StableHlo => import_stablehlo(context, model, shapes)?,
        Format::Relay => import_relay(context, model)?,
    };
    bind(&module, bound)?;
    Ok(onnx::Program { module, specialized: Vec::new(), trace: onnx::Trace::default() })
}

/// MLIR of the dialect relay, which MLIR's own parser reads, or a StableHLO program.
fn read_mlir<'c>(
    context: &'c Context,
    model: &Source,
    shapes: &IndexMap<String, Vec<Axis>>,
) -> Result<Module<'c>, DriverError> {
    let module = match model.content {
        Content::File(path) => {
            fits(path)?;
            let bytes = std::fs::read(path);
            let bytes = bytes.map_err(|e| failed(format!("cannot read {}: {e}", path.display())))?;
            match stablehlo::is_stablehlo(&bytes) {
                true => {
                    let name = path.display().to_string();
                    return stablehlo::import(context, &name, bytes, &dims(shapes)).map_err(failed);
                }
                false => parse_file(context, path),
            }
        }
        Content::Bytes(bytes) if stablehlo::is_stablehlo(bytes) => {
            return import_stablehlo(context, model, shapes);
        }
        Content::Bytes(bytes) => parse_module(context, text(bytes)?),
    };
    module.map_err(|errors| failed(errors.join("\n")))
}

fn import_stablehlo<'c>(
    context: &'c Context,
    model: &Source,
    shapes: &IndexMap<String, Vec<Axis>>,
) -> Result<Module<'c>, DriverError> {
    let module = match model.content {
        Content::File(path) => stablehlo::import_file(context, path, &dims(shapes)),
        Content::Bytes(bytes) => stablehlo::import(context, "the model", bytes.to_vec(), &dims(shapes)),
    };
    module.map_err(failed)
}

fn fits(model: &Path) -> Result<(), DriverError> {
    let size =
        std::fs::metadata(model).map_err(|e| failed(format!("cannot read {}: {e}", model.display())))?.len();
    match size > MOST_TEXT_BYTES {
        true => {
            Err(failed(format!("{} has {size} bytes, at most {MOST_TEXT_BYTES} are read", model.display())))
        }
        false => Ok(()),
    }
}

fn text(bytes: &[u8]) -> Result<&str, DriverError> {
    std::str::from_utf8(bytes).map_err(|error| failed(format!("the model is no text in UTF-8: {error}")))
}

fn import_relay<'c>(context: &'c Context, model: &Source) -> Result<Module<'c>, DriverError> {
    register_passes();
    let module = match model.content {
        Content::File(path) => relay_text::import_file(context, path),
        Content::Bytes(bytes) => relay_text::import(context, "the model", text(bytes)?.to_owned(), None),
    };
    let module = module.map_err(failed)?;
    run_passes(&module, "builtin.module(relay-infer-types)").map_err(|errors| failed(errors.join("\n")))?;
    Ok(module)
}

/// Reads an ONNX model.
pub fn open_onnx(model: &Source) -> Result<onnx::Model, DriverError> {
    match model.content {
        Content::File(path) => {
            onnx::Model::open(path).map_err(|e| failed(format!("{}: {e}", path.display())))
        }
        Content::Bytes(bytes) => onnx::Model::from_bytes(bytes).map_err(failed),
    }
}

/// What an ONNX model says of itself: names, declared shapes, properties.
pub fn onnx_facts(model: &Source) -> Result<Facts, Error> {
    Ok(Facts::of(&open_onnx(model)?))
}

fn import_onnx<'c>(
    context: &'c Context,
    model: &Source,
    shapes: &IndexMap<String, Vec<Axis>>,
    bound: &IndexMap<String, Tensor>,
) -> Result<onnx::Program<'c>, DriverError> {
    let loaded = open_onnx(model)?;
    let known = onnx::signature(&loaded, &onnx::Options::default());
    // Shapes may be given for inputs that are none of the model's graph; those are the caller's business.
    let mut shapes = dims(shapes);
    if let Ok(inputs) = &known {
        shapes.retain(|name, _| inputs.iter().any(|i| i.name == *name));
    }
    let onnx_options = onnx::Options { bound: bound.clone(), shapes, ..onnx::Options::default() };
    onnx::import_module(context, &loaded, &onnx_options).map_err(|error| match error.needed_input() {
        Some(input) => DriverError::NeedsConstant(input.to_owned()),
        None if error.is_unsupported() => DriverError::Unsupported(error.to_string()),
        None => match model.content {
            Content::File(path) => failed(format!("{}: {error}", path.display())),
            Content::Bytes(_) => failed(error),
        },
    })
}
