//! Calls of like shape that share nothing become one over all of them.
//!
//!     x0 y0, x1 y1, ..    =    slices of [x0; x1; ..] [y0; y1; ..]           one product a slice of the stack
//!     x0 * v, x1 * w, ..  =    channels of (x0 | x1 | ..) * [v; w; ..]       one group of a convolution each
//!
//! (The products of heads or of experts, branches of like layers, groups that an exporter wrote out.) What is spared is calls, which
//! are dear on a GPU, whose cores one small product does not keep busy either. What is paid is bringing the operands together, and that
//! is nothing where they were pieces of one tensor, or are constants. Elsewhere it takes a kernel for each side, and one to cut the result, so
//! that there must be more calls than that. None of the calls may need what another gives.

use super::super::analysis::{Graph, only_type};
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, Place, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::{SUMS, shaping};
use super::groups::FEWEST_CHANNELS;
use super::needs::Needs;
use super::pieces::slicing;
use super::stacks::piece_of;
use egg::Id;
use fusion_operators::ops::contraction::MATMUL;
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::shape::{CONCAT, RESHAPE, SLICE};
use fusion_operators::{Attrs, Operator, TensorType};
use indexmap::IndexMap;

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "batch-matmuls",
        equation: "x0 y0, x1 y1 = slices of [x0; x1] [y0; y1]",
        rounding: Rounding::Bounded(SUMS),
        conditions: &[
            "the operands have like shapes, and not all share one",
            "each side are constants or pieces of one tensor, or there are more products than kernels that bring them together",
            "no product needs another",
        ],
        find: |graph| all(graph, &MATMUL, batched),
    },
    SearchRule {
        name: "group-conv2ds",
        equation: "x * v, y * w = channels of (x | y) * [v; w]",
        rounding: Rounding::Bounded(SUMS),
        conditions: &[
            "the operands have like shapes, and not all share one",
            "each side are constants or pieces of one tensor, or there are more convolutions than kernels that bring them together",
            "a group has fewer channels than those that are worth kernels of their own",
            "no convolution needs another",
        ],
        find: |graph| all(graph, &CONV2D, grouped),
    },
];

/// The most calls that become one.
const MOST: usize = 64;

/// A call, and the classes of its two operands.
#[derive(Clone, Copy)]
struct Member {
    class: Id,
    operands: [Id; 2],
}

/// Makes the terms of calls that become one.
type Merge = fn(&Graph, &Attrs, &[Member]) -> Option<Vec<Draft>>;

/// Merges calls of an operator with the same attributes and types of operands.
fn all(graph: &Graph, operator: &'static Operator, merge: Merge) -> Vec<Draft> {
    let mut groups: IndexMap<(Id, Vec<&TensorType>), Vec<Member>> = IndexMap::new();
    for (class, call) in calls(graph) {
        let &[attrs, x, y] = &call.children[..] else { continue };
        // What was brought together is not brought together again.
        let is_new = |id: Id| !graph[id].nodes.iter().any(|n| n.calls(&CONCAT));
        if !call.calls(operator) || graph[class].data.is_constant || !is_new(x) {
            continue;
        }
        let Some(types) = [x, y].into_iter().map(|id| only_type(graph, id)).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        if types.iter().any(|t| t.shape().is_none()) {
            continue;
        }
        let group = groups.entry((graph.find(attrs), types)).or_default();
        if !group.iter().any(|m| m.class == class) {
            group.push(Member { class, operands: [graph.find(x), graph.find(y)] });
        }
    }
    groups.retain(|_, members| members.len() > 1);
    if groups.is_empty() {
        return Vec::new();
    }
    let classes: Vec<Id> = groups.values().flatten().map(|m| m.class).collect();
    let needs = Needs::of(graph, &classes);
    let mut drafts = Vec::new();
    for ((attrs, _), members) in groups {
        let attrs = attrs_of(graph, attrs);
        for batch in apart(&needs, &members) {
            let shared = |k: usize| batch.iter().all(|m| m.operands[k] == batch[0].operands[k]);
            let spares = match (0..2).filter(|&k| !lies_together(graph, &batch, k)).count() {
                0 => batch.len() > 1,
                sides => batch.len() > sides + 2,
            };
            if spares && batch.len() <= MOST && !shared(0) && !shared(1) {
                drafts.extend(merge(graph, &attrs, &batch).unwrap_or_default());
            }
        }
    }
    drafts
}

