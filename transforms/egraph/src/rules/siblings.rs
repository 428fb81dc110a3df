//! Calls that share an operand become one, of which each is a piece.
//!
//!     x wq, x wk, x wv    =    y[0:n], y[n:2n], y[2n:3n]    with y = x [wq wk wv]
//!
//! (QKV projections, gates beside projections, the branches of Inception.) Likewise what shares the other operand:
//!
//!     x0 w, x1 w, ..    =    rows of [x0; x1; ..] w
//!
//! (the inputs of all steps of a recurrent net times one weight, which is then read once.) One contraction reads the shared operand once and is large
//! enough to reach the ceiling. The weights are joined when compiling where they are constants. Merging pays only for all siblings
//! together: extraction tries it as one move. A gate and what it is multiplied with are found as well, and stay two products: the second
//! multiplies where it ends, and one product of both takes as long (128 x 768 by 768 x 4096, 11.29 and 11.30 ms).

use super::super::analysis::{Graph, only_type};
use super::super::language::Node;
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::SUMS;
use super::needs::Needs;
use super::pieces::slicing;
use egg::Id;
use fusion_operators::ops::contraction::{DENSE, MATMUL};
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::shape::{CONCAT, SLICE};
use fusion_operators::{Attrs, Dim, Operator, TensorType};
use indexmap::IndexMap;

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "merge-matmuls",
        equation: "x y, x z = pieces of x [y z]",
        rounding: Rounding::Bounded(SUMS),
        conditions: &["y and z are constants of the same rows"],
        find: |graph| {
            merged(
                graph,
                &MATMUL,
                |attrs, ty| if attrs.flag("transpose_b") { ty.rank() - 2 } else { ty.rank() - 1 },
                |rank| rank - 1,
            )
        },
    },
    SearchRule {
        name: "merge-denses",
        equation: "dense(x, v), dense(x, w) = pieces of dense(x, [v; w])",
        rounding: Rounding::Bounded(SUMS),
        conditions: &["v and w are constants of the same columns"],
        find: |graph| merged(graph, &DENSE, |_, _| 0, |rank| rank - 1),
    },
    SearchRule {
        name: "stack-matmuls",
        equation: "x w, y w = pieces of [x; y] w",
        rounding: Rounding::Bounded(SUMS),
        conditions: &[
            "w is a constant matrix",
            "neither x nor y needs a product with w",
            "no transpose of x and y",
        ],
        find: |graph| stacked(graph, &MATMUL),
    },
    SearchRule {
        name: "stack-denses",
        equation: "dense(x, w), dense(y, w) = pieces of dense([x; y], w)",
        rounding: Rounding::Bounded(SUMS),
        conditions: &["w is a constant", "neither x nor y needs a product with w"],
        find: |graph| stacked(graph, &DENSE),
    },
    SearchRule {
        name: "merge-conv2ds",
        equation: "x * v, x * w = pieces of x * [v; w]",
        rounding: Rounding::Bounded(SUMS),
        conditions: &["v and w are constants of kernels of the same extents", "one group"],
        find: |graph| merged(graph, &CONV2D, |_, _| 0, |_| 1),
    },
];

/// The most calls that become one.
const MOST_SIBLINGS: usize = 8;
/// The most calls whose rows are stacked.
const MOST_STACKED: usize = 128;

/// The class of a call, and that of its operand that is not shared.
type Sibling = (Id, Id);

/// Stacks calls of an operator with one constant weight and the same attributes, whose data do not need each other.
fn stacked(graph: &Graph, operator: &'static Operator) -> Vec<Draft> {
    let mut groups: IndexMap<(Id, Id, Vec<Dim>), Vec<Sibling>> = IndexMap::new();
    for (class, call) in calls(graph) {
        if !call.calls(operator) || graph[class].data.is_constant {
            continue;
        }
        let (attrs, data, weight) = (call.children[0], call.children[1], call.children[2]);
        let Some(ty) = only_type(graph, data).filter(|t| t.rank() >= 2) else { continue };
        let is_matrix = only_type(graph, weight).is_some_and(|t| t.rank() == 2);
        if !is_matrix || !graph[weight].data.is_constant || attrs_of(graph, attrs).flag("transpose_a") {
            continue;
        }
        let group = groups.entry((graph.find(attrs), graph.find(weight), ty.dims.clone())).or_default();
        if !group.iter().any(|(c, _)| *c == class) {
            group.push((class, graph.find(data)));
        }
    }
    groups.retain(|_, members| members.len() > 1);
    let results: Vec<Id> = groups.values().flatten().map(|(class, _)| *class).collect();
    let needs = Needs::of(graph, &results);
    let mut drafts = Vec::new();
    for ((attrs, weight, _), members) in groups {
        let needs_one = |data: Id| members.iter().any(|(other, _)| data == *other || needs.has(data, *other));
        let free: Vec<Sibling> = members.iter().filter(|(_, data)| !needs_one(*data)).copied().collect();
        if (2..=MOST_STACKED).contains(&free.len()) {
            drafts.extend(rows(graph, operator, &attrs_of(graph, attrs), weight, &free).unwrap_or_default());
        }
    }
    drafts
}

