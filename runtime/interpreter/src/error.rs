//! Why a program has no result.

use fusion_dialects::{Op, OpExt, OperationLike, name_of_location};

/// Why a run was given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterpretError {
    /// There is no such function.
    #[error("the module has no function or kernel @{0} with a body")]
    NoFunction(String),
    /// The number or a type of the inputs is another.
    #[error("{function} takes {expected}, found {found}")]
    Inputs {
        /// The function.
        function: String,
        /// Its parameters.
        expected: String,
        /// What was given.
        found: String,
    },
    /// An input is no value of the program.
    #[error("input {input} of the program is no value: it {why}")]
    Value {
        /// Which input, from 0.
        input: usize,
        /// Why it is none.
        why: String,
    },
    /// A function gives something that is no tensor.
    #[error("a result of @{0} is no tensor but a tuple, a value of a data type, a function or a reference")]
    NoTensor(String),
    /// Some elements of a kernel are computed of too many others.
    #[error("some elements of the kernel take more than {0} points of its bodies")]
    TooLong(u64),
    /// Elements of a kernel cannot be told by themselves.
    #[error("its elements cannot be computed by themselves: {0}")]
    NoSample(String),
    /// An operation cannot be computed.
    #[error("{location}: '{op}' op {message}")]
    Operation {
        /// Where.
        location: String,
        /// The operation's name.
        op: String,
        /// Why not.
        message: String,
    },
}

impl InterpretError {
    /// An operation cannot be computed.
    pub(crate) fn at(op: Op, message: impl std::fmt::Display) -> Self {
        InterpretError::Operation { location: place(op), op: op.full_name(), message: message.to_string() }
    }
}

/// Where an operation comes from, as file, line and column where they are known.
fn place(op: Op) -> String {
    let name = name_of_location(op.location());
    if name.is_empty() { "an unknown place".to_owned() } else { name }
}
