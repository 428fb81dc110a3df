//! The dialects relay, te and loop, and the bridge between MLIR and Rust.
//!
//! The dialects are defined in ODS (`td/`), registered by a thin C++ shim (`shim/`) and given their
//! meaning here: verifiers, folders, views. `bridge` is the only place with `unsafe` code. This crate
//! rewrites nothing: passes are in `fusion-transforms`, conversions in `fusion-conversion`.

pub mod bridge;
mod faults;
pub mod indices;
pub mod loops;
pub mod module;
pub mod relay;
pub mod rows;
pub mod te;

pub use bridge::*;
pub use faults::{ON_CONTRADICTION, report_fault};
