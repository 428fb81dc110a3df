//! What is solved for: terms, extents and relations, and why types were compared.
//!
//! A term is a variable, or a constructor over terms (and, for tensors, over extents).

use fusion_dialects::{Op, Type};
use fusion_operators::{Attrs, DType, Dim, Operator};
use std::rc::Rc;

/// A type in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term(pub(super) u32);

/// What is behind a term.
#[derive(Debug)]
pub enum Node<'c> {
    /// Nothing is known yet.
    Variable {
        /// How deep in functions it was made: those made in a function are that function's to generalise.
        level: u32,
        /// A relation that is not solved yet has it as operand or result: it may not be generalised.
        pinned: bool,
        /// Relations to try once it is known.
        watchers: Vec<usize>,
    },
    /// The same as another term.
    Link(Term),
    /// A constructor.
    Known(Form<'c>),
}

/// A constructor over terms.
#[derive(Clone, Debug)]
pub enum Form<'c> {
    /// A tensor of a known rank.
    Tensor(DType, Rc<[Extent]>),
    /// A tuple.
    Tuple(Rc<[Term]>),
    /// A function.
    Function(Rc<[Term]>, Rc<[Term]>),
    /// A data type applied to types.
    Adt(&'c str, Rc<[Term]>),
    /// A cell.
    Ref(Term),
    /// A type variable of a declared or generalised type: equal to itself alone.
    Rigid(Rc<str>),
    /// A type that relay knows nothing of.
    Other(Type<'c>),
}

impl Form<'_> {
    /// The terms it is over.
    pub fn parts(&self) -> Vec<Term> {
        match self {
            Form::Tuple(parts) | Form::Adt(_, parts) => parts.to_vec(),
            Form::Function(inputs, results) => inputs.iter().chain(results.iter()).copied().collect(),
            Form::Ref(value) => vec![*value],
            Form::Tensor(..) | Form::Rigid(_) | Form::Other(_) => Vec::new(),
        }
    }

    /// The same constructor over other terms, as many as [`Form::parts`] gives.
    pub fn over(&self, parts: &[Term]) -> Self {
        match self {
            Form::Tuple(_) => Form::Tuple(parts.into()),
            Form::Adt(name, _) => Form::Adt(name, parts.into()),
            Form::Function(inputs, _) => {
                let (inputs, results) = parts.split_at(inputs.len().min(parts.len()));
                Form::Function(inputs.into(), results.into())
            }
            Form::Ref(value) => Form::Ref(parts.first().copied().unwrap_or(*value)),
            Form::Tensor(..) | Form::Rigid(_) | Form::Other(_) => self.clone(),
        }
    }
}

/// An extent in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent(pub(super) u32);

/// What is known of an extent.
#[derive(Debug)]
pub struct ExtentNode {
    /// Written in the program: never changes.
    pub fixed: bool,
    /// One number, whatever flows in: a named extent of a called function.
    pub one: bool,
    pub value: Option<Dim>,
    /// Where it flows to, and why.
    pub out: Vec<(Extent, usize)>,
    /// Relations to try again when it changes.
    pub watchers: Vec<usize>,
}

/// What relates operands and results.
pub enum Rule {
    /// An operator's type relation.
    Operator(&'static Operator, Attrs),
    /// The result is that element of the operand, a tuple.
    Element(usize),
}

/// Operands and results that are to be related.
pub struct RelationCall<'c> {
    pub op: Op<'c>,
    pub rule: Rule,
    pub operands: Vec<Term>,
    pub results: Vec<Term>,
    pub origin: usize,
    /// The extents of operands were given the relation to watch.
    pub watched: bool,
}

/// What a type was compared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An argument of a call.
    Argument(usize),
    /// A result.
    Result(usize),
    /// What a region yields.
    Yield(usize, usize),
    /// A condition.
    Condition,
    /// A value that a loop carries.
    State(usize),
    /// A field of a constructor.
    Field(usize),
    /// The value a pattern is for.
    Clause(usize),
    /// What a pattern binds.
    Bound(usize, usize),
    /// What a cell holds.
    Cell,
    /// The called function.
    Callee,
    /// An annotated value.
    Annotated,
    /// What a function returns.
    Returned(usize),
    /// A parameter of a function.
    Parameter(usize),
    /// What a relation gives.
    Relation,
}

/// Why two types were compared.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'c> {
    /// Where.
    pub op: Op<'c>,
    /// What for.
    pub role: Role,
    /// What there is.
    pub found: Term,
    /// What there must be.
    pub expected: Term,
}

impl Origin<'_> {
    /// True where extents that are not known to be equal may meet, as in verifiers.
    pub fn lenient(&self) -> bool {
        self.role == Role::Relation
    }

    /// What was compared, in words.
    pub fn what(&self) -> String {
        match self.role {
            Role::Argument(i) => format!("argument {i}"),
            Role::Result(i) => format!("result {i}"),
            Role::Yield(region, i) => format!("value {i} that region {region} yields"),
            Role::Condition => "the condition".into(),
            Role::State(i) => format!("state {i} of the loop"),
            Role::Field(i) => format!("field {i}"),
            Role::Clause(i) => format!("the value that the pattern of clause {i} takes apart"),
            Role::Bound(clause, i) => format!("argument {i} of clause {clause}"),
            Role::Cell => "the value in the cell".into(),
            Role::Callee => "the called value".into(),
            Role::Annotated => "the annotated value".into(),
            Role::Returned(i) => format!("result {i} of the function"),
            Role::Parameter(i) => format!("parameter {i}"),
            Role::Relation => "the result".into(),
        }
    }
}
