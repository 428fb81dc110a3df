//! Stacks: pieces of one tensor that lie one behind the other in memory.
//!
//!     x [A, n d, B]   cut along the middle into n pieces, joined in front:
//!         [x[:, 0:d]; x[:, d:2d]; ..]           = (x as [A, n, d, B]) with n in front
//!     y [n, ..]       cut in front into n pieces, joined along another axis:
//!         y[0] | y[1] | ..                      = (y as [n, A, d, B]) with n behind A
//!
//! Heads are cut from a product and joined again like that. Where the calls on pieces became one over all of them (`batches`), these
//! rules make one transpose of all the copies, or nothing at all.

use super::super::analysis::{Graph, only_type};
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, SearchRule};
use super::axes::calls;
use super::conditions::{shaping, transposing};
use super::pieces::{joined, piece};
use egg::Id;
use fusion_operators::ops::shape::{RESHAPE, TRANSPOSE};

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "stack-of-slices",
        equation: "[reshape x[:, 0:d]; reshape x[:, d:2d]; ..] = reshape x^p",
        rounding: Rounding::Exact,
        conditions: &["the pieces are all of x, in order, of like extents", "they are joined in front"],
        find: stacks,
    },
    SearchRule {
        name: "concat-of-stacked",
        equation: "reshape y[0] | reshape y[1] | .. = reshape y^p",
        rounding: Rounding::Exact,
        conditions: &["the pieces are all of y, in order, cut in front", "they are not joined in front"],
        find: joined_pieces,
    },
];

/// What a tensor is cut into, in order: the tensor, the axis, and the number of pieces.
fn cut(graph: &Graph, parts: &[Id]) -> Option<(Id, usize, u64)> {
    let found: Vec<(usize, i64, i64, Id)> =
        parts.iter().map(|&part| piece_of(graph, part)).collect::<Option<_>>()?;
    let (axis, begin, end, source) = *found.first()?;
    let width = end - begin;
    let extent = *only_type(graph, source)?.shape()?.get(axis)?;
    let in_order = found.iter().enumerate().all(|(n, &(a, b, e, s))| {
        (a, graph.find(s)) == (axis, graph.find(source))
            && (b, e) == (n as i64 * width, (n as i64 + 1) * width)
    });
    let count = parts.len() as u64;
    (in_order && width > 0 && count > 1 && count * width as u64 == extent).then_some((source, axis, count))
}

/// The piece that a class is, under any shape.
pub fn piece_of(graph: &Graph, id: Id) -> Option<(usize, i64, i64, Id)> {
    let direct = graph[id].nodes.iter().find_map(|n| piece(graph, n));
    direct.or_else(|| {
        let reshaped = |n: &&super::super::language::Node| n.calls(&RESHAPE);
        let sources = graph[id].nodes.iter().filter(reshaped).map(|n| n.children[1]);
        sources.flat_map(|source| &graph[source].nodes).find_map(|n| piece(graph, n))
    })
}

fn stacks(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, concat) in calls(graph) {
        let Some((0, parts)) = joined(graph, concat) else { continue };
        let (Some((source, axis, count)), false) = (cut(graph, parts), graph[class].data.is_constant) else {
            continue;
        };
        drafts.extend(moved(graph, class, source, axis, count));
    }
    drafts
}

/// The pieces of a tensor along an axis, in front.
fn moved(graph: &Graph, class: Id, source: Id, axis: usize, count: u64) -> Option<Draft> {
    let (mut apart, result) = (only_type(graph, source)?.shape()?, only_type(graph, class)?.shape()?);
    apart[axis] /= count;
    apart.insert(axis, count);
    let axes: Vec<usize> = [axis].into_iter().chain((0..apart.len()).filter(|&a| a != axis)).collect();
    Some(rearranged(class, source, &apart, &axes, &result))
}

fn rearranged(class: Id, source: Id, apart: &[u64], axes: &[usize], result: &[u64]) -> Draft {
    let mut draft = Draft::of(class);
    let source = draft.class(source);
    let apart = draft.call(&RESHAPE, shaping(apart), &[source]);
    let moved = draft.call(&TRANSPOSE, transposing(axes), &[apart]);
    draft.call(&RESHAPE, shaping(result), &[moved]);
    draft
}

fn joined_pieces(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, concat) in calls(graph) {
        let Some((along, parts)) = joined(graph, concat).filter(|(along, _)| *along > 0) else { continue };
        let Some((source, 0, count)) = cut(graph, parts) else { continue };
        let shapes = parts.iter().map(|&p| only_type(graph, p)?.shape()).collect::<Option<Vec<_>>>();
        let (Some(shapes), false) = (shapes, graph[class].data.is_constant) else { continue };
        let Some(result) = only_type(graph, class).and_then(|t| t.shape()) else { continue };
        let apart = [&[count], &shapes[0][..]].concat();
        let axes: Vec<usize> = (1..=along).chain([0]).chain(along + 1..apart.len()).collect();
        drafts.push(rearranged(class, source, &apart, &axes, &result));
    }
    drafts
}
