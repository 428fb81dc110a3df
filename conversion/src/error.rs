//! Why a module cannot be compiled.

use crate::description::SignatureError;
use fusion_dialects::{CodegenError, PassError, name_of_location};

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The inputs or outputs cannot be compiled for.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// A stage failed; with locations.
    #[error("{}", .0.join("\n"))]
    Stage(Vec<String>),
    /// LLVM refused.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

/// What a pass or the module itself says, with its place.
pub(crate) fn failed(error: PassError) -> CompileError {
    let place = name_of_location(error.location);
    CompileError::Stage(vec![if place.is_empty() {
        error.message
    } else {
        format!("{place}: {}", error.message)
    }])
}
