//! Expressions, bindings and patterns.

use super::{Node, Reader, Rule};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::*;
use fusion_operators::Tensor;
use std::rc::Rc;

impl Reader {
    /// The parts of `signature { block }`.
    pub(super) fn function(&self, parts: Vec<Node>, span: Span) -> Outcome<Function> {
        let (mut type_parameters, mut parameters, mut result, mut body) =
            (Vec::new(), Vec::new(), None, None);
        for part in parts {
            match part.as_rule() {
                Rule::signature => {
                    for part in part.into_inner() {
                        match part.as_rule() {
                            Rule::type_parameters => type_parameters = self.names(part),
                            Rule::parameters => parameters = self.parameters(part)?,
                            _ => result = Some(self.ty(part)?),
                        }
                    }
                }
                _ => body = Some(self.block(part)?),
            }
        }
        let body = body.ok_or_else(|| Fault::boxed(span, "a function has a body"))?;
        Ok(Function { type_parameters, parameters, result, body, span })
    }

    fn parameters(&self, node: Node) -> Outcome<Vec<(Name, Option<Type>)>> {
        let mut parameters = Vec::new();
        // Attributes of functions (Primitive, Compiler, ...) tell TVM's passes what to do; they mean nothing here.
        for parameter in node.into_inner().filter(|n| n.as_rule() == Rule::parameter) {
            // As do those of a parameter, the device it lies on.
            let mut inner = parameter.into_inner().filter(|n| n.as_rule() != Rule::parameter_attributes);
            let Some(name) = inner.next() else { continue };
            parameters.push((self.signed_name(&name), inner.next().map(|ty| self.ty(ty)).transpose()?));
        }
        Ok(parameters)
    }

    pub(super) fn block(&self, node: Node) -> Outcome<Block> {
        let span = self.span(&node);
        let mut bindings: Vec<Binding> = Vec::new();
        for statement in node.into_inner() {
            bindings.push(match statement.as_rule() {
                Rule::let_binding => self.let_binding(statement)?,
                Rule::graph_binding => {
                    let mut inner = statement.into_inner();
                    let (Some(number), Some(value)) = (inner.next(), inner.next()) else { continue };
                    Binding::Graph(self.signed_name(&number), self.expression(value)?)
                }
                Rule::free_binding => {
                    let mut inner = statement.into_inner().filter(|n| n.as_rule() != Rule::kw_free_var);
                    let Some(name) = inner.next() else { continue };
                    let ty = inner.next().map(|ty| self.ty(ty)).transpose()?;
                    Binding::Free(self.signed_name(&name), ty)
                }
                _ => Binding::Effect(self.expression(statement)?),
            });
        }
        match bindings.pop() {
            Some(Binding::Effect(result)) => Ok(Block { id: 0, bindings, result: Box::new(result) }),
            Some(Binding::Let(name, ..) | Binding::Graph(name, _) | Binding::Free(name, _)) => Fault::new(
                name.span,
                "this binding is the last of its block, so its variable is of no use; write ; and an expression behind it",
            ),
            Some(Binding::Moved) | None => Fault::new(span, "expected an expression"),
        }
    }

    fn let_binding(&self, node: Node) -> Outcome<Binding> {
        let span = self.span(&node);
        let (mut name, mut ty, mut value) = (None, None, None);
        for part in node.into_inner() {
            match part.as_rule() {
                Rule::local => name = Some(self.signed_name(&part)),
                Rule::r#type => ty = Some(self.ty(part)?),
                Rule::expression => value = Some(self.expression(part)?),
                _ => {}
            }
        }
        match (name, value) {
            (Some(name), Some(value)) => Ok(Binding::Let(name, ty, value)),
            _ => Fault::new(span, "a binding has a name and a value"),
        }
    }

    pub(super) fn expression(&self, node: Node) -> Outcome<Expr> {
        let span = self.span(&node);
        let (mut operands, mut operators) = (Vec::new(), Vec::new());
        for part in node.into_inner() {
            if part.as_rule() == Rule::operand {
                operands.push(self.operand(part)?);
            } else if let Some((_, infix)) = INFIX.iter().find(|(sign, _)| *sign == part.as_str().trim()) {
                operators.push((*infix, self.span(&part)));
            }
        }
        match operands.pop() {
            Some(only) if operands.is_empty() => Ok(only),
            Some(last) => {
                operands.push(last);
                Ok(Expr { kind: ExprKind::Infix(operands, operators), span })
            }
            None => Fault::new(span, "expected an expression"),
        }
    }

