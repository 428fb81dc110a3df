//! The language of the e-graph.
//!
//!     (add {} (transpose {axes=[1, 0]} x0) 1.5:f32)
//!
//! A node is a call of an operator, whose first child is its attributes and whose others are its operands; or an element of what a
//! call of several results gives; or a leaf: attributes, a constant, a value from outside. Attributes are nodes of their own, so that a
//! pattern can bind them to a variable like any operand.

use super::numbers::dyadic::Dyadic;
use egg::{FromOp, Id, Language};
use fusion_operators::{Attr, Attrs, DType, Dim, Format, Operator, Tensor, TensorType, ops};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A node: what it is, and its children.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// What it is.
    pub head: Head,
    /// Its children: of a call the attributes, then the operands.
    pub children: Vec<Id>,
}

/// What a node is, without its children.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Head {
    /// A call of an operator.
    Call(Operation),
    /// Attributes of calls.
    Attrs(Attributes),
    /// A constant tensor.
    Constant(Constant),
    /// A value that the graph takes from outside, by its number.
    Leaf(u32),
    /// One result of a call of several.
    Get(u32),
}

impl Node {
    /// A leaf.
    pub fn leaf(head: Head) -> Self {
        Node { head, children: Vec::new() }
    }

    /// Attributes as a node.
    pub fn attrs(attrs: Attrs) -> Self {
        Node::leaf(Head::Attrs(Attributes::new(attrs)))
    }

    /// A tensor whose elements are all one number.
    pub fn number(value: f64, ty: &TensorType) -> Option<Self> {
        let one = Tensor::from_f64s(ty.dtype, &[], &[value]).ok()?;
        Some(Node::leaf(Head::Constant(Constant::Splat { ty: ty.clone(), element: one.bytes().to_vec() })))
    }

    /// A call.
    pub fn call(operator: &'static Operator, attrs: Id, operands: impl IntoIterator<Item = Id>) -> Self {
        let children = std::iter::once(attrs).chain(operands).collect();
        Node { head: Head::Call(Operation(operator)), children }
    }

    /// The attributes that a node is.
    pub fn attributes(&self) -> Option<&Attrs> {
        match &self.head {
            Head::Attrs(attributes) => Some(&attributes.attrs),
            _ => None,
        }
    }

    /// The operator of a call.
    pub fn operator(&self) -> Option<&'static Operator> {
        match &self.head {
            Head::Call(operation) => Some(operation.0),
            _ => None,
        }
    }

    /// True for a call of an operator.
    pub fn calls(&self, operator: &Operator) -> bool {
        self.operator().is_some_and(|called| called.is(operator))
    }
}

impl Language for Node {
    type Discriminant = Head;

    fn discriminant(&self) -> Head {
        self.head.clone()
    }

    fn matches(&self, other: &Self) -> bool {
        self.head == other.head && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

/// An operator, compared by its row and ordered by its name.
#[derive(Clone, Copy, Debug)]
pub struct Operation(pub &'static Operator);

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(other.0)
    }
}
impl Eq for Operation {}
impl Hash for Operation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}
impl PartialOrd for Operation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Operation {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name.cmp(other.0.name)
    }
}

/// Attributes in a form that can be compared: sorted by name, without flags that are false.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// The attributes.
    pub attrs: Arc<Attrs>,
    text: Arc<str>,
}

impl Attributes {
    /// The form of attributes.
    pub fn new(attrs: Attrs) -> Self {
        let mut all: Vec<_> = attrs.iter().filter(|(_, a)| **a != Attr::Bool(false)).collect();
        all.sort_by_key(|(name, _)| *name);
        let mut sorted = Attrs::new();
        all.iter().for_each(|(name, attr)| sorted.set(name, (*attr).clone()));
        let text: Vec<String> = sorted.iter().map(|(name, attr)| format!("{name}={}", show(attr))).collect();
        Attributes { attrs: Arc::new(sorted), text: format!("{{{}}}", text.join(",")).into() }
    }
}

