//! Rules whose left side is no single term: over several classes at once, or of calls of any number of operands.
//!
//! Such a rule looks at the whole graph and drafts replacements: a class, and a term that is equal to it.

use super::analysis::{self, Graph};
use super::language::Node;
use super::numbers::admission::{Part, admits};
use super::rule::Rounding;
use egg::{Id, Symbol};
use fusion_operators::{Attrs, Operator};

/// A rule that looks at the whole graph.
#[derive(Clone, Copy)]
pub struct SearchRule {
    /// Its name, of all rules.
    pub name: &'static str,
    /// What it says, as an equation.
    pub equation: &'static str,
    /// Its side conditions.
    pub conditions: &'static [&'static str],
    /// How far the term is from the class.
    pub rounding: Rounding,
    /// Finds replacements, in an order that follows from the graph alone.
    pub find: fn(&Graph) -> Vec<Draft>,
}

/// A term that is to be equal to a class. Its nodes are added one after another; children are places of earlier ones.
pub struct Draft {
    class: Id,
    steps: Vec<Step>,
}

enum Step {
    Class(Id),
    Node(Node),
}

/// The place of a node in a draft.
pub type Place = usize;

impl Draft {
    /// An empty term for a class.
    pub fn of(class: Id) -> Self {
        Draft { class, steps: Vec::new() }
    }

    /// The class that the term is to be equal to.
    pub fn target(&self) -> Id {
        self.class
    }

    /// The classes of the graph that are parts of the term, in order.
    pub fn classes(&self) -> impl Iterator<Item = Id> {
        self.steps.iter().filter_map(|step| match step {
            Step::Class(id) => Some(*id),
            Step::Node(_) => None,
        })
    }

    /// The nodes of the term, in order; their children are places in the draft.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.steps.iter().filter_map(|step| match step {
            Step::Class(_) => None,
            Step::Node(node) => Some(node),
        })
    }

    /// A class of the graph as part of the term.
    pub fn class(&mut self, id: Id) -> Place {
        self.steps.push(Step::Class(id));
        self.steps.len() - 1
    }

    /// A leaf as part of the term.
    pub fn node(&mut self, node: Node) -> Place {
        self.steps.push(Step::Node(node));
        self.steps.len() - 1
    }

    /// A call as part of the term.
    pub fn call(&mut self, operator: &'static Operator, attrs: Attrs, operands: &[Place]) -> Place {
        self.steps.push(Step::Node(Node::attrs(attrs)));
        let attrs = Id::from(self.steps.len() - 1);
        let node = Node::call(operator, attrs, operands.iter().map(|&p| Id::from(p)));
        self.steps.push(Step::Node(node));
        self.steps.len() - 1
    }
}

impl Draft {
    /// Whether the constants of the term may be made.
    fn may_make_constants(&self, graph: &Graph) -> bool {
        let attrs = |node: &'_ Node| match &self.steps[usize::from(node.children[0])] {
            Step::Class(id) => analysis::attrs(graph, *id),
            Step::Node(attrs) => attrs.attributes(),
        };
        let part = |step| match step {
            &Step::Class(id) => Part::Class(graph.find(id)),
            Step::Node(node) => Part::of(node, || attrs(node)),
        };
        admits(graph, self.steps.iter().map(part))
    }
}

impl SearchRule {
    /// Applies the rule to what it found; gives what became equal to the class when that changed the graph. The last node of the draft is the whole term. A term of
    /// another type than the class, or that can only be computed later, is left out.
    pub fn apply(&self, graph: &mut Graph, draft: &Draft) -> Option<Id> {
        let name = Symbol::from(self.name);
        let data = &graph[draft.class].data;
        let keeps_roundings = data.keeps_roundings;
        if keeps_roundings && !self.rounding.keeps_bits(&data.types) || !draft.may_make_constants(graph) {
            return None;
        }
        let mut ids: Vec<Id> = Vec::new();
        for step in &draft.steps {
            let id = match step {
                Step::Class(id) => graph.find(*id),
                Step::Node(node) => {
                    let children = node.children.iter().map(|c| ids[usize::from(*c)]).collect();
                    let node = Node { head: node.head.clone(), children };
                    match graph.lookup(node.clone()) {
                        Some(id) => id,
                        None => {
                            graph.analysis.made_by.push((node.clone(), name));
                            let id = graph.add(node);
                            graph[id].data.keeps_roundings |= keeps_roundings;
                            id
                        }
                    }
                }
            };
            ids.push(id);
        }
        let &last = ids.last()?;
        let (old, new) = (&graph[draft.class].data, &graph[last].data);
        if old.types != new.types || new.place > old.place {
            return None;
        }
        let right = new.oldest;
        graph.analysis.applying = Some(name);
        let changed = graph.union_trusted(draft.class, last, name);
        graph.analysis.applying = None;
        changed.then_some(right)
    }
}
