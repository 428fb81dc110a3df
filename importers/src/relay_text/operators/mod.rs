//! TVM's operators as ours: a table with one line an operator, by family.
//!
//! ```text
//!   SAME       TVM's operator is a row of ours; attributes have other names or defaults
//!   MADE       it is built from several rows, or its attributes need thought
//!   fusion.x   our row x, with its own attributes: what TVM has no name for
//! ```

mod bits;
mod call;
mod contraction;
mod creation;
mod devices;
mod dynamic;
mod elementwise;
mod fixed_point;
mod gemm;
mod gradients;
mod images;
mod losses;
mod memory;

mod normalization;
mod places;
mod pooling;
mod quantized;
mod random;
mod rearranging;
mod reduction;
mod shape;
mod sorting;
mod sparse;
mod spectral;
mod winograd;

pub(super) use call::Call;

use super::emit::{Emitter, Made};
use super::error::{Fault, Outcome};
use super::syntax::{Attribute, Span};
use fusion_operators::{Operator, ops};
use std::collections::HashMap;
use std::sync::OnceLock;

/// An operator of TVM that is a row of ours.
pub(super) struct Same {
    /// TVM's name.
    pub name: &'static str,
    pub row: &'static Operator,
    /// How many operands it takes.
    pub operands: usize,
    /// TVM's attributes and ours.
    pub attributes: &'static [Pair],
}

/// An attribute under TVM's name and ours.
pub(super) struct Pair {
    pub theirs: &'static str,
    pub ours: &'static str,
    pub kind: Kind,
}

/// What an attribute holds. One that is not written means the same in both.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Int,
    Float,
    /// Numbers; in TVM also a single one.
    Ints,
    /// An element type, in quotes.
    Element,
}

/// An operator of TVM that is built.
pub(super) struct Built {
    pub name: &'static str,
    /// The least and the most operands.
    pub operands: (usize, usize),
    /// The attributes it looks at.
    pub attributes: &'static [&'static str],
    /// Those that may be written and mean nothing here.
    pub ignored: &'static [&'static str],
    pub build: for<'e, 'c, 'p> fn(&mut Call<'e, 'c, 'p>) -> Outcome<Made<'c>>,
}

type Build = for<'e, 'c, 'p> fn(&mut Call<'e, 'c, 'p>) -> Outcome<Made<'c>>;

const fn built(
    name: &'static str,
    operands: usize,
    attributes: &'static [&'static str],
    build: Build,
) -> Built {
    Built { name, operands: (operands, operands), attributes, ignored: &[], build }
}

/// Rows that are the same in both.
pub(super) const SAME: &[&[Same]] =
    &[elementwise::SAME, contraction::SAME, normalization::SAME, reduction::SAME, shape::SAME];

/// Rows that are built, by family.
const BUILT: &[&[&[Built]]] = &[FAMILIES, images::BUILT, quantized::BUILT, rearranging::BUILT];

const FAMILIES: &[&[Built]] = &[
    bits::BUILT,
    elementwise::BUILT,
    contraction::BUILT,
    creation::BUILT,
    devices::BUILT,
    dynamic::BUILT,
    contraction::SUMS,
    fixed_point::BUILT,
    gemm::BUILT,
    memory::BUILT,
    random::BUILT,
    gradients::BUILT,
    losses::BUILT,
    sorting::BUILT,
    sparse::BUILT,
    spectral::BUILT,
    winograd::BUILT,
    places::BUILT,
    normalization::BUILT,
    pooling::BUILT,
    reduction::BUILT,
    shape::BUILT,
];

/// What an operator's name stands for.
#[derive(Clone, Copy)]
enum Row {
    Same(&'static Same),
    Built(&'static Built),
    Ours(&'static Operator),
}

/// The prefix of our own rows.
pub(super) const OURS: &str = "fusion.";

fn table() -> &'static HashMap<&'static str, Row> {
    static TABLE: OnceLock<HashMap<&str, Row>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let same = SAME.iter().flat_map(|rows| rows.iter()).map(|same| (same.name, Row::Same(same)));
        let built =
            BUILT.iter().copied().flatten().copied().flatten().map(|built| (built.name, Row::Built(built)));
        same.chain(built).collect()
    })
}

fn find(name: &str) -> Option<Row> {
    match name.strip_prefix(OURS) {
        Some(row) => ops::named(row).map(Row::Ours),
        None => table().get(name).copied(),
    }
}

/// The names of TVM's operators that are known.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    table().keys().copied()
}

/// How many operands an operator takes, when it always takes so many.
pub(super) fn arity(name: &str) -> Option<usize> {
    let (least, most) = match find(name)? {
        Row::Same(same) => (same.operands, same.operands),
        Row::Built(built) => built.operands,
        Row::Ours(row) => row.arity(),
    };
    (least == most).then_some(least)
}

/// Attributes by which TVM's passes talk to each other; they say nothing about what is computed, but what weights were relaid.
const HINTS: &[&str] = &[rearranging::REWRITTEN, rearranging::ORIGINAL, "schedule_rule"];

impl<'c> Emitter<'c, '_> {
    /// A call of an operator.
    pub fn operator(
        &mut self,
        name: &str,
        arguments: Vec<Made<'c>>,
        attributes: &[Attribute],
        span: Span,
    ) -> Outcome<Made<'c>> {
        let Some(row) = find(name) else {
            return Fault::new(span, self.unknown_word(name));
        };
        let (least, most) = match row {
            Row::Same(same) => (same.operands, same.operands),
            Row::Built(built) => built.operands,
            Row::Ours(row) => row.arity(),
        };
        if !(least..=most).contains(&arguments.len()) {
            let takes = if least == most { least.to_string() } else { format!("{least} or more") };
            return Fault::new(
                span,
                format!("the operator {name} takes {takes} operands, found {}", arguments.len()),
            );
        }
        if !memory::takes_memory(name) && arguments.iter().any(|made| self.is_unwritten(made)) {
            return Ok(self.memory());
        }
        let mut call = Call::new(self, name, span, arguments, attributes);
        rearranging::in_first_order(&mut call)?;
        match row {
            Row::Same(same) => call.same(same),
            Row::Ours(row) => call.ours(row),
            Row::Built(built) => {
                call.only(&|name| {
                    built.attributes.contains(&name) || built.ignored.contains(&name) || HINTS.contains(&name)
                })?;
                (built.build)(&mut call)
            }
        }
    }
}
