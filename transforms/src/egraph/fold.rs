//! What is computed of constants alone, computed by the reference semantics.
//!
//! Rules only write `multiply the weight by the scale`; the numbers are touched here, once, for the terms that were chosen.

use super::analysis::{Graph, attrs};
use super::language::{Constant, Head};
use egg::{Id, Language};
use fusion_dialects::{Attribute, Context, read_tensor, write_tensor};
use fusion_operators::{Tensor, reference};
use std::collections::{HashMap, VecDeque};

/// Computes classes of constants.
pub struct Folder<'a, 'c> {
    graph: &'a Graph,
    constants: &'a [Attribute<'c>],
    /// For each class of constants its least term: how many calls it has, and the node at its top.
    least: HashMap<Id, (usize, usize)>,
    made: HashMap<Id, Attribute<'c>>,
    /// What was computed or read last: sums of quarters of a weight read the same ones.
    near: VecDeque<(Id, Tensor)>,
}

/// Bytes of tensors that are kept for the next terms, and those of one that is: small ones are soon made again, and many.
const MOST_NEAR: usize = 64 << 20;
const LEAST_NEAR: usize = 64 << 10;

impl<'a, 'c> Folder<'a, 'c> {
    /// Over a graph, whose large constants have these numbers.
    pub fn new(graph: &'a Graph, constants: &'a [Attribute<'c>]) -> Self {
        let mut least: HashMap<Id, (usize, usize)> = HashMap::new();
        let classes: Vec<_> =
            graph.classes().filter(|c| c.data.is_constant || c.data.attrs.is_some()).collect();
        loop {
            let mut changed = false;
            for class in &classes {
                for (at, node) in class.nodes.iter().enumerate() {
                    if matches!(node.head, Head::Leaf(_) | Head::Get(_)) {
                        continue;
                    }
                    let parts = node.children().iter().map(|&c| least.get(&graph.find(c)).map(|(n, _)| *n));
                    let Some(parts) = parts.sum::<Option<usize>>() else { continue };
                    let size = parts.saturating_add(usize::from(node.operator().is_some()));
                    if least.get(&class.id).is_none_or(|(best, _)| size < *best) {
                        least.insert(class.id, (size, at));
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Folder { graph, constants, least, made: HashMap::new(), near: VecDeque::new() }
    }

    /// The constant that a class is, as an attribute.
    pub fn attribute(&mut self, context: &'c Context, id: Id) -> Result<Attribute<'c>, String> {
        let id = self.graph.find(id);
        if let Some(attr) = self.made.get(&id) {
            return Ok(*attr);
        }
        let node = &self.graph[id].nodes[self.top(id)?];
        let attr = match &node.head {
            Head::Constant(Constant::Large { number, .. }) => self.constants[*number as usize],
            _ => {
                let tensor = self.tensor(id)?;
                let attr = write_tensor(context, &tensor, "folded");
                self.keep(id, tensor);
                attr
            }
        };
        self.made.insert(id, attr);
        Ok(attr)
    }

    fn top(&self, id: Id) -> Result<usize, String> {
        self.least.get(&id).map(|(_, at)| *at).ok_or_else(|| "a class of constants has no term".to_owned())
    }

    /// Keeps a tensor for the next terms, in place of older ones.
    fn keep(&mut self, id: Id, tensor: Tensor) {
        if tensor.bytes().len() < LEAST_NEAR {
            return;
        }
        self.near.push_back((self.graph.find(id), tensor));
        let bytes = |near: &VecDeque<(Id, Tensor)>| near.iter().map(|(_, t)| t.bytes().len()).sum::<usize>();
        while bytes(&self.near) > MOST_NEAR {
            self.near.pop_front();
        }
    }

    fn tensor(&mut self, id: Id) -> Result<Tensor, String> {
        let id = self.graph.find(id);
        if let Some(at) = self.near.iter().position(|(near, _)| *near == id)
            && let Some((_, tensor)) = self.near.remove(at)
        {
            return Ok(tensor);
        }
        let node = &self.graph[id].nodes[self.top(id)?];
        match &node.head {
            Head::Constant(constant) => match constant {
                Constant::Large { number, .. } => read_tensor(self.constants[*number as usize]),
                small => small.tensor(),
            }
            .ok_or_else(|| "a constant holds no elements that can be read".to_owned()),
            Head::Call(operation) => {
                let operands: Vec<Tensor> =
                    node.children[1..].iter().map(|&c| self.tensor(c)).collect::<Result<_, _>>()?;
                let attrs =
                    attrs(self.graph, self.graph.find(node.children[0])).ok_or("a call has no attributes")?;
                let mut results = reference::evaluate(operation.0, attrs, &operands)
                    .map_err(|error| format!("relay.{} of constants: {error}", operation.0.name))?;
                node.children[1..].iter().zip(operands).for_each(|(&c, operand)| self.keep(c, operand));
                Ok(results.swap_remove(0))
            }
            _ => Err("a class of constants has a term that is none".to_owned()),
        }
    }
}
