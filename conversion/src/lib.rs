//! Conversions between dialects, targets, and the ordered list of stages.

pub mod relay_to_te;
pub mod te_to_loop;

/// Puts all passes of this crate into MLIR's registry.
pub fn register() {
    fusion_dialects::register::<relay_to_te::ConvertRelayToTe>();
    fusion_dialects::register::<te_to_loop::lower::TeLower>();
}
