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

/// The passes that have a model compute in a narrow type, f16 or bf16, where its operators bear it.
pub fn mixed_precision(narrow: &str) -> String {
    format!("builtin.module(relay-infer-types,relay-to-mixed-precision{{type={narrow}}})")
}
