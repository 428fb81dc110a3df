//! Programs of the whole language, with functions as values, data and references.
//!
//!     relay  --relay_to_bytecode-->  instructions over registers  --bytecode_to_llvm-->  code beside runtime/language

pub mod bytecode_to_llvm;
pub mod relay_to_bytecode;
