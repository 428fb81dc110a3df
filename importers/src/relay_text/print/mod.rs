//! Relay modules as text, one statement an operation.
//!
//! ```text
//!   %2 = relay.add %0, %1                  %2 = add(%x, %y);           what has no effect is a node of the graph
//!                                          let %v2 = add(%x, %y);        where one inner block alone needs it
//!   %3 = relay.apply %f(%2)                let %v3 = %f(%2);           the rest is bound, which keeps its order
//!   %4 = relay.ascribe %3 : _ -> T         let %v4: T = %v3;
//!   %c = relay.constant dense<1.0>         1f                          where it is used, or meta[relay.Constant][0]
//! ```
//! Importing the text gives the module again: its operations in the same order with the same types, up to the order of
//! constants and tuples that something else than the importer put before their first use.

mod body;
mod literals;
mod names;
mod operators;
mod sinking;
mod types;

pub(crate) use types::type_text;

use super::emit::{NAME, Names};
use super::metadata;
use body::Body;
use fusion_dialects::relay::{DataType, Op as Relay, TYPE_PARAMS};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, Type, TypeParts, ValueLike, array_elements, dictionary_text, function_parts, nested_ops,
    ops_in, texts_of, type_of_attr, type_parts,
};
use fusion_operators::{DType, Tensor};
use std::collections::{HashMap, HashSet};

/// Why a module cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this cannot be written as Relay text: {0}")]
pub struct PrintError(pub String);

/// What is written for the whole module.
#[derive(Default)]
struct Printer {
    /// Constants of the metadata section, and the attributes they come from.
    constants: Vec<Tensor>,
    places: HashMap<usize, usize>,
    /// Functions whose result must not be written: a call did not know it.
    unknown_results: HashSet<String>,
}

/// Writes a module.
pub fn print(module: Op) -> Result<String, PrintError> {
    let Some(body) = module.body(0) else { return Err(PrintError("it is no module".into())) };
    let mut printer = Printer { unknown_results: unknown_results(module), ..Printer::default() };
    let mut text = "#[version = \"0.0.5\"]\n".to_owned();
    for op in ops_in(body) {
        match op.kind() {
            Some(Kind::Relay(Relay::Data)) => text.push_str(&data_type(op)?),
            Some(Kind::Upstream(Upstream::Func)) => text.push_str(&printer.function(op)?),
            _ => return Err(PrintError(format!("{} is no definition of the language", op.full_name()))),
        }
    }
    if !printer.constants.is_empty() {
        text.push('\n');
        text.push_str(&metadata::write(&printer.constants));
    }
    Ok(text)
}

/// Functions with a call whose result's type is not known.
fn unknown_results(module: Op) -> HashSet<String> {
    let mut found = HashSet::new();
    for op in nested_ops(module) {
        let (callee, ty) = match op.kind() {
            Some(Kind::Relay(Relay::Call)) => {
                (op.text("callee"), op.result_values().first().map(|v| v.r#type()))
            }
            Some(Kind::Relay(Relay::Global)) => {
                let result = op.result_values().first().and_then(|v| function_parts(v.r#type()));
                (op.text("function"), result.and_then(|(_, results)| results.first().copied()))
            }
            _ => continue,
        };
        if ty.is_some_and(|ty| matches!(type_parts(ty), TypeParts::Hole)) {
            found.extend(callee.map(str::to_owned));
        }
    }
    found
}

fn data_type(op: Op) -> Result<String, PrintError> {
    let Some(data) = DataType::of(op) else { return Err(PrintError("a data type has no name".into())) };
    names::check(data.name)?;
    let mut text = format!("\ntype {}{} {{\n", data.name, type_parameters(&data.parameters)?);
    for constructor in &data.constructors {
        names::check(constructor.name)?;
        let fields: Vec<String> = constructor.fields.iter().map(|ty| type_text(*ty)).collect();
        let fields = if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) };
        text.push_str(&format!("  {}{fields},\n", constructor.name));
    }
    text.push_str("}\n");
    Ok(text)
}

fn type_parameters(names: &[&str]) -> Result<String, PrintError> {
    names.iter().try_for_each(|name| names::check(name))?;
    Ok(if names.is_empty() { String::new() } else { format!("[{}]", names.join(", ")) })
}

impl Printer {
    fn function(&mut self, op: Op) -> Result<String, PrintError> {
        let name = op.text("sym_name").unwrap_or_default().to_owned();
        names::check_symbol(&name)?;
        let Some(block) = op.body(0) else {
            return Err(PrintError(format!("the function @{name} has no body")));
        };
        let parameters = op.attr(TYPE_PARAMS).map(texts_of).unwrap_or_default();
        let attrs = op.attr("arg_attrs").map(array_elements).unwrap_or_default();
        let given: Vec<Option<String>> = fusion_dialects::arguments(block)
            .iter()
            .enumerate()
            .map(|(i, _)| attrs.get(i).and_then(|attr| dictionary_text(*attr, NAME)))
            .collect();
        let named = names::Named::of(op, &given);
        let mut body = Body::new(self, named, parameters.iter().map(|name| (*name).to_owned()).collect());
        let arguments = body.parameters(&fusion_dialects::arguments(block));
        let lines = body.block(block, 1)?;
        let result = op.attr("function_type").and_then(type_of_attr).and_then(function_parts);
        let result = result.and_then(|(_, results)| match results[..] {
            [only] => Some(only),
            _ => None,
        });
        let result = match result {
            Some(ty)
                if !matches!(type_parts(ty), TypeParts::Hole) && !self.unknown_results.contains(&name) =>
            {
                format!(" -> {}", type_text(ty))
            }
            _ => String::new(),
        };
        let parameters = type_parameters(&parameters)?;
        Ok(format!("\ndef @{name}{parameters}({arguments}){result} {{\n{lines}}}\n"))
    }

    /// A constant where it is used.
    fn constant(&mut self, op: Op) -> Result<String, PrintError> {
        let attr = op.attr("value").ok_or_else(|| PrintError("a constant has no value".into()))?;
        let key = fusion_dialects::attr_key(attr);
        if let Some(place) = self.places.get(&key) {
            return Ok(format!("meta[relay.Constant][{place}]"));
        }
        let Some(tensor) = fusion_dialects::read_tensor(attr) else {
            return Err(PrintError("the contents of a constant are missing".into()));
        };
        if tensor.dtype() == DType::String {
            return Err(PrintError(
                "a constant is a tensor of strings, which Relay text has no form for".into(),
            ));
        }
        if let Some(text) = literals::scalar(&tensor) {
            return Ok(text);
        }
        let place = self.constants.len();
        self.places.insert(key, place);
        self.constants.push(tensor);
        Ok(format!("meta[relay.Constant][{place}]"))
    }
}

/// Type variables of a type that are not in scope.
fn own_variables(ty: Type, scope: &[String]) -> Vec<String> {
    let mut names = Names::default();
    names.collect(ty);
    let mut own: Vec<String> = names.variables.into_iter().filter(|name| !scope.contains(name)).collect();
    own.sort();
    own
}
