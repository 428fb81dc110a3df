//! Every relay operator as a row of facts.
//!
//! A row ([`Operator`]) says all that a pass may ask about an operator: its type relation, its
//! fusion kind, its cost, and its reference semantics on host tensors. Rows stand in `ops/`, one
//! file a family; adding an operator is adding a row there (see `docs/how-to/add-an-operator.md`).
//!
//! This crate knows nothing of MLIR. The dialect (`fusion-dialects`) gives each row its operation;
//! the kernels' definitions in tensor expressions are in `fusion-conversion`.

pub mod aligned;
pub mod attrs;
pub mod dims;
pub mod dtype;
pub mod evaluation;
pub mod form;
pub mod format;
pub mod layout;
pub mod narrow;
pub mod operator;
pub mod ops;
pub mod parameters;
pub mod precision;
pub mod quantization;
pub mod random;
pub mod reference;
pub mod relation;
pub mod rounding;
mod serial;
pub mod shape;
pub mod strings;
pub mod tensor;
pub mod value;
pub mod value_text;
pub mod view;
pub mod violation;

pub use attrs::{Attr, Attrs};
pub use dims::Dim;
pub use dtype::DType;
pub use format::Format;
pub use layout::Layout;
pub use operator::{Call, FusionKind, Operator, Relation};
pub use precision::Precision;
pub use shape::TensorType;
pub use strings::Dictionary;
pub use tensor::{Tensor, TensorError};
pub use value::{Item, ValueTree};
pub use value_text::ValueTextError;
pub use view::{AsTensor, TensorView};
pub use violation::Violation;
