//! Matches, and constructors as values.

use super::Emitter;
use super::values::Made;
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::{self, Clause, Expr, PatternKind, Span};
use fusion_dialects::relay::{Instance, Op as Relay, PARTIAL, Pattern, PatternError, has_hole};
use fusion_dialects::{
    Type, TypeParts, Value, ValueLike, adt_type, array_attr, function_type, nested_symbol_attr, type_parts,
    unit_attr, var_type,
};
use std::collections::{HashMap, HashSet};

impl<'c> Emitter<'c, '_> {
    /// `match (value) { clauses }`.
    pub fn matching(
        &mut self,
        value: &Expr,
        clauses: &[Clause],
        partial: bool,
        span: Span,
    ) -> Outcome<Made<'c>> {
        let made = self.expr(value)?;
        let matched = self.value(&made, value.span);
        let (mut patterns, mut regions, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for clause in clauses {
            let mut names = HashSet::new();
            let pattern = self.pattern(&clause.pattern, &mut names)?;
            let fields = |data: &str, name: &str, ty: Type<'c>| match self.data_types.get(data) {
                Some(data) => data.fields_in(name, ty),
                None => Err(PatternError(format!("there is no data type {data}"))),
            };
            let bound = pattern.bound_types(matched.r#type(), &fields);
            let bound = bound.map_err(|error| Fault::boxed(clause.pattern.span, error.to_string()))?;
            let (region, ty) = self
                .region(clause.pattern.span, &bound, |e, arguments| e.clause(clause, &pattern, arguments))?;
            patterns.push(pattern.attr(self.context));
            regions.push(region);
            types.push(ty);
        }
        let ty = self.joined(&types, span, "the clauses of a match")?;
        let mut attrs = vec![("patterns", array_attr(self.context, &patterns))];
        if partial {
            attrs.push((PARTIAL, unit_attr(self.context)));
        }
        self.locate(span);
        let op = self.at.op_with_regions(Relay::Match.name(), &[matched], &[ty], &attrs, regions);
        Ok(super::apply::first_result(op))
    }

    /// The body of a clause, its pattern's variables bound.
    fn clause(&mut self, clause: &Clause, pattern: &Pattern, arguments: &[Value<'c>]) -> Outcome<Value<'c>> {
        let mut scope = HashMap::new();
        for (name, argument) in pattern.names().into_iter().zip(arguments) {
            scope.insert(name.to_owned(), Made::Value(*argument));
        }
        self.scopes.push(scope);
        let value = self.annotate(&clause.pattern).and_then(|()| self.block_value(&clause.body));
        self.scopes.pop();
        value
    }

    /// Puts the written types of a pattern's variables to use.
    fn annotate(&mut self, pattern: &syntax::Pattern) -> Outcome<()> {
        match &pattern.kind {
            PatternKind::Bind(name, Some(ty)) => {
                let ty = self.ty(ty)?;
                if let Some(Made::Value(value)) = self.lookup(name) {
                    let value = self.ascribe(value, ty, pattern.span)?;
                    self.bind(name, Made::Value(value));
                }
                Ok(())
            }
            PatternKind::Constructor(_, parts) | PatternKind::Tuple(parts) => {
                parts.iter().try_for_each(|part| self.annotate(part))
            }
            PatternKind::Bind(_, None) | PatternKind::Wildcard => Ok(()),
        }
    }

    fn pattern<'s>(&self, pattern: &'s syntax::Pattern, names: &mut HashSet<&'s str>) -> Outcome<Pattern> {
        let span = pattern.span;
        Ok(match &pattern.kind {
            PatternKind::Wildcard => Pattern::Wildcard,
            // `%_` is a variable that nothing can need; its name would read as the pattern that binds nothing.
            PatternKind::Bind(name, None) if name == "_" => Pattern::Wildcard,
            PatternKind::Bind(name, _) => {
                if !names.insert(name) {
                    return Fault::new(span, format!("the pattern binds %{name} twice"));
                }
                Pattern::Bind(name.clone())
            }
            PatternKind::Tuple(parts) => Pattern::Tuple(self.patterns(parts, names)?),
            PatternKind::Constructor(name, parts) => {
                let Some(data) = self.constructors.get(name) else {
                    return Fault::new(
                        span,
                        format!("there is no constructor {name}; to bind a variable, write %{name}"),
                    );
                };
                let takes = self.fields(data, name).len();
                if parts.len() != takes {
                    let message =
                        format!("the constructor {name} has {takes} fields, its pattern {}", parts.len());
                    return Fault::new(span, message);
                }
                Pattern::Constructor {
                    data: data.clone(),
                    name: name.clone(),
                    fields: self.patterns(parts, names)?,
                }
            }
        })
    }

    fn patterns<'s>(
        &self,
        parts: &'s [syntax::Pattern],
        names: &mut HashSet<&'s str>,
    ) -> Outcome<Vec<Pattern>> {
        parts.iter().map(|part| self.pattern(part, names)).collect()
    }

    /// The declared types of a constructor's fields.
    fn fields(&self, data: &str, constructor: &str) -> &[Type<'c>] {
        let found = self.data_types.get(data).and_then(|data| data.constructor(constructor));
        found.map_or(&[], |(_, constructor)| &constructor.fields)
    }

    /// A value of a data type.
    pub fn construct(&mut self, name: &str, given: &[Made<'c>], span: Span) -> Outcome<Made<'c>> {
        let Some(data) = self.constructors.get(name).cloned() else {
            return Fault::new(span, format!("there is no constructor {name}"));
        };
        let fields = self.fields(&data, name).to_vec();
        if fields.len() != given.len() {
            let message =
                format!("the constructor {name} takes {} fields, found {}", fields.len(), given.len());
            return Fault::new(span, message);
        }
        let operands = self.values(given, span);
        let types: Vec<Type> = operands.iter().map(|v| v.r#type()).collect();
        let mut instance = Instance::default();
        for (i, (field, ty)) in fields.iter().zip(&types).enumerate() {
            if !instance.matches(*field, *ty) {
                let (field, ty) = (super::types::shown(*field), super::types::shown(*ty));
                return Fault::new(
                    span,
                    format!("field {i} of the constructor {name} is {field}, found {ty}"),
                );
            }
        }
        let parameters = &self.data_types[&data].parameters;
        let arguments =
            parameters.iter().map(|p| instance.types.get(*p).copied().filter(|ty| !has_hole(*ty)));
        let ty = match arguments.collect::<Option<Vec<Type>>>() {
            Some(arguments) => adt_type(self.context, &data, &arguments),
            None => self.hole(),
        };
        let symbol = nested_symbol_attr(self.context, &data, name);
        Ok(Made::Value(self.op(span, Relay::Construct, &operands, ty, &[("constructor", symbol)])))
    }

    /// A constructor as a function.
    pub fn constructor_value(&mut self, name: &str, span: Span) -> Outcome<Made<'c>> {
        let Some(data) = self.constructors.get(name).cloned() else {
            return Fault::new(span, format!("there is no constructor {name}"));
        };
        let fields = self.fields(&data, name).to_vec();
        if fields.is_empty() {
            return self.construct(name, &[], span);
        }
        let parameters: Vec<String> =
            self.data_types[&data].parameters.iter().map(|p| (*p).to_owned()).collect();
        let written: Vec<_> = parameters.iter().map(|p| syntax::Name { text: p.clone(), span }).collect();
        let unique = self.bind_type_parameters(&written)?;
        self.type_scopes.pop();
        let variables: Vec<Type> = unique.iter().map(|name| var_type(self.context, name)).collect();
        let names: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let instance = Instance::new(&names, &variables);
        let types: Vec<Type> = fields.iter().map(|field| instance.apply(self.context, *field)).collect();
        let function = self.eta(span, &types, |e, arguments| {
            let made: Vec<Made> = arguments.iter().copied().map(Made::Value).collect();
            e.construct(name, &made, span)
        })?;
        Ok(self.instance(function, span))
    }

    /// A closure that passes its arguments on.
    pub fn eta(
        &mut self,
        span: Span,
        types: &[Type<'c>],
        fill: impl FnOnce(&mut Self, &[Value<'c>]) -> Outcome<Made<'c>>,
    ) -> Outcome<Made<'c>> {
        let (region, result) = self.region(span, types, |e, arguments| {
            let made = fill(e, arguments)?;
            Ok(e.value(&made, span))
        })?;
        self.locate(span);
        let ty = function_type(self.context, types, &[result]);
        let op = self.at.op_with_regions(Relay::Fn.name(), &[], &[ty], &[], vec![region]);
        Ok(super::apply::first_result(op))
    }

    /// The inputs and the result of a function type.
    pub fn function_of(ty: Type<'c>) -> Option<(Vec<Type<'c>>, Type<'c>)> {
        match type_parts(ty) {
            TypeParts::Function(inputs, results) => Some((inputs, *results.first()?)),
            _ => None,
        }
    }
}