fn rows(
    graph: &Graph,
    operator: &'static Operator,
    attrs: &Attrs,
    weight: Id,
    members: &[(Id, Id)],
) -> Option<Vec<Draft>> {
    let axis = only_type(graph, members[0].1)?.rank() - 2;
    let extent = only_type(graph, members[0].1)?.dims[axis].known()? as i64;
    let mut drafts = Vec::new();
    for (number, &(class, _)) in members.iter().enumerate() {
        let mut draft = Draft::of(class);
        let parts: Vec<usize> = members.iter().map(|(_, data)| draft.class(*data)).collect();
        let data = draft.call(&CONCAT, Attrs::new().with("axis", axis as i64), &parts);
        let weight = draft.class(weight);
        let whole = draft.call(operator, attrs.clone(), &[data, weight]);
        let begin = number as i64 * extent;
        draft.call(&SLICE, slicing(axis, begin, begin + extent), &[whole]);
        drafts.push(draft);
    }
    Some(drafts)
}

/// Merges calls of an operator with one first operand and the same attributes. Weights are joined along `weight_axis`, results
/// along `result_axis` of their rank.
fn merged(
    graph: &Graph,
    operator: &'static Operator,
    weight_axis: fn(&Attrs, &TensorType) -> usize,
    result_axis: fn(usize) -> usize,
) -> Vec<Draft> {
    let mut groups: IndexMap<(Id, Id), Vec<(Id, &Node)>> = IndexMap::new();
    for (class, call) in calls(graph) {
        if !call.calls(operator) || graph[class].data.is_constant {
            continue;
        }
        let (attrs, data, weight) = (call.children[0], call.children[1], call.children[2]);
        let is_weight = graph[weight].data.is_constant && !graph[data].data.is_constant;
        if is_weight && attrs_of(graph, attrs).int_or("groups", 1) == 1 {
            groups.entry((graph.find(attrs), graph.find(data))).or_default().push((class, call));
        }
    }
    let mut drafts = Vec::new();
    for ((attrs, data), calls) in groups {
        let attrs = attrs_of(graph, attrs);
        let mut by_shape: IndexMap<Vec<Dim>, Vec<(Id, Id)>> = IndexMap::new();
        for (class, call) in calls {
            let Some(ty) = only_type(graph, call.children[2]) else { continue };
            let mut dims = ty.dims.clone();
            dims.remove(weight_axis(&attrs, ty));
            let same = by_shape.entry(dims).or_default();
            // What was merged already is not merged again.
            if !is_joined(graph, call.children[2]) && !same.iter().any(|(c, _)| *c == class) {
                same.push((class, call.children[2]));
            }
        }
        for siblings in by_shape.into_values().filter(|s| (2..=MOST_SIBLINGS).contains(&s.len())) {
            drafts.extend(
                pieces(graph, operator, &attrs, data, &siblings, weight_axis, result_axis)
                    .unwrap_or_default(),
            );
        }
    }
    drafts
}

fn is_joined(graph: &Graph, id: Id) -> bool {
    graph[id].nodes.iter().any(|n| n.calls(&CONCAT))
}

fn pieces(
    graph: &Graph,
    operator: &'static Operator,
    attrs: &Attrs,
    data: Id,
    siblings: &[(Id, Id)],
    weight_axis: fn(&Attrs, &TensorType) -> usize,
    result_axis: fn(usize) -> usize,
) -> Option<Vec<Draft>> {
    let mut drafts = Vec::new();
    let mut begin = 0;
    for &(class, _) in siblings {
        let ty = only_type(graph, class)?;
        let axis = result_axis(ty.rank());
        let end = begin + ty.dims[axis].known()? as i64;
        let mut draft = Draft::of(class);
        let weights: Vec<usize> = siblings.iter().map(|(_, weight)| draft.class(*weight)).collect();
        let along = weight_axis(attrs, only_type(graph, siblings[0].1)?);
        let weight = draft.call(&CONCAT, Attrs::new().with("axis", along as i64), &weights);
        let data = draft.class(data);
        let whole = draft.call(operator, attrs.clone(), &[data, weight]);
        draft.call(&SLICE, slicing(axis, begin, end), &[whole]);
        drafts.push(draft);
        begin = end;
    }
    Some(drafts)
}
