//! Why a machine does not start, and why a run ends without a value.

use super::tensors::NoMemory;
use fusion_bytecode::CheckError;

/// Why the code of kernels cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// It is no library of this machine.
    #[error("the library with the program's kernels {0}")]
    Image(String),
    /// It cannot be loaded.
    #[error("cannot load the library with the program's kernels: {0}")]
    Load(String),
    /// It lacks a kernel.
    #[error("the library with the program's kernels has no symbol {symbol:?}, which the program calls")]
    Symbol {
        /// The symbol.
        symbol: String,
    },
}

/// Why there is no machine for a program.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The program does not keep the rules.
    #[error(transparent)]
    Program(#[from] CheckError),
    /// The kernels cannot be had.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// There is not enough memory.
    #[error("the program cannot be loaded: {0}")]
    Memory(#[from] NoMemory),
}

/// Why a run gave no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VmError {
    /// The program takes other inputs.
    #[error("{0}")]
    Inputs(String),
    /// An instruction could not be carried out.
    #[error("{}in @{function}: {why}", place.as_deref().map(|place| format!("{place}: ")).unwrap_or_default())]
    Failed {
        /// Where in the source, where it is known.
        place: Option<String>,
        /// The function.
        function: String,
        /// What is wrong.
        why: String,
    },
}
