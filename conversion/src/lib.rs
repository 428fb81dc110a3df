//! Conversions between dialects, targets, and the ordered list of stages.

/// Puts all passes of this crate into MLIR's registry.
pub fn register() {}
