//! Reads the text form: the grammar gives pairs of rules and text, which become the graph.
//!
//! ```text
//!   text --brackets--> --grammar.pest--> pairs --operations, attributes--> operations --pretty--> the graph
//! ```
//! `operations` resolves names of values, and knows which regions and results an operation has. `pretty` turns the words
//! of an operator's own form into the attributes that its generic form would have.

mod attributes;
mod brackets;
pub mod literals;
mod operations;
mod pretty;
mod reader;
pub mod types;

use crate::sources::{Outcome, Span, unexpected};
use crate::stablehlo::graph::Program;
use pest::Parser as _;
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "stablehlo/text/grammar.pest"]
struct Grammar;

type Node<'i> = Pair<'i, Rule>;

/// The program that a text says.
pub fn read(text: &str) -> Outcome<Program> {
    brackets::check(text)?;
    let mut pairs =
        Grammar::parse(Rule::file, text).map_err(|error| unexpected(&error, (text, 0), "_%@.#", called))?;
    let mut reader = reader::Reader::default();
    for pair in pairs.next().into_iter().flat_map(Pair::into_inner) {
        reader.item(pair)?;
    }
    Ok(reader.program)
}

fn span(node: &Node) -> Span {
    let span = node.as_span();
    let end = span.start() + node.as_str().trim_end().len();
    Span { file: 0, start: span.start() as u32, end: end as u32 }
}

/// What messages call a rule; `None` for parts of words, which say too little.
fn called(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::EOI => "the end of the file",
        Rule::operation | Rule::custom | Rule::name | Rule::generic => "an operation",
        Rule::function | Rule::kw_func => "func.func",
        Rule::value | Rule::r#use | Rule::argument => "a value such as %x",
        Rule::region => "a region in { }",
        Rule::r#type | Rule::tensor | Rule::signature => "a type",
        Rule::attribute | Rule::bare | Rule::dialect => "an attribute",
        Rule::symbol => "a name such as @f",
        Rule::digits | Rule::number => "a number",
        Rule::string => "a text in quotes",
        Rule::entry | Rule::dict_entry => "NAME = VALUE",
        Rule::list => "a list in [ ]",
        _ => return None,
    })
}
