//! Calls: of functions of the module, of closures, of constructors and of operators.

use super::values::Made;
use super::{Emitter, types::shown};
use crate::nearest::nearest;
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::operators;
use crate::relay_text::syntax::*;
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::{Op, OpExt, Type, ValueLike, symbol_attr};
use std::rc::Rc;

/// What an operation of one result gives.
pub fn first_result<'c>(op: Op<'c>) -> Made<'c> {
    op.result_values().first().copied().map_or_else(Made::unit, Made::Value)
}

impl<'c> Emitter<'c, '_> {
    /// A value and what is done with it, one after the other.
    pub fn applied(&mut self, base: &Expr, suffixes: &[Suffix], span: Span) -> Outcome<Made<'c>> {
        let mut rest = suffixes.iter();
        let mut made = match (&base.kind, suffixes.first()) {
            (ExprKind::Word(name), Some(Suffix::Call(arguments, attributes))) => {
                rest.next();
                no_section(arguments)?;
                let arguments = self.arguments(arguments)?;
                match self.constructors.contains_key(name) {
                    true => {
                        no_attributes(attributes, "a constructor")?;
                        self.construct(name, &arguments, span)?
                    }
                    false => self.operator(name, arguments, attributes, base.span)?,
                }
            }
            // What is called is given its type by the call.
            (ExprKind::Local(_) | ExprKind::Graph(_) | ExprKind::Function(_), Some(Suffix::Call(..))) => {
                self.bound(base)?
            }
            _ => self.expr(base)?,
        };
        for suffix in rest {
            made = match suffix {
                Suffix::Project(index, place) => self.project(&made, *index, *place)?,
                Suffix::Call(arguments, attributes) => {
                    no_attributes(attributes, "a function")?;
                    if !matches!(made, Made::Global(_)) {
                        made = Made::Value(self.value(&made, span));
                    }
                    let arguments = self.arguments(arguments)?;
                    self.called(made, arguments, span)?
                }
            };
        }
        Ok(made)
    }

    fn arguments(&mut self, arguments: &[Block]) -> Outcome<Vec<Made<'c>>> {
        arguments.iter().map(|argument| self.block(argument)).collect()
    }

    fn call(&mut self, name: &Rc<str>, arguments: &[Made<'c>], span: Span) -> Outcome<Made<'c>> {
        let signature = self.functions[&**name].clone();
        let operands = self.values(arguments, span);
        let given: Vec<Type> = operands.iter().map(|v| v.r#type()).collect();
        let (parameters, own) = (&signature.parameters, &signature.type_parameters);
        let ty =
            self.result_of(&format!("@{name}"), (parameters, signature.result), Some(own), &given, span)?;
        let callee = symbol_attr(self.context, name);
        Ok(Made::Value(self.op(span, Relay::Call, &operands, ty, &[("callee", callee)])))
    }

    /// A call of a function with values that are made.
    pub fn called(&mut self, callee: Made<'c>, arguments: Vec<Made<'c>>, span: Span) -> Outcome<Made<'c>> {
        match callee {
            Made::Global(name) => self.call(&name, &arguments, span),
            callee => self.apply(&callee, &arguments, span),
        }
    }

    fn apply(&mut self, callee: &Made<'c>, arguments: &[Made<'c>], span: Span) -> Outcome<Made<'c>> {
        let callee = self.value(callee, span);
        let mut operands = vec![callee];
        operands.extend(self.values(arguments, span));
        let given: Vec<Type> = operands[1..].iter().map(|v| v.r#type()).collect();
        let found = callee.r#type();
        let ty = match Self::function_of(found) {
            Some((parameters, result)) => {
                self.result_of("the function", (&parameters, result), None, &given, span)?
            }
            None if found == self.hole() => found,
            None => return Fault::new(span, format!("a value of type {} cannot be called", shown(found))),
        };
        Ok(Made::Value(self.op(span, Relay::Apply, &operands, ty, &[])))
    }

    fn result_of(
        &self,
        what: &str,
        (parameters, result): (&[Type<'c>], Type<'c>),
        own: Option<&[String]>,
        given: &[Type<'c>],
        span: Span,
    ) -> Outcome<Type<'c>> {
        if parameters.len() != given.len() {
            let message = format!("{what} takes {} arguments, found {}", parameters.len(), given.len());
            return Fault::new(span, message);
        }
        self.call_type(parameters, result, own, given).map_err(|()| {
            let list = |types: &[Type]| types.iter().map(|ty| shown(*ty)).collect::<Vec<_>>().join(", ");
            Fault::boxed(span, format!("{what} takes ({}), found ({})", list(parameters), list(given)))
        })
    }

    /// A function of the module.
    pub fn global(&self, name: &str, span: Span) -> Outcome<Rc<str>> {
        if self.functions.contains_key(name) {
            return Ok(name.into());
        }
        let mut known: Vec<&str> = self.functions.keys().map(String::as_str).collect();
        known.sort_unstable();
        let near = nearest(name, &known).map_or(String::new(), |n| format!("; did you mean @{n}?"));
        Fault::new(span, format!("there is no function @{name}{near}"))
    }

    /// A constructor or an operator as a value.
    pub fn word(&mut self, name: &str, span: Span) -> Outcome<Made<'c>> {
        if self.constructors.contains_key(name) {
            return self.constructor_value(name, span);
        }
        let Some(takes) = operators::arity(name) else {
            return Fault::new(span, self.unknown_word(name));
        };
        let types = vec![self.hole(); takes];
        self.eta(span, &types, |e, arguments| {
            let made = arguments.iter().copied().map(Made::Value).collect();
            e.operator(name, made, &[], span)
        })
    }

    /// What to say of a name that means nothing.
    pub fn unknown_word(&self, name: &str) -> String {
        let mut known: Vec<&str> = operators::names()
            .map(|name| -> &str { name })
            .chain(self.constructors.keys().map(String::as_str))
            .collect();
        known.sort_unstable();
        let near = nearest(name, &known).map_or(String::new(), |n| format!("; did you mean {n}?"));
        format!("there is no operator or constructor {name}{near}")
    }
}

/// Attributes that a call takes from the metadata section: TVM writes those of operators out.
fn no_section(arguments: &[Block]) -> Outcome<()> {
    match arguments.last().map(|last| &*last.result) {
        Some(Expr { kind: ExprKind::Meta(key, _), span }) if key.contains("attrs.") => Fault::new(
            *span,
            "attributes in the metadata section are not supported; write them out, as in axis=1",
        ),
        _ => Ok(()),
    }
}

/// What says of the attributes of a call of a function what they are; TVM's passes alone read them.
const TYPE_KEY: &str = "attrs_type_key";

fn no_attributes(attributes: &[Attribute], what: &str) -> Outcome<()> {
    match attributes.first().filter(|_| attributes.iter().all(|other| other.name.text != TYPE_KEY)) {
        Some(attribute) => Fault::new(attribute.span, format!("{what} takes no attributes; operators do")),
        None => Ok(()),
    }
}
