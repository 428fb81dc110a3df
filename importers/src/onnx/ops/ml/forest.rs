//! Trees as the attributes of a node tell them, in either of the two forms there are:
//!
//! - since version 5 (`of_nodes`), inner nodes and leaves are lists of their own, and branches are places in one of them;
//! - before (`of_targets`), nodes are named by tree and number, and weights name the node that they are of.
//!
//! Nothing is trusted: branches must lead somewhere, and no tree may lead back to where it was.

use std::collections::HashMap;
use std::path::Path;

use fusion_operators::Operator;
use fusion_operators::ops::elementwise as ew;

use super::scores::{TRANSFORMS, Transform};
use crate::onnx::error::Fault;
use crate::onnx::node::Node;

/// What a node asks of its feature and its split, by the numbers of version 5.
pub const MODES: [(&str, &Operator); 6] = [
    ("BRANCH_LEQ", &ew::LESS_EQUAL),
    ("BRANCH_LT", &ew::LESS),
    ("BRANCH_GTE", &ew::GREATER_EQUAL),
    ("BRANCH_GT", &ew::GREATER),
    ("BRANCH_EQ", &ew::EQUAL),
    ("BRANCH_NEQ", &ew::NOT_EQUAL),
];
const EQUAL: usize = 4;
const MEMBER: usize = 6;
/// Most numbers in a table of weights.
const MOST_WEIGHTS: usize = 1 << 26;
/// Deepest trees.
const DEEPEST: usize = 512;

/// How the weights that the trees give to a target become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aggregate {
    Average,
    Sum,
    Least,
    Greatest,
}

const AGGREGATES: [(&str, Aggregate); 4] = [
    ("AVERAGE", Aggregate::Average),
    ("SUM", Aggregate::Sum),
    ("MIN", Aggregate::Least),
    ("MAX", Aggregate::Greatest),
];

/// A node; of a leaf, both branches are itself.
pub struct Branch {
    pub feature: i64,
    pub mode: usize,
    pub split: f64,
    pub yes: usize,
    pub no: usize,
    /// Whether a value that is not a number goes to `yes`.
    pub missing: bool,
}

/// Trees, their leaves, and what becomes of them.
pub struct Forest {
    pub nodes: Vec<Branch>,
    pub roots: Vec<usize>,
    pub targets: usize,
    pub aggregate: Aggregate,
    pub transform: Transform,
    /// What is added for each target, if anything.
    pub base: Vec<f64>,
    /// Branches to the deepest leaf.
    pub depth: usize,
    /// Node, target and weight.
    pub(super) weights: Vec<(usize, usize, f64)>,
}

impl Forest {
    /// What each node gives each target; `empty` where it gives nothing.
    pub fn table(&self, empty: f64) -> Vec<f64> {
        let mut table = vec![empty; self.nodes.len() * self.targets];
        let mut given = vec![false; table.len()];
        for &(node, target, weight) in &self.weights {
            let place = node * self.targets + target;
            table[place] = if given[place] { table[place] + weight } else { weight };
            given[place] = true;
        }
        table
    }

    /// Whether no weight is below 0.
    pub fn never_negative(&self) -> bool {
        self.weights.iter().all(|(_, _, weight)| *weight >= 0.0)
    }

    /// The modes there are, each once.
    pub fn modes(&self) -> Vec<usize> {
        let is_inner = |&i: &usize| self.nodes[i].yes != i || self.nodes[i].no != i;
        let mut modes: Vec<usize> =
            (0..self.nodes.len()).filter(is_inner).map(|i| self.nodes[i].mode).collect();
        modes.sort_unstable();
        modes.dedup();
        if modes.is_empty() { vec![0] } else { modes }
    }

