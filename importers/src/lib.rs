//! Readers of model formats that build relay programs.
//!
//! Each format is a module. An importer knows the relay operators (`fusion-operators`) and how to
//! emit them; it knows nothing of passes, targets or the runtime.

mod nearest;
pub mod onnx;
pub mod relay_text;
mod sources;
pub mod stablehlo;
