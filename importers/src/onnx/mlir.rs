//! Emits into a relay function.

use std::cell::{Cell, RefCell};

use fusion_dialects::relay::Builder;
use fusion_dialects::{
    Build, Context, Location, OpExt, Type, Value, ValueLike, array_attr, dict_attr, function_type, str_attr,
    symbol_attr, tensor_type_to_mlir, type_attr,
};
use fusion_operators::{Attrs, Operator, Tensor, TensorType};
use melior::ir::Module;

use super::emit::{Emit, EmitError, Fill, Held, Id, ListOp, Region};
use super::error::ImportError;
use super::lists::{Functions, held_type};
use super::{Input, Model, Options, Output, import, signature};

/// The name of a function argument or result in the model.
const NAME: &str = "relay.name";

/// An imported model.
pub struct Program<'c> {
    /// A module with the function `@main`.
    pub module: Module<'c>,
    /// Inputs whose given values the program relies on: it computes the model for these values only.
    pub specialized: Vec<String>,
    /// Where its values come from.
    pub trace: Trace<'c>,
}

/// What values are in the model.
#[derive(Default)]
pub struct Trace<'c> {
    /// Names of the model's own graph and what they stand for; several names may stand for one value.
    pub names: Vec<(String, Value<'c>)>,
    /// Nodes of the graph, by their places there, and what was built for them.
    pub nodes: Vec<(usize, Value<'c>)>,
}

/// Imports a model as a module whose function `@main` takes the model's [`signature`]. Arguments and
/// results carry their names as `relay.name`; the elements of a sequence are results of their own, unless how many there are is
/// known at run time only: such a sequence is a list.
pub fn import_module<'c>(
    context: &'c Context,
    model: &Model,
    options: &Options,
) -> Result<Program<'c>, ImportError> {
    let inputs = signature(model, options)?;
    let type_of = |input: &Input| match input.is_sequence {
        true => held_type(context, &Held::List(input.ty.clone())),
        false => tensor_type_to_mlir(context, &input.ty),
    };
    let types: Vec<Type> = inputs.iter().map(type_of).collect();
    let mut outcome = Ok(Vec::new());
    let functions = Functions::default();
    let mut trace = Trace::default();
    let location = Location::name(context, &model.graph().name, Location::unknown(context));
    let module = Build::module(context, location, |build| {
        let (mut result_types, mut result_names) = (Vec::new(), Vec::new());
        let region = build.region(&types, |inner, arguments| {
            let emit = Relay::new(inner, arguments, &functions);
            let ids: Vec<Id> = (0..arguments.len()).collect();
            outcome = import(model, options, &emit, &ids).map(|imported| {
                let mut results = Vec::new();
                for (name, output) in imported.outputs {
                    match output {
                        Output::Tensor(id) | Output::List(id) => {
                            results.push(emit.value(id));
                            result_names.push(name);
                        }
                        Output::Sequence(ids) => {
                            results.extend(ids.iter().map(|&id| emit.value(id)));
                            result_names.extend((0..ids.len()).map(|i| format!("{name}.{i}")));
                        }
                    }
                }
                result_types = results.iter().map(|v| v.r#type()).collect();
                inner.op("func.return", &results, &[], &[]);
                trace = emit.trace();
                imported.specialized
            });
        });
        let named = |name: &str| dict_attr(context, &[(NAME, str_attr(context, name))]);
        let arguments: Vec<_> = inputs.iter().map(|i| named(&i.name)).collect();
        let results: Vec<_> = result_names.iter().map(|name| named(name)).collect();
        let attrs = [
            ("sym_name", str_attr(context, "main")),
            ("function_type", type_attr(function_type(context, &types, &result_types))),
            ("arg_attrs", array_attr(context, &arguments)),
            ("res_attrs", array_attr(context, &results)),
        ];
        build.op_with_regions("func.func", &[], &[], &attrs, vec![region]);
    });
    let specialized = outcome?;
    functions.add_to(context, &module)?;
    Ok(Program { module, specialized, trace })
}

/// A builder, and the values built so far.
struct Relay<'c, 'f> {
    builder: RefCell<Builder<'c>>,
    name: RefCell<String>,
    values: RefCell<Vec<Value<'c>>>,
    /// Names of the graph, and the nodes that operations are of, by their results.
    names: RefCell<Vec<(String, Id)>>,
    nodes: RefCell<Vec<(usize, Id)>>,
    node: Cell<Option<usize>>,
    functions: &'f Functions,
}

