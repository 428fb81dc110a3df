//! How the values of an import were made, and what they are where that is known.

use std::collections::BTreeSet;
use std::rc::Rc;

use fusion_operators::{Attrs, Operator, Tensor, TensorType};

use super::node::Value;

/// How a value was made.
pub(super) enum Def {
    /// A graph input, by its place in the signature.
    Input(usize),
    Constant(Rc<Tensor>),
    Call {
        op: &'static Operator,
        operands: Rc<[Value]>,
        attrs: Rc<Attrs>,
        result: usize,
    },
    /// A result or argument of a region.
    Opaque,
    /// A sequence whose construction is known.
    Sequence(Vec<Value>),
    /// A sequence whose length is known at run time only, of elements of that type.
    List(TensorType),
    /// What two tensors of the program make.
    Parts(Parts, [Value; 2]),
    /// An optional value that is not there.
    Absent,
}

/// What a value of two parts is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// A tensor of complex numbers: real and imaginary parts.
    Complex,
    /// A map: keys and values.
    Map,
}

/// A value, and the bound inputs it was computed from.
#[derive(Clone)]
pub(super) struct Known {
    pub tensor: Rc<Tensor>,
    pub inputs: BTreeSet<usize>,
}
