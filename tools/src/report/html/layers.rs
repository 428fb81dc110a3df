//! Places for the nodes of a graph without cycles, in layers.
//!
//! ```text
//!   layer 0     a        A node's layer is the longest way to it, or lower, next to the first that it goes to. The edges of a node
//!              / \       over several layers have one place in each of them (`.`), so that they do not run through nodes. In each
//!   layer 1   b   .      layer, nodes are in the order of the mean place of what they come from, and go to: two sweeps down, one up.
//!              \ /
//!   layer 2     c
//! ```
//!
//! (Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures", 1981, with simpler steps.)

use std::collections::HashMap;

/// Where things are: in units of nodes, across and down.
#[derive(Debug, PartialEq)]
pub struct Layout {
    /// The place of each node.
    pub nodes: Vec<(f64, f64)>,
    /// The places that each edge goes through, from its node to its node.
    pub edges: Vec<Vec<(f64, f64)>>,
    /// How much there is across.
    pub width: f64,
    /// How many layers.
    pub layers: usize,
}

/// How wide the place of an edge is, in nodes.
const PASSING: f64 = 0.15;

/// Lays out so many nodes; edges go from nodes to later nodes.
pub fn layout(count: usize, edges: &[(usize, usize)]) -> Layout {
    let mut layer = vec![0; count];
    let mut sorted = edges.to_vec();
    sorted.sort_unstable();
    for &(from, to) in &sorted {
        layer[to] = layer[to].max(layer[from] + 1);
    }
    for &(from, _) in sorted.iter().rev() {
        let nearest = sorted.iter().filter(|edge| edge.0 == from).map(|edge| layer[edge.1]).min();
        layer[from] = nearest.map_or(layer[from], |nearest| nearest - 1);
    }
    // Nodes, then the places of edges.
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(0, |most| most + 1)];
    for (node, &at) in layer.iter().enumerate() {
        layers[at].push(node);
    }
    let (mut above, mut below): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
        (vec![Vec::new(); count], vec![Vec::new(); count]);
    let mut passed: HashMap<(usize, usize), usize> = HashMap::new();
    let mut ways = Vec::new();
    for &(from, to) in edges {
        let mut way = vec![from];
        for (number, between) in layers.iter_mut().enumerate().take(layer[to]).skip(layer[from] + 1) {
            let place = *passed.entry((from, number)).or_insert_with(|| {
                between.push(above.len());
                above.push(Vec::new());
                below.push(Vec::new());
                above.len() - 1
            });
            way.push(place);
        }
        way.push(to);
        for pair in way.windows(2) {
            if !above[pair[1]].contains(&pair[0]) {
                above[pair[1]].push(pair[0]);
                below[pair[0]].push(pair[1]);
            }
        }
        ways.push(way);
    }
    let mut across = vec![0.0; above.len()];
    for layer in &layers {
        place(layer, count, &mut across);
    }
    for downwards in [true, false, true] {
        let order: Vec<usize> = match downwards {
            true => (0..layers.len()).collect(),
            false => (0..layers.len()).rev().collect(),
        };
        let neighbours = if downwards { &above } else { &below };
        for number in order {
            let mean = |node: usize| match neighbours[node].len() {
                0 => across[node],
                n => neighbours[node].iter().map(|&other| across[other]).sum::<f64>() / n as f64,
            };
            let mut means: Vec<(f64, usize)> = layers[number].iter().map(|&n| (mean(n), n)).collect();
            means.sort_by(|a, b| a.0.total_cmp(&b.0));
            layers[number] = means.into_iter().map(|(_, node)| node).collect();
            place(&layers[number], count, &mut across);
        }
    }
    let half = |layer: &Vec<usize>| layer.iter().map(|&n| size(n, count)).sum::<f64>() / 2.0;
    let most = layers.iter().map(half).fold(0.0, f64::max);
    let mut down = vec![0.0; above.len()];
    for (number, layer) in layers.iter().enumerate() {
        layer.iter().for_each(|&node| down[node] = number as f64);
    }
    let at = |node: usize| (across[node] + most, down[node]);
    Layout {
        nodes: (0..count).map(at).collect(),
        edges: ways.into_iter().map(|way| way.into_iter().map(at).collect()).collect(),
        width: 2.0 * most,
        layers: layers.len(),
    }
}

fn size(node: usize, count: usize) -> f64 {
    if node < count { 1.0 } else { PASSING }
}

/// Puts a layer side by side, its middle at 0.
fn place(layer: &[usize], count: usize, across: &mut [f64]) {
    let mut at = -layer.iter().map(|&n| size(n, count)).sum::<f64>() / 2.0;
    for &node in layer {
        across[node] = at + size(node, count) / 2.0;
        at += size(node, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_below_all_it_comes_from() {
        let layout = layout(3, &[(0, 1), (0, 2), (1, 2)]);
        assert_eq!(layout.nodes.iter().map(|n| n.1).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        assert_eq!(layout.edges[1].len(), 3);
        assert_eq!((layout.layers, layout.width), (3, 1.0 + PASSING));
    }

    #[test]
    fn a_node_is_next_to_what_it_goes_to() {
        // 2 could be in layer 0 as well.
        let layout = layout(4, &[(0, 1), (1, 3), (2, 3)]);
        assert_eq!(layout.nodes.iter().map(|n| n.1).collect::<Vec<_>>(), [0.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn edges_do_not_cross_without_need() {
        let layout = layout(4, &[(0, 3), (1, 2)]);
        assert!(layout.nodes[3].0 < layout.nodes[2].0);
    }

    #[test]
    fn nothing_has_no_layers() {
        assert_eq!(layout(0, &[]).layers, 0);
    }
}
