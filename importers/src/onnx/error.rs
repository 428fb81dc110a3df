//! What can be wrong with a model, as full sentences that name the node and the value.

use std::fmt;

use fusion_operators::reference::EvalError;
use fusion_operators::{TensorError, Violation};

use super::ops::like;
use super::proto::NodeProto;
use super::tensor::TensorProtoError;
use crate::relay_text::TextError;

/// Where in a model something is: a node, its operator, and the operator set it is read by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Place {
    pub name: String,
    pub domain: String,
    pub op_type: String,
    pub version: i64,
}

/// What a node is called: its name, or its first result.
pub(super) fn place_of(node: &NodeProto, version: i64) -> Place {
    let name = if node.name.is_empty() { node.output.first() } else { Some(&node.name) };
    let domain = if node.domain == "ai.onnx" { "" } else { &node.domain };
    Place {
        name: name.cloned().unwrap_or_default(),
        domain: domain.to_owned(),
        op_type: node.op_type.clone(),
        version,
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { name, domain, op_type, version } = self;
        if !domain.is_empty() {
            write!(f, "{domain}.")?;
        }
        f.write_str(op_type)?;
        if *version > 0 {
            write!(f, " (operator set {version})")?;
        }
        write!(f, ", node '{name}'")
    }
}

/// Why a model cannot be imported.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ImportError {
    #[error("the model uses operators that are not supported: {}", list(.0))]
    UnsupportedOperators(Vec<Place>),
    #[error("operator set {version} of the default domain is not supported; sets {least} to {most} are")]
    Opset { version: i64, least: i64, most: i64 },
    #[error("{place} needs domain '{}', but the model imports no operator set of it", place.domain)]
    NoOpset { place: Place },
    #[error("{place} reads '{value}', which nothing defines")]
    Undefined { place: Place, value: String },
    #[error("graph '{graph}' gives '{value}', which nothing defines")]
    UndefinedOutput { graph: String, value: String },
    #[error("'{value}' is defined twice, the second time by {place}; names must be unique in a graph")]
    Duplicate { place: Place, value: String },
    #[error("{place} depends on its own result '{value}'; a graph must have no cycle")]
    Cycle { place: Place, value: String },
    #[error("{place} is nested more than {limit} functions and graphs deep; a function must not call itself")]
    Recursion { place: Place, limit: usize },
    #[error("{place}: the model has more than {limit} nodes once functions and loops are expanded")]
    TooLarge { place: Place, limit: usize },
    #[error("graph input '{input}' {problem}")]
    Input { input: String, problem: String },
    #[error("'{value}' {what}, which is not supported")]
    UnsupportedValue { value: String, what: String },
    #[error("initializer: {0}")]
    Initializer(#[from] TensorProtoError),
    #[error("{place}: {fault}")]
    Node { place: Place, fault: Box<Fault> },
    #[error("the functions of the model's sequences: {0}")]
    Sequences(TextError),
}

impl ImportError {
    /// The graph input whose value would have to be known at import, when that is what is missing.
    pub fn needed_input(&self) -> Option<&str> {
        match self {
            ImportError::Node { fault, .. } => match &**fault {
                Fault::NeedsInput { input, .. } => Some(input),
                Fault::Nested(inner) => inner.needed_input(),
                _ => None,
            },
            _ => None,
        }
    }

    /// True when the model is well formed but asks for something that is not supported.
    pub fn is_unsupported(&self) -> bool {
        match self {
            ImportError::UnsupportedOperators(_)
            | ImportError::Opset { .. }
            | ImportError::UnsupportedValue { .. } => true,
            ImportError::Initializer(TensorProtoError::ElementType { .. }) => true,
            ImportError::Node { fault, .. } => match &**fault {
                Fault::Unsupported(_)
                | Fault::NeedsValue(_)
                | Fault::Outputs { .. }
                | Fault::Tensor(TensorProtoError::ElementType { .. }) => true,
                Fault::Nested(inner) => inner.is_unsupported(),
                _ => false,
            },
            _ => false,
        }
    }
}

fn list(places: &[Place]) -> String {
    let one = |place: &Place| match like(&place.op_type) {
        Some(near) => format!("{place} (the nearest that is: {near})"),
        None => place.to_string(),
    };
    let mut text: Vec<String> = places.iter().map(one).collect();
    text.dedup();
    text.join("; ")
}

/// Why a node cannot be converted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Fault {
    #[error("{0} is not supported")]
    Unsupported(String),
    #[error("{0}")]
    Value(String),
    #[error("input {index} is missing")]
    MissingInput { index: usize },
    #[error("attribute {name} is missing")]
    MissingAttribute { name: String },
    #[error("attribute {name} must be {expected}")]
    Attribute { name: String, expected: &'static str },
    #[error("only the first {given} of its {wanted} results are supported")]
    Outputs { given: usize, wanted: usize },
    #[error("{0}")]
    NeedsValue(String),
    #[error("{text}")]
    NeedsInput { input: String, text: String },
    #[error("the shape of '{input}' must be known, found {ty}; give the shapes of the graph inputs")]
    NeedsShape { input: String, ty: String },
    #[error("a {found} is given where a tensor is expected")]
    NotATensor { found: &'static str },
    #[error("relay.{operator} {violation}")]
    Relation { operator: &'static str, violation: Violation },
    #[error("relay.{operator} cannot be evaluated: {error}")]
    Evaluation { operator: &'static str, error: EvalError },
    #[error(transparent)]
    Tensor(#[from] TensorProtoError),
    #[error(transparent)]
    Made(#[from] TensorError),
    #[error(transparent)]
    Nested(#[from] Box<ImportError>),
}

impl Fault {
    /// True when it could do with values that are known at import.
    pub fn needs_more(&self) -> bool {
        matches!(self, Fault::NeedsValue(_) | Fault::NeedsInput { .. })
    }

    /// A value that is not allowed, as a sentence.
    pub fn value(text: impl Into<String>) -> Self {
        Fault::Value(text.into())
    }

    /// Something ONNX allows and this importer does not; the text is the subject of the sentence.
    pub fn unsupported(text: impl Into<String>) -> Self {
        Fault::Unsupported(text.into())
    }
}
