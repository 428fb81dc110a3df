//! Names of a graph, and new ones beside them.

use crate::onnx::proto::GraphProto;
use std::collections::{HashMap, HashSet};

/// The names in use.
pub struct Names {
    taken: HashSet<String>,
    /// How often each value is read, by nodes and as a result, in graphs within as well.
    pub uses: HashMap<String, usize>,
}

impl Names {
    /// Of a graph and those within.
    pub fn of(graph: &GraphProto) -> Names {
        let mut names = Names { taken: HashSet::new(), uses: HashMap::new() };
        names.add(graph);
        names
    }

    fn add(&mut self, graph: &GraphProto) {
        let infos = graph.input.iter().chain(&graph.output).map(|info| &info.name);
        self.taken.extend(infos.chain(graph.initializer.iter().map(|t| &t.name)).cloned());
        for name in graph.output.iter().map(|info| &info.name) {
            *self.uses.entry(name.clone()).or_default() += 1;
        }
        for node in &graph.node {
            self.taken.extend(node.output.iter().chain([&node.name]).cloned());
            for name in &node.input {
                *self.uses.entry(name.clone()).or_default() += 1;
            }
            for attribute in &node.attribute {
                attribute.g.iter().chain(&attribute.graphs).for_each(|graph| self.add(graph));
            }
        }
    }

    /// A name that nothing has: this one, or with a number behind it.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }
}
