//! Why there is no compiled model, or no run: one sentence for the user.

use crate::target::TargetError;
use fusion_bytecode::FileError;
use fusion_interpreter::InterpretError;
use fusion_operators::TensorError;
use fusion_runtime::package::PackageError;
use fusion_runtime::vm::{LibraryError, MachineError, ProgramFileError, VmError};
use fusion_runtime::{LoadError, RunError};
use std::io;
use std::path::{Path, PathBuf};

/// Why the compiler gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The model uses something that is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// The input must be known when compiling.
    #[error("input {0:?} of the model must be known when compiling; give it with --bind {0}=FILE.npy")]
    NeedsConstant(String),
    /// Programs are for processors.
    #[error(
        "a program of the whole language (functions as values, data, references, recursion), of extents that only running shows, of strings, or \
         bytecode, runs on a processor, and {0} is a GPU; leave --target away, or compile a model of operators on known extents alone"
    )]
    NoPrograms(String),
    /// The model is wrong, or the compiler is.
    #[error("{0}")]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

pub(crate) fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DriverError {
    DriverError::Failed(error.into())
}

/// Why the library did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    /// The model was not compiled.
    #[error(transparent)]
    Compile(#[from] DriverError),
    /// There is no such target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A name that is no level of optimisation, and the like.
    #[error("{0}")]
    Option(String),
    /// A file could not be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    File { action: &'static str, path: PathBuf, error: io::Error },
    /// The library was not written.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The library was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The model was not run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Bytes that are no tensor.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// Memory that is no dense tensor.
    #[error("{0}")]
    Layout(String),
    /// A model that is not quantized.
    #[error("{0}")]
    Quantize(String),
    /// Inputs that are none of the program's.
    #[error("{0}")]
    Inputs(String),
    /// Values that no file of tensors can hold.
    #[error(
        "the program gives {0}, and a .npz file holds tensors only; leave --outputs away to have it printed"
    )]
    NoTensors(String),
    #[error(transparent)]
    Bytecode(#[from] ProgramFileError),
    #[error(transparent)]
    Content(#[from] FileError),
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Vm(#[from] VmError),
    #[error(transparent)]
    Interpret(#[from] InterpretError),
}

impl Error {
    /// A file that cannot be read or written.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |error| Error::File { action, path, error }
    }
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Error {
        match never {}
    }
}
