//! The module: declarations of data types, then functions, each after those it calls.
//!
//! What a function gives is known to those that call it when it is declared or when its body said so before; thus the
//! order. In the module, functions stand as they are written.

use super::{Emitter, Signature};
use crate::relay_text::elements::element_type;
use crate::relay_text::error::Source;
use crate::relay_text::error::{Fault, Outcome};
use crate::relay_text::metadata::Metadata;
use crate::relay_text::program::Program;
use crate::relay_text::syntax::{self, Definition};
use fusion_dialects::relay::{self, Op as Relay};
use fusion_dialects::{
    Build, Context, Location, Module, Op, OpExt, array_attr, constructor_attr, str_attr, texts_attr,
};
use std::collections::{HashMap, HashSet};

/// Builds the module of a program.
pub fn module<'c>(
    context: &'c Context,
    program: &Program,
    sources: &[Source],
    metadata: &Metadata,
) -> Outcome<Module<'c>> {
    let name = sources.first().map_or("", |source| &source.name);
    let location = Location::new(context, name, 1, 1);
    let mut outcome = Ok(());
    let module = Build::module(context, location, |at| {
        let mut emitter = Emitter {
            context,
            sources,
            metadata,
            at,
            functions: HashMap::new(),
            data_types: HashMap::new(),
            constructors: HashMap::new(),
            scopes: Vec::new(),
            type_scopes: Vec::new(),
            type_names: HashSet::new(),
            built: HashMap::new(),
            memories: Vec::new(),
            unwritten: None,
            meta_attrs: HashMap::new(),
        };
        outcome = emitter.program(program);
    });
    outcome.map(|()| module)
}

impl<'c> Emitter<'c, '_> {
    fn program(&mut self, program: &Program) -> Outcome<()> {
        self.declare_all(&program.data_types)?;
        for definition in &program.functions {
            let signature = self.signature(definition)?;
            if self.functions.insert(definition.name.text.clone(), signature).is_some() {
                let message = format!("the function @{} is defined twice", definition.name.text);
                return Fault::new(definition.name.span, message);
            }
            if self.data_types.contains_key(&definition.name.text) {
                let message = format!(
                    "@{} is the name of a data type; functions need other names",
                    definition.name.text
                );
                return Fault::new(definition.name.span, message);
            }
        }
        let mut built: HashMap<usize, Op> = HashMap::new();
        for index in program.callees_first() {
            built.insert(index, self.definition(program.functions[index])?);
        }
        // Back into the order of the source: each before the one that follows it.
        for index in (1..program.functions.len()).rev() {
            if let (Some(op), Some(next)) = (built.get(&(index - 1)), built.get(&index)) {
                op.move_before_op(*next);
            }
        }
        Ok(())
    }

    /// Declares the data types, which may mention each other.
    fn declare_all(&mut self, types: &[&syntax::DataType]) -> Outcome<()> {
        for data in types {
            let parameters: Vec<&str> = data.parameters.iter().map(|p| p.text.as_str()).collect();
            self.locate(data.name.span);
            let attrs = [
                ("sym_name", str_attr(self.context, &data.name.text)),
                ("parameters", texts_attr(self.context, &parameters)),
                ("constructors", array_attr(self.context, &[])),
            ];
            let op = self.at.op_with_regions(Relay::Data.name(), &[], &[], &attrs, Vec::new());
            let Some(declared) = relay::DataType::of(op) else { continue };
            if self.data_types.insert(data.name.text.clone(), declared).is_some() {
                return Fault::new(data.name.span, format!("the type {} is declared twice", data.name.text));
            }
            if element_type(&data.name.text).is_some() {
                return Fault::new(
                    data.name.span,
                    format!("{} is the name of a type already", data.name.text),
                );
            }
        }
        let declared = fusion_dialects::ops_in(self.at.block());
        for (data, op) in types.iter().zip(declared) {
            self.type_names.clear();
            self.bind_type_parameters(&data.parameters)?;
            let mut constructors = Vec::new();
            for (name, fields) in &data.constructors {
                let fields = fields.iter().map(|ty| self.ty(ty)).collect::<Outcome<Vec<_>>>()?;
                constructors.push(constructor_attr(self.context, &name.text, &fields));
                if self.constructors.insert(name.text.clone(), data.name.text.clone()).is_some() {
                    return Fault::new(name.span, format!("the constructor {} is declared twice", name.text));
                }
            }
            self.type_scopes.clear();
            op.set_attr("constructors", array_attr(self.context, &constructors));
            self.data_types
                .extend(relay::DataType::of(op).map(|declared| (data.name.text.clone(), declared)));
        }
        Ok(())
    }

    fn signature(&mut self, definition: &Definition) -> Outcome<Signature<'c>> {
        let function = &*definition.function;
        let type_parameters = self.enter_function(function)?;
        let parameters = function.parameters.iter().map(|(_, ty)| self.ty_or_hole(ty.as_ref()));
        let parameters = parameters.collect::<Outcome<Vec<_>>>()?;
        let result = self.ty_or_hole(function.result.as_ref())?;
        self.type_scopes.clear();
        Ok(Signature { type_parameters, parameters, result })
    }
}
