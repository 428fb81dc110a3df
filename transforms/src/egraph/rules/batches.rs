//! Calls of like shape that share nothing become one over all of them.
//!
//!     x0 y0, x1 y1, ..    =    slices of [x0; x1; ..] [y0; y1; ..]           one product a slice of the stack
//!     x0 * v, x1 * w, ..  =    channels of (x0 | x1 | ..) * [v; w; ..]       one group of a convolution each
//!
//! (The products of heads or of experts, branches of like layers, groups that an exporter wrote out.) What is spared is calls, which
//! are dear on a GPU, whose cores one small product does not keep busy either. What is paid is bringing the operands together, and that
//! is nothing where they were pieces of one tensor, or are constants. None of the calls may need what another gives.

use super::super::analysis::{Graph, only_type};
use super::super::search_rule::{Draft, Place, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::shaping;
use super::pieces::slicing;
use egg::Id;
use fusion_operators::ops::contraction::MATMUL;
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::shape::{CONCAT, RESHAPE, SLICE};
use fusion_operators::{Attrs, Operator, TensorType};
use indexmap::IndexMap;
use std::collections::HashMap;

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "batch-matmuls",
        equation: "x0 y0, x1 y1 = slices of [x0; x1] [y0; y1]",
        conditions: &["the operands have like shapes, and not all share one", "no product needs another"],
        find: |graph| all(graph, &MATMUL, batched),
    },
    SearchRule {
        name: "group-conv2ds",
        equation: "x * v, y * w = channels of (x | y) * [v; w]",
        conditions: &["the operands have like shapes, and not all share one", "no convolution needs another"],
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
        let is_new = |id: Id| !graph[id].nodes.iter().any(|n| n.operator().is_some_and(|o| o.is(&CONCAT)));
        if !call.operator().is_some_and(|o| o.is(operator)) || graph[class].data.is_constant || !is_new(x) {
            continue;
        }
        let Some(types) = [x, y].into_iter().map(|id| only_type(graph, id)).collect::<Option<Vec<_>>>() else {
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
        for batch in needs.apart(&members) {
            let shared = |k: usize| batch.iter().all(|m| m.operands[k] == batch[0].operands[k]);
            if (2..=MOST).contains(&batch.len()) && !shared(0) && !shared(1) {
                drafts.extend(merge(graph, &attrs, &batch).unwrap_or_default());
            }
        }
    }
    drafts
}

/// Which of some classes any form of a class needs, as bits.
struct Needs {
    bits: HashMap<Id, Vec<u64>>,
    number: HashMap<Id, usize>,
}

impl Needs {
    fn of(graph: &Graph, classes: &[Id]) -> Needs {
        let number: HashMap<Id, usize> = classes.iter().enumerate().map(|(n, &c)| (c, n)).collect();
        let words = classes.len().div_ceil(64);
        let order = operands_first(graph, classes);
        let mut needs = Needs { bits: HashMap::new(), number };
        // In order of operands one round is enough, but for classes that are equal to what is computed of them.
        loop {
            let mut changed = false;
            for &class in &order {
                let mut own = needs.bits.get(&class).cloned().unwrap_or_else(|| vec![0; words]);
                let before = own.clone();
                for child in graph[class].nodes.iter().flat_map(|n| &n.children) {
                    let child = graph.find(*child);
                    if let Some(bits) = needs.bits.get(&child) {
                        own.iter_mut().zip(bits).for_each(|(a, b)| *a |= b);
                    }
                    if let Some(&bit) = needs.number.get(&child) {
                        own[bit / 64] |= 1 << (bit % 64);
                    }
                }
                changed |= own != before;
                needs.bits.insert(class, own);
            }
            if !changed {
                return needs;
            }
        }
    }

    /// True when the value of one needs that of another.
    fn has(&self, of: Id, other: Id) -> bool {
        let bit = self.number.get(&other).copied();
        self.bits.get(&of).zip(bit).is_some_and(|(bits, bit)| bits[bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// Parts members so that in no part one needs another.
    fn apart(&self, members: &[Member]) -> Vec<Vec<Member>> {
        let mut parts: Vec<Vec<Member>> = Vec::new();
        for &member in members {
            let free = |part: &&mut Vec<Member>| {
                part.iter().all(|m| !self.has(m.class, member.class) && !self.has(member.class, m.class))
            };
            match parts.iter_mut().find(free) {
                Some(part) => part.push(member),
                None => parts.push(vec![member]),
            }
        }
        parts
    }
}

/// Some classes and what they are computed of, operands first.
fn operands_first(graph: &Graph, classes: &[Id]) -> Vec<Id> {
    let mut order = Vec::new();
    let mut seen: HashMap<Id, ()> = HashMap::new();
    let mut stack: Vec<(Id, bool)> = classes.iter().map(|&c| (c, false)).collect();
    while let Some((class, done)) = stack.pop() {
        if done {
            order.push(class);
        } else if seen.insert(class, ()).is_none() {
            stack.push((class, true));
            let children = graph[class].nodes.iter().flat_map(|n| &n.children);
            stack.extend(children.map(|c| (graph.find(*c), false)));
        }
    }
    order
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
