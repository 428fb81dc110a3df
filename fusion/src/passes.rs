//! The passes of the process.

/// Puts upstream's passes and ours into MLIR's registry, once a process.
pub fn register_passes() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        fusion_dialects::register_upstream_passes();
        fusion_transforms::register();
        fusion_conversion::register();
    });
}
