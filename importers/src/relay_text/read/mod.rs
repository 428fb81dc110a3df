//! From source text to a tree: the grammar gives pairs of rules and text, which these functions take apart.
//!
//! Each function is for a rule of `grammar.pest`, which says what pairs there are inside of it.

mod expressions;
mod literals;
mod types;

use super::blanks::blank;
use super::error::{Fault, Outcome, unexpected};
use super::graph;
use super::syntax::*;
use pest::Parser as _;
use pest::iterators::Pair;
use std::collections::HashMap;
use std::rc::Rc;

#[derive(pest_derive::Parser)]
#[grammar = "relay_text/grammar.pest"]
struct Grammar;

type Node<'i> = Pair<'i, Rule>;

/// What texts of TVM 0.6 begin with.
const OLD_VERSION: &str = "v0.0.4";

/// A file's tree, and where its metadata section begins.
pub fn read(source: &str, number: u32) -> Outcome<(File, Option<usize>)> {
    read_renamed(source, number, HashMap::new())
}

/// As [`read`], with other names for some of the file's functions, types and constructors.
pub fn read_renamed(
    source: &str,
    number: u32,
    renamed: HashMap<String, String>,
) -> Outcome<(File, Option<usize>)> {
    let blanked = blank(source, number)?;
    let mut pairs = Grammar::parse(Rule::module, &blanked.text)
        .map_err(|error| unexpected(&error, (&blanked.text, number), "_%@.", called))?;
    let old = blanked.text.trim_start().starts_with(OLD_VERSION);
    let reader = Reader { file: number, renamed, old };
    let mut file = File::default();
    for pair in pairs.next().into_iter().flat_map(Pair::into_inner) {
        reader.item(pair, &mut file)?;
    }
    graph::place(&mut file)?;
    Ok((file, blanked.metadata))
}

/// What messages call a rule; `None` for parts of words, which say too little.
fn called(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::EOI => "the end of the file",
        Rule::version => "a version",
        Rule::import | Rule::kw_import => "import",
        Rule::data_type | Rule::kw_type => "type",
        Rule::kw_extern => "extern type",
        Rule::free_binding | Rule::kw_free_var => "free_var",
        Rule::definition | Rule::kw_def => "def",
        Rule::constructor | Rule::constructor_pattern => "a constructor",
        Rule::r#type | Rule::arrow_head | Rule::tuple_type | Rule::tensor_type | Rule::named_type => "a type",
        Rule::type_list => "types in ( )",
        Rule::type_parameters => "type parameters in [ ]",
        Rule::shape => "extents in ( )",
        Rule::extent | Rule::any_extent => "an extent",
        Rule::expression | Rule::operand | Rule::block => "an expression",
        Rule::let_binding | Rule::kw_let => "let",
        Rule::infix => "an infix operator",
        Rule::arguments => "arguments in ( )",
        Rule::projection => "a projection such as .0",
        Rule::parameters => "parameters in ( )",
        Rule::signature => "a signature",
        Rule::parameter | Rule::local => "a variable such as %x",
        Rule::kw_else => "else",
        Rule::clause => "a clause, PATTERN => EXPRESSION",
        Rule::pattern | Rule::wildcard | Rule::binder => "a pattern",
        Rule::pattern_list => "patterns in ( )",
        Rule::scrutinee => "a value in ( )",
        Rule::global => "a function such as @f",
        Rule::identifier | Rule::operator => "a name",
        Rule::digits | Rule::number => "a number",
        Rule::string => "a text in quotes",
        Rule::attribute_value => "the value of an attribute",
        _ => return None,
    })
}

/// Takes pairs apart.
struct Reader {
    file: u32,
    renamed: HashMap<String, String>,
    /// Whether the text is of version 0.0.4.
    old: bool,
}

impl Reader {
    fn span(&self, node: &Node) -> Span {
        let span = node.as_span();
        let text = node.as_str();
        let end = span.start() + text.trim_end().len();
        Span { file: self.file, start: span.start() as u32, end: end as u32 }
    }

    fn name(&self, node: &Node) -> Name {
        Name { text: node.as_str().to_owned(), span: self.span(node) }
    }

