//! Relay modules as text.

mod types;

pub(super) use types::type_text;

/// Why a module cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PrintError(pub String);

/// Writes a module.
pub fn print(_: fusion_dialects::Op) -> Result<String, PrintError> {
    Err(PrintError("nothing is written yet".into()))
}
