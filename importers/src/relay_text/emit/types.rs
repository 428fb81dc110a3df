//! Written types, and what of a polymorphic signature is known at a call.

use super::{Emitter, Signature};
use crate::relay_text::elements::{element_type, is_vector};
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::syntax::{self, Name, Span};
use fusion_dialects::relay::{Instance, Op as Relay, agree, has_hole};
use fusion_dialects::{
    Type, TypeParts, Value, ValueLike, adt_type, function_type, ref_type, tensor_type_to_mlir, tuple_type,
    type_parts, var_type,
};
use fusion_operators::{Dim, TensorType};
use std::collections::{HashMap, HashSet};

impl<'c> Emitter<'c, '_> {
    /// A written type, or the unknown one.
    pub fn ty_or_hole(&self, ty: Option<&syntax::Type>) -> Outcome<Type<'c>> {
        ty.map_or(Ok(self.hole()), |ty| self.ty(ty))
    }

    /// A written type.
    pub fn ty(&self, ty: &syntax::Type) -> Outcome<Type<'c>> {
        let all = |types: &[syntax::Type]| types.iter().map(|ty| self.ty(ty)).collect::<Outcome<Vec<_>>>();
        Ok(match ty {
            syntax::Type::Unknown => self.hole(),
            syntax::Type::Tensor(extents, element) => {
                let Some(dtype) = element_type(&element.text) else {
                    return Fault::new(
                        element.span,
                        format!("{} is no element type; float32 is, for example", element.text),
                    );
                };
                tensor_type_to_mlir(self.context, &TensorType::new(extents.clone(), dtype))
            }
            syntax::Type::Tuple(elements) => tuple_type(self.context, &all(elements)?),
            // What holds a polymorphic function is not said by a type here: a use of it chooses what its variables are.
            syntax::Type::Function(heads, _) if heads.iter().any(|head| !head.parameters.is_empty()) => {
                self.hole()
            }
            syntax::Type::Function(heads, result) => {
                let mut ty = self.ty(result)?;
                for head in heads.iter().rev() {
                    ty = function_type(self.context, &all(&head.inputs)?, &[ty]);
                }
                ty
            }
            syntax::Type::Ref(value) => ref_type(self.ty(value)?),
            syntax::Type::Named(name, arguments) => self.named_type(name, all(arguments)?)?,
        })
    }

    fn named_type(&self, name: &Name, arguments: Vec<Type<'c>>) -> Outcome<Type<'c>> {
        if let Some(variable) = self.type_scopes.iter().rev().find_map(|scope| scope.get(&name.text)) {
            if !arguments.is_empty() {
                return Fault::new(
                    name.span,
                    format!("the type variable {} takes no type arguments", name.text),
                );
            }
            return Ok(var_type(self.context, variable));
        }
        if let Some(data) = self.data_types.get(&name.text) {
            if data.parameters.len() != arguments.len() {
                let (takes, given) = (data.parameters.len(), arguments.len());
                let message =
                    format!("the data type {} takes {takes} type arguments, found {given}", name.text);
                return Fault::new(name.span, message);
            }
            return Ok(adt_type(self.context, &name.text, &arguments));
        }
        match element_type(&name.text) {
            Some(dtype) if arguments.is_empty() => {
                Ok(tensor_type_to_mlir(self.context, &TensorType::fixed(&[], dtype)))
            }
            _ if is_vector(&name.text) => Fault::new(
                name.span,
                format!("{} is a vector of numbers; write Tensor[(4), float32] for four of them", name.text),
            ),
            _ => Fault::new(
                name.span,
                format!(
                    "there is no type {0}; declare it with type {0} {{ ... }} or as a type parameter",
                    name.text
                ),
            ),
        }
    }

    /// Makes type parameters known in a scope that the caller takes away again; gives what they are called in the IR.
    pub fn bind_type_parameters(&mut self, parameters: &[Name]) -> Outcome<Vec<String>> {
        let mut scope = HashMap::new();
        let mut unique = Vec::new();
        for parameter in parameters {
            let mut name = parameter.text.clone();
            let mut count = 0;
            while !self.type_names.insert(name.clone()) {
                count += 1;
                name = format!("{}_{count}", parameter.text);
            }
            unique.push(name.clone());
            if scope.insert(parameter.text.clone(), name).is_some() {
                return Fault::new(
                    parameter.span,
                    format!("the type parameter {} is named twice", parameter.text),
                );
            }
        }
        self.type_scopes.push(scope);
        Ok(unique)
    }

    /// A value under a written type.
    pub fn ascribe(&mut self, value: Value<'c>, ty: Type<'c>, span: Span) -> Outcome<Value<'c>> {
        let found = value.r#type();
        if found == ty {
            return Ok(value);
        }
        if !agree(found, ty) {
            return Fault::new(
                span,
                format!("this value has the type {}, it is declared as {}", shown(found), shown(ty)),
            );
        }
        Ok(self.op(span, Relay::Ascribe, &[value], ty, &[]))
    }

    /// True when a signature has named extents.
    pub fn mentions_names(&self, signature: &Signature<'c>) -> bool {
        let mut names = Names::default();
        signature.parameters.iter().chain([&signature.result]).for_each(|ty| names.collect(*ty));
        !names.extents.is_empty()
    }

    /// What a call gives, as far as it is known; a fault when the arguments cannot be the function's.
    pub fn call_type(
        &self,
        parameters: &[Type<'c>],
        result: Type<'c>,
        own: Option<&[String]>,
        given: &[Type<'c>],
    ) -> Result<Type<'c>, ()> {
        let mut instance = Instance::default();
        if !instance.match_all(parameters, given) {
            return Err(());
        }
        let mut names = Names::default();
        names.collect(result);
        let known = |name: &String| instance.types.get(name).is_some_and(|ty| !has_hole(*ty));
        // Those of the functions around a call stand for themselves.
        let outer =
            |name: &String| self.type_scopes.iter().any(|scope| scope.values().any(|known| known == name));
        let chosen = |name: &&String| own.map_or_else(|| !outer(name), |own| own.contains(name));
        let dynamic = names.variables.iter().filter(chosen).any(|name| !known(name))
            || names.extents.iter().any(|name| !instance.dims.contains_key(name));
        if dynamic || has_hole(result) {
            return Ok(self.hole());
        }
        Ok(instance.apply(self.context, result))
    }
}

/// Type variables and named extents that a type mentions.
#[derive(Default)]
pub struct Names {
    pub variables: HashSet<String>,
    pub extents: HashSet<String>,
}

impl Names {
    pub fn collect(&mut self, ty: Type) {
        match type_parts(ty) {
            TypeParts::Tensor(tensor) => {
                self.extents.extend(tensor.dims.into_iter().filter_map(|dim| match dim {
                    Dim::Symbol(name) => Some(name),
                    _ => None,
                }))
            }
            TypeParts::Var(name) => {
                self.variables.insert(name.to_owned());
            }
            TypeParts::Tuple(parts) | TypeParts::Adt(_, parts) => {
                parts.into_iter().for_each(|ty| self.collect(ty))
            }
            TypeParts::Function(inputs, results) => {
                inputs.into_iter().chain(results).for_each(|ty| self.collect(ty));
            }
            TypeParts::Ref(value) => self.collect(value),
            TypeParts::Hole | TypeParts::Other => {}
        }
    }
}

/// A type as the language writes it.
pub fn shown(ty: Type) -> String {
    crate::relay_text::print::type_text(ty)
}
