//! The state of one import: the values so far, and the names that they have.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use fusion_operators::TensorType;

use super::definitions::{Def, Known};
use super::emit::{Emit, Id};
use super::model::Model;
use super::narrow_types::Narrow;
use super::node::Value;
use super::proto::{AttributeProto, FunctionProto, OperatorSetIdProto};
use super::signature::{Input, Options};

pub(super) struct Entry {
    pub def: Def,
    pub id: Id,
    pub ty: Option<TensorType>,
    /// The type that its bytes stand for, where that is none of the program's.
    pub narrow: Option<&'static Narrow>,
}

/// The names of a graph or function body.
pub(super) struct Scope<'m> {
    pub values: HashMap<&'m str, Value>,
    /// Names further out are not visible.
    pub isolated: bool,
    /// The node that calls the function whose body this is; empty for a graph's.
    pub caller: String,
    pub opsets: &'m [OperatorSetIdProto],
    /// What attribute references in a function body stand for.
    pub attributes: Rc<HashMap<&'m str, &'m AttributeProto>>,
}

/// The state of one import.
pub struct Importer<'m> {
    pub(super) emit: &'m dyn Emit,
    pub(super) model: &'m Model,
    pub(super) options: &'m Options,
    pub(super) inputs: &'m [Input],
    pub(super) entries: Vec<Entry>,
    pub(super) memo: HashMap<Value, Known>,
    pub(super) specialized: BTreeSet<usize>,
    pub(super) scopes: Vec<Scope<'m>>,
    pub(super) functions: HashMap<(&'m str, &'m str, &'m str), &'m FunctionProto>,
    pub(super) depth: usize,
    pub(super) imported: usize,
}
