//! What is computed of constants alone, computed by the reference semantics.
//!
//! Rules only write `multiply the weight by the scale`; the numbers are touched here, once, for the terms that were chosen. Where a term that a rule
//! made overflows, or loses digits as its numbers are too small, it is no constant to compute with ([`FoldError::Unfit`]).

use super::analysis::{Graph, attrs, made_by};
use super::language::{Constant, Head, Node};
use super::numbers::folding::loses;
use egg::{Id, Language, Symbol};
use fusion_dialects::{Attribute, Context, read_tensor, write_tensor};
use fusion_operators::{DType, Tensor, reference};
use std::collections::{HashMap, VecDeque};

/// The constants that classes are, as attributes.
pub type Constants<'c> = HashMap<Id, Attribute<'c>>;

/// Why a constant cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FoldError {
    /// A rule made a term of constants whose numbers its element type does not hold.
    #[error("rule {rule} makes constants by relay.{operator} that {dtype} does not hold as normal numbers")]
    Unfit {
        /// The rule.
        rule: Symbol,
        /// The operator at the top of the term.
        operator: &'static str,
        /// The element type.
        dtype: DType,
    },
    /// Something that should not be.
    #[error("{0}")]
    Other(String),
}

/// Computes classes of constants.
pub struct Folder<'a, 'c> {
    graph: &'a Graph,
    constants: &'a [Attribute<'c>],
    /// For each class of constants its least term: how many calls it has, and the node at its top.
    least: HashMap<Id, (usize, usize)>,
    made_by: HashMap<Node, Symbol>,
    made: Constants<'c>,
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
        let made_by = made_by(graph);
        Folder { graph, constants, least, made_by, made: HashMap::new(), near: VecDeque::new() }
    }

    /// The constants that some classes are.
    pub fn constants(mut self, context: &'c Context, ids: &[Id]) -> Result<Constants<'c>, FoldError> {
        for &id in ids {
            self.attribute(context, id)?;
        }
        Ok(self.made)
    }

    /// The constant that a class is, as an attribute.
    fn attribute(&mut self, context: &'c Context, id: Id) -> Result<Attribute<'c>, FoldError> {
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

    fn top(&self, id: Id) -> Result<usize, FoldError> {
        let none = || FoldError::Other("a class of constants has no term".to_owned());
        self.least.get(&id).map(|(_, at)| *at).ok_or_else(none)
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

    fn tensor(&mut self, id: Id) -> Result<Tensor, FoldError> {
        let id = self.graph.find(id);
        let other = |text: &str| FoldError::Other(text.to_owned());
        // What several terms say is one number is that number, rounded once.
        if let Some(known) = self.graph[id].data.constant.as_ref().and_then(Constant::tensor) {
            return Ok(known);
        }
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
            .ok_or_else(|| other("a constant holds no elements that can be read")),
            Head::Call(operation) => {
                let operands: Vec<Tensor> =
                    node.children[1..].iter().map(|&c| self.tensor(c)).collect::<Result<_, _>>()?;
                let attrs = attrs(self.graph, self.graph.find(node.children[0]));
                let attrs = attrs.ok_or_else(|| other("a call has no attributes"))?;
                let mut results = reference::evaluate(operation.0, attrs, &operands).map_err(|error| {
                    FoldError::Other(format!("relay.{} of constants: {error}", operation.0.name))
                })?;
                if let Some(rule) = self.made_by.get(node)
                    && loses(operation.0, &operands, &results[0])
                {
                    let (operator, dtype) = (operation.0.name, results[0].dtype());
                    return Err(FoldError::Unfit { rule: *rule, operator, dtype });
                }
                node.children[1..].iter().zip(operands).for_each(|(&c, operand)| self.keep(c, operand));
                Ok(results.swap_remove(0))
            }
            _ => Err(other("a class of constants has a term that is none")),
        }
    }
}
