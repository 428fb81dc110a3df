//! What models call what they take and give, and the values that ONNX has files of.
//!
//! ```text
//!     ONNX     the graph's inputs and outputs have names
//!     MLIR     the attribute relay.name of an argument or a result of @main is one
//!     Relay    arguments have names, results have none: output_0, output_1, ...
//! ```

use fusion::DriverError;
use fusion::models::{load_module, open_onnx};
use fusion::source::{Format, Source};
use fusion_conversion::description::result_names;
use fusion_importers::onnx;
/// Whether a port of a model is a tensor, and its name.
pub use fusion_importers::onnx::model::Port;
use fusion_operators::Tensor;
use indexmap::IndexMap;
use std::path::Path;

/// What a model calls its outputs, in order; none for those without a name.
pub fn output_names(model: &Path) -> Result<Vec<Option<String>>, DriverError> {
    match Source::file(model).format() == Format::Onnx {
        true => Ok(onnx_ports(model)?.1.into_iter().map(|port| Some(port.name)).collect()),
        false => {
            let context = fusion_dialects::load_context();
            let (module, _) =
                load_module(&context, &Source::file(model), &IndexMap::new(), &IndexMap::new())?;
            Ok(result_names(module.as_operation(), "main"))
        }
    }
}

/// The inputs and outputs of an ONNX model, in order.
pub fn onnx_ports(model: &Path) -> Result<(Vec<Port>, Vec<Port>), DriverError> {
    Ok(open_onnx(&Source::file(model))?.ports())
}

/// Reads a serialised ONNX value: a tensor, or the tensors of a sequence.
pub fn read_onnx_tensors(path: &Path, is_tensor: bool) -> Result<Vec<Tensor>, DriverError> {
    let read = match is_tensor {
        // An optional tensor is read as a sequence of one.
        true => onnx::model::read_tensor(path).map(|t| vec![t]).or_else(|error| {
            let list = onnx::model::read_sequence(path).unwrap_or_default();
            if list.len() == 1 { Ok(list) } else { Err(error) }
        }),
        false => onnx::model::read_sequence(path),
    };
    read.map_err(|e| match e.is_unsupported() || !is_tensor {
        true => DriverError::Unsupported(format!("{}: {e}", path.display())),
        false => DriverError::Failed(format!("{}: {e}", path.display()).into()),
    })
}
