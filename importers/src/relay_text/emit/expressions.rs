//! Expressions and bindings.

use super::values::{Literal, Made};
use super::{Emitter, types::shown};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::*;
use fusion_dialects::relay::{Instance, Op as Relay, agree, has_hole};
use fusion_dialects::{
    Type, TypeParts, Value, ValueLike, int_attr, ref_type, tensor_type_to_mlir, type_parts,
};
use fusion_operators::{DType, TensorType};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl<'c> Emitter<'c, '_> {
    /// The bindings of a block, then its result.
    pub fn block(&mut self, block: &Block) -> Outcome<Made<'c>> {
        self.scopes.push(HashMap::new());
        let made = self.statements(block);
        self.scopes.pop();
        made
    }

    fn statements(&mut self, block: &Block) -> Outcome<Made<'c>> {
        for binding in &block.bindings {
            match binding {
                Binding::Let(name, ty, value) => {
                    let declared = ty.as_ref().map(|ty| self.ty(ty)).transpose()?;
                    let mut made = match &value.kind {
                        ExprKind::Function(function) => Made::Value(self.closure(function, Some(name))?),
                        _ => self.bound(value)?,
                    };
                    if let Some(declared) = declared {
                        made = self.declared(made, declared, value.span)?;
                    }
                    self.bind(&name.text, made);
                }
                Binding::Graph(name, value) => {
                    let made = self.bound(value)?;
                    self.bind(&name.text, made);
                }
                Binding::Moved => {}
                Binding::Free(name, _) => {
                    return Fault::new(
                        name.span,
                        "free_var declares what a program that is one expression is given; write it in front of that",
                    );
                }
                Binding::Effect(value) => {
                    self.expr(value)?;
                }
            }
        }
        self.expr(&block.result)
    }

    pub fn bind(&mut self, name: &str, made: Made<'c>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), made);
        }
    }

    /// What a variable is bound to: a name for a polymorphic function is polymorphic, too.
    pub fn bound(&mut self, value: &Expr) -> Outcome<Made<'c>> {
        match &value.kind {
            ExprKind::Local(name) | ExprKind::Graph(name) => self.variable(name, value.span),
            ExprKind::Function(function) => Ok(Made::Value(self.closure(function, None)?)),
            _ => self.expr(value),
        }
    }

    /// What a variable stands for.
    fn variable(&self, name: &str, span: Span) -> Outcome<Made<'c>> {
        self.lookup(name).map_or_else(|| Fault::new(span, self.unknown_variable(name)), Ok)
    }

    /// A use of a value: for a function with type variables of its own, inference chooses what they are.
    pub fn instance(&mut self, made: Made<'c>, span: Span) -> Made<'c> {
        let Made::Value(value) = made else { return made };
        if Self::function_of(value.r#type()).is_none() {
            return made;
        }
        let mut names = super::Names::default();
        names.collect(value.r#type());
        let outer: HashSet<&String> = self.type_scopes.iter().flat_map(HashMap::values).collect();
        let own: Vec<&str> =
            names.variables.iter().filter(|name| !outer.contains(name)).map(String::as_str).collect();
        if own.is_empty() {
            return made;
        }
        let ty = Instance::new(&own, &vec![self.hole(); own.len()]).apply(self.context, value.r#type());
        Made::Value(self.op(span, Relay::Instantiate, &[value], ty, &[]))
    }

    /// What an expression stands for, under a written type; what has that type stays what it is.
    fn declared(&mut self, made: Made<'c>, ty: Type<'c>, span: Span) -> Outcome<Made<'c>> {
        if ty == self.hole() || self.is_of(&made, ty) {
            return Ok(made);
        }
        let value = self.value(&made, span);
        Ok(Made::Value(self.ascribe(value, ty, span)?))
    }

    pub fn lookup(&self, name: &str) -> Option<Made<'c>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned()
    }

    /// What an expression stands for.
    pub fn expr(&mut self, expr: &Expr) -> Outcome<Made<'c>> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Local(name) | ExprKind::Graph(name) => {
                let made = self.variable(name, span)?;
                self.instance(made, span)
            }
            ExprKind::Global(name) => Made::Global(self.global(name, span)?),
            ExprKind::Word(name) => self.word(name, span)?,
            ExprKind::Literal(tensor) => Made::Literal(Literal::Scalar(tensor.clone())),
            ExprKind::Meta(key, place) => self.meta(key, *place, span)?,
            ExprKind::Tuple(parts) => {
                Made::Several(Rc::new(parts.iter().map(|part| self.block(part)).collect::<Outcome<_>>()?))
            }
            ExprKind::Block(block) => self.block(block)?,
            ExprKind::Infix(operands, operators) => self.infix(operands, operators)?,
            ExprKind::Applied(base, suffixes) => self.applied(base, suffixes, span)?,
            ExprKind::Function(function) => {
                let made = Made::Value(self.closure(function, None)?);
                self.instance(made, span)
            }
            ExprKind::If(parts) => self.conditional(parts, span)?,
            ExprKind::Match(value, clauses, partial) => self.matching(value, clauses, *partial, span)?,
            ExprKind::NewCell(value) => {
                let value = self.block_value(value)?;
                let ty = value.r#type();
                let ty = if has_hole(ty) { self.hole() } else { ref_type(ty) };
                Made::Value(self.op(span, Relay::RefNew, &[value], ty, &[]))
            }
            ExprKind::ReadCell(cell) => {
                let cell = self.block_value(cell)?;
                let ty = self.held(cell, span)?;
                Made::Value(self.op(span, Relay::RefRead, &[cell], ty, &[]))
            }
            ExprKind::WriteCell(parts) => {
                let cell = self.block(&parts[0])?;
                let value = self.block(&parts[1])?;
                let operands = self.values(&[cell, value], span);
                let held = self.held(operands[0], parts[0].result.span)?;
                if !agree(held, operands[1].r#type()) {
                    let message = format!(
                        "the cell holds values of type {}, this one has the type {}",
                        shown(held),
                        shown(operands[1].r#type())
                    );
                    return Fault::new(parts[1].result.span, message);
                }
                self.locate(span);
                self.at.op(Relay::RefWrite.name(), &operands, &[], &[]);
                Made::unit()
            }
        })
    }

    fn unknown_variable(&self, name: &str) -> String {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return format!("there is no variable %{name} here; define it with %{name} = ...; before this");
        }
        let known: Vec<&str> = self.scopes.iter().flat_map(HashMap::keys).map(String::as_str).collect();
        let near = crate::nearest::nearest(name, &known);
        format!(
            "there is no variable %{name} here{}",
            near.map_or(String::new(), |n| format!("; did you mean %{n}?"))
        )
    }

    /// The type of what a cell holds.
    fn held(&self, cell: Value<'c>, span: Span) -> Outcome<Type<'c>> {
        match type_parts(cell.r#type()) {
            TypeParts::Ref(value) => Ok(value),
            TypeParts::Hole => Ok(self.hole()),
            _ => Fault::new(
                span,
                format!("expected a cell, ref(...), found a value of type {}", shown(cell.r#type())),
            ),
        }
    }

    fn meta(&mut self, key: &str, place: usize, span: Span) -> Outcome<Made<'c>> {
        if key != "relay.Constant" {
            return Fault::new(
                span,
                format!("meta[{key}] is not supported; constants are, meta[relay.Constant][0]"),
            );
        }
        let Some(tensor) = self.metadata.constants.get(place) else {
            let count = self.metadata.constants.len();
            return Fault::new(
                span,
                format!("the metadata section has {count} constants, this is number {place}"),
            );
        };
        let (attr, ty) = *self.meta_attrs.entry(place).or_insert_with(|| {
            let attr = fusion_dialects::write_tensor(self.context, tensor, &format!("constant_{place}"));
            (attr, tensor_type_to_mlir(self.context, &tensor.tensor_type()))
        });
        Ok(Made::Literal(Literal::Meta(place, attr, ty)))
    }

    /// Groups `a + b * c`: each operator takes what stands before it once the next one binds no tighter.
    fn infix(&mut self, operands: &[Expr], operators: &[(Infix, Span)]) -> Outcome<Made<'c>> {
        let mut made: Vec<(Made<'c>, Span)> = Vec::new();
        let mut waiting: Vec<(Infix, Span)> = Vec::new();
        for (i, operand) in operands.iter().enumerate() {
            made.push((self.expr(operand)?, operand.span));
            let next = operators.get(i);
            while let Some((infix, sign)) = waiting.last().copied() {
                if next.is_some_and(|(next, _)| next.tightness > infix.tightness) {
                    break;
                }
                waiting.pop();
                let (Some((right, end)), Some((left, start))) = (made.pop(), made.pop()) else { break };
                let span = Span { end: end.end, ..start };
                let value = self.operator(infix.operator, vec![left, right], &[], sign)?;
                made.push((value, span));
            }
            waiting.extend(next.copied());
        }
        let last = made.pop().ok_or_else(|| Fault::boxed(Span::default(), "expected an expression"))?;
        Ok(last.0)
    }

    fn conditional(&mut self, parts: &[Block; 3], span: Span) -> Outcome<Made<'c>> {
        let condition = self.block_value(&parts[0])?;
        let boolean = tensor_type_to_mlir(self.context, &TensorType::fixed(&[], DType::Bool));
        if !agree(condition.r#type(), boolean) {
            let message =
                format!("a condition is a scalar of type bool, found {}", shown(condition.r#type()));
            return Fault::new(parts[0].result.span, message);
        }
        let (then, first) = self.region(span, &[], |e, _| e.block_value(&parts[1]))?;
        let (other, second) = self.region(span, &[], |e, _| e.block_value(&parts[2]))?;
        let ty = self.joined(&[first, second], span, "the branches of an if")?;
        self.locate(span);
        let op = self.at.op_with_regions(Relay::If.name(), &[condition], &[ty], &[], vec![then, other]);
        Ok(super::apply::first_result(op))
    }

    /// The type of what is one of several values.
    pub fn joined(&self, types: &[Type<'c>], span: Span, what: &str) -> Outcome<Type<'c>> {
        let known = types.iter().copied().find(|ty| !has_hole(*ty));
        let Some(known) = known else { return Ok(self.hole()) };
        if let Some(other) = types.iter().find(|ty| !agree(**ty, known)) {
            let message = format!("{what} must have one type, found {} and {}", shown(known), shown(*other));
            return Fault::new(span, message);
        }
        let same = types.iter().all(|ty| *ty == known || has_hole(*ty));
        Ok(if same { known } else { self.hole() })
    }

    /// An element of a tuple.
    pub fn project(&mut self, made: &Made<'c>, index: u64, span: Span) -> Outcome<Made<'c>> {
        let count = match made {
            Made::Several(parts) => match parts.get(index as usize) {
                Some(part) => return Ok(part.clone()),
                None => parts.len(),
            },
            _ => {
                let tuple = self.value(made, span);
                let ty = match type_parts(tuple.r#type()) {
                    TypeParts::Hole => Ok(self.hole()),
                    TypeParts::Tuple(elements) => elements.get(index as usize).copied().ok_or(elements.len()),
                    _ => {
                        let message =
                            format!("expected a tuple, found a value of type {}", shown(tuple.r#type()));
                        return Fault::new(span, message);
                    }
                };
                match ty {
                    Ok(ty) => {
                        let index = int_attr(self.context, index as i64);
                        return Ok(Made::Value(self.op(span, Relay::Get, &[tuple], ty, &[("index", index)])));
                    }
                    Err(count) => count,
                }
            }
        };
        Fault::new(span, format!("the tuple has {count} elements, so there is no element {index}"))
    }
}
