//! Model-local functions, and the check that every operator is a function or has a conversion.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::error::ImportError;
use super::error::place_of;
use super::graph::{OPSETS, version_in};
use super::importer::{Importer, Scope};
use super::node::{Node, Value};
use super::ops;
use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto};

impl<'m> Importer<'m> {
    /// Reports every operator without a conversion at once.
    pub(super) fn check_operators(&self, graph: &'m GraphProto) -> Result<(), ImportError> {
        let mut missing = Vec::new();
        let mut seen = BTreeSet::new();
        let mut bodies: Vec<(&'m [NodeProto], &'m [OperatorSetIdProto])> =
            vec![(&graph.node, &self.model.proto.opset_import)];
        while let Some((nodes, opsets)) = bodies.pop() {
            let (least, most) = OPSETS;
            if let Some(version) = version_in(opsets, "").filter(|v| !(least..=most).contains(v)) {
                return Err(ImportError::Opset { version, least, most });
            }
            for node in nodes {
                for attribute in &node.attribute {
                    bodies.extend(attribute.g.iter().chain(&attribute.graphs).map(|g| (&g.node[..], opsets)));
                }
                let place = place_of(node, version_in(opsets, &node.domain).unwrap_or(0));
                if let Some(function) = self.function(node) {
                    if seen.insert((&function.domain, &function.name, &function.overload)) {
                        bodies.push((&function.node, &function.opset_import));
                    }
                } else if ops::find(&place.domain, &place.op_type).is_none() {
                    missing.push(place);
                }
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(ImportError::UnsupportedOperators(missing)) }
    }

    pub(super) fn function(&self, node: &'m NodeProto) -> Option<&'m FunctionProto> {
        self.functions.get(&(&node.domain, &node.op_type, &node.overload)).copied()
    }

    /// Inlines a model-local function.
    pub(super) fn inline(
        &mut self,
        function: &'m FunctionProto,
        node: &Node<'m>,
    ) -> Result<Vec<Value>, ImportError> {
        let mut attributes: HashMap<&'m str, &'m AttributeProto> =
            function.attribute_proto.iter().map(|a| (a.name.as_str(), a)).collect();
        attributes.extend(node.attributes.iter().map(|(&name, &a)| (name, a)));
        let mut values = HashMap::new();
        for (i, name) in function.input.iter().enumerate() {
            let value = match node.opt(i) {
                Some(value) => value,
                None => self.absent(),
            };
            values.insert(name.as_str(), value);
        }
        let opsets = &function.opset_import;
        self.scopes.push(Scope {
            values,
            isolated: true,
            caller: node.place.name.clone(),
            opsets,
            attributes: Rc::new(attributes),
        });
        let result = self.nodes(&function.node).and_then(|()| {
            let find = |name: &String| {
                self.lookup(name).ok_or_else(|| ImportError::UndefinedOutput {
                    graph: function.name.clone(),
                    value: name.clone(),
                })
            };
            function.output.iter().map(find).collect()
        });
        self.scopes.pop();
        result
    }
}
