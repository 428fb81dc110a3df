//! Functions of the module, and closures.
//!
//! ```text
//!   let %f = fn (%x) { ... %f(%y) ... };      %f = relay.fn attributes {relay.recursive} { ^bb0(%self, %x): ... }
//! ```

use super::{Emitter, NAME, types::shown};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::{Definition, Function, Name};
use fusion_dialects::relay::{Op as Relay, RECURSIVE, TYPE_PARAMS, agree};
use fusion_dialects::{
    Attribute, Op, Type, Value, ValueLike, array_attr, dict_attr, erase_argument, function_type, str_attr,
    texts_attr, type_attr, unit_attr, unused,
};
use std::collections::HashMap;

impl<'c> Emitter<'c, '_> {
    /// A function of the module.
    pub fn definition(&mut self, definition: &Definition) -> Outcome<Op<'c>> {
        let (function, name) = (&*definition.function, &definition.name);
        let signature = self.functions[&name.text].clone();
        self.enter_function(function)?;
        self.locate(name.span);
        let place = self.at;
        let mut outcome = None;
        let region = place.region(&signature.parameters, |inner, arguments| {
            let outer = std::mem::replace(&mut self.at, inner);
            let value = self.body(function, arguments, signature.result);
            outcome = Some(value.map(|value| {
                self.locate(function.body.result.span);
                self.at.op("func.return", &[value], &[], &[]);
                value.r#type()
            }));
            self.at = outer;
        });
        self.type_scopes.clear();
        let result = outcome.unwrap_or_else(|| Fault::new(name.span, "nothing was built here"))?;
        if let Some(span) = self.unwritten.take() {
            return Fault::new(span, "this reads memory to which nothing has been written");
        }
        if let Some(known) = self.functions.get_mut(&name.text) {
            known.result = result;
        }
        let context = self.context;
        let names = function
            .parameters
            .iter()
            .map(|(name, _)| dict_attr(context, &[(NAME, str_attr(context, &name.text))]));
        let names: Vec<Attribute> = names.collect();
        let mut attrs = vec![
            ("sym_name", str_attr(context, &name.text)),
            ("function_type", type_attr(function_type(context, &signature.parameters, &[result]))),
        ];
        if !names.is_empty() {
            attrs.push(("arg_attrs", array_attr(context, &names)));
        }
        if !signature.type_parameters.is_empty() {
            let texts: Vec<&str> = signature.type_parameters.iter().map(String::as_str).collect();
            attrs.push((TYPE_PARAMS, texts_attr(context, &texts)));
        }
        self.locate(name.span);
        Ok(self.at.op_with_regions("func.func", &[], &[], &attrs, vec![region]))
    }

    /// Begins a function of the module: nothing of another one is known in it.
    pub fn enter_function(&mut self, function: &Function) -> Outcome<Vec<String>> {
        self.type_names.clear();
        self.type_scopes.clear();
        self.scopes.clear();
        self.built.clear();
        self.memories.clear();
        self.bind_type_parameters(&function.type_parameters)
    }

    /// The body of a function over its arguments; a declared result holds for its value.
    fn body(&mut self, function: &Function, arguments: &[Value<'c>], result: Type<'c>) -> Outcome<Value<'c>> {
        let mut scope = HashMap::new();
        for ((name, _), argument) in function.parameters.iter().zip(arguments) {
            if scope.insert(name.text.clone(), super::Made::Value(*argument)).is_some() {
                return Fault::new(name.span, format!("the parameter %{} is named twice", name.text));
            }
        }
        self.scopes.push(scope);
        let value = self.block_value(&function.body);
        self.scopes.pop();
        let value = value?;
        if result == self.hole() {
            return Ok(value);
        }
        if !agree(value.r#type(), result) {
            let message = format!(
                "the function is declared to give {}, its body gives {}",
                shown(result),
                shown(value.r#type())
            );
            return Fault::new(function.body.result.span, message);
        }
        self.ascribe(value, result, function.body.result.span)
    }

    /// A closure; `name` is the variable it is bound to, which its body may use.
    pub fn closure(&mut self, function: &Function, name: Option<&Name>) -> Outcome<Value<'c>> {
        self.bind_type_parameters(&function.type_parameters)?;
        let value = self.closure_in_scope(function, name);
        self.type_scopes.pop();
        value
    }

    fn closure_in_scope(&mut self, function: &Function, name: Option<&Name>) -> Outcome<Value<'c>> {
        let context = self.context;
        let declared = self.ty_or_hole(function.result.as_ref())?;
        let parameters = function.parameters.iter().map(|(_, ty)| self.ty_or_hole(ty.as_ref()));
        let parameters = parameters.collect::<Outcome<Vec<_>>>()?;
        let own = function_type(context, &parameters, &[declared]);
        let types: Vec<Type> = name.map(|_| own).into_iter().chain(parameters.iter().copied()).collect();
        let mut recursive = false;
        let (region, result) = self.region(function.span, &types, |e, arguments| {
            let mut arguments = arguments;
            let mut this = None;
            if let (Some(name), [first, rest @ ..]) = (name, arguments) {
                e.scopes.push(HashMap::from([(name.text.clone(), super::Made::Value(*first))]));
                (this, arguments) = (Some(*first), rest);
            }
            let value = e.body(function, arguments, declared);
            if let Some(this) = this {
                e.scopes.pop();
                recursive = !unused(this);
                if !recursive && value.as_ref().is_ok_and(|value| *value != this) {
                    erase_argument(this);
                } else {
                    recursive = true;
                }
            }
            value
        })?;
        self.locate(function.span);
        let ty = function_type(context, &parameters, &[result]);
        let attrs: &[_] = if recursive { &[(RECURSIVE, unit_attr(context))] } else { &[] };
        let op = self.at.op_with_regions(Relay::Fn.name(), &[], &[ty], attrs, vec![region]);
        match super::apply::first_result(op) {
            super::Made::Value(value) => Ok(value),
            _ => Fault::new(function.span, "nothing was built here"),
        }
    }
}
