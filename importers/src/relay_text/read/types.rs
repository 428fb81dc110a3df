//! Types.

use super::{Node, Reader, Rule};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::{Head, Name, Type};
use fusion_operators::Dim;

impl Reader {
    pub(super) fn types(&self, list: Node) -> Outcome<Vec<Type>> {
        list.into_inner().filter(|n| n.as_rule() == Rule::r#type).map(|n| self.ty(n)).collect()
    }

    pub(super) fn ty(&self, node: Node) -> Outcome<Type> {
        let span = self.span(&node);
        let (mut heads, mut last) = (Vec::new(), None);
        for part in node.into_inner() {
            let span = self.span(&part);
            last = Some(match part.as_rule() {
                Rule::arrow_head => {
                    let mut head = Head::default();
                    for part in part.into_inner() {
                        match part.as_rule() {
                            Rule::type_parameters => head.parameters = self.names(part),
                            Rule::type_list => head.inputs = self.types(part)?,
                            _ => {}
                        }
                    }
                    heads.push(head);
                    continue;
                }
                Rule::tuple_type => {
                    let Some(list) = part.into_inner().next() else { continue };
                    let comma = list.clone().into_inner().any(|n| n.as_rule() == Rule::trailing_comma);
                    let mut types = self.types(list)?;
                    // In version 0.0.4 parentheses around one type only group.
                    match types.pop() {
                        Some(only) if types.is_empty() && self.old && !comma => only,
                        last => {
                            types.extend(last);
                            Type::Tuple(types)
                        }
                    }
                }
                Rule::tensor_type => self.tensor_type(part)?,
                Rule::ref_type => {
                    let inner = part.into_inner().find(|n| n.as_rule() == Rule::r#type);
                    let inner =
                        inner.ok_or_else(|| Fault::boxed(span, "a cell holds a value of some type"))?;
                    Type::Ref(Box::new(self.ty(inner)?))
                }
                Rule::named_type => {
                    let mut inner = part.into_inner();
                    let Some(name) = inner.next() else { continue };
                    Type::Named(self.symbol_name(&name), inner.map(|n| self.ty(n)).collect::<Outcome<_>>()?)
                }
                _ => Type::Unknown,
            });
        }
        let last = last.ok_or_else(|| Fault::boxed(span, "expected a type"))?;
        if heads.is_empty() {
            return Ok(last);
        }
        Ok(Type::Function(heads, Box::new(last)))
    }

    fn tensor_type(&self, node: Node) -> Outcome<Type> {
        let span = self.span(&node);
        let (mut extents, mut element): (Vec<Dim>, Option<Name>) = (Vec::new(), None);
        for part in node.into_inner() {
            if part.as_rule() != Rule::shape {
                element = Some(self.name(&part));
                continue;
            }
            for extent in part.into_inner().flat_map(Node::into_inner) {
                let text = extent.as_str();
                extents.push(match extent.as_rule() {
                    Rule::any_extent => Dim::Any,
                    Rule::meta => self.extent_of_metadata(extent)?,
                    Rule::extent_number => self.extent(&extent)?,
                    _ => Dim::Symbol(text.to_owned()),
                });
            }
        }
        let element = element.ok_or_else(|| Fault::boxed(span, "a tensor type has an element type"))?;
        Ok(Type::Tensor(extents, element))
    }

    /// An extent; its width, as in `3i64`, says nothing here.
    fn extent(&self, node: &Node) -> Outcome<Dim> {
        let text = node.as_str().trim_end();
        let digits = text.split('i').next().unwrap_or_default();
        match digits.parse().ok().filter(|n: &u64| *n <= i64::MAX as u64) {
            Some(extent) => Ok(Dim::Static(extent)),
            None => Fault::new(self.span(node), format!("the extent {text} is out of range")),
        }
    }

    /// Before TVM wrote `?`, an extent that is not known was an entry of the metadata section.
    fn extent_of_metadata(&self, node: Node) -> Outcome<Dim> {
        let span = self.span(&node);
        let key = node.into_inner().next().map(|key| key.as_str().to_owned()).unwrap_or_default();
        match key.as_str() {
            "Any" | "tir.Any" | "relay.Any" => Ok(Dim::Any),
            _ => Fault::new(span, format!("meta[{key}] is no extent; write a number or ?")),
        }
    }
}
