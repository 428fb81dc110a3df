//! What the importer needs of whoever builds the program.

use fusion_operators::reference::EvalError;
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType, Violation};

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

/// What a value of the program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// A tensor.
    Tensor(TensorType),
    /// A list of tensors of that type: a sequence whose length is known at run time only.
    List(TensorType),
}

/// What is done with lists. Positions are scalars of i64, which count from the first element or, below 0, from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListOp {
    /// `() -> list` without elements.
    Empty,
    /// `(list, x) -> list` with x behind the last element.
    Push,
    /// `(list, position, x) -> list` with x before the element there.
    Insert,
    /// `(list, position) -> list` without the element there.
    Erase,
    /// `(list, position) -> tensor`.
    At,
    /// `(list) -> i64`.
    Length,
    /// `(list) -> tensor` of the elements, of which there must be one, one after the other along an axis.
    Concat(usize),
    /// `(list) -> tensor` of the elements along a new axis.
    Stack(usize),
    /// `(list) -> list` with the first element at its head: how programs give lists.
    Forward,
}

impl ListOp {
    /// What it gives, for a list of elements of that type.
    pub fn result(self, element: &TensorType) -> Held {
        let joined = |axis: usize, new: bool| {
            let mut dims = element.dims.clone();
            let from = axis.min(dims.len());
            dims.splice(from..dims.len().min(from + usize::from(!new)), [Dim::Any]);
            Held::Tensor(TensorType::new(dims, element.dtype))
        };
        match self {
            ListOp::Empty | ListOp::Push | ListOp::Insert | ListOp::Erase | ListOp::Forward => {
                Held::List(element.clone())
            }
            ListOp::At => Held::Tensor(element.clone()),
            ListOp::Length => Held::Tensor(TensorType::new(Vec::new(), DType::I64)),
            ListOp::Concat(axis) => joined(axis, false),
            ListOp::Stack(axis) => joined(axis, true),
        }
    }
}

/// Builds a relay program. Methods take `&self` so that a region can be filled by the importer that
/// holds the builder; what is emitted meanwhile goes into that region.
pub trait Emit {
    /// The name in the model of what is built from now on.
    fn location(&self, name: &str);
    /// The node of the model's own graph, by its place there, that is built from now on.
    fn node(&self, _place: usize) {}
    /// What a name of the model's own graph stands for.
    fn named(&self, _name: &str, _value: Id) {}
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
    /// Does something with a list of elements of a type.
    fn list(&self, op: ListOp, element: &TensorType, operands: &[Id]) -> Result<Id, EmitError>;
    /// The same value, of which less is known: extents that were known are `?`.
    fn held_as(&self, value: Id, held: &Held) -> Id;
}
