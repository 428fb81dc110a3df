//! What is known while a text is read: aliases, the values of a function, and the functions so far.

use super::{Node, Rule, span};
use crate::nearest::nearest;
use crate::sources::{Fault, Outcome, Span};
use crate::stablehlo::graph::{Attr, Function, Program, ValueId};
use crate::stablehlo::text::literals::unquoted;
use crate::stablehlo::types::Type;
use std::collections::HashMap;

/// The state of reading.
#[derive(Default)]
pub struct Reader {
    pub program: Program,
    pub aliases: HashMap<String, Attr>,
    pub type_aliases: HashMap<String, Type>,
    /// The types of the values of the function that is read.
    pub types: Vec<Type>,
    /// What names stand for, innermost region last.
    pub scopes: Vec<HashMap<String, Vec<ValueId>>>,
}

impl Reader {
    /// Something at the outermost level, or in a module.
    pub fn item(&mut self, node: Node) -> Outcome<()> {
        match node.as_rule() {
            Rule::attribute_alias => {
                let mut parts = node.into_inner();
                if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
                    let value = self.attribute(value)?;
                    self.aliases.insert(name.as_str().to_owned(), value);
                }
            }
            Rule::type_alias => {
                let mut parts = node.into_inner();
                if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
                    let value = self.ty(value)?;
                    self.type_aliases.insert(name.as_str().to_owned(), value);
                }
            }
            Rule::operation => {
                for part in node.into_inner() {
                    match part.as_rule() {
                        Rule::module => {
                            let region = part.into_inner().find(|n| n.as_rule() == Rule::region);
                            for inner in region.into_iter().flat_map(Node::into_inner) {
                                self.item(inner)?;
                            }
                        }
                        Rule::function => self.function(part)?,
                        // Meshes of devices and the like, which nothing here depends on.
                        Rule::custom if part.as_str().starts_with("sdy.") => {}
                        Rule::generic if part.as_str().starts_with("\"builtin.module\"") => {
                            self.generic_module(part)?;
                        }
                        Rule::generic if part.as_str().starts_with("\"func.func\"") => {
                            self.generic_function(part)?;
                        }
                        Rule::generic | Rule::custom => {
                            return Fault::new(
                                span(&part),
                                "an operation stands outside of functions; put it into one: func.func @main(...)",
                            );
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn generic_module(&mut self, node: Node) -> Outcome<()> {
        let regions = node.into_inner().filter(|n| n.as_rule() == Rule::regions);
        for region in regions.flat_map(Node::into_inner) {
            for inner in region.into_inner() {
                self.item(inner)?;
            }
        }
        Ok(())
    }

    /// `"func.func"() <{sym_name = ..., function_type = ...}> ({ ^bb0(...): ... })`
    fn generic_function(&mut self, node: Node) -> Outcome<()> {
        let place = span(&node);
        let (mut attributes, mut region) = (HashMap::new(), None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::properties => {
                    for dict in part.into_inner() {
                        attributes.extend(self.dict(dict)?);
                    }
                }
                Rule::dict => attributes.extend(self.dict(part)?),
                Rule::regions => region = part.into_inner().next(),
                _ => {}
            }
        }
        let name = match attributes.get("sym_name") {
            Some(Attr::Text(name)) => name.clone(),
            _ => return Fault::new(place, "this function has no name; write sym_name = \"main\""),
        };
        let Some(region) = region else { return Ok(()) };
        self.begin();
        let body = self.region(region, &[])?;
        let argument_names = (0..body.arguments.len()).map(|i| format!("arg{i}")).collect();
        let public = !matches!(attributes.get("sym_visibility"), Some(Attr::Text(text)) if text == "private");
        self.finish(Function {
            name,
            argument_names,
            result_names: Vec::new(),
            public,
            body,
            types: Vec::new(),
            span: place,
        })
    }

    fn begin(&mut self) {
        self.types.clear();
        self.scopes = vec![HashMap::new()];
    }

    fn finish(&mut self, mut function: Function) -> Outcome<()> {
        function.types = std::mem::take(&mut self.types);
        self.scopes.clear();
        let (name, place) = (function.name.clone(), function.span);
        match self.program.functions.insert(name.clone(), function) {
            None => Ok(()),
            Some(_) => Fault::new(place, format!("there are two functions @{name}")),
        }
    }

    fn function(&mut self, node: Node) -> Outcome<()> {
        let place = span(&node);
        self.begin();
        let (mut name, mut public, mut body) = (String::new(), true, None);
        let (mut parameters, mut argument_names) = (Vec::new(), Vec::new());
        let mut result_names = Vec::new();
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::symbol => name = symbol(part.as_str()),
                Rule::visibility => public = part.as_str() == "public",
                Rule::parameter => {
                    let (value, called) = self.parameter(part)?;
                    parameters.push(value);
                    argument_names.push(called);
                }
                Rule::function_results => {
                    for result in part.into_inner() {
                        let mut parts = result.into_inner();
                        parts.next();
                        let attributes =
                            parts.next().map(|dict| self.dict(dict)).transpose()?.unwrap_or_default();
                        result_names.push(match attributes.get("jax.result_info") {
                            Some(Attr::Text(text)) => text.clone(),
                            _ => String::new(),
                        });
                    }
                }
                Rule::region => body = Some(part),
                _ => {}
            }
        }
        // A declaration.
        let Some(body) = body else { return Ok(()) };
        let body = self.region(body, &parameters)?;
        self.finish(Function {
            name,
            argument_names,
            result_names,
            public,
            body,
            types: Vec::new(),
            span: place,
        })
    }

    fn parameter(&mut self, node: Node) -> Outcome<(ValueId, String)> {
        let place = span(&node);
        let (mut name, mut ty, mut attributes) = (None, None, HashMap::new());
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::value => name = Some(part),
                Rule::r#type => ty = Some(self.ty(part)?),
                Rule::dict => attributes.extend(self.dict(part)?),
                _ => {}
            }
        }
        let ty = ty.ok_or_else(|| Fault::boxed(place, "this argument has no type"))?;
        let text = name.as_ref().map_or("%arg", |n| n.as_str()).to_owned();
        let value = self.define(&text, place, ty)?;
        let called = match attributes.get("jax.arg_info").or_else(|| attributes.get("fusion.name")) {
            Some(Attr::Text(text)) => text.clone(),
            _ => text.trim_start_matches('%').to_owned(),
        };
        Ok((value, called))
    }

    /// A new value of one name.
    pub fn define(&mut self, name: &str, place: Span, ty: Type) -> Outcome<ValueId> {
        let values = self.define_all(name, place, vec![ty])?;
        Ok(values[0])
    }

    /// New values of one name.
    pub fn define_all(&mut self, name: &str, place: Span, types: Vec<Type>) -> Outcome<Vec<ValueId>> {
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return Fault::new(place, format!("the value {name} is defined twice"));
        }
        let first = self.types.len() as ValueId;
        self.types.extend(types);
        let values: Vec<ValueId> = (first..self.types.len() as ValueId).collect();
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), values.clone());
        }
        Ok(values)
    }

    /// The values that a use such as `%x` or `%x#1` means; without a number all of the name.
    pub fn values(&self, node: &Node) -> Outcome<Vec<ValueId>> {
        let text = node.as_str();
        let (name, index) = match text.split_once('#') {
            Some((name, index)) => (name, Some(index.parse::<usize>().unwrap_or(usize::MAX))),
            None => (text, None),
        };
        let Some(values) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) else {
            let mut known: Vec<&str> =
                self.scopes.iter().flat_map(|s| s.keys().map(String::as_str)).collect();
            known.sort_unstable();
            let near = nearest(name, &known).map_or(String::new(), |n| format!("; did you mean {n}?"));
            return Fault::new(span(node), format!("there is no value {name} here{near}"));
        };
        match index {
            None => Ok(values.clone()),
            Some(index) => match values.get(index) {
                Some(&value) => Ok(vec![value]),
                None => {
                    let message = format!("{name} has {} values, so there is no {text}", values.len());
                    Fault::new(span(node), message)
                }
            },
        }
    }
}

/// The name of a symbol without its sign and quotes.
pub fn symbol(text: &str) -> String {
    unquoted(text.trim_start_matches('@'))
}
