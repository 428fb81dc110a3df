//! Walks a graph: scopes and names, initializers, and one conversion a node.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

use fusion_operators::TensorType;
use indexmap::IndexMap;

use super::definitions::Def;
use super::emit::{Emit, Held, Id};
use super::error::{Fault, ImportError, Place, place_of};
use super::importer::{Entry, Importer, Scope};
use super::model::Model;
use super::narrow_types::Narrow;
use super::node::{Node, Value};
use super::ops;
use super::proto::{GraphProto, NodeProto, OperatorSetIdProto};
use super::schedule::schedule;
use super::signature::{Options, element_number, signature};
use super::sparse::dense as dense_of;
use super::tensor::{complex, tensor};

/// Operator sets of the default domain that are understood.
pub(super) const OPSETS: (i64, i64) = (1, 28);
/// Functions and subgraphs may be nested so deep.
const DEEPEST: usize = 64;
/// Nodes that are imported at most, each as often as its function is called or its loop unrolled.
const MOST_NODES: usize = 1 << 18;

/// A graph output.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One tensor.
    Tensor(Id),
    /// A sequence of tensors.
    Sequence(Vec<Id>),
    /// A sequence whose length is known at run time only: one list of tensors.
    List(Id),
}

/// An imported graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// Names and values of the results, in order.
    pub outputs: Vec<(String, Output)>,
    /// Inputs whose bound values the program relies on: it computes the model for these values only.
    pub specialized: Vec<String>,
}

/// Emits the program of a model, given the values of its [`signature`].
pub fn import(
    model: &Model,
    options: &Options,
    emit: &dyn Emit,
    arguments: &[Id],
) -> Result<Imported, ImportError> {
    let inputs = signature(model, options)?;
    if arguments.len() != inputs.len() {
        let problem = format!("is one of {}, but {} values are given", inputs.len(), arguments.len());
        let input = inputs.first().map_or_else(String::new, |i| i.name.clone());
        return Err(ImportError::Input { input, problem });
    }
    let mut importer = Importer {
        emit,
        model,
        options,
        inputs: &inputs,
        entries: Vec::new(),
        memo: HashMap::new(),
        specialized: BTreeSet::new(),
        scopes: Vec::new(),
        functions: HashMap::new(),
        depth: 0,
        imported: 0,
    };
    for function in &model.proto.functions {
        importer.functions.insert((&function.domain, &function.name, &function.overload), function);
    }
    importer.check_operators(model.graph())?;
    let scope = Scope {
        values: HashMap::new(),
        isolated: true,
        caller: String::new(),
        opsets: &model.proto.opset_import,
        attributes: Rc::default(),
    };
    importer.scopes.push(scope);
    let mut first = None;
    for (i, (input, &id)) in inputs.iter().zip(arguments).enumerate() {
        let value = match input.is_sequence {
            false => importer.push(Def::Input(i), id, emit.tensor_type(id)),
            true => {
                let list = importer.holding(id, &Held::List(input.ty.clone()));
                importer.forward(list).map_err(|fault| ImportError::Input {
                    input: input.name.clone(),
                    problem: fault.to_string(),
                })?
            }
        };
        if let Some((part, name)) = &input.part {
            importer.emit.named(&input.name, id);
            if let (Some(kind), Some(first)) = (part.whole(), first.replace(value)) {
                let whole = importer.whole(kind, [first, value]);
                importer.define(name, whole, Place::default)?;
            }
            continue;
        }
        if let Some(info) = model.graph().input.iter().find(|info| info.name == input.name) {
            importer.mark(value, element_number(info).and_then(Narrow::of));
        }
        importer.define(&input.name, value, Place::default)?;
    }
    for info in model.inputs().filter(|info| options.absent.contains(&info.name)) {
        let none = importer.absent();
        importer.define(&info.name, none, Place::default)?;
    }
    let results = importer.body(model.graph())?;
    let mut outputs = Vec::with_capacity(results.len());
    for (info, value) in model.graph().output.iter().zip(results) {
        let value = match importer.entries[value.0 as usize].def {
            Def::List(_) => importer.forward(value).map_err(|fault| ImportError::Node {
                place: Place { name: info.name.clone(), ..Place::default() },
                fault: Box::new(fault),
            })?,
            _ => value,
        };
        if let Some((kind, parts)) = importer.parts(value) {
            for (part, value) in kind.parts().into_iter().zip(parts) {
                outputs.push((part.of(&info.name), Output::Tensor(importer.entries[value.0 as usize].id)));
            }
            continue;
        }
        let output = match &importer.entries[value.0 as usize].def {
            Def::List(_) => Output::List(importer.entries[value.0 as usize].id),
            Def::Sequence(values) => {
                Output::Sequence(values.iter().map(|v| importer.entries[v.0 as usize].id).collect())
            }
            Def::Absent => Output::Sequence(Vec::new()),
            _ => Output::Tensor(importer.entries[value.0 as usize].id),
        };
        outputs.push((info.name.clone(), output));
    }
    let specialized = importer.specialized.iter().map(|&i| inputs[i].name.clone()).collect();
    Ok(Imported { outputs, specialized })
}

