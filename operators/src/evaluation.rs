//! What the reference semantics give: tensors, or why there are none.

use crate::{Tensor, TensorError};

/// The result tensors, or why there are none.
pub type Evaluated = Result<Vec<Tensor>, EvalError>;

/// Why a call cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The types do not satisfy the operator's relation.
    #[error(transparent)]
    Type(#[from] crate::Violation),
    /// A tensor could not be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// A value (an index, a divisor) is not allowed.
    #[error("{0}")]
    Value(String),
}
