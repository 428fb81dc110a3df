//! Types.

use super::{Node, Reader, Rule};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::{Name, Type};
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
                    let list = part.into_inner().find(|n| n.as_rule() == Rule::type_list);
                    heads.push(list.map(|list| self.types(list)).transpose()?.unwrap_or_default());
                    continue;
                }
                Rule::tuple_type => {
                    let list = part.into_inner().next();
                    Type::Tuple(list.map(|list| self.types(list)).transpose()?.unwrap_or_default())
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
                    Rule::identifier => Dim::Symbol(text.to_owned()),
                    _ => match text.parse().ok().filter(|n: &u64| *n <= i64::MAX as u64) {
                        Some(extent) => Dim::Static(extent),
                        None => {
                            return Fault::new(
                                self.span(&extent),
                                format!("the extent {text} is out of range"),
                            );
                        }
                    },
                });
            }
        }
        let element = element.ok_or_else(|| Fault::boxed(span, "a tensor type has an element type"))?;
        Ok(Type::Tensor(extents, element))
    }
}
