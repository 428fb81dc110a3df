//! What is known of every e-class: types, constancy, elements, orders, where it comes from, and which rule made which node.

use super::contents::{Contents, Known};
pub use super::data::Data;
use super::extract::rates::Rates;
use super::language::{Constant, Head, Node};
use super::numbers::contradiction::{self, Contradiction};
use super::numbers::folding::{self, Folded};
use super::numbers::sample::Sample;
use super::orders::{self, Orders};
use egg::{Analysis, DidMerge, EGraph, Id, Symbol};
use fusion_dialects::relay::fold::MOST_ELEMENTS;
use fusion_operators::ops::creation::ARANGE;
use fusion_operators::ops::philox::PHILOX;
use fusion_operators::{Attrs, Call, FusionKind, Operator, TensorType};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The e-graph of a block.
pub type Graph = EGraph<Node, Facts>;

/// What all classes share.
#[derive(Default)]
pub struct Facts {
    /// Nodes that rules have made, with the rule that was first.
    pub made_by: Vec<(Node, Symbol)>,
    /// The place in the block from which on each leaf is known, by its number.
    pub leaf_places: Vec<u32>,
    /// Types of leaves.
    pub leaf_types: Vec<TensorType>,
    /// What is known of the elements of large constants, by their numbers.
    pub contents: Vec<Contents>,
    /// What each node was when it was added, by the number of its first class: a hash of its head and of its children's labels.
    pub labels: Vec<u64>,
    /// The rates of the target.
    pub rates: Rates,
    /// The most constants of the source that may take part in one that rules make; none for any number.
    pub most_parts: Option<u32>,
    /// How many take part in the constant that is added next.
    pub next_parts: Option<u32>,
    /// The rule that is applied.
    pub applying: Option<Symbol>,
    /// The first contradiction between forms of one value.
    pub contradiction: Option<Contradiction>,
}

impl Contradiction {
    /// The rules that take part, as far as it is known: the one that was applied, and those that made the terms of both classes.
    pub fn rules(&self, graph: &Graph) -> Vec<String> {
        let mut rules: Vec<String> = self.rule.iter().map(|rule| rule.to_string()).collect();
        let made_by = |id: &Id| {
            let node = graph.id_to_node(*id);
            graph.analysis.made_by.iter().find(|(made, _)| made == node).map(|(_, rule)| rule.to_string())
        };
        for rule in self.classes.iter().filter_map(made_by) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules
    }
}

/// The most operations of the source that a class remembers.
const MOST_ORIGINS: usize = 4;

impl Analysis<Node> for Facts {
    type Data = Data;

    fn make(graph: &mut Graph, node: &Node, id: Id) -> Data {
        note_label(graph, node, id);
        let mut data = Data {
            types: Vec::new(),
            attrs: None,
            constant: None,
            is_constant: false,
            parts: 0,
            sample: None,
            keeps_roundings: false,
            contents: Contents::default(),
            orders: Orders::default(),
            kind: None,
            place: node.children.iter().map(|&c| graph[c].data.place).max().unwrap_or(0),
            origins: Vec::new(),
            oldest: id,
        };
        match &node.head {
            Head::Attrs(attrs) => data.attrs = Some(attrs.clone()),
            Head::Constant(constant) => {
                data.types = vec![constant.ty().clone()];
                data.constant = Some(constant.clone());
                data.is_constant = true;
                data.parts = graph.analysis.next_parts.take().unwrap_or(1);
                data.orders = orders::ANY;
                data.contents = match constant {
                    Constant::Large { number, .. } => {
                        graph.analysis.contents.get(*number as usize).cloned().unwrap_or_default()
                    }
                    known => Contents::of_constant(known),
                };
                data.sample = Sample::of_constant(constant, &data.contents);
            }
            Head::Leaf(number) => {
                let facts = &graph.analysis;
                data.types = facts.leaf_types.get(*number as usize).cloned().into_iter().collect();
                data.place = facts.leaf_places.get(*number as usize).copied().unwrap_or(0);
                data.sample = data.types.first().map(|ty| Sample::of_leaf(*number, ty));
                data.orders = Orders::of_stored(&data.types);
            }
            Head::Get(index) => {
                let of = &graph[node.children[0]].data;
                data.types = of.types.get(*index as usize).cloned().into_iter().collect();
                // It is where its call stored it.
                data.kind = Some(FusionKind::Injective);
                data.orders = Orders::of_stored(&data.types);
            }
            Head::Call(operation) => {
                data.types = types_of(graph, node).unwrap_or_default();
                data.kind = Some(kind_of(operation.0, data.types.len()));
                let is_known = node.children[1..].iter().all(|&c| graph[c].data.is_constant);
                data.is_constant = is_known && !outgrows(operation.0, &data.types);
                if data.is_constant {
                    data.constant = fold(graph, node, &data.types);
                    data.parts = parts(graph, node);
                }
                (data.contents, data.orders, data.sample) =
                    of_result(graph, node, &data.types).unwrap_or_default();
                if data.is_constant {
                    data.orders = orders::ANY;
                }
            }
        }
        data
    }

