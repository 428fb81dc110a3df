//! The order in which a graph's nodes are imported: the file's, or, where that uses a value before
//! its definition, the nearest topological one.

use std::collections::HashMap;

use super::error::{ImportError, Place, place_of};
use super::proto::{GraphProto, NodeProto};

/// Names a node reads, its subgraphs' included.
fn reads<'m>(node: &'m NodeProto, found: &mut Vec<&'m str>) {
    found.extend(node.input.iter().map(String::as_str).filter(|name| !name.is_empty()));
    for attribute in &node.attribute {
        for graph in attribute.g.iter().chain(&attribute.graphs) {
            graph_reads(graph, found);
        }
    }
}

fn graph_reads<'m>(graph: &'m GraphProto, found: &mut Vec<&'m str>) {
    let start = found.len();
    for node in &graph.node {
        reads(node, found);
    }
    found.extend(graph.output.iter().map(|o| o.name.as_str()));
    // What the subgraph defines itself is not read from outside.
    let own: std::collections::HashSet<&str> =
        (graph.node.iter().flat_map(|n| &n.output).map(String::as_str))
            .chain(graph.input.iter().map(|i| i.name.as_str()))
            .chain(graph.initializer.iter().map(|t| t.name.as_str()))
            .collect();
    let outer: Vec<&str> = found.drain(start..).filter(|name| !own.contains(name)).collect();
    found.extend(outer);
}

/// Indices of the nodes in an order that defines before it uses. A value no node defines is left to
/// the importer to look up.
pub fn schedule(nodes: &[NodeProto]) -> Result<Vec<usize>, ImportError> {
    let mut producers: HashMap<&str, usize> = HashMap::new();
    for (i, node) in nodes.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            if producers.insert(name, i).is_some() {
                return Err(ImportError::Duplicate { place: place_of(node, 0), value: name.clone() });
            }
        }
    }
    let needs: Vec<Vec<(usize, &str)>> = nodes
        .iter()
        .map(|node| {
            let mut names = Vec::new();
            reads(node, &mut names);
            names.into_iter().filter_map(|name| Some((*producers.get(name)?, name))).collect()
        })
        .collect();
    // Depth first without recursion: graphs may be deep.
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in 0..nodes.len() {
        if state[root] == State::New {
            state[root] = State::Open;
            stack.push((root, 0));
        }
        while let Some((node, next)) = stack.last_mut() {
            let Some(&(needed, value)) = needs[*node].get(*next) else {
                state[*node] = State::Done;
                order.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            match state[needed] {
                State::Done => {}
                State::New => {
                    state[needed] = State::Open;
                    stack.push((needed, 0));
                }
                State::Open => {
                    let place: Place = place_of(&nodes[*node], 0);
                    return Err(ImportError::Cycle { place, value: value.to_owned() });
                }
            }
        }
    }
    Ok(order)
}
