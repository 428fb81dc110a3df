//! Changes of ONNX files that leave the rest of the file as it is, byte for byte.
//!
//! The file is taken apart into fields ([`wire`]), and only those that change are written anew: names, metadata and what this project does not read
//! stay.

mod names;
pub mod quantize;
pub(super) mod tensor;
pub mod wire;
