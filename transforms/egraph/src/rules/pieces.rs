//! Pieces of tensors, cut and joined.
//!
//! A split is read as slices. Pieces of joined tensors are the tensors, joined pieces are the whole, pieces of pieces are pieces.

use super::super::analysis::{Graph, only_type};
use super::super::language::Node;
use super::super::rule::{Match, Rounding, Rule, rule};
use super::super::search_rule::{Draft, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::shaping;
use egg::Id;
use fusion_operators::Attrs;
use fusion_operators::ops::shape::{CONCAT, SLICE};

/// The rules that are equations between terms.
pub fn rules() -> Vec<Rule> {
    vec![
        rule("slice-all", "x[0:n] = x", "(slice ?p ?x)", "?x").exact().when("every stride is 1", |m| {
            Some(m.attrs("?p")?.ints("strides").is_none_or(|s| s.iter().all(|&n| n == 1)))
        }),
        rule("slice-slice", "x[a:b][c:d] = x[a + c : a + d]", "(slice ?p (slice ?q ?x))", "(slice ?r ?x)")
            .exact()
            .when("both cut one axis, the same, without strides", |m| {
                Some(cut(m, "?p")?.0 == cut(m, "?q")?.0)
            })
            .with("?r", |m| {
                let ((axis, begin, end), (_, outer, _)) = (cut(m, "?p")?, cut(m, "?q")?);
                Some(Node::attrs(slicing(axis, outer + begin, outer + end)))
            }),
        rule("gather-one", "x[i] = reshape x[i:i + 1]", "(gather ?p ?x ?i)", "(reshape ?o (slice ?q ?x))")
            .exact()
            .when("i is one constant index, in range", |m| gathered(m).map(|_| true))
            .with("?q", |m| gathered(m).map(|(axis, at)| Node::attrs(slicing(axis, at, at + 1))))
            .with("?o", |m| Some(Node::attrs(shaping(&m.result()?.shape()?)))),
        rule("concat-one", "concat(x) = x", "(concat ?p ?x)", "?x").exact(),
    ]
}

/// The axis of a gather, and the only index that it takes.
fn gathered(found: &Match) -> Option<(usize, i64)> {
    let shape = found.shape("?x")?;
    let axis = found.attrs("?p")?.int_or("axis", 0);
    let axis = fusion_operators::relation::normalize_axis(axis, shape.len())?;
    let index = found.constant("?i").filter(|c| c.ty().elements() == Some(1))?.splat()? as i64;
    let extent = shape[axis] as i64;
    let at = if index < 0 { index + extent } else { index };
    (0..extent).contains(&at).then_some((axis, at))
}

/// Axis, begin and end of a slice that cuts one axis of a variable's value without stride.
fn cut(found: &Match, attrs: &str) -> Option<(usize, i64, i64)> {
    // Of both slices of the rule the axes have the same number, as ranks stay.
    let (rank, attrs) = (found.ty("?x")?.rank(), found.attrs(attrs)?);
    let (&[axis], &[begin], &[end]) = (&axes(attrs)?[..], attrs.ints("begin")?, attrs.ints("end")?) else {
        return None;
    };
    let plain = attrs.ints("strides").is_none_or(|s| s == [1]);
    let axis = fusion_operators::relation::normalize_axis(axis, rank)?;
    (plain && 0 <= begin && begin <= end && end < i64::from(i32::MAX)).then_some((axis, begin, end))
}

fn axes(attrs: &Attrs) -> Option<Vec<i64>> {
    Some(match attrs.ints("axes") {
        Some(axes) => axes.to_vec(),
        None => (0..attrs.ints("begin")?.len() as i64).collect(),
    })
}

/// Attributes of a slice of one axis.
pub fn slicing(axis: usize, begin: i64, end: i64) -> Attrs {
    Attrs::new().with("begin", [begin]).with("end", [end]).with("axes", [axis as i64])
}

/// The rules over calls of any number of operands.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "slice-of-concat",
        equation: "concat(.., y, ..)[a:b] = y[a':b']",
        rounding: Rounding::Exact,
        conditions: &["the slice is cut from one of the tensors that are joined"],
        find: slices_of_concats,
    },
    SearchRule {
        name: "concat-of-slices",
        equation: "concat(x[a:b], x[b:c]) = x[a:c]",
        rounding: Rounding::Exact,
        conditions: &["the pieces follow one another"],
        find: concats_of_slices,
    },
    SearchRule {
        name: "concat-of-concat",
        equation: "concat(concat(x, y), z) = concat(x, y, z)",
        rounding: Rounding::Exact,
        conditions: &["along one axis", "of 16 pieces at most"],
        find: concats_of_concats,
    },
];

