//! Reads portable artifacts: MLIR's bytecode of the dialect vhlo, as `stablehlo.serialize_portable_artifact` and `jax.export` write it.
//!
//! ```text
//!   "ML\xEFR" version producer  sections: strings, dialects, attributes and types, their offsets, operations
//! ```
//! MLIR's own reader cannot be used: attributes of vhlo have an encoding of their own, which a dialect that is not registered has no
//! reader for. The format is MLIR's "Bytecode Format", versions 1 to 6; the numbers of attributes and types are those of VHLO, which
//! StableHLO promises to keep.
//!
//! Operations have no lines. What errors show instead is a listing, of one line an operation.

mod attributes;
mod cursor;
mod flatbuffer;
mod operations;
mod properties;
mod tables;

pub use flatbuffer::module_of;

use super::graph::Program;
use crate::sources::Source;

/// What MLIR's bytecode begins with.
pub const MAGIC: &[u8] = b"ML\xEFR";

/// A program that a file says, and the listing of its operations.
pub fn read(name: &str, bytes: &[u8]) -> Result<(Program, Source), String> {
    let tables = tables::Tables::read(bytes)?;
    let (program, listing) = operations::Reader::new(&tables)?.program()?;
    Ok((program, Source::new(name, listing)))
}
