//! The programs' parts: commands, one a file, over the crate `fusion`.

pub mod calibrate;
pub mod commands;
pub mod dev;
mod environment;
pub mod failure;
pub mod fuzz;
pub mod inputs;
pub mod onnx;
pub mod opt;
mod ports;
pub mod print;
pub mod profile;
pub mod program;
pub mod report;
pub mod targets;
pub mod translate;