    fn operand(&self, node: Node) -> Outcome<Expr> {
        let span = self.span(&node);
        let (signs, rest): (Vec<Node>, Vec<Node>) =
            node.into_inner().partition(|n| n.as_rule() == Rule::minus);
        let mut inner = rest.into_iter();
        let first = inner.next().ok_or_else(|| Fault::boxed(span, "expected an expression"))?;
        let base = self.atom(first)?;
        let mut suffixes = Vec::new();
        for part in inner {
            suffixes.push(match part.as_rule() {
                Rule::arguments => self.arguments(part)?,
                _ => self.projection(&part)?,
            });
        }
        let mut expr = applied(base, suffixes, span);
        for sign in signs.iter().rev() {
            let span = Span { end: span.end, ..self.span(sign) };
            let negative = Expr { kind: ExprKind::Word("negative".to_owned()), span };
            let operand = Block { id: 0, bindings: Vec::new(), result: Box::new(expr) };
            expr = applied(negative, vec![Suffix::Call(vec![operand], Vec::new())], span);
        }
        Ok(expr)
    }

    fn projection(&self, node: &Node) -> Outcome<Suffix> {
        let span = self.span(node);
        let index = node.as_str()[1..].trim().parse();
        let index = index.map_err(|_| Fault::boxed(span, "this is no place in a tuple"))?;
        Ok(Suffix::Project(index, span))
    }

    fn arguments(&self, node: Node) -> Outcome<Suffix> {
        let (mut arguments, mut attributes): (Vec<Block>, Vec<Attribute>) = (Vec::new(), Vec::new());
        for part in node.into_inner() {
            let span = self.span(&part);
            if part.as_rule() == Rule::block {
                arguments.push(self.block(part)?);
                continue;
            }
            let mut inner = part.into_inner();
            let (Some(name), Some(value)) = (inner.next(), inner.next()) else { continue };
            let name = self.name(&name);
            if attributes.iter().any(|other| other.name.text == name.text) {
                return Fault::new(name.span, format!("the attribute {} is given twice", name.text));
            }
            attributes.push(Attribute { name, value: self.attribute_value(value)?, span });
        }
        Ok(Suffix::Call(arguments, attributes))
    }

    fn atom(&self, node: Node) -> Outcome<Expr> {
        let span = self.span(&node);
        let kind = match node.as_rule() {
            Rule::local => ExprKind::Local(node.as_str()[1..].to_owned()),
            Rule::graph => ExprKind::Graph(node.as_str()[1..].to_owned()),
            Rule::global => ExprKind::Global(self.symbol(&node.as_str()[1..])),
            Rule::operator => ExprKind::Word(self.symbol(node.as_str())),
            Rule::number => ExprKind::Literal(Rc::new(self.scalar(&node)?)),
            Rule::boolean => {
                let value = Tensor::from_ints(
                    fusion_operators::DType::Bool,
                    &[],
                    &[i128::from(node.as_str() == "True")],
                );
                ExprKind::Literal(Rc::new(value.map_err(|e| Fault::boxed(span, e.to_string()))?))
            }
            Rule::meta => {
                let mut inner = node.into_inner();
                let (Some(key), Some(index)) = (inner.next(), inner.next()) else {
                    return Fault::new(span, "expected meta[relay.Constant][0]");
                };
                let index = index.as_str().parse();
                ExprKind::Meta(
                    key.as_str().to_owned(),
                    index.map_err(|_| Fault::boxed(span, "this place is out of range"))?,
                )
            }
            Rule::parens => {
                let (mut blocks, mut is_tuple) = (Vec::new(), false);
                for part in node.into_inner() {
                    match part.as_rule() {
                        Rule::trailing_comma => is_tuple = true,
                        _ => blocks.push(self.block(part)?),
                    }
                }
                match blocks.pop() {
                    Some(only) if blocks.is_empty() && !is_tuple => ExprKind::Block(only),
                    last => {
                        blocks.extend(last);
                        ExprKind::Tuple(blocks)
                    }
                }
            }
            Rule::function => {
                let parts = node.into_inner().filter(|n| n.as_rule() != Rule::kw_fn).collect();
                ExprKind::Function(Rc::new(self.function(parts, span)?))
            }
            Rule::matching => self.matching(node)?,
            _ => self.with_blocks(node)?,
        };
        Ok(Expr { kind, span })
    }