    /// Checks all places and finds the depth.
    fn checked(mut self) -> Result<Forest, Fault> {
        let count = self.nodes.len();
        if self.targets == 0 || count.saturating_mul(self.targets) > MOST_WEIGHTS {
            return Err(Fault::unsupported(format!("a table of {count} nodes by {} targets", self.targets)));
        }
        let ends = self.nodes.iter().flat_map(|node| [node.yes, node.no]).chain(self.roots.iter().copied());
        if let Some(end) = ends.into_iter().find(|&end| end >= count) {
            return Err(Fault::value(format!("a branch leads to node {end}, of {count}")));
        }
        if self.roots.is_empty() {
            return Err(Fault::value("there are no trees"));
        }
        let outside = |&&(node, target, _): &&(usize, usize, f64)| node >= count || target >= self.targets;
        if let Some((_, target, _)) = self.weights.iter().find(outside) {
            return Err(Fault::value(format!("a weight is for target {target}, of {}", self.targets)));
        }
        if let Some(node) = self.nodes.iter().find(|node| node.feature < 0) {
            return Err(Fault::value(format!("a node asks for feature {}", node.feature)));
        }
        self.depth = self.steps()?;
        Ok(self)
    }

    /// Steps from the roots until all have come to a leaf; level by level, so that shared subtrees cost nothing.
    fn steps(&self) -> Result<usize, Fault> {
        let is_leaf = |i: usize| self.nodes[i].yes == i && self.nodes[i].no == i;
        let mut level: Vec<usize> = self.roots.clone();
        for depth in 0..=DEEPEST {
            level.retain(|&i| !is_leaf(i));
            if level.is_empty() {
                return Ok(depth);
            }
            level = level.iter().flat_map(|&i| [self.nodes[i].yes, self.nodes[i].no]).collect();
            level.sort_unstable();
            level.dedup();
        }
        Err(Fault::unsupported(format!(
            "a tree of more than {DEEPEST} levels, or one that leads back to itself"
        )))
    }
}

fn list<'m>(node: &Node<'m>, name: &str) -> Result<&'m [i64], Fault> {
    node.ints(name)?.ok_or_else(|| Fault::MissingAttribute { name: name.into() })
}

/// A list that has as many elements as the nodes, or none.
fn same<T: Clone>(name: &str, list: Vec<T>, count: usize, default: T) -> Result<Vec<T>, Fault> {
    match list.len() {
        0 => Ok(vec![default; count]),
        n if n == count => Ok(list),
        n => Err(Fault::value(format!("attribute {name} must have {count} elements, found {n}"))),
    }
}

