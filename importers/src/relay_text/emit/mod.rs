//! From trees to relay: one pass over each function.
//!
//! ```text
//!   let %x = e; b     e's value is what %x stands for in b        %0 = e; b     the same
//!   1f, (%a, %b), @f  stand for themselves until something uses them, then become an operation in its block
//! ```
//! Types are put in where they are written or follow at once from known operands (an operator's type relation, the
//! signature of a function); everywhere else stands `!relay.hole`, and `relay-infer-types` finds them out. A written
//! type that says more than is known becomes `relay.ascribe`.

pub(super) mod apply;
mod expressions;
mod functions;
mod matching;
mod module;
mod types;
mod values;

pub(super) use module::module;
pub(super) use types::Names;
pub(super) use values::{Literal, Made};

use super::error::{Fault, Outcome, Source};
use super::metadata::Metadata;
use super::syntax::{Block, Span};
use fusion_dialects::relay::{self, Op as Relay};
use fusion_dialects::{Attribute, Build, Context, Location, Region, Type, Value, ValueLike, hole_type};
use std::collections::{HashMap, HashSet};

/// The attribute of arguments that keeps their names.
pub const NAME: &str = "relay.name";

/// What is known of a function of the module.
#[derive(Clone)]
pub(super) struct Signature<'c> {
    pub type_parameters: Vec<String>,
    pub parameters: Vec<Type<'c>>,
    pub result: Type<'c>,
}

/// Walks trees and builds operations.
pub(super) struct Emitter<'c, 'p> {
    pub context: &'c Context,
    sources: &'p [Source],
    metadata: &'p Metadata,
    /// Where operations are built.
    pub at: Build<'c>,
    functions: HashMap<String, Signature<'c>>,
    data_types: HashMap<String, relay::DataType<'c>>,
    /// The data type of each constructor.
    constructors: HashMap<String, String>,
    /// What variables stand for, innermost block last.
    scopes: Vec<HashMap<String, Made<'c>>>,
    /// What type variables are called in the IR, innermost function last.
    type_scopes: Vec<HashMap<String, String>>,
    /// Names of type variables the current function of the module has used.
    type_names: HashSet<String>,
    /// What has become an operation in a block: its key, and the block's.
    built: HashMap<(usize, values::Key), (Value<'c>, Made<'c>)>,
    /// Memory that the program asked for, and where some was read that nothing had been written to.
    memories: Vec<values::Memory<'c>>,
    unwritten: Option<Span>,
    /// Constants of the metadata section that are used.
    meta_attrs: HashMap<usize, (Attribute<'c>, Type<'c>)>,
}

impl<'c> Emitter<'c, '_> {
    /// The type that is not known.
    pub fn hole(&self) -> Type<'c> {
        hole_type(self.context)
    }

    pub fn location(&self, span: Span) -> Location<'c> {
        let Some(source) = self.sources.get(span.file as usize) else {
            return Location::unknown(self.context);
        };
        let (line, column, _) = source.place(span.start);
        Location::new(self.context, &source.name, line, column)
    }

    /// What is built from now on comes from there.
    pub fn locate(&mut self, span: Span) {
        self.at.location = self.location(span);
    }

    /// An operation of one result.
    pub fn op(
        &mut self,
        span: Span,
        op: Relay,
        operands: &[Value<'c>],
        ty: Type<'c>,
        attrs: &[(&str, Attribute<'c>)],
    ) -> Value<'c> {
        self.locate(span);
        self.at.value(op.name(), operands, ty, attrs)
    }

    /// A region that `fill` fills; it gives the value the region yields.
    pub fn region(
        &mut self,
        span: Span,
        types: &[Type<'c>],
        fill: impl FnOnce(&mut Self, &[Value<'c>]) -> Outcome<Value<'c>>,
    ) -> Outcome<(Region<'c>, Type<'c>)> {
        self.locate(span);
        let place = self.at;
        let mut outcome = None;
        let region = place.region(types, |inner, arguments| {
            let outer = std::mem::replace(&mut self.at, inner);
            let filled = fill(self, arguments).map(|value| {
                self.locate(span);
                self.at.op(Relay::Yield.name(), &[value], &[], &[]);
                value.r#type()
            });
            outcome = Some(filled);
            self.at = outer;
        });
        let ty = outcome.unwrap_or_else(|| Fault::new(span, "nothing was built here"))?;
        Ok((region, ty))
    }

    /// The value of a block, as an operation's result.
    pub fn block_value(&mut self, block: &Block) -> Outcome<Value<'c>> {
        let span = block.result.span;
        let made = self.block(block)?;
        Ok(self.value(&made, span))
    }
}
