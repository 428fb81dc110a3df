//! What extraction chooses from: the classes that the program may need, each with its candidates.
//!
//! A class that comes from outside, or that is computed of constants when compiling, needs no kernel: it is *external*. Every other class
//! has one candidate a node, whose operands are classes again. The space is a copy of the graph in arrays: extraction edits and
//! compares many states of it.

use super::super::analysis::{Graph, attrs, canonical, kind_of, made_by};
use super::super::language::{Attributes, Head, Node};
use super::calls::{arithmetic, bytes, error_of};
use super::heights;
use super::rates::Rates;
use egg::{Id, Symbol};
use fusion_operators::ops::shape::{EXPAND_DIMS, RESHAPE, SQUEEZE};
use fusion_operators::{Call, FusionKind, Operator, TensorType};
use std::collections::HashMap;

/// A class, by its place in the space.
pub type ClassId = usize;

/// What a call is that a class may be computed by.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The operator; `None` for one result of a call of several, which its only operand is.
    pub operator: Option<&'static Operator>,
    /// Which result, when there is no operator.
    pub result: u32,
    /// The attributes.
    pub attrs: Attributes,
    /// The operands.
    pub operands: Vec<ClassId>,
    /// How it fuses.
    pub kind: FusionKind,
    /// True when it moves nothing: the same memory under another shape.
    pub is_view: bool,
    /// Seconds of arithmetic on the target.
    pub seconds: f64,
    /// What it may be off by, as a part of the largest result near; 0 where that is bounded element by element.
    pub error: f64,
    /// The rule that made it; `None` for what the program said.
    pub rule: Option<Symbol>,
    /// The node in the graph.
    pub node: Node,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// The class in the graph.
    pub id: Id,
    /// The types of what it gives.
    pub types: Vec<TensorType>,
    /// Bytes of what it gives.
    pub bytes: f64,
    /// True when it needs no kernel.
    pub is_external: bool,
    /// How the freest of its candidates fuses.
    pub kind: FusionKind,
    /// What it may be computed by.
    pub candidates: Vec<Candidate>,
    /// The classes with a candidate that reads this one, by height.
    pub parents: Vec<ClassId>,
    /// The place in the block from which on it can be computed.
    pub place: u32,
    /// Nothing that it may be computed of stands higher.
    pub height: u32,
}

/// All classes, and those the block needs in memory.
pub struct Space {
    /// The classes.
    pub classes: Vec<Class>,
    /// The classes that the block uses, in the order of its uses.
    pub roots: Vec<ClassId>,
    /// The machine.
    pub rates: Rates,
}

impl Space {
    /// The space of a graph whose block uses some classes.
    pub fn of(graph: &Graph, used: &[Id], rates: &Rates) -> Space {
        let made_by = made_by(graph);
        let mut space = Space { classes: Vec::new(), roots: Vec::new(), rates: rates.clone() };
        let mut places: HashMap<Id, ClassId> = HashMap::new();
        let mut waiting = Vec::new();
        for &id in used {
            let class = space.class(graph, id, &mut places, &mut waiting);
            if !space.roots.contains(&class) {
                space.roots.push(class);
            }
        }
        while let Some(class) = waiting.pop() {
            let nodes = &graph[space.classes[class].id].nodes;
            for node in nodes {
                let Some(mut candidate) = space.candidate(graph, node, &mut places, &mut waiting) else {
                    continue;
                };
                // What reads itself computes nothing.
                if candidate.operands.contains(&class) {
                    continue;
                }
                candidate.rule = made_by.get(&canonical(graph, node)).copied();
                for &operand in &candidate.operands {
                    let parents = &mut space.classes[operand].parents;
                    if parents.last() != Some(&class) {
                        parents.push(class);
                    }
                }
                space.classes[class].candidates.push(candidate);
            }
            // The program's own nodes come first: among equals the first is taken.
            space.classes[class].candidates.sort_by_key(|c| c.rule.is_some());
        }
        let operands = |class: &Class| {
            let mut operands: Vec<ClassId> =
                class.candidates.iter().flat_map(|c| &c.operands).copied().collect();
            operands.sort_unstable();
            operands.dedup();
            operands
        };
        let operands: Vec<Vec<ClassId>> = space.classes.iter().map(operands).collect();
        for (class, height) in space.classes.iter_mut().zip(heights::of(&operands)) {
            class.height = height;
        }
        for class in 0..space.classes.len() {
            let mut parents = std::mem::take(&mut space.classes[class].parents);
            parents.sort_unstable_by_key(|&parent| (space.classes[parent].height, parent));
            space.classes[class].parents = parents;
        }
        space
    }

    fn class(
        &mut self,
        graph: &Graph,
        id: Id,
        places: &mut HashMap<Id, ClassId>,
        waiting: &mut Vec<ClassId>,
    ) -> ClassId {
        let id = graph.find(id);
        *places.entry(id).or_insert_with(|| {
            let data = &graph[id].data;
            let is_leaf = graph[id].nodes.iter().any(|n| matches!(n.head, Head::Leaf(_)));
            let class = self.classes.len();
            self.classes.push(Class {
                id,
                types: data.types.clone(),
                bytes: bytes(&data.types),
                is_external: is_leaf || data.is_constant,
                kind: data.kind.unwrap_or(FusionKind::Opaque),
                candidates: Vec::new(),
                parents: Vec::new(),
                place: data.place,
                height: 0,
            });
            if !self.classes[class].is_external {
                waiting.push(class);
            }
            class
        })
    }

    fn candidate(
        &mut self,
        graph: &Graph,
        node: &Node,
        places: &mut HashMap<Id, ClassId>,
        waiting: &mut Vec<ClassId>,
    ) -> Option<Candidate> {
        let (operator, operands, of) = match &node.head {
            Head::Call(operation) => (Some(operation.0), &node.children[1..], graph.find(node.children[0])),
            Head::Get(_) => (None, &node.children[..], graph.find(node.children[0])),
            _ => return None,
        };
        let result = if let Head::Get(index) = node.head { index } else { 0 };
        let attributes = match operator {
            Some(_) => graph[of].data.attrs.clone()?,
            None => Attributes::new(fusion_operators::Attrs::new()),
        };
        let operands: Vec<ClassId> =
            operands.iter().map(|&o| self.class(graph, o, places, waiting)).collect();
        let types: Vec<TensorType> =
            operands.iter().flat_map(|&o| self.classes[o].types.first().cloned()).collect();
        let Some(operator) = operator else {
            return Some(Candidate {
                operator: None,
                result,
                attrs: attributes,
                operands,
                kind: FusionKind::Opaque,
                is_view: true,
                seconds: 0.0,
                error: 0.0,
                rule: None,
                node: node.clone(),
            });
        };
        let own = attrs(graph, of)?;
        let results = operator.infer(&types, own).ok()?;
        let call = Call { op: operator, operands: &types, attrs: own };
        Some(Candidate {
            operator: Some(operator),
            result,
            kind: kind_of(operator, results.len()),
            is_view: [&RESHAPE, &SQUEEZE, &EXPAND_DIMS].iter().any(|v| operator.is(v)),
            seconds: arithmetic(&call, &results, &self.rates),
            error: error_of(&call, &self.rates),
            attrs: attributes,
            operands,
            rule: None,
            node: node.clone(),
        })
    }
}
