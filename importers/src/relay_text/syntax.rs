//! What a file says, as a tree.
//!
//! A tree is as deep as its brackets are nested; chains (bindings, infix operators, calls of calls) are lists, so
//! that walking one never needs more stack for a longer program.

pub use crate::sources::Span;
use fusion_operators::{Dim, Tensor};
use std::rc::Rc;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// The definitions of one file.
#[derive(Debug, Default)]
pub struct File {
    pub imports: Vec<Name>,
    pub data_types: Vec<DataType>,
    pub functions: Vec<Definition>,
}

impl File {
    /// The names of functions, types and constructors.
    pub fn defined(&self) -> impl Iterator<Item = &str> {
        let data = self.data_types.iter().flat_map(|data| {
            std::iter::once(&data.name).chain(data.constructors.iter().map(|(name, _)| name))
        });
        data.chain(self.functions.iter().map(|f| &f.name)).map(|name| name.text.as_str())
    }
}

#[derive(Debug)]
pub struct DataType {
    pub name: Name,
    pub parameters: Vec<Name>,
    pub constructors: Vec<(Name, Vec<Type>)>,
}

#[derive(Debug)]
pub struct Definition {
    pub name: Name,
    pub function: Rc<Function>,
}

#[derive(Debug)]
pub struct Function {
    pub type_parameters: Vec<Name>,
    pub parameters: Vec<(Name, Option<Type>)>,
    pub result: Option<Type>,
    pub body: Block,
    pub span: Span,
}

#[derive(Debug)]
pub enum Type {
    Tensor(Vec<Dim>, Name),
    Tuple(Vec<Type>),
    /// From these, in turn, to the last: `fn (A) -> fn (B) -> C` has two heads.
    Function(Vec<Head>, Box<Type>),
    Ref(Box<Type>),
    Named(Name, Vec<Type>),
    Unknown,
}

/// What a function type is from: `fn [A](A, B)`.
#[derive(Debug, Default)]
pub struct Head {
    pub parameters: Vec<Name>,
    pub inputs: Vec<Type>,
}

/// Bindings, and what they are for.
#[derive(Debug)]
pub struct Block {
    /// Its number in the function, which whoever looks at several blocks gives.
    pub id: u32,
    pub bindings: Vec<Binding>,
    pub result: Box<Expr>,
}

#[derive(Debug)]
pub enum Binding {
    Let(Name, Option<Type>, Expr),
    Graph(Name, Expr),
    /// `free_var %x: T`.
    Free(Name, Option<Type>),
    Effect(Expr),
    /// Where a graph variable was, which is evaluated elsewhere.
    Moved,
}

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum ExprKind {
    Local(String),
    Graph(String),
    Global(String),
    /// An operator or a constructor.
    Word(String),
    Literal(Rc<Tensor>),
    Meta(String, usize),
    Tuple(Vec<Block>),
    Block(Block),
    /// `a + b * c`, not yet grouped.
    Infix(Vec<Expr>, Vec<(Infix, Span)>),
    /// `f(x)(y).0`.
    Applied(Box<Expr>, Vec<Suffix>),
    Function(Rc<Function>),
    If(Box<[Block; 3]>),
    Match(Box<Expr>, Vec<Clause>, bool),
    NewCell(Box<Block>),
    ReadCell(Box<Block>),
    WriteCell(Box<[Block; 2]>),
}

#[derive(Debug)]
pub enum Suffix {
    Call(Vec<Block>, Vec<Attribute>),
    Project(u64, Span),
}

#[derive(Debug)]
pub struct Clause {
    pub pattern: Pattern,
    pub body: Block,
}

#[derive(Debug)]
pub struct Pattern {
    pub kind: PatternKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum PatternKind {
    Wildcard,
    Bind(String, Option<Type>),
    Constructor(String, Vec<Pattern>),
    Tuple(Vec<Pattern>),
}

#[derive(Debug)]
pub struct Attribute {
    pub name: Name,
    pub value: AttributeValue,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    List(Vec<AttributeValue>),
    Word(String),
    /// An entry of the metadata section, or what only TVM's passes can read.
    Other,
    None,
}

/// Operators between operands, in the order of what they mean; the number is how tightly they bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infix {
    pub operator: &'static str,
    pub tightness: u8,
}

/// The infix operators: what is written, the operator it stands for, how tightly it binds.
pub const INFIX: &[(&str, Infix)] = &[
    ("==", Infix { operator: "equal", tightness: 0 }),
    ("!=", Infix { operator: "not_equal", tightness: 0 }),
    ("<=", Infix { operator: "less_equal", tightness: 1 }),
    (">=", Infix { operator: "greater_equal", tightness: 1 }),
    ("<", Infix { operator: "less", tightness: 1 }),
    (">", Infix { operator: "greater", tightness: 1 }),
    ("+", Infix { operator: "add", tightness: 2 }),
    ("-", Infix { operator: "subtract", tightness: 2 }),
    ("*", Infix { operator: "multiply", tightness: 3 }),
    ("/", Infix { operator: "divide", tightness: 3 }),
];
