//! What the importer needs of whoever builds the program.

use fusion_operators::reference::EvalError;
use fusion_operators::{Attrs, Operator, Tensor, TensorType, Violation};

use super::error::ImportError;

/// A value of the program being built, as its builder numbers it.
pub type Id = usize;

/// Why an operation cannot be built.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum EmitError {
    #[error(transparent)]
    Violation(#[from] Violation),
    #[error(transparent)]
    Evaluation(#[from] EvalError),
}

/// A region of a structured operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Region {
    Then,
    Else,
    Condition,
    Body,
}

/// Fills a region: takes its arguments, gives its results.
pub type Fill<'f> = &'f mut dyn FnMut(Region, &[Id]) -> Result<Vec<Id>, ImportError>;

/// Builds a relay program. Methods take `&self` so that a region can be filled by the importer that
/// holds the builder; what is emitted meanwhile goes into that region.
pub trait Emit {
    /// The name in the model of what is built from now on.
    fn location(&self, name: &str);
    /// An operation; its result types follow from its type relation.
    fn op(&self, op: &'static Operator, operands: &[Id], attrs: &Attrs) -> Result<Vec<Id>, EmitError>;
    /// A constant.
    fn constant(&self, tensor: &Tensor) -> Id;
    /// The type of a value.
    fn tensor_type(&self, value: Id) -> Option<TensorType>;
    /// `relay.if`: fills `Then` and `Else`, which give values of the same types.
    fn if_(&self, condition: Id, fill: Fill) -> Result<Vec<Id>, ImportError>;
    /// `relay.while`: fills `Condition`, which gives a scalar boolean, and `Body`, which gives the next state.
    fn while_(&self, state: &[Id], fill: Fill) -> Result<Vec<Id>, ImportError>;
}