    /// A class that is known to be a constant has it as a node.
    fn modify(graph: &mut Graph, id: Id) {
        let is_known = |n: &Node| matches!(n.head, Head::Constant(_));
        if let Some(constant) = graph[id].data.constant.clone()
            && !graph[id].nodes.iter().any(is_known)
        {
            graph.analysis.next_parts = Some(graph[id].data.parts);
            let known = graph.add(Node::leaf(Head::Constant(constant)));
            graph.analysis.next_parts = None;
            graph.union_trusted(id, known, "constant-folding");
        }
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        if self.contradiction.is_none()
            && let Some(differs) = contradiction::between(a, &b)
        {
            let classes = [a.oldest, b.oldest];
            self.contradiction = Some(Contradiction { differs, rule: self.applying, classes });
        }
        let said = |data: &Data| {
            (
                data.constant.is_some(),
                data.is_constant,
                data.parts,
                data.sample.is_some(),
                data.place,
                data.origins.len(),
            )
        };
        let (before, other) = (said(a), said(&b));
        if a.types.is_empty() {
            a.types = b.types;
        }
        a.constant = a.constant.take().or(b.constant);
        a.parts = match (a.is_constant, b.is_constant) {
            (true, true) => a.parts.min(b.parts),
            _ => a.parts.max(b.parts),
        };
        a.is_constant |= b.is_constant;
        a.sample = a.sample.or(b.sample);
        a.keeps_roundings |= b.keeps_roundings;
        let learned = a.contents.join(b.contents);
        let ordered = a.orders.join(b.orders);
        a.place = a.place.min(b.place);
        // Nothing of those who read the class follows from these.
        a.oldest = a.oldest.min(b.oldest);
        a.kind = [a.kind, b.kind].into_iter().flatten().min();
        for origin in b.origins {
            if a.origins.len() < MOST_ORIGINS && !a.origins.contains(&origin) {
                a.origins.push(origin);
            }
        }
        let now = said(a);
        DidMerge(now != before || learned.0 || ordered.0, now != other || learned.1 || ordered.1)
    }
}

/// How a call of so many results fuses: alone, where it has several.
pub fn kind_of(operator: &Operator, results: usize) -> FusionKind {
    if results == 1 { operator.fusion } else { FusionKind::Opaque }
}

/// Gives a node that is new its label.
fn note_label(graph: &mut Graph, node: &Node, id: Id) {
    if graph.analysis.labels.len() <= usize::from(id) {
        let mut hasher = DefaultHasher::new();
        node.head.hash(&mut hasher);
        node.children.iter().for_each(|&child| label(graph, child).hash(&mut hasher));
        graph.analysis.labels.resize(usize::from(id), 0);
        graph.analysis.labels.push(hasher.finish());
    }
}

/// The label of what was first added to a class: the same in all graphs of one program in which that is the first.
pub fn label(graph: &Graph, id: Id) -> u64 {
    graph.analysis.labels[usize::from(graph[id].data.oldest)]
}