    /// What a function, type or constructor is called in the program.
    fn symbol(&self, name: &str) -> String {
        self.renamed.get(name).map_or(name, String::as_str).to_owned()
    }

    fn symbol_name(&self, node: &Node) -> Name {
        Name { text: self.symbol(node.as_str().trim_start_matches('@')), span: self.span(node) }
    }

    /// A name behind its sign: `%x`, `@f`.
    fn signed_name(&self, node: &Node) -> Name {
        Name { text: node.as_str()[1..].to_owned(), span: self.span(node) }
    }

    fn item(&self, node: Node, file: &mut File) -> Outcome<()> {
        match node.as_rule() {
            Rule::version => {
                let span = self.span(&node);
                let Some(version) = node.into_inner().find(|n| n.as_rule() == Rule::string) else {
                    return Ok(());
                };
                let version = self.text(&version);
                if !matches!(version.as_str(), "0.0.5" | "0.0.4") {
                    return Fault::new(
                        span,
                        format!("version {version:?} is not known; 0.0.4 and 0.0.5 are"),
                    );
                }
            }
            Rule::import => {
                let text = node.into_inner().find(|n| n.as_rule() == Rule::string);
                file.imports.extend(text.map(|t| Name { text: self.text(&t), span: self.span(&t) }));
            }
            Rule::data_type => file.data_types.push(self.data_type(node)?),
            Rule::definition => {
                let span = self.span(&node);
                let mut name = None;
                let mut parts = Vec::new();
                for part in node.into_inner() {
                    match part.as_rule() {
                        Rule::global => name = Some(self.symbol_name(&part)),
                        Rule::kw_def => {}
                        _ => parts.push(part),
                    }
                }
                let name = name.ok_or_else(|| Fault::boxed(span, "a function has a name"))?;
                let function = Rc::new(self.function(parts, span)?);
                file.functions.push(Definition { name, function });
            }
            // An expression in the place of definitions is what @main computes; a function is @main itself.
            Rule::block => {
                let span = self.span(&node);
                let mut body = self.block(node)?;
                // Free variables are what the program is given.
                let mut parameters = Vec::new();
                let mut bindings = Vec::with_capacity(body.bindings.len());
                for binding in body.bindings {
                    match binding {
                        Binding::Free(name, ty) => parameters.push((name, ty)),
                        other => bindings.push(other),
                    }
                }
                body.bindings = bindings;
                let function = match body.result.kind {
                    ExprKind::Function(ref function) if body.bindings.is_empty() && parameters.is_empty() => {
                        function.clone()
                    }
                    _ => {
                        let type_parameters = Vec::new();
                        Rc::new(Function { type_parameters, parameters, result: None, body, span })
                    }
                };
                file.functions.push(Definition { name: Name { text: "main".into(), span }, function });
            }
            _ => {}
        }
        Ok(())
    }

    fn data_type(&self, node: Node) -> Outcome<DataType> {
        let span = self.span(&node);
        let (mut name, mut parameters, mut constructors) = (None, Vec::new(), Vec::new());
        let mut external = false;
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::kw_extern => external = true,
                Rule::constructor if external => {
                    return Fault::new(
                        self.span(&part),
                        "an extern type has no constructors; leave extern away to declare them",
                    );
                }
                Rule::identifier => name = Some(self.symbol_name(&part)),
                Rule::type_parameters => parameters = self.names(part),
                Rule::constructor => {
                    let mut inner = part.into_inner();
                    let Some(first) = inner.next() else { continue };
                    let fields = inner.next().map(|list| self.types(list)).transpose()?;
                    constructors.push((self.symbol_name(&first), fields.unwrap_or_default()));
                }
                _ => {}
            }
        }
        let name = name.ok_or_else(|| Fault::boxed(span, "a data type has a name"))?;
        Ok(DataType { name, parameters, constructors })
    }

    /// Type parameters, which hide types of their names.
    fn names(&self, node: Node) -> Vec<Name> {
        node.into_inner().map(|n| self.symbol_name(&n)).collect()
    }
}
