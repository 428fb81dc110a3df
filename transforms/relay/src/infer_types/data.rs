//! Data types: construction, and patterns, which say what the parts of a value are.

use super::functions::{Inference, Place};
use super::nodes::{Form, Role, Term};
use super::solver::Failure;
use fusion_dialects::relay::Pattern;
use fusion_dialects::{Op, OpExt, PassError, Type, arguments, array_elements, symbol_path};
use std::rc::Rc;

/// A constructor: how many parameters its data type has, and the types of its fields.
type Declared<'c> = (&'c str, Vec<&'c str>, Vec<Type<'c>>);

impl<'c> Inference<'c> {
    fn constructor(
        &self,
        op: Op<'c>,
        number: usize,
        data: &str,
        name: &str,
    ) -> Result<Declared<'c>, Failure<'c>> {
        let fail = |why: String| PassError::at(op, format!("violates constraint C{number}: {why}"));
        let Some(declared) = self.data.get(data) else {
            return Err(fail(format!("the module declares no data type @{data}")));
        };
        match declared.constructor(name) {
            Some((_, found)) => Ok((declared.name, declared.parameters.clone(), found.fields.clone())),
            None => {
                let known: Vec<_> = declared.constructors.iter().map(|c| c.name).collect();
                let known = known.join(", ");
                Err(fail(format!("the data type @{data} has no constructor @{name}; it has {known}")))
            }
        }
    }

    /// `relay.construct`: operands flow into the fields.
    pub fn construct(&mut self, op: Op<'c>, result: Term) -> Result<(), Failure<'c>> {
        let path = op.attr("constructor").and_then(symbol_path).unwrap_or_default();
        let [data, name] = path[..] else {
            let message = "violates constraint C1: names no constructor; write @Type::@Constructor";
            return Err(PassError::at(op, message));
        };
        let (data, parameters, fields) = self.constructor(op, 1, data, name)?;
        let operands = self.operands(op);
        if operands.len() != fields.len() {
            let (takes, found) = (fields.len(), operands.len());
            let message = format!("violates constraint C2: @{name} takes {takes} fields, found {found}");
            return Err(PassError::at(op, message));
        }
        let arguments: Rc<[Term]> = parameters.iter().map(|_| self.solver.variable()).collect();
        for (i, (operand, field)) in operands.into_iter().zip(fields).enumerate() {
            let field = self.solver.field(field, &parameters, &arguments);
            self.solver.flow(operand, field, op, Role::Field(i))?;
        }
        let made = self.solver.term(Form::Adt(data, arguments));
        self.solver.define(made, result, op, Role::Result(0))
    }

    /// The patterns of `relay.match`: what they bind flows into the clauses' arguments.
    pub fn patterns(&mut self, op: Op<'c>) -> Result<(), Failure<'c>> {
        let value = self.operand(op, 0);
        let patterns = op.attr("patterns").map(array_elements).unwrap_or_default();
        for (clause, attr) in patterns.into_iter().enumerate() {
            let wrong = |why| PassError::at(op, format!("violates constraint C2: {why}"));
            let pattern = Pattern::read(attr).map_err(wrong)?;
            let mut bound = Vec::new();
            self.pattern(op, clause, &pattern, value, &mut bound)?;
            let taken = op.body(clause).map(arguments).unwrap_or_default();
            if taken.len() != bound.len() {
                let (takes, binds) = (taken.len(), bound.len());
                let message = format!(
                    "violates constraint C3: clause {clause} takes {takes} values, its pattern binds {binds}"
                );
                return Err(PassError::at(op, message));
            }
            for (i, (value, bound)) in taken.into_iter().zip(bound).enumerate() {
                let term = self.value(value, op, Place::Argument(i));
                self.solver.define(bound, term, op, Role::Bound(clause, i))?;
            }
        }
        Ok(())
    }

    // Calls itself as deep as a pattern is nested, which `Pattern::read` limits.
    fn pattern(
        &mut self,
        op: Op<'c>,
        clause: usize,
        pattern: &Pattern,
        value: Term,
        bound: &mut Vec<Term>,
    ) -> Result<(), Failure<'c>> {
        match pattern {
            Pattern::Wildcard => Ok(()),
            Pattern::Bind(_) => {
                bound.push(value);
                Ok(())
            }
            Pattern::Constructor { data, name, fields: parts } => {
                let (data, parameters, fields) = self.constructor(op, 2, data, name)?;
                if parts.len() != fields.len() {
                    let (has, takes) = (parts.len(), fields.len());
                    let message = format!(
                        "violates constraint C2: the pattern of @{data}::@{name} has {has} fields, the constructor {takes}"
                    );
                    return Err(PassError::at(op, message));
                }
                if self.solver.form(value).is_none() {
                    let arguments = parameters.iter().map(|_| self.solver.variable()).collect();
                    let made = self.solver.term(Form::Adt(data, arguments));
                    self.solver.equal(value, made, op, Role::Clause(clause))?;
                }
                let arguments = match self.solver.form(value) {
                    Some(Form::Adt(of, arguments)) if *of == data && arguments.len() == parameters.len() => {
                        arguments.clone()
                    }
                    _ => {
                        let found = self.solver.shown(value);
                        let message = format!(
                            "violates constraint C2: the constructor @{data}::@{name} cannot make a value of type {found}"
                        );
                        return Err(PassError::at(op, message));
                    }
                };
                for (part, field) in parts.iter().zip(fields) {
                    let field = self.solver.field(field, &parameters, &arguments);
                    self.pattern(op, clause, part, field, bound)?;
                }
                Ok(())
            }
            Pattern::Tuple(parts) => {
                if self.solver.form(value).is_none() {
                    let elements = parts.iter().map(|_| self.solver.variable()).collect();
                    let made = self.solver.term(Form::Tuple(elements));
                    self.solver.equal(value, made, op, Role::Clause(clause))?;
                }
                let elements = match self.solver.form(value) {
                    Some(Form::Tuple(elements)) if elements.len() == parts.len() => elements.clone(),
                    _ => {
                        let (found, count) = (self.solver.shown(value), parts.len());
                        let message =
                            format!("violates constraint C2: a pattern of {count}-tuples cannot fit {found}");
                        return Err(PassError::at(op, message));
                    }
                };
                for (part, element) in parts.iter().zip(elements.iter()) {
                    self.pattern(op, clause, part, *element, bound)?;
                }
                Ok(())
            }
        }
    }
}
