//! What a call of an operator looks like: its operands, attributes and results, by name.
//!
//! ```text
//!   form(&[operand("data"), operand("weight")]).attributes(&[ints("strides"), int("groups")])
//!   =>   relay.conv2d %data, %weight {strides = array<i64: 2, 2>} : (tensor<..>, tensor<..>) -> tensor<..>
//! ```
//!
//! The operations of the relay dialect are generated from it (`dialects/build.rs`). An attribute may be absent unless it is required; what an absent one
//! stands for, the operator's documentation says.

/// How many values stand at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One.
    One,
    /// One or none.
    Optional,
    /// One or more.
    Any,
}

/// An operand or a result.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its name.
    pub name: &'static str,
    /// How many values it is.
    pub count: Count,
}

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// An integer of 64 bits.
    Int,
    /// Integers of 64 bits.
    Ints,
    /// A float of 64 bits.
    Float,
    /// Floats of 64 bits.
    Floats,
    /// True or false; false when absent.
    Flag,
    /// A text.
    Text,
    /// An element type.
    DType,
    /// An extent: an integer of 64 bits where it is known, else a name or an expression.
    Dim,
    /// Extents: integers of 64 bits where all are known, else names and expressions.
    Dims,
}

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: AttributeType,
    /// Whether a call without it is none.
    pub required: bool,
}

impl Attribute {
    /// The same, which may not be absent.
    pub const fn required(self) -> Attribute {
        Attribute { required: true, ..self }
    }
}

/// What a call looks like.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The operands, in order.
    pub operands: &'static [Operand],
    /// The attributes, in the order of the documentation.
    pub attributes: &'static [Attribute],
    /// The results, in order.
    pub results: &'static [Operand],
    /// What its documentation says of all operators of this form: attributes, and constraints as `- C1: ...`.
    pub about: &'static str,
    /// Whether the operands may change places.
    pub commutes: bool,
}

impl Form {
    /// One operand.
    pub const UNARY: Form = form(&[operand("operand")]);
    /// Two operands.
    pub const BINARY: Form = form(&[operand("lhs"), operand("rhs")]);

    /// The same with attributes.
    pub const fn attributes(self, attributes: &'static [Attribute]) -> Form {
        Form { attributes, ..self }
    }

    /// The same with other results than one.
    pub const fn results(self, results: &'static [Operand]) -> Form {
        Form { results, ..self }
    }

    /// The same with a text that all operators of the form share.
    pub const fn about(self, about: &'static str) -> Form {
        Form { about, ..self }
    }

    /// Fewest and most operands; `usize::MAX` for any number.
    pub fn arity(&self) -> (usize, usize) {
        let least = self.operands.iter().filter(|operand| operand.count != Count::Optional).count();
        let any = self.operands.iter().any(|operand| operand.count == Count::Any);
        (least, if any { usize::MAX } else { self.operands.len() })
    }
}

const RESULT: &[Operand] = &[operand("result")];

/// A form with these operands and one result.
pub const fn form(operands: &'static [Operand]) -> Form {
    Form { operands, attributes: &[], results: RESULT, about: "", commutes: false }
}

/// An operand or a result.
pub const fn operand(name: &'static str) -> Operand {
    Operand { name, count: Count::One }
}

/// One that may be left out, if those behind it are.
pub const fn optional(name: &'static str) -> Operand {
    Operand { name, count: Count::Optional }
}

/// One or more.
pub const fn any(name: &'static str) -> Operand {
    Operand { name, count: Count::Any }
}

const fn attribute(name: &'static str, ty: AttributeType) -> Attribute {
    Attribute { name, ty, required: false }
}

/// An attribute that is an extent.
pub const fn dim(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Dim)
}

/// An attribute that is a list of extents.
pub const fn dims(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Dims)
}

/// An attribute that is an integer.
pub const fn int(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Int)
}

/// An attribute that is a list of integers.
pub const fn ints(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Ints)
}

/// An attribute that is a float.
pub const fn float(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Float)
}

/// An attribute that is a list of floats.
pub const fn floats(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Floats)
}

/// An attribute that is true or false.
pub const fn flag(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Flag)
}

/// An attribute that is a text.
pub const fn text(name: &'static str) -> Attribute {
    attribute(name, AttributeType::Text)
}

/// An attribute that is an element type.
pub const fn dtype(name: &'static str) -> Attribute {
    attribute(name, AttributeType::DType)
}