/// True when the operands of one side are constants, or pieces of one tensor.
fn lies_together(graph: &Graph, members: &[Member], side: usize) -> bool {
    let operands = || members.iter().map(|m| m.operands[side]);
    let source = |id: Id| piece_of(graph, id).map(|(.., source)| graph.find(source));
    let first = source(members[0].operands[side]);
    operands().all(|id| graph[id].data.is_constant)
        || first.is_some() && operands().all(|id| source(id) == first)
}

/// Parts members so that in no part one needs another.
fn apart(needs: &Needs, members: &[Member]) -> Vec<Vec<Member>> {
    let mut parts: Vec<Vec<Member>> = Vec::new();
    for &member in members {
        let free = |part: &&mut Vec<Member>| {
            part.iter().all(|m| !needs.has(m.class, member.class) && !needs.has(member.class, m.class))
        };
        match parts.iter_mut().find(free) {
            Some(part) => part.push(member),
            None => parts.push(vec![member]),
        }
    }
    parts
}

/// Joins operands along an axis, each in a shape.
fn together(draft: &mut Draft, operands: &[Id], shape: Option<&[u64]>, axis: usize) -> Place {
    let parts: Vec<Place> = operands
        .iter()
        .map(|&operand| {
            let part = draft.class(operand);
            shape.map_or(part, |shape| draft.call(&RESHAPE, shaping(shape), &[part]))
        })
        .collect();
    draft.call(&CONCAT, Attrs::new().with("axis", axis as i64), &parts)
}

fn batched(graph: &Graph, attrs: &Attrs, members: &[Member]) -> Option<Vec<Draft>> {
    let shapes: Vec<Vec<u64>> =
        members[0].operands.iter().map(|&o| only_type(graph, o)?.shape()).collect::<Option<_>>()?;
    let rank = shapes.iter().map(Vec::len).max().filter(|_| shapes.iter().all(|s| s.len() >= 2))?;
    // Axes of batches are aligned with the last ones.
    let stacked: Vec<Vec<u64>> =
        shapes.iter().map(|s| [&vec![1; 1 + rank - s.len()][..], s].concat()).collect();
    let mut drafts = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let result = only_type(graph, member.class)?.shape()?;
        let mut draft = Draft::of(member.class);
        let operands: Vec<Place> = (0..2)
            .map(|k| {
                let all: Vec<Id> = members.iter().map(|m| m.operands[k]).collect();
                together(&mut draft, &all, Some(&stacked[k]), 0)
            })
            .collect();
        let whole = draft.call(&MATMUL, attrs.clone(), &operands);
        let piece = draft.call(&SLICE, slicing(0, number as i64, number as i64 + 1), &[whole]);
        draft.call(&RESHAPE, shaping(&result), &[piece]);
        drafts.push(draft);
    }
    Some(drafts)
}

fn grouped(graph: &Graph, attrs: &Attrs, members: &[Member]) -> Option<Vec<Draft>> {
    let weight = only_type(graph, members[0].operands[1])?.shape()?;
    // Groups of many channels are worth kernels of their own.
    if weight[0].min(weight[1]) >= FEWEST_CHANNELS {
        return None;
    }
    let mut drafts = Vec::new();
    let mut more = attrs.clone();
    more.set("groups", attrs.int_or("groups", 1) * members.len() as i64);
    for (number, member) in members.iter().enumerate() {
        let filters = *only_type(graph, member.class)?.shape()?.get(1)? as i64;
        let mut draft = Draft::of(member.class);
        let all = |k: usize| members.iter().map(|m| m.operands[k]).collect::<Vec<Id>>();
        let data = together(&mut draft, &all(0), None, 1);
        let weights = together(&mut draft, &all(1), None, 0);
        let whole = draft.call(&CONV2D, more.clone(), &[data, weights]);
        let begin = number as i64 * filters;
        draft.call(&SLICE, slicing(1, begin, begin + filters), &[whole]);
        drafts.push(draft);
    }
    Some(drafts)
}