fn place(index: i64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

fn named<T: Copy>(table: &[(&str, T)], name: &str, found: &str) -> Result<T, Fault> {
    let row = table.iter().find(|(known, _)| *known == found);
    row.map(|(_, value)| *value)
        .ok_or_else(|| Fault::value(format!("attribute {name} must not be '{found}'")))
}

fn numbered<T: Copy>(table: &[(&str, T)], name: &str, found: i64) -> Result<T, Fault> {
    let row = table.get(place(found));
    row.map(|(_, value)| *value).ok_or_else(|| Fault::value(format!("attribute {name} must not be {found}")))
}

fn targets(node: &Node) -> Result<usize, Fault> {
    match node.int("n_targets", 1)? {
        n if (1..1 << 24).contains(&n) => Ok(n as usize),
        n => Err(Fault::value(format!("attribute n_targets must be positive, found {n}"))),
    }
}

/// The trees of `TreeEnsemble`.
pub fn of_nodes(node: &Node, directory: Option<&Path>) -> Result<Forest, Fault> {
    let numbers = |name: &str| -> Result<Option<Vec<f64>>, Fault> {
        Ok(node.tensor(name, directory)?.map(|tensor| tensor.to_f64s()))
    };
    let needed = |name: &str| numbers(name)?.ok_or_else(|| Fault::MissingAttribute { name: name.into() });
    let features = list(node, "nodes_featureids")?;
    let count = features.len();
    let (splits, modes) = (needed("nodes_splits")?, needed("nodes_modes")?);
    let leaves = needed("leaf_weights")?;
    let of_target = same("leaf_targetids", list(node, "leaf_targetids")?.to_vec(), leaves.len(), 0)?;
    let missing = node.ints("nodes_missing_value_tracks_true")?.unwrap_or_default().to_vec();
    let missing = same("nodes_missing_value_tracks_true", missing, count, 0)?;
    let (splits, modes) =
        (same("nodes_splits", splits, count, 0.0)?, same("nodes_modes", modes, count, 0.0)?);
    let ends = |places: &str, leafs: &str| -> Result<Vec<usize>, Fault> {
        let (to, leafs_of) = (list(node, places)?.to_vec(), list(node, leafs)?.to_vec());
        let (to, is_leaf) = (same(places, to, count, 0)?, same(leafs, leafs_of, count, 0)?);
        // Leaves stand behind the nodes.
        let end = |(to, is_leaf): (i64, i64)| match (place(to), is_leaf != 0) {
            (to, true) if to < leaves.len() => Ok(count + to),
            (to, false) if to < count => Ok(to),
            _ => Err(Fault::value(format!("a branch of {places} leads to {to}, which is not there"))),
        };
        to.into_iter().zip(is_leaf).map(end).collect()
    };
    let yes = ends("nodes_truenodeids", "nodes_trueleafs")?;
    let no = ends("nodes_falsenodeids", "nodes_falseleafs")?;
    let mut nodes: Vec<Branch> = Vec::with_capacity(count + leaves.len());
    for i in 0..count {
        let mode = if (0.0..=MEMBER as f64).contains(&modes[i]) { modes[i] as usize } else { usize::MAX };
        if mode > MEMBER {
            return Err(Fault::value(format!("attribute nodes_modes must not hold {}", modes[i])));
        }
        let (feature, missing) = (features[i], missing[i] != 0);
        nodes.push(Branch { feature, mode, split: splits[i], yes: yes[i], no: no[i], missing });
    }
    for leaf in count..count + leaves.len() {
        nodes.push(Branch { feature: 0, mode: 0, split: 0.0, yes: leaf, no: leaf, missing: false });
    }
    members(&mut nodes, count, numbers("membership_values")?.unwrap_or_default())?;
    let weights = of_target.iter().zip(&leaves).enumerate();
    let weights = weights.map(|(i, (&target, &weight))| (count + i, place(target), weight)).collect();
    Forest {
        nodes,
        roots: list(node, "tree_roots")?.iter().map(|&root| place(root)).collect(),
        targets: targets(node)?,
        aggregate: numbered(&AGGREGATES, "aggregate_function", node.int("aggregate_function", 1)?)?,
        transform: numbered(&TRANSFORMS, "post_transform", node.int("post_transform", 0)?)?,
        base: vec![],
        depth: 0,
        weights,
    }
    .checked()
}

/// Makes chains of the first `count` nodes that ask for membership; their sets are in order, each ended by a NaN.
fn members(nodes: &mut Vec<Branch>, count: usize, values: Vec<f64>) -> Result<(), Fault> {
    let mut sets = values.split(|value| value.is_nan());
    for i in 0..count {
        if nodes[i].mode != MEMBER {
            continue;
        }
        let Some(set) = sets.next() else {
            return Err(Fault::value(
                "attribute membership_values has fewer sets than there are nodes that ask",
            ));
        };
        let Branch { feature, yes, no, missing, .. } = nodes[i];
        let link = |split, no| Branch { feature, mode: EQUAL, split, yes, no, missing };
        let Some((&first, rest)) = set.split_first() else {
            nodes[i] = link(f64::NAN, no);
            continue;
        };
        let mut next = no;
        for &value in rest.iter().rev() {
            nodes.push(link(value, next));
            next = nodes.len() - 1;
        }
        nodes[i] = link(first, next);
    }
    Ok(())
}

/// The trees of `TreeEnsembleRegressor`.
pub fn of_targets(node: &Node, directory: Option<&Path>) -> Result<Forest, Fault> {
    let aggregate = named(&AGGREGATES, "aggregate_function", node.string("aggregate_function", "SUM")?)?;
    named_nodes(node, directory, "target", targets(node)?, aggregate)
}

/// The trees of `TreeEnsembleClassifier`, and which of two classes alone has weights, if so: that is the one target.
pub fn of_classes(
    node: &Node,
    directory: Option<&Path>,
    classes: usize,
) -> Result<(Forest, Option<usize>), Fault> {
    let ids = list(node, "class_ids")?;
    let only = [0, 1].into_iter().find(|&only| classes == 2 && ids.iter().all(|&id| place(id) == only));
    let targets = if only.is_some() { 1 } else { classes };
    let forest = named_nodes(node, directory, "class", targets, Aggregate::Sum)?;
    Ok((forest, only))
}

/// Trees whose nodes are named by tree and number, with weights of targets or classes.
fn named_nodes(
    node: &Node,
    directory: Option<&Path>,
    what: &str,
    targets: usize,
    aggregate: Aggregate,
) -> Result<Forest, Fault> {
    let numbers = |name: &str| -> Result<Vec<f64>, Fault> {
        let tensor = node.tensor(&format!("{name}_as_tensor"), directory)?;
        Ok(match tensor {
            Some(tensor) => tensor.to_f64s(),
            None => node.floats(name)?.unwrap_or_default(),
        })
    };
    let (trees, ids) = (list(node, "nodes_treeids")?, list(node, "nodes_nodeids")?);
    let count = trees.len();
    let ids = same("nodes_nodeids", ids.to_vec(), count, 0)?;
    let places: HashMap<(i64, i64), usize> =
        trees.iter().copied().zip(ids.iter().copied()).zip(0..).collect();
    let column = |name: &str| same(name, node.ints(name)?.unwrap_or_default().to_vec(), count, 0);
    let (features, yes, no) =
        (column("nodes_featureids")?, column("nodes_truenodeids")?, column("nodes_falsenodeids")?);
    let missing = column("nodes_missing_value_tracks_true")?;
    let splits = same("nodes_values", numbers("nodes_values")?, count, 0.0)?;
    let modes = node.strings("nodes_modes")?.unwrap_or_default();
    let modes = same("nodes_modes", modes, count, "BRANCH_LEQ")?;
    let mut nodes = Vec::with_capacity(count);
    let mut has_parent = vec![false; count];
    for i in 0..count {
        if modes[i] == "LEAF" {
            nodes.push(Branch { feature: 0, mode: 0, split: 0.0, yes: i, no: i, missing: false });
            continue;
        }
        let Some(mode) = MODES.iter().position(|(name, _)| *name == modes[i]) else {
            return Err(Fault::value(format!("attribute nodes_modes must not hold '{}'", modes[i])));
        };
        let end = |id: i64| {
            let found = places.get(&(trees[i], id)).copied();
            found
                .ok_or_else(|| Fault::value(format!("tree {} has no node {id}, to which it leads", trees[i])))
        };
        let (yes, no) = (end(yes[i])?, end(no[i])?);
        (has_parent[yes], has_parent[no]) = (true, true);
        let (feature, missing) = (features[i], missing[i] != 0);
        nodes.push(Branch { feature, mode, split: splits[i], yes, no, missing });
    }
    let name = |of: &str| format!("{what}_{of}");
    let (of_tree, of_node) = (list(node, &name("treeids"))?, list(node, &name("nodeids"))?);
    let given = numbers(&name("weights"))?;
    let of_target = same(&name("ids"), list(node, &name("ids"))?.to_vec(), given.len(), 0)?;
    if of_tree.len() != given.len() || of_node.len() != given.len() {
        return Err(Fault::value(format!("{} weights are given for {} nodes", given.len(), of_node.len())));
    }
    let mut weights = Vec::with_capacity(given.len());
    for (i, &weight) in given.iter().enumerate() {
        let Some(&at) = places.get(&(of_tree[i], of_node[i])) else {
            return Err(Fault::value(format!("a weight is of node {} of tree {}", of_node[i], of_tree[i])));
        };
        // One class that alone has weights is the first target.
        let target = if targets == 1 && what == "class" { 0 } else { place(of_target[i]) };
        weights.push((at, target, weight));
    }
    let base = numbers("base_values")?;
    if !base.is_empty() && base.len() != targets {
        return Err(Fault::value(format!("{} base_values are given for {targets} targets", base.len())));
    }
    Forest {
        nodes,
        roots: (0..count).filter(|&i| !has_parent[i]).collect(),
        targets,
        aggregate,
        transform: Transform::read(node)?,
        base,
        depth: 0,
        weights,
    }
    .checked()
}
