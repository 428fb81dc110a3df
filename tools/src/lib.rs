//! The programs' parts: commands, one a file, over a small facade of the compiler.

pub mod commands;
pub mod driver;
pub mod failure;
pub mod load;
pub mod onnx;
pub mod print;