/// Axis, begin, end and source of a node that cuts one axis without stride.
pub fn piece(graph: &Graph, node: &Node) -> Option<(usize, i64, i64, Id)> {
    node.operator().filter(|o| o.is(&SLICE))?;
    let (attrs, source) = (attrs_of(graph, node.children[0]), node.children[1]);
    let dims = &only_type(graph, source)?.dims;
    let (&[axis], &[begin], &[end]) = (&axes(&attrs)?[..], attrs.ints("begin")?, attrs.ints("end")?) else {
        return None;
    };
    let axis = fusion_operators::relation::normalize_axis(axis, dims.len())?;
    let extent = dims[axis].known()? as i64;
    let from_front = |at: i64| (if at < 0 { at + extent } else { at }).clamp(0, extent);
    attrs.ints("strides").is_none_or(|s| s == [1]).then_some((
        axis,
        from_front(begin),
        from_front(end),
        source,
    ))
}

/// Axis and operands of a node that joins.
pub fn joined<'n>(graph: &Graph, node: &'n Node) -> Option<(usize, &'n [Id])> {
    node.operator().filter(|o| o.is(&CONCAT))?;
    let rank = only_type(graph, *node.children.get(1)?)?.rank();
    let axis = attrs_of(graph, node.children[0]).int_or("axis", 0);
    Some((fusion_operators::relation::normalize_axis(axis, rank)?, &node.children[1..]))
}

fn slices_of_concats(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, slice) in calls(graph) {
        let Some((axis, begin, end, source)) = piece(graph, slice) else { continue };
        for (along, parts) in graph[source].nodes.iter().filter_map(|n| joined(graph, n)) {
            if along != axis {
                continue;
            }
            let mut start = 0;
            for &part in parts {
                let Some(extent) = only_type(graph, part).and_then(|t| t.dims[axis].known()) else { break };
                let stop = start + extent as i64;
                if start <= begin && end <= stop {
                    let mut draft = Draft::of(class);
                    let whole = draft.class(part);
                    if (begin, end) != (start, stop) {
                        draft.call(&SLICE, slicing(axis, begin - start, end - start), &[whole]);
                    }
                    drafts.push(draft);
                    break;
                }
                start = stop;
            }
        }
    }
    drafts
}

fn concats_of_slices(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, concat) in calls(graph) {
        let Some((axis, parts)) = joined(graph, concat) else { continue };
        let pieces: Option<Vec<_>> =
            parts.iter().map(|&p| graph[p].nodes.iter().find_map(|n| piece(graph, n))).collect();
        let Some(pieces) = pieces else { continue };
        let follow = pieces.windows(2).all(|w| w[0].2 == w[1].1 && w[0].3 == w[1].3);
        let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
        if pieces.len() < 2 || !follow || pieces.iter().any(|p| p.0 != axis) {
            continue;
        }
        let mut draft = Draft::of(class);
        let source = draft.class(first.3);
        draft.call(&SLICE, slicing(axis, first.1, last.2), &[source]);
        drafts.push(draft);
    }
    drafts
}

/// Of joined tensors that are joined, pieces at most: each is a loop of the kernel. Where a network joins its layers with all before them,
/// the sum over all pieces would grow with the square of the layers, and nothing is copied less.
const MOST_PIECES: usize = 16;

fn concats_of_concats(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, outer) in calls(graph) {
        let Some((axis, parts)) = joined(graph, outer) else { continue };
        for (at, &part) in parts.iter().enumerate() {
            let inner = graph[part].nodes.iter().filter_map(|n| joined(graph, n)).find(|(a, _)| *a == axis);
            let Some((_, inner)) = inner.filter(|_| part != class) else { continue };
            if parts.len() - 1 + inner.len() > MOST_PIECES {
                continue;
            }
            let mut draft = Draft::of(class);
            let all = [&parts[..at], inner, &parts[at + 1..]].concat();
            let operands: Vec<usize> = all.into_iter().map(|id| draft.class(id)).collect();
            draft.call(&CONCAT, Attrs::new().with("axis", axis as i64), &operands);
            drafts.push(draft);
        }
    }
    drafts
}
