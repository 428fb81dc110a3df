//! Why a model is not loaded or run.

use crate::object_file::ABI_VERSION;
use fusion_operators::{Tensor, TensorError, TensorType};
use std::path::PathBuf;

/// Why a library could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is missing or is not a library for this machine.
    #[error("cannot load {}: {why}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A symbol of the interface is missing.
    #[error("{} is not a compiled model: it has no symbol {symbol}", path.display())]
    Symbol {
        /// The library.
        path: PathBuf,
        /// The symbol.
        symbol: &'static str,
    },
    /// The library follows another version of the interface.
    #[error("{} has interface version {found}, but this program knows version {ABI_VERSION}; compile it again", path.display())]
    Version {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The description is not the JSON it should be.
    #[error("{} has a malformed description: {why}", path.display())]
    Description {
        /// The library.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Why a run did not happen or failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Too few or too many inputs.
    #[error("the model takes {expected} inputs ({names}), but {found} were given")]
    Count {
        /// How many it takes.
        expected: usize,
        /// Their names.
        names: String,
        /// How many there were.
        found: usize,
    },
    /// Values that are no inputs of a program of the whole language.
    #[error(transparent)]
    Inputs(#[from] fusion_bytecode::InputError),
    /// A named input is missing.
    #[error("the model's input {name:?}, a {expected}, was not given; given were {found}")]
    Missing {
        /// The input.
        name: String,
        /// Its type.
        expected: TensorType,
        /// The names there were.
        found: String,
    },
    /// A name that is no input.
    #[error("the model has no input {name:?}; its inputs are {names}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        names: String,
    },
    /// An input of another type.
    #[error("input {index} ({name:?}) of the model is a {expected}, but a {found} was given")]
    Type {
        /// Which input.
        index: usize,
        /// Its name.
        name: String,
        /// Its type.
        expected: TensorType,
        /// The type of what was given.
        found: TensorType,
    },
    /// An input of another value than the model was compiled for.
    #[error(
        "the model was compiled for the value {expected:?} of input {index} ({name:?}), but {found:?} was given; \
         compile it for that value"
    )]
    Value {
        /// Which input.
        index: usize,
        /// Its name.
        name: String,
        /// The only value it may have.
        expected: Box<Tensor>,
        /// What was given.
        found: Box<Tensor>,
    },
    /// Too few or too many outputs to write.
    #[error("the model gives {expected} outputs, but memory for {found} was given")]
    Outputs {
        /// How many it gives.
        expected: usize,
        /// Of how many there is memory.
        found: usize,
    },
    /// Memory for an output of another type.
    #[error("output {name:?} of the model is a {expected}, but memory for a {found} was given")]
    Output {
        /// The output.
        name: String,
        /// Its type.
        expected: TensorType,
        /// The type of what was given.
        found: TensorType,
    },
    /// Memory for an output that is not aligned to its element.
    #[error("the memory for output {name:?} is not aligned to its elements of {bytes} bytes")]
    Unaligned {
        /// The output.
        name: String,
        /// Bytes of an element.
        bytes: usize,
    },
    /// There is not enough memory.
    #[error("there is no memory for the {bytes} bytes of the model's {what}")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
        /// What for.
        what: String,
    },
    /// An argument's size overflows.
    #[error("{0}")]
    Tensor(#[from] TensorError),
    /// The model gave up.
    #[error("the model returned the error code {0}")]
    Failed(i32),
    /// The program ended with an error.
    #[error("{0}")]
    Program(String),
    /// It is not one whose kernels are timed one by one.
    #[error(
        "the model's kernels cannot be timed one by one: it is not for a GPU, or was compiled before they could; compile it \
         again"
    )]
    NoProfile,
    /// There is no device, or it failed.
    #[error("{0}")]
    Device(String),
}