/// The constant that a call of constants is, as rules make it.
fn fold(graph: &Graph, node: &Node, types: &[TensorType]) -> Option<Constant> {
    let ([ty], operator) = (types, node.operator()?) else { return None };
    let operands = operand_types(graph, node)?;
    let call = Call { op: operator, operands: &operands, attrs: attrs(graph, node.children[0])? };
    let known: Vec<_> = node.children[1..].iter().map(|&c| graph[c].data.constant.as_ref()).collect();
    match folding::of_rule(&call, ty, &known) {
        Folded::Constant(constant) => Some(constant),
        Folded::Call | Folded::OutOfRange => None,
    }
}

/// Whether a call makes so much of a few numbers that it is computed when running, though all is known: a library would hold random words,
/// and the places that they are of.
fn outgrows(operator: &Operator, types: &[TensorType]) -> bool {
    let is_large = |ty: &TensorType| ty.dtype.is_int() && ty.elements().is_none_or(|n| n > MOST_ELEMENTS);
    (operator.is(&ARANGE) || operator.is(&PHILOX)) && types.iter().any(is_large)
}

/// How many constants of the source take part in a call of constants.
fn parts(graph: &Graph, node: &Node) -> u32 {
    node.children[1..].iter().fold(0, |sum, &c| sum.saturating_add(graph[c].data.parts))
}

/// What is known of the elements of a call's only result, the orders in which it is to be had, and what it is on samples.
fn of_result(graph: &Graph, node: &Node, types: &[TensorType]) -> Option<(Contents, Orders, Option<Sample>)> {
    let ([result], operator) = (types, node.operator()?) else { return None };
    let operands = operand_types(graph, node)?;
    let call = Call { op: operator, operands: &operands, attrs: attrs(graph, node.children[0])? };
    let of = || node.children[1..].iter().map(|&c| &graph[c].data);
    let classes = node.children[1..].iter().map(|&c| graph.find(c));
    let known: Vec<Known> = classes
        .zip(of())
        .map(|(class, data)| Known { class, contents: &data.contents, constant: data.constant.as_ref() })
        .collect();
    let (orders, constant): (Vec<_>, Vec<_>) = of().map(|data| (data.orders, data.is_constant)).unzip();
    let samples: Vec<Option<Sample>> = of().map(|data| data.sample).collect();
    let sample = Sample::of_call(node, &call, &samples, result);
    Some((
        Contents::of_call(&call, result, &known),
        Orders::of_call(&call, result, &orders, &constant),
        sample,
    ))
}

/// The types of the operands of a call whose children are classes.
fn operand_types(graph: &Graph, node: &Node) -> Option<Vec<TensorType>> {
    node.children.get(1..)?.iter().map(|&c| only_type(graph, c).cloned()).collect()
}

/// A node over the classes that its children are in now.
pub fn canonical(graph: &Graph, node: &Node) -> Node {
    Node { head: node.head.clone(), children: node.children.iter().map(|&c| graph.find(c)).collect() }
}

/// The nodes that rules have made, as they are now, each with the rule that was first. Only to be looked up in.
pub fn made_by(graph: &Graph) -> HashMap<Node, Symbol> {
    let mut made = HashMap::new();
    for (node, rule) in &graph.analysis.made_by {
        made.entry(canonical(graph, node)).or_insert(*rule);
    }
    made
}

/// The types of a call whose children are classes.
pub fn types_of(graph: &Graph, node: &Node) -> Option<Vec<TensorType>> {
    let operands = operand_types(graph, node)?;
    node.operator()?.infer(&operands, attrs(graph, *node.children.first()?)?).ok()
}

/// The type of a class that is one tensor.
pub fn only_type(graph: &Graph, id: Id) -> Option<&TensorType> {
    match &graph[id].data.types[..] {
        [ty] => Some(ty),
        _ => None,
    }
}

/// The attributes that a class is.
pub fn attrs(graph: &Graph, id: Id) -> Option<&Attrs> {
    graph[id].data.attrs.as_ref().map(|a| &*a.attrs)
}
