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

use crate::sources::{Fault, Outcome, Span};
use crate::stablehlo::graph::Program;
use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "stablehlo/text/grammar.pest"]
struct Grammar;

type Node<'i> = Pair<'i, Rule>;

/// The program that a text says.
pub fn read(text: &str) -> Outcome<Program> {
    brackets::check(text)?;
    let mut pairs = Grammar::parse(Rule::file, text).map_err(|error| unexpected(&error, text))?;
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

/// Says what stands where something else was expected.
fn unexpected(error: &pest::error::Error<Rule>, text: &str) -> Box<Fault> {
    let start = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let rest = text.get(start..).unwrap_or_default();
    let word: String =
        rest.chars().take_while(|c| c.is_alphanumeric() || "_%@.#".contains(*c)).take(40).collect();
    let found = match rest.chars().next() {
        None => "the end of the file".to_owned(),
        Some(c) if word.is_empty() => format!("'{c}'"),
        Some(_) => format!("'{word}'"),
    };
    let width = word.len().max(rest.chars().next().map_or(0, char::len_utf8));
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => {
            let mut names: Vec<&str> = positives.iter().filter_map(|rule| called(*rule)).collect();
            names.sort_unstable();
            names.dedup();
            names.join(", ")
        }
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let span = Span { file: 0, start: start as u32, end: (start + width) as u32 };
    let message = match expected.is_empty() {
        true => format!("{found} does not belong here"),
        false => format!("found {found} where one of these is expected: {expected}"),
    };
    Fault::boxed(span, message)
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