pub(super) fn version_in(opsets: &[OperatorSetIdProto], domain: &str) -> Option<i64> {
    let same =
        |other: &str| if domain.is_empty() { matches!(other, "" | "ai.onnx") } else { other == domain };
    opsets.iter().find(|o| same(&o.domain)).map(|o| o.version)
}

impl<'m> Importer<'m> {
    pub(super) fn push(&mut self, def: Def, id: Id, ty: Option<TensorType>) -> Value {
        self.entries.push(Entry { def, id, ty, narrow: None });
        Value((self.entries.len() - 1) as u32)
    }

    fn define(&mut self, name: &'m str, value: Value, place: impl Fn() -> Place) -> Result<(), ImportError> {
        let is_outermost = self.scopes.len() == 1;
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        let entry = &self.entries[value.0 as usize];
        if is_outermost && entry.ty.is_some() {
            self.emit.named(name, entry.id);
        }
        match scope.values.insert(name, value) {
            None => Ok(()),
            Some(_) => Err(ImportError::Duplicate { place: place(), value: name.to_owned() }),
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Value> {
        for scope in self.scopes.iter().rev() {
            if let Some(&value) = scope.values.get(name) {
                return Some(value);
            }
            if scope.isolated {
                break;
            }
        }
        None
    }

    /// Imports a graph's initializers and nodes into the innermost scope; gives its outputs.
    fn body(&mut self, graph: &'m GraphProto) -> Result<Vec<Value>, ImportError> {
        let dense = graph.initializer.iter().map(|initializer| (initializer, None));
        let sparse = graph.sparse_initializer.iter();
        let sparse = sparse.filter_map(|sparse| Some((sparse.values.as_ref()?, Some(sparse))));
        for (initializer, sparse) in dense.chain(sparse) {
            if let Some(parts) = complex(initializer, self.directory())? {
                let value = self.complex_constant(parts);
                let name = || Place { name: "initializer".into(), ..Place::default() };
                self.define(&initializer.name, value, name)?;
                continue;
            }
            let value = match sparse {
                None => tensor(initializer, self.directory())?,
                Some(sparse) => dense_of(sparse, self.directory())?,
            };
            self.emit.location(&initializer.name);
            let value = self.constant(value);
            self.mark(value, Narrow::of(initializer.data_type.into()));
            self.define(&initializer.name, value, || Place {
                name: "initializer".into(),
                ..Place::default()
            })?;
        }
        self.nodes(&graph.node)?;
        graph
            .output
            .iter()
            .map(|output| {
                let (graph, value) = (&graph.name, &output.name);
                self.lookup(value).ok_or_else(|| ImportError::UndefinedOutput {
                    graph: graph.clone(),
                    value: value.clone(),
                })
            })
            .collect()
    }

    pub(super) fn nodes(&mut self, nodes: &'m [NodeProto]) -> Result<(), ImportError> {
        let given = self.scopes.last().map(|scope| &scope.values);
        let again = |name: &&String| given.is_some_and(|given| given.contains_key(name.as_str()));
        for node in nodes {
            if let Some(value) = node.output.iter().find(again) {
                let version = version_in(self.scopes.last().map_or(&[][..], |s| s.opsets), &node.domain);
                let place = place_of(node, version.unwrap_or(0));
                return Err(ImportError::Duplicate { place, value: value.clone() });
            }
        }
        let order = schedule(nodes)?;
        self.depth += 1;
        let result = order.into_iter().try_for_each(|index| {
            if self.depth == 1 {
                self.emit.node(index);
            }
            self.node(&nodes[index])
        });
        self.depth -= 1;
        result
    }

    /// Imports a subgraph, its inputs standing for `arguments`.
    pub(super) fn subgraph(
        &mut self,
        graph: &'m GraphProto,
        arguments: &[Value],
    ) -> Result<Vec<Value>, ImportError> {
        let (opsets, attributes) = match self.scopes.last() {
            Some(outer) => (outer.opsets, outer.attributes.clone()),
            None => (&self.model.proto.opset_import[..], Rc::default()),
        };
        self.scopes.push(Scope {
            values: HashMap::new(),
            isolated: false,
            caller: String::new(),
            opsets,
            attributes,
        });
        let result = self.bind(graph, arguments).and_then(|()| self.body(graph));
        self.scopes.pop();
        // What holds the result of a region does not know what its bytes stand for.
        let narrow = result.as_ref().ok().and_then(|values| values.iter().find_map(|&v| self.narrow_of(v)));
        match narrow {
            Some(narrow) => Err(ImportError::UnsupportedValue {
                value: graph.name.clone(),
                what: format!("is a subgraph that gives elements of type {}", narrow.name),
            }),
            None => result,
        }
    }

    fn bind(&mut self, graph: &'m GraphProto, arguments: &[Value]) -> Result<(), ImportError> {
        for (input, &value) in graph.input.iter().zip(arguments) {
            self.define(&input.name, value, || Place { name: graph.name.clone(), ..Place::default() })?;
        }
        Ok(())
    }

    fn node(&mut self, proto: &'m NodeProto) -> Result<(), ImportError> {
        let opsets = self.scopes.last().map_or(&[][..], |s| s.opsets);
        let function = self.function(proto);
        let version = version_in(opsets, &proto.domain);
        let place = place_of(proto, version.unwrap_or(0));
        if version.is_none() && function.is_none() {
            return Err(ImportError::NoOpset { place });
        }
        if self.depth > DEEPEST {
            return Err(ImportError::Recursion { place, limit: DEEPEST });
        }
        self.imported += 1;
        if self.imported > MOST_NODES {
            return Err(ImportError::TooLarge { place, limit: MOST_NODES });
        }
        let node = self.resolve(proto, place)?;
        let label = if node.place.name.is_empty() { &proto.op_type } else { &node.place.name };
        self.emit.location(label);
        let results = match function {
            Some(function) => self.inline(function, &node)?,
            None => {
                let row = ops::find(&node.place.domain, &node.place.op_type)
                    .ok_or_else(|| ImportError::UnsupportedOperators(vec![node.place.clone()]))?;
                let converted = self.narrow_operand(&node).and_then(|narrow| {
                    let parts = self.complex_operands(&node)?;
                    if !parts.is_empty() {
                        return self.moved_by_parts(&node, &parts, row.convert);
                    }
                    let results = (row.convert)(self, &node)?;
                    if let Some(narrow) = narrow {
                        self.mark_moved(&results, narrow);
                    }
                    Ok(results)
                });
                converted.map_err(|fault| ImportError::Node {
                    place: node.place.clone(),
                    fault: Box::new(fault),
                })?
            }
        };
        for (i, name) in proto.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let Some(&value) = results.get(i) else {
                let fault = Box::new(Fault::Outputs { given: results.len(), wanted: proto.output.len() });
                return Err(ImportError::Node { place: node.place, fault });
            };
            self.define(name, value, || node.place.clone())?;
        }
        Ok(())
    }

    /// Looks up a node's operands, and the attributes it takes from the function around it.
    fn resolve(&self, proto: &'m NodeProto, place: Place) -> Result<Node<'m>, ImportError> {
        let mut inputs = Vec::with_capacity(proto.input.len());
        for name in &proto.input {
            if name.is_empty() {
                inputs.push(None);
                continue;
            }
            let Some(value) = self.lookup(name) else {
                return Err(ImportError::Undefined { place, value: name.clone() });
            };
            // In a function body the name of an optional input that is left out stands for none.
            let absent = matches!(self.entries[value.0 as usize].def, Def::Absent);
            inputs.push((!absent || proto.op_type.starts_with("Optional")).then_some(value));
        }
        let mut attributes = IndexMap::new();
        for attribute in &proto.attribute {
            let found = if attribute.ref_attr_name.is_empty() {
                Some(attribute)
            } else {
                let outer = self.scopes.last().map(|s| &s.attributes);
                outer.and_then(|a| a.get(attribute.ref_attr_name.as_str()).copied())
            };
            if let Some(found) = found {
                attributes.insert(attribute.name.as_str(), found);
            }
        }
        let outputs = proto.output.iter().map(|name| !name.is_empty()).collect();
        Ok(Node { version: place.version, place, inputs, outputs, names: &proto.input, attributes })
    }

    /// Where external data lies.
    pub(super) fn directory(&self) -> Option<&'m Path> {
        self.model.directory.as_deref()
    }
}