/// Without blanks: a term of egg's ends at one.
fn show(attr: &Attr) -> String {
    let text = match attr {
        Attr::Int(v) => v.to_string(),
        Attr::Float(v) => format!("{v:?}"),
        Attr::Bool(v) => v.to_string(),
        Attr::Str(v) => format!("{v:?}"),
        Attr::Ints(v) => format!("{v:?}"),
        Attr::Floats(v) => format!("{v:?}"),
        Attr::Type(v) => v.to_string(),
        Attr::Dim(v) => format!("dim{{{v}}}"),
        Attr::Dims(v) => {
            let texts: Vec<String> = v.iter().map(ToString::to_string).collect();
            format!("dims{{{}}}", texts.join(";"))
        }
    };
    text.replace(" floordiv ", "//").replace(' ', "")
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
impl Eq for Attributes {}
impl Hash for Attributes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}
impl PartialOrd for Attributes {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Attributes {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

/// A constant tensor. Equal contents are equal constants; of large ones whoever numbers them sees to that.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// All elements are one number, whose bytes these are.
    #[allow(missing_docs)]
    Splat { ty: TensorType, element: Vec<u8> },
    /// All elements are one number that rules made, which is rounded to the element type when it is extracted.
    #[allow(missing_docs)]
    Exact { ty: TensorType, number: Dyadic },
    /// A few numbers.
    #[allow(missing_docs)]
    Small { ty: TensorType, bytes: Vec<u8> },
    /// The numbers are elsewhere.
    #[allow(missing_docs)]
    Large { ty: TensorType, number: u32 },
}

/// Bytes up to which a constant's numbers are kept in its node.
pub const SMALL_BYTES: usize = 1024;

impl Constant {
    /// A constant of a tensor that is small or one number; `None` for others.
    pub fn of(tensor: &Tensor) -> Option<Self> {
        let ty = tensor.tensor_type();
        let size = tensor.dtype().size();
        let first = tensor.bytes().get(..size);
        match first {
            Some(first) if tensor.bytes().chunks_exact(size).all(|e| e == first) => {
                Some(Constant::Splat { ty, element: first.to_vec() })
            }
            _ if tensor.bytes().len() <= SMALL_BYTES => {
                Some(Constant::Small { ty, bytes: tensor.bytes().to_vec() })
            }
            _ => None,
        }
    }

    /// One number of floats, however often; `None` where it is no normal number of the element type.
    pub fn number(ty: &TensorType, number: &Dyadic) -> Option<Self> {
        let rounded = number.rounded(Format::of(ty.dtype)?)?;
        if Dyadic::of(rounded).as_ref() != Some(number) {
            return Some(Constant::Exact { ty: ty.clone(), number: number.clone() });
        }
        let one = Tensor::from_f64s(ty.dtype, &[], &[rounded]).ok()?;
        Some(Constant::Splat { ty: ty.clone(), element: one.bytes().to_vec() })
    }

    /// Its type.
    pub fn ty(&self) -> &TensorType {
        match self {
            Constant::Splat { ty, .. }
            | Constant::Exact { ty, .. }
            | Constant::Small { ty, .. }
            | Constant::Large { ty, .. } => ty,
        }
    }

    /// The number that all elements are.
    pub fn splat(&self) -> Option<f64> {
        match self {
            Constant::Exact { number, .. } => Some(number.nearest()),
            _ => Some(self.scalar()?.f64_at(0)),
        }
    }

    /// The same number in another type of the same element type.
    pub fn repeated(&self, ty: &TensorType) -> Option<Constant> {
        let ty = ty.clone();
        match self {
            _ if ty.dtype != self.ty().dtype => None,
            Constant::Splat { element, .. } => Some(Constant::Splat { ty, element: element.clone() }),
            Constant::Exact { number, .. } => Some(Constant::Exact { ty, number: number.clone() }),
            _ => None,
        }
    }

    /// True when all elements of both are one number, the same.
    pub fn is_same_number(&self, other: &Constant) -> bool {
        match (self, other) {
            (Constant::Splat { element: a, .. }, Constant::Splat { element: b, .. }) => a == b,
            (Constant::Exact { number: a, .. }, Constant::Exact { number: b, .. }) => a == b,
            _ => false,
        }
    }

    /// The same without rounding, where it is a finite number of floats.
    pub fn exact(&self) -> Option<Dyadic> {
        match self {
            Constant::Exact { number, .. } => Some(number.clone()),
            Constant::Splat { ty, .. } if ty.dtype.is_float() => Dyadic::of(self.splat()?),
            _ => None,
        }
    }

    /// The number that all elements are as a tensor of rank 0.
    pub fn scalar(&self) -> Option<Tensor> {
        match self {
            Constant::Splat { ty, element } => Tensor::from_bytes(ty.dtype, &[], element).ok(),
            Constant::Exact { ty, number } => {
                Tensor::from_f64s(ty.dtype, &[], &[number.rounded(Format::of(ty.dtype)?)?]).ok()
            }
            _ => None,
        }
    }