    /// The forms whose parts are blocks.
    fn with_blocks(&self, node: Node) -> Outcome<ExprKind> {
        let (span, rule) = (self.span(&node), node.as_rule());
        let blocks = node.into_inner().filter(|n| n.as_rule() == Rule::block).map(|n| self.block(n));
        let mut blocks = blocks.collect::<Outcome<Vec<_>>>()?.into_iter();
        let kind = match (rule, blocks.next(), blocks.next(), blocks.next()) {
            (Rule::braces, Some(only), None, None) => ExprKind::Block(only),
            (Rule::new_cell, Some(value), None, None) => ExprKind::NewCell(Box::new(value)),
            (Rule::read_cell, Some(cell), None, None) => ExprKind::ReadCell(Box::new(cell)),
            (Rule::write_cell, Some(cell), Some(value), None) => ExprKind::WriteCell(Box::new([cell, value])),
            (Rule::conditional, Some(condition), Some(then), Some(other)) => {
                ExprKind::If(Box::new([condition, then, other]))
            }
            _ => return Fault::new(span, "expected an expression"),
        };
        Ok(kind)
    }

    fn matching(&self, node: Node) -> Outcome<ExprKind> {
        let span = self.span(&node);
        let (mut value, mut clauses, mut partial) = (None, Vec::new(), false);
        for part in node.into_inner() {
            let span = self.span(&part);
            match part.as_rule() {
                Rule::partial => partial = true,
                Rule::scrutinee => {
                    let mut inner = part.into_inner();
                    let Some(first) = inner.next() else { continue };
                    let base = self.atom(first)?;
                    let suffixes = inner.map(|p| self.projection(&p)).collect::<Outcome<_>>()?;
                    value = Some(applied(base, suffixes, span));
                }
                Rule::clause => {
                    let mut inner = part.into_inner();
                    let (Some(pattern), Some(body)) = (inner.next(), inner.next()) else { continue };
                    clauses.push(Clause { pattern: self.pattern(pattern)?, body: self.block(body)? });
                }
                _ => {}
            }
        }
        let value = value.ok_or_else(|| Fault::boxed(span, "match takes a value"))?;
        if clauses.is_empty() {
            return Fault::new(span, "match needs a clause, PATTERN => EXPRESSION");
        }
        Ok(ExprKind::Match(Box::new(value), clauses, partial))
    }

    fn pattern(&self, node: Node) -> Outcome<Pattern> {
        let span = self.span(&node);
        let inner = node.into_inner().next().ok_or_else(|| Fault::boxed(span, "expected a pattern"))?;
        let kind = match inner.as_rule() {
            Rule::wildcard => PatternKind::Wildcard,
            Rule::binder => {
                let mut inner = inner.into_inner();
                let Some(name) = inner.next() else { return Fault::new(span, "expected a variable") };
                let ty = inner.next().map(|ty| self.ty(ty)).transpose()?;
                PatternKind::Bind(self.signed_name(&name).text, ty)
            }
            Rule::tuple_pattern => {
                let list = inner.into_inner().next();
                PatternKind::Tuple(list.map(|list| self.patterns(list)).transpose()?.unwrap_or_default())
            }
            _ => {
                let mut inner = inner.into_inner();
                let Some(name) = inner.next() else { return Fault::new(span, "expected a constructor") };
                let fields = inner.next().map(|list| self.patterns(list)).transpose()?.unwrap_or_default();
                PatternKind::Constructor(self.symbol(name.as_str()), fields)
            }
        };
        Ok(Pattern { kind, span })
    }

    fn patterns(&self, list: Node) -> Outcome<Vec<Pattern>> {
        list.into_inner().map(|pattern| self.pattern(pattern)).collect()
    }
}

fn applied(base: Expr, suffixes: Vec<Suffix>, span: Span) -> Expr {
    if suffixes.is_empty() {
        return base;
    }
    Expr { kind: ExprKind::Applied(Box::new(base), suffixes), span }
}
