//! Attributes and types from their pairs.

use super::reader::{Reader, symbol};
use super::{Node, Rule, literals, span, types};
use crate::sources::{Fault, Outcome};
use crate::stablehlo::graph::{Attr, Attributes};
use crate::stablehlo::types::{Element, TensorTy, Type};
use fusion_operators::DType;

impl Reader {
    /// The type that a pair says.
    pub fn ty(&self, node: Node) -> Outcome<Type> {
        let place = span(&node);
        let text = node.as_str().trim();
        match node.as_rule() {
            Rule::r#type | Rule::type_attribute => match node.into_inner().next() {
                Some(inner) => self.ty(inner),
                None => Ok(Type::Other(text.to_owned())),
            },
            Rule::tensor => types::tensor(text).map_err(|message| Fault::boxed(place, message)),
            Rule::tuple => Ok(Type::Tuple(node.into_inner().map(|n| self.ty(n)).collect::<Outcome<_>>()?)),
            Rule::dialect_type if text == "!stablehlo.token" => Ok(Type::Token),
            Rule::dialect_type => match self.type_aliases.get(text) {
                Some(ty) => Ok(ty.clone()),
                None => Ok(Type::Other(text.to_owned())),
            },
            _ => Ok(Type::Other(text.to_owned())),
        }
    }

    /// The entries of `{...}`.
    pub fn dict(&self, node: Node) -> Outcome<Attributes> {
        let mut all = Attributes::new();
        for entry in node.into_inner() {
            let mut parts = entry.into_inner();
            let Some(key) = parts.next() else { continue };
            let value = parts.next().map_or(Ok(Attr::Unit), |value| self.attribute(value))?;
            all.insert(literals::unquoted(key.as_str()), value);
        }
        Ok(all)
    }

    /// The attribute that a pair says.
    pub fn attribute(&self, node: Node) -> Outcome<Attr> {
        let place = span(&node);
        let text = node.as_str().trim();
        let wrong = |message: String| Fault::boxed(place, message);
        Ok(match node.as_rule() {
            Rule::attribute | Rule::bare => {
                let mut parts = node.into_inner();
                let Some(first) = parts.next() else { return Ok(Attr::Opaque) };
                match (first.as_rule(), parts.next()) {
                    (Rule::dense, Some(ty)) => {
                        let ty = self.ty(ty)?;
                        return self.dense(&first, &ty);
                    }
                    (Rule::number, Some(ty)) => number(first.as_str(), Some(&self.ty(ty)?)),
                    _ => return self.attribute(first),
                }
            }
            Rule::number => number(text, None),
            Rule::string => Attr::Text(literals::unquoted(text)),
            Rule::symbol => Attr::Symbol(symbol(text)),
            Rule::array => literals::array(text).unwrap_or_else(|| Attr::Opaque),
            Rule::list => Attr::List(node.into_inner().map(|n| self.attribute(n)).collect::<Outcome<_>>()?),
            Rule::range => {
                let numbers = text.split(':').map(|n| n.parse().map(Attr::Int));
                Attr::List(
                    numbers
                        .collect::<Result<_, _>>()
                        .map_err(|_| wrong(format!("{text} is out of range")))?,
                )
            }
            Rule::dict => Attr::Map(self.dict(node)?),
            Rule::dialect => self.dialect(node)?,
            Rule::list_pair | Rule::convolution_axes => {
                Attr::List(node.into_inner().map(|n| self.attribute(n)).collect::<Outcome<_>>()?)
            }
            Rule::word => match text {
                "true" => Attr::Bool(true),
                "false" => Attr::Bool(false),
                "unit" => Attr::Unit,
                _ => Attr::Word(text.to_owned()),
            },
            Rule::dense => {
                return Fault::new(place, "the type of this constant is not said; write : TYPE behind it");
            }
            _ => Attr::Opaque,
        })
    }

    /// `dense<...>` of a type.
    pub fn dense(&self, node: &Node, ty: &Type) -> Outcome<Attr> {
        let text = node.as_str();
        let body = text
            .strip_prefix("dense")
            .map(str::trim_start)
            .and_then(|t| t.strip_prefix('<')?.strip_suffix('>'));
        let Some(body) = body else {
            return Fault::new(
                span(node),
                "constants outside of the text (dense_resource) are not supported; print the module with its constants in it",
            );
        };
        literals::dense(body, ty).map_err(|message| Fault::boxed(span(node), message))
    }

    /// `#stablehlo.dot<...>`, `#stablehlo<precision DEFAULT>`, or an alias.
    fn dialect(&self, node: Node) -> Outcome<Attr> {
        let mut parts = node.into_inner();
        let name = parts.next().map_or("", |n| n.as_str()).to_owned();
        let Some(inner) = parts.next() else {
            return Ok(self.aliases.get(&name).cloned().unwrap_or(Attr::Opaque));
        };
        if inner.as_rule() != Rule::inner {
            return Ok(Attr::Opaque);
        }
        let (mut map, mut last) = (Attributes::new(), None);
        for part in inner.into_inner() {
            match part.as_rule() {
                Rule::entry => {
                    let (key, value) = self.entry(part)?;
                    map.insert(key, value);
                }
                Rule::convolution_axes => return self.attribute(part),
                _ => last = Some(self.attribute(part)?),
            }
        }
        // `#stablehlo<comparison_direction LT>` is its last word.
        Ok(match last {
            Some(last) if map.is_empty() => last,
            _ => Attr::Map(map),
        })
    }

    /// `NAME = VALUE`.
    pub fn entry(&self, node: Node) -> Outcome<(String, Attr)> {
        let mut parts = node.into_inner();
        let name = parts.next().map_or("", |n| n.as_str()).to_owned();
        let value = parts.next().map_or(Ok(Attr::Unit), |value| self.attribute(value))?;
        Ok((name, value))
    }
}

/// A number of a type: `1 : i64`, `0x7F800000 : f32`, `1 : f32`.
fn number(text: &str, ty: Option<&Type>) -> Attr {
    let value = literals::scalar(text).unwrap_or_else(|| Attr::Opaque);
    let Some(Type::Other(name)) = ty else { return value };
    let dtype: Option<DType> = name.parse().ok();
    match (&value, dtype) {
        (Attr::Int(_), Some(dtype)) if dtype.is_float() => {
            let ty = Type::Tensor(TensorTy { dims: Vec::new(), element: Element::Plain(dtype) });
            match literals::dense(text, &ty) {
                Ok(Attr::Dense(dense)) => Attr::Float(dense.parts[0].f64_at(0)),
                _ => value,
            }
        }
        _ => value,
    }
}
