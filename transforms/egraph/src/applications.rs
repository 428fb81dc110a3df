//! The applications of rules: each has a number and a key, and a run of the pass can be told which of them to make.
//!
//! ```text
//!     3   add-commutes at n7 of @main: (add {} x0 x1) = (add {} x1 x0)        key 5f0c2a9e7b1d4c36
//! ```
//!
//! The number counts what changed a graph, in the order of the pass, so it moves when an application before it is left out. The key does
//! not: it is a hash of the rule, the block, and the *labels* of the classes that matched. The label of a class says what was added to it
//! first, and depends on nothing else. Classes that an application made one have one label after it; so that another application can be told from
//! what it would be without that one, labels of classes that were one in the end may be taken for the same (`alike`).

use super::analysis::{Graph, label};
use super::language::Head;
use super::rules::{AnyRule, One};
use super::saturate::Gate;
use egg::Id;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// An application that changed a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its number, from 1.
    pub number: usize,
    /// The rule.
    pub rule: &'static str,
    /// The function.
    pub function: String,
    /// The operation of the source that the class stands for; empty where there is none.
    pub source: String,
    /// The term that matched, cut where it is deep.
    pub left: String,
    /// What became equal to it, likewise.
    pub right: String,
    /// What it is recognised by.
    pub key: Key,
}

/// What an application is recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Of the rule and of all that is no class.
    shape: u64,
    /// The block.
    block: u64,
    /// The labels of the classes.
    labels: Vec<u64>,
}

/// For labels of a block, those of the classes they ended in.
pub type Alike = HashMap<(u64, u64), u64>;

impl Key {
    /// A number for it.
    pub fn number(&self) -> u64 {
        self.number_alike(&Alike::new())
    }

    /// A number for it and all keys whose labels are alike.
    pub fn number_alike(&self, alike: &Alike) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.shape, self.block).hash(&mut hasher);
        for label in &self.labels {
            alike.get(&(self.block, *label)).unwrap_or(label).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Which applications are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Chosen {
    /// All.
    #[default]
    All,
    /// The first so many.
    First(usize),
    /// Those of these numbers of keys, as they are under `alike`.
    Only {
        /// The numbers.
        keys: HashSet<u64>,
        /// Labels that are taken for others.
        alike: Alike,
    },
}

/// The applications of a run.
#[derive(Default)]
pub struct Log {
    /// Which are made.
    pub chosen: Chosen,
    /// Whether they are described; else they are counted alone.
    pub describes: bool,
    /// How many were made.
    pub count: usize,
    /// Their descriptions.
    pub applications: Vec<Application>,
    /// Labels, and those of the classes they ended in.
    pub alike: Alike,
}

impl Log {
    /// The gate of a block: of a function and a number in it, whose classes stand for these operations.
    pub fn gate<'a>(&'a mut self, function: &'a str, number: usize, sources: &'a [String]) -> BlockGate<'a> {
        let mut hasher = DefaultHasher::new();
        (function, number).hash(&mut hasher);
        BlockGate { log: self, function, block: hasher.finish(), sources, last: None }
    }
}

/// The gate of a block.
pub struct BlockGate<'a> {
    log: &'a mut Log,
    function: &'a str,
    block: u64,
    sources: &'a [String],
    last: Option<Application>,
}

impl BlockGate<'_> {
    /// The end of saturation: keeps which labels ended in one class.
    pub fn close(self, graph: &Graph) {
        if self.log.describes {
            for (id, &own) in graph.analysis.labels.iter().enumerate() {
                self.log.alike.insert((self.block, own), label(graph, Id::from(id)));
            }
        }
    }

    fn describe(&self, graph: &Graph, rule: &AnyRule, one: &One, key: Key) -> Application {
        let (class, left) = match (rule, one) {
            (AnyRule::Term(_, rule), One::Term(class, subst)) => {
                (*class, rule.show_left(subst, &|id| show(graph, id, DEPTH)))
            }
            (_, One::Term(class, _)) => (*class, show(graph, *class, DEPTH)),
            (_, One::Draft(draft)) => (draft.target(), show(graph, draft.target(), DEPTH)),
        };
        let source = graph[class].data.origins.first().and_then(|&o| self.sources.get(o as usize));
        Application {
            number: self.log.count + 1,
            rule: rule.name(),
            function: self.function.to_owned(),
            source: source.cloned().unwrap_or_default(),
            left,
            right: String::new(),
            key,
        }
    }
}

impl Gate for BlockGate<'_> {
    fn admits(&mut self, graph: &Graph, rule: &AnyRule, one: &One) -> bool {
        let admitted = match &self.log.chosen {
            Chosen::All => true,
            Chosen::First(count) => self.log.count < *count,
            Chosen::Only { keys, alike } => {
                keys.contains(&key(graph, self.block, rule, one).number_alike(alike))
            }
        };
        if admitted && self.log.describes {
            let key = key(graph, self.block, rule, one);
            self.last = Some(self.describe(graph, rule, one, key));
        }
        admitted
    }

    fn changed(&mut self, graph: &Graph, right: Id) {
        self.log.count += 1;
        if let Some(mut application) = self.last.take() {
            application.right = show_node(graph, right, DEPTH);
            self.log.applications.push(application);
        }
    }
}

fn key(graph: &Graph, block: u64, rule: &AnyRule, one: &One) -> Key {
    let mut hasher = DefaultHasher::new();
    rule.name().hash(&mut hasher);
    let mut labels = Vec::new();
    match (rule, one) {
        (AnyRule::Term(_, rule), One::Term(class, subst)) => {
            labels.push(label(graph, *class));
            labels.extend(rule.bound(subst).into_iter().map(|id| label(graph, id)));
        }
        (_, One::Term(class, _)) => labels.push(label(graph, *class)),
        (_, One::Draft(draft)) => {
            labels.push(label(graph, draft.target()));
            labels.extend(draft.classes().map(|id| label(graph, id)));
            draft.nodes().for_each(|node| node.hash(&mut hasher));
        }
    }
    Key { shape: hasher.finish(), block, labels }
}

/// How deep terms are shown.
const DEPTH: usize = 2;

/// The oldest term of a class.
fn show(graph: &Graph, id: Id, depth: usize) -> String {
    show_node(graph, graph[id].data.oldest, depth)
}

/// The term that a class began with.
fn show_node(graph: &Graph, oldest: Id, depth: usize) -> String {
    let node = graph.id_to_node(oldest);
    match &node.head {
        Head::Call(_) | Head::Get(_) if depth == 0 => "..".to_owned(),
        Head::Call(_) | Head::Get(_) => {
            let children = node.children.iter().map(|&child| format!(" {}", show(graph, child, depth - 1)));
            format!("({node}{})", children.collect::<String>())
        }
        _ => node.to_string(),
    }
}
