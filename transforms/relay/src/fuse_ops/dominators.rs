//! The post-dominator tree of a graph.
//!
//! The graph has no cycles and its nodes are in topological order, so one walk from the last node to the
//! first is enough: the parent of a node is the nearest common ancestor of all nodes that use it.

use super::graph::Graph;
use fusion_operators::FusionKind;

/// Where all uses of a node's value come together.
#[derive(Clone, Copy)]
struct Node {
    parent: Option<usize>,
    /// The strictest kind on any path to the parent.
    kind: FusionKind,
    depth: u32,
}

/// The tree. It has many roots: values that are used nowhere, or in ways that never meet again.
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// The tree of a graph.
    pub fn of(graph: &Graph) -> Self {
        let root = Node { parent: None, kind: FusionKind::Opaque, depth: 0 };
        let mut tree = Tree { nodes: vec![root; graph.ops.len()] };
        for at in (0..graph.ops.len()).rev() {
            let Some((first, rest)) = graph.uses[at].split_first() else { continue };
            let (mut meet, mut kind) = (Some(first.by), first.kind);
            for other in rest {
                kind = kind.max(other.kind);
                meet = meet.and_then(|meet| tree.nearest_common(meet, other.by, &mut kind));
            }
            if let Some(parent) = meet {
                tree.nodes[at] = Node { parent: Some(parent), kind, depth: tree.nodes[parent].depth + 1 };
            }
        }
        tree
    }

    /// The parent of a node, and the strictest kind on any path to it.
    pub fn parent(&self, node: usize) -> Option<(usize, FusionKind)> {
        let node = self.nodes[node];
        node.parent.map(|parent| (parent, node.kind))
    }

    /// The strictest kind on any path to an ancestor; `None` when it is none.
    pub fn kind_to(&self, mut node: usize, ancestor: usize) -> Option<FusionKind> {
        let mut kind = FusionKind::Elementwise;
        while node != ancestor {
            kind = kind.max(self.nodes[node].kind);
            node = self.nodes[node].parent?;
        }
        Some(kind)
    }

    /// Makes `kind` the strictest of itself and what is passed on the way up.
    fn nearest_common(&self, mut a: usize, mut b: usize, kind: &mut FusionKind) -> Option<usize> {
        while a != b {
            let (deep, other) = if self.nodes[a].depth < self.nodes[b].depth { (b, a) } else { (a, b) };
            *kind = (*kind).max(self.nodes[deep].kind);
            a = self.nodes[deep].parent?;
            b = other;
        }
        Some(a)
    }
}
