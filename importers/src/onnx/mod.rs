//! ONNX models as relay programs.
//!
//! [`Model`] reads a file, [`signature`] says what a program of it takes, and [`import`] walks the
//! graph and emits operators through [`Emit`]: into a relay function, or into the reference
//! evaluator ([`eager`]). Relay's operators are primitive; what ONNX has beyond them is decomposed in
//! `ops/`, one family a file, one row an operator.
//!
//! Shapes, axes and the like are attributes in relay. Where ONNX passes them as tensors they must be
//! known when the model is imported: constants, what follows from constants and known shapes, or
//! graph inputs whose values are given in [`Options::bound`].

mod build;
mod counted;
mod definitions;
pub mod eager;
pub mod emit;
pub mod error;
pub mod export;
mod facts;
pub mod freedom;
mod functions;
mod graph;
mod importer;
mod known;
mod lists;
mod mlir;
pub mod model;
mod names;
mod narrow;
mod narrow_types;
pub mod node;
mod ops;
pub mod parts;
pub mod proto;
pub mod rewrite;
mod schedule;
mod signature;
mod sparse;
pub mod tensor;

pub use emit::Emit;
pub use error::{Fault, ImportError, Place};
pub use facts::{Declared, Extent, Facts, Labels};
pub use graph::{Imported, Output, import};
pub use mlir::{Program, Trace, import_module};
pub use model::{LoadError, Model};
pub use signature::{Input, Options, signature};