impl<'c, 'f> Relay<'c, 'f> {
    fn new(build: Build<'c>, arguments: &[Value<'c>], functions: &'f Functions) -> Self {
        Relay {
            builder: RefCell::new(Builder::new(build)),
            name: RefCell::default(),
            values: RefCell::new(arguments.to_vec()),
            names: RefCell::default(),
            nodes: RefCell::default(),
            node: Cell::default(),
            functions,
        }
    }

    fn builder(&self) -> Builder<'c> {
        *self.builder.borrow()
    }

    fn trace(&self) -> Trace<'c> {
        let names = self.names.borrow().iter().map(|(name, id)| (name.clone(), self.value(*id))).collect();
        Trace {
            names,
            nodes: self.nodes.borrow().iter().map(|(node, id)| (*node, self.value(*id))).collect(),
        }
    }

    fn value(&self, id: Id) -> Value<'c> {
        self.values.borrow()[id]
    }

    fn all(&self, ids: &[Id]) -> Vec<Value<'c>> {
        let values = self.values.borrow();
        ids.iter().map(|&id| values[id]).collect()
    }

    fn push(&self, values: &[Value<'c>]) -> Vec<Id> {
        let mut all = self.values.borrow_mut();
        let first = all.len();
        all.extend(values);
        (first..all.len()).collect()
    }

    /// Fills a region; what is emitted meanwhile goes into it.
    fn fill(
        &self,
        inner: Builder<'c>,
        fill: &RefCell<Fill>,
        region: Region,
        arguments: &[Value<'c>],
    ) -> Result<Vec<Value<'c>>, ImportError> {
        let outer = self.builder.replace(inner);
        let arguments = self.push(arguments);
        let results = (fill.borrow_mut())(region, &arguments);
        self.builder.replace(outer);
        Ok(self.all(&results?))
    }
}

impl Emit for Relay<'_, '_> {
    fn location(&self, name: &str) {
        self.builder.borrow_mut().set_location(name);
        name.clone_into(&mut self.name.borrow_mut());
    }

    fn node(&self, place: usize) {
        self.node.set(Some(place));
    }

    fn named(&self, name: &str, value: Id) {
        self.names.borrow_mut().push((name.to_owned(), value));
    }

    fn op(&self, op: &'static Operator, operands: &[Id], attrs: &Attrs) -> Result<Vec<Id>, EmitError> {
        let results = self.builder().op(op, &self.all(operands), attrs)?;
        let ids = self.push(&results);
        if let Some(node) = self.node.get() {
            self.nodes.borrow_mut().extend(ids.iter().map(|id| (node, *id)));
        }
        Ok(ids)
    }

    fn constant(&self, tensor: &Tensor) -> Id {
        let value = self.builder().named_constant(tensor, &self.name.borrow());
        self.push(&[value])[0]
    }

    fn tensor_type(&self, value: Id) -> Option<TensorType> {
        self.builder().tensor_type(self.value(value))
    }

    fn if_(&self, condition: Id, fill: Fill) -> Result<Vec<Id>, ImportError> {
        let fill = RefCell::new(fill);
        let op = self.builder().if_(
            self.value(condition),
            |inner| self.fill(inner, &fill, Region::Then, &[]),
            |inner| self.fill(inner, &fill, Region::Else, &[]),
        )?;
        Ok(self.push(&op.result_values()))
    }

    fn while_(&self, state: &[Id], fill: Fill) -> Result<Vec<Id>, ImportError> {
        let fill = RefCell::new(fill);
        let op = self.builder().while_(
            &self.all(state),
            |inner, state| Ok(self.fill(inner, &fill, Region::Condition, state)?[0]),
            |inner, state| self.fill(inner, &fill, Region::Body, state),
        )?;
        Ok(self.push(&op.result_values()))
    }

    fn list(&self, op: ListOp, element: &TensorType, operands: &[Id]) -> Result<Id, EmitError> {
        let build = *self.builder().build();
        let context = build.context();
        let callee = symbol_attr(context, &self.functions.name(op, element));
        let result = held_type(context, &op.result(element));
        let value = build.value(
            fusion_dialects::relay::Op::Call.name(),
            &self.all(operands),
            result,
            &[("callee", callee)],
        );
        Ok(self.push(&[value])[0])
    }

    fn held_as(&self, value: Id, held: &Held) -> Id {
        let (build, value) = (*self.builder().build(), self.value(value));
        let wanted = held_type(build.context(), held);
        let same = build.value(fusion_dialects::relay::Op::Ascribe.name(), &[value], wanted, &[]);
        self.push(&[same])[0]
    }
}
