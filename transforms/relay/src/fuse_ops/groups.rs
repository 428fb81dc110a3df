//! Which operators are computed together.
//!
//! A group joins all groups on the paths to the parent of its last operator in the post-dominator tree, if
//!
//! | the group is           | the paths are at most   | groups between, and at the end  |
//! |------------------------|-------------------------|---------------------------------|
//! | elementwise, broadcast | injective, or a reduction at the end | injective; any but opaque |
//! | injective              | the same                | injective; or a reduction       |
//! | reduction, contraction | elementwise, up to the end of the group joined | broadcast |
//!
//! The last row makes epilogues: each element of their result needs one element of the reduction's or
//! contraction's. Nothing may be read *into* a contraction, and what is computed beside its epilogue is
//! broadcast at most. Injective operators wait for a second phase, so that they do not take the elementwise
//! operators that an epilogue could have had. In a third phase, groups without contractions join when all operators on the
//! paths, and those of both groups, share rows ([`super::rows`]).

use super::dominators::Tree;
use super::graph::Graph;
use super::rows::share_rows;
use fusion_operators::FusionKind::{
    self, Broadcast, Contraction, Elementwise, Injective, Opaque, Reduction, Rows,
};
use std::collections::HashSet;

/// The groups of a graph's operators: lists of nodes in the order of the program, by their last nodes.
pub fn fuse(graph: &Graph, most: usize) -> Vec<Vec<usize>> {
    let tree = Tree::of(graph);
    let mut fusion = Fusion { graph, groups: Groups::new(graph), most };
    for injective in [false, true] {
        for node in 0..graph.ops.len() {
            fusion.step(&tree, node, injective);
        }
    }
    for node in 0..graph.ops.len() {
        fusion.rows(&tree, node);
    }
    fusion.groups.lists(graph)
}

/// Sets of nodes, as a forest whose roots describe their set.
struct Groups {
    up: Vec<usize>,
    members: Vec<Vec<usize>>,
    last: Vec<usize>,
    kind: Vec<FusionKind>,
}

impl Groups {
    fn new(graph: &Graph) -> Self {
        let count = graph.ops.len();
        Groups {
            up: (0..count).collect(),
            members: (0..count).map(|node| vec![node]).collect(),
            last: (0..count).collect(),
            kind: graph.kinds.iter().map(|kind| kind.unwrap_or(Opaque)).collect(),
        }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.up[node] != node {
            self.up[node] = self.up[self.up[node]];
            node = self.up[node];
        }
        node
    }

    fn kind(&mut self, node: usize) -> FusionKind {
        let root = self.root(node);
        self.kind[root]
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            let (small, large) = if self.members[a].len() < self.members[b].len() { (a, b) } else { (b, a) };
            self.up[small] = large;
            let moved = std::mem::take(&mut self.members[small]);
            self.members[large].extend(moved);
            self.last[large] = self.last[large].max(self.last[small]);
            self.kind[large] = self.kind[large].max(self.kind[small]);
        }
    }

    fn lists(mut self, graph: &Graph) -> Vec<Vec<usize>> {
        let mut lists: Vec<Vec<usize>> = vec![Vec::new(); graph.ops.len()];
        for node in (0..graph.ops.len()).filter(|&node| graph.kinds[node].is_some()) {
            let root = self.root(node);
            lists[self.last[root]].push(node);
        }
        lists.retain(|list| !list.is_empty());
        lists
    }
}

struct Fusion<'a, 'c> {
    graph: &'a Graph<'c>,
    groups: Groups,
    most: usize,
}

impl Fusion<'_, '_> {
    /// Joins the group of a node with what is between it and the node's parent, when that is allowed.
    fn step(&mut self, tree: &Tree, node: usize, injective_phase: bool) {
        let Some((parent, path)) = tree.parent(node) else { return };
        let (root, parent_root) = (self.groups.root(node), self.groups.root(parent));
        if root == parent_root {
            return;
        }
        let at_end = self.groups.kind[parent_root];
        let readable = path <= Injective || path == Reduction;
        let (allowed, between) = match self.groups.kind[root] {
            Elementwise | Broadcast if at_end == Contraction => (path <= Broadcast, Broadcast),
            Elementwise | Broadcast => (readable && at_end != Opaque, Injective),
            Injective => (injective_phase && readable && at_end <= Reduction, Injective),
            Reduction | Contraction => {
                let end = self.groups.last[parent_root];
                (tree.kind_to(node, end) == Some(Elementwise) && at_end <= Broadcast, Broadcast)
            }
            Rows | Opaque => return,
        };
        if !allowed {
            return;
        }
        let nodes = self.between(node, parent);
        if nodes.iter().any(|&n| self.groups.kind(n) > between) {
            return;
        }
        self.join_all(node, nodes, parent);
    }

    /// Joins the group of a node with what is between it and the node's parent, when all of them share rows.
    fn rows(&mut self, tree: &Tree, node: usize) {
        let Some((parent, path)) = tree.parent(node) else { return };
        if path > Reduction || self.groups.root(node) == self.groups.root(parent) {
            return;
        }
        let between = self.between(node, parent);
        let roots: HashSet<usize> =
            between.iter().chain([&node, &parent]).map(|&n| self.groups.root(n)).collect();
        if roots.iter().any(|&root| self.groups.kind[root] > Reduction) {
            return;
        }
        let mut all: Vec<usize> =
            roots.iter().flat_map(|&root| self.groups.members[root].iter().copied()).collect();
        all.sort_unstable();
        if share_rows(self.graph, &all) {
            self.join_all(node, between, parent);
        }
    }

    /// Joins the groups of a node, of its parent and of what is between them, unless that is too large a group.
    fn join_all(&mut self, node: usize, nodes: Vec<usize>, parent: usize) {
        let roots: HashSet<usize> =
            nodes.iter().chain([&node, &parent]).map(|&n| self.groups.root(n)).collect();
        if roots.iter().map(|&root| self.groups.members[root].len()).sum::<usize>() > self.most {
            return;
        }
        for n in nodes.into_iter().chain([node]) {
            self.groups.join(n, parent);
        }
    }

    /// The nodes on all paths from a node to its post-dominator, without both.
    fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let (mut found, mut seen, mut stack) = (Vec::new(), HashSet::from([from, to]), vec![from]);
        while let Some(node) = stack.pop() {
            for by in self.graph.uses[node].iter().map(|u| u.by) {
                if seen.insert(by) {
                    found.push(by);
                    stack.push(by);
                }
            }
        }
        found
    }
}
