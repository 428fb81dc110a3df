//! The programs' parts: commands, one a file, over a small facade of the compiler.

mod bind;
pub mod calibrate;
pub mod commands;
mod compilation;
pub mod dev;
pub mod driver;
mod environment;
pub mod failure;
pub mod inputs;
mod language;
pub mod load;
mod models;
pub mod onnx;
pub mod opt;
pub mod package;
mod ports;
pub mod print;
pub mod profile;
pub mod programs;
pub mod report;
pub mod target;
pub mod translate;
pub mod validate;

/// Puts upstream's passes and ours into MLIR's registry, once a process.
pub fn register_passes() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        fusion_dialects::register_upstream_passes();
        fusion_transforms::register();
        fusion_conversion::register();
    });
}