    /// True when both are equal up to what rounding of one function of them makes.
    pub fn is_about(&self, other: &Constant) -> bool {
        let tolerance = Format::of(self.ty().dtype).map_or(0.0, Format::unit_roundoff);
        let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= tolerance * a.abs();
        let numbers = |constant: &Constant| match constant.splat() {
            Some(number) => Some(vec![number]),
            None => Some(constant.tensor()?.to_f64s()),
        };
        self.ty() == other.ty()
            && match (numbers(self), numbers(other)) {
                (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(&b).all(near),
                _ => self == other,
            }
    }

    /// The tensor; `None` when the numbers are elsewhere.
    pub fn tensor(&self) -> Option<Tensor> {
        let shape: Vec<usize> = self.ty().shape()?.iter().map(|&n| n as usize).collect();
        match self {
            Constant::Splat { ty, .. } | Constant::Exact { ty, .. } => {
                let count: usize = shape.iter().product();
                Tensor::from_bytes(ty.dtype, &shape, self.scalar()?.bytes().repeat(count)).ok()
            }
            Constant::Small { ty, bytes } => Tensor::from_bytes(ty.dtype, &shape, bytes).ok(),
            Constant::Large { .. } => None,
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.head {
            Head::Call(operation) => f.write_str(operation.0.name),
            Head::Attrs(attributes) => f.write_str(&attributes.text),
            Head::Constant(constant) => match (constant.splat(), constant) {
                (Some(value), _) => write!(f, "{value:?}:{}", constant.ty()),
                (None, Constant::Large { ty, number }) => write!(f, "constant{number}:{ty}"),
                (None, _) => write!(f, "constant:{}", constant.ty()),
            },
            Head::Leaf(number) => write!(f, "x{number}"),
            Head::Get(index) => write!(f, "get{index}"),
        }
    }
}

/// Why a term of a rule is no node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// No such operator.
    #[error("there is no operator relay.{name}{}", .nearest.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default())]
    Unknown {
        /// What was written.
        name: String,
        /// What is like it.
        nearest: Option<&'static str>,
    },
    /// Attributes that cannot be read.
    #[error("{0} are no attributes; write {{name=1,other=[1,2]}} without blanks")]
    Attributes(String),
    /// A call takes another number of operands.
    #[error("relay.{operator} takes attributes and {least} to {most} operands, found {found} children")]
    Arity {
        /// The operator.
        operator: &'static str,
        /// Fewest operands.
        least: usize,
        /// Most operands.
        most: usize,
        /// Children written.
        found: usize,
    },
}

/// Rules and tests write terms in this form: `(transpose {axes=[1,0]} ?x)`.
impl FromOp for Node {
    type Error = TermError;

    fn from_op(op: &str, children: Vec<Id>) -> Result<Self, TermError> {
        if op.starts_with('{') && children.is_empty() {
            let attrs = read_attrs(op).ok_or_else(|| TermError::Attributes(op.to_owned()))?;
            return Ok(Node::attrs(attrs));
        }
        let Some(operator) = ops::named(op) else {
            let shared = |name: &str| name.bytes().zip(op.bytes()).take_while(|(a, b)| a == b).count();
            let nearest =
                ops::all().map(|o| o.name).max_by_key(|name| shared(name)).filter(|n| shared(n) > 2);
            return Err(TermError::Unknown { name: op.to_owned(), nearest });
        };
        let (least, most) = operator.arity();
        match children.len().checked_sub(1) {
            Some(count) if (least..=most).contains(&count) => {
                Ok(Node { head: Head::Call(Operation(operator)), children })
            }
            _ => Err(TermError::Arity { operator: operator.name, least, most, found: children.len() }),
        }
    }
}

/// Attributes as they are shown.
fn read_attrs(text: &str) -> Option<Attrs> {
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut attrs = Attrs::new();
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=')?;
        let end = match value.strip_prefix('[') {
            Some(_) => value.find(']')? + 1,
            None if value.starts_with("dim") => value.find('}')? + 1,
            None => value.find(',').unwrap_or(value.len()),
        };
        attrs.set(name, read_attr(&value[..end])?);
        rest = value[end..].strip_prefix(',').unwrap_or(&value[end..]);
    }
    Some(attrs)
}

fn read_attr(text: &str) -> Option<Attr> {
    if let Some(list) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let parts = || list.split(',').filter(|p| !p.is_empty());
        let ints: Option<Vec<i64>> = parts().map(|p| p.parse().ok()).collect();
        return match ints {
            Some(ints) => Some(Attr::Ints(ints)),
            None => Some(Attr::Floats(parts().map(|p| p.parse().ok()).collect::<Option<_>>()?)),
        };
    }
    if let Some(list) = text.strip_prefix("dims{").and_then(|t| t.strip_suffix('}')) {
        return Some(Attr::Dims(list.split(';').map(Dim::of_text).collect()));
    }
    if let Some(extent) = text.strip_prefix("dim{").and_then(|t| t.strip_suffix('}')) {
        return Some(Attr::Dim(Dim::of_text(extent)));
    }
    let dtype = || DType::ALL.into_iter().find(|d| d.to_string() == text).map(Attr::Type);
    let quoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let int = text.parse().ok().map(Attr::Int);
    let float = || text.parse().ok().map(Attr::Float);
    let flag = || text.parse().ok().map(Attr::Bool);
    quoted.map(|t| Attr::Str(t.to_owned())).or(int).or_else(float).or_else(flag).or_else(dtype)
}
