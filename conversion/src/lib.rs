//! Conversions between dialects, targets, and the ordered list of stages.

pub mod relay_to_te;

/// Puts all passes of this crate into MLIR's registry.
pub fn register() {
    fusion_dialects::register::<relay_to_te::ConvertRelayToTe>();
}
