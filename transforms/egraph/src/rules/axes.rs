//! Axes that are moved, inserted, removed, merged and split.
//!
//! Transposes are how a program changes a layout. They compose, they move past elementwise operators on either side, and where two meet
//! that undo each other both are gone; reshapes likewise. All forms of the same memory under another shape become `reshape`.

use super::super::analysis::{Graph, only_type};
use super::super::language::{Head, Node};
use super::super::rule::{Match, Rounding, Rule, rule};
use super::super::search_rule::{Draft, Place, SearchRule};
use super::conditions::{SUMS, exchanges_last_two, permutation, shaping, transposing};
use egg::Id;
use fusion_operators::ops::shape::{BROADCAST_TO, RESHAPE, TRANSPOSE};
use fusion_operators::{Attrs, FusionKind, Operator, TensorType};

/// The rules that are equations between terms.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "transpose-transpose",
            "(x^q)^p = x^(q[p])",
            "(transpose ?p (transpose ?q ?x))",
            "(transpose ?r ?x)",
        )
        .exact()
        .with("?r", |m| {
            let rank = m.ty("?x")?.rank();
            let (p, q) = (permutation(m.attrs("?p")?, rank)?, permutation(m.attrs("?q")?, rank)?);
            Some(Node::attrs(transposing(&p.iter().map(|&axis| q[axis]).collect::<Vec<_>>())))
        }),
        rule(
            "reshape-of-exchange",
            "reshape x' = (reshape x)'",
            "(reshape ?r (transpose ?p ?x))",
            "(transpose ?q (reshape ?s ?x))",
        )
        .exact()
        .when("the transpose exchanges the last two axes, which the reshape keeps", |m| {
            let (x, result) = (m.shape("?x")?, m.result()?.shape()?);
            let (rows, columns) = (x[x.len().checked_sub(2)?], *x.last()?);
            Some(exchanges_last_two(m.attrs("?p")?, x.len())? && result.ends_with(&[columns, rows]))
        })
        .with("?q", |m| {
            let rank = m.result()?.rank();
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(rank.checked_sub(2)?, rank - 1);
            Some(Node::attrs(transposing(&axes)))
        })
        .with("?s", |m| {
            let mut shape = m.result()?.shape()?;
            let rank = shape.len();
            shape.swap(rank.checked_sub(2)?, rank - 1);
            Some(Node::attrs(shaping(&shape)))
        }),
        rule(
            "reshape-of-moved-rows",
            "reshape(x^p) = (reshape x)^q",
            "(reshape ?r (transpose ?p ?x))",
            "(transpose ?q (reshape ?s ?x))",
        )
        .exact()
        .when("the last axis stays the last, and is split", |m| {
            let (x, result) = (m.shape("?x")?, m.result()?.shape()?);
            let moved: Vec<u64> = permutation(m.attrs("?p")?, x.len())?.iter().map(|&a| x[a]).collect();
            Some(keeps_last(m, "?p")? && result.len() > x.len() && result.starts_with(&moved[..x.len() - 1]))
        })
        .with("?q", |m| {
            let before = m.ty("?x")?.rank();
            let mut axes = permutation(m.attrs("?p")?, before)?;
            axes.extend(before..m.result()?.rank());
            Some(Node::attrs(transposing(&axes)))
        })
        .with("?s", |m| {
            let (mut shape, result) = (m.shape("?x")?, m.result()?.shape()?);
            shape.pop();
            shape.extend(&result[shape.len()..]);
            Some(Node::attrs(shaping(&shape)))
        }),
        rule(
            "matmul-of-moved-rows",
            "(x^p) w = (x w)^p",
            "(matmul ?n (transpose ?p ?x) ?w)",
            "(transpose ?p (matmul ?n ?x ?w))",
        )
        .within(SUMS)
        .when("the last axis stays the last, w is a constant matrix", |m| {
            let plain = !m.attrs("?n")?.flag("transpose_a") && m.is_constant("?w") && m.ty("?w")?.rank() == 2;
            Some(plain && keeps_last(m, "?p")?)
        }),
        rule(
            "dense-of-moved-rows",
            "dense(x^p, w) = dense(x, w)^p",
            "(dense ?n (transpose ?p ?x) ?w)",
            "(transpose ?p (dense ?n ?x ?w))",
        )
        .within(SUMS)
        .when("the last axis stays the last, w is a constant", |m| {
            Some(m.is_constant("?w") && keeps_last(m, "?p")?)
        }),
        rule(
            "layer-norm-of-moved-rows",
            "layer_norm(x^p, g, b) = layer_norm(x, g, b)^p",
            "(layer_norm ?l (transpose ?p ?x) ?g ?b)",
            "(transpose ?p (layer_norm ?l ?x ?g ?b))",
        )
        .within(SUMS)
        .when("the last axis stays the last, and alone is normalized", |m| {
            let rank = m.ty("?x")?.rank();
            let axis = fusion_operators::relation::normalize_axis(m.attrs("?l")?.int_or("axis", -1), rank)?;
            Some(axis + 1 == rank && keeps_last(m, "?p")?)
        }),
        rule("transpose-nothing", "x^p = x", "(transpose ?p ?x)", "?x").exact().when(
            "p moves no axis",
            |m| {
                let rank = m.ty("?x")?.rank();
                Some(permutation(m.attrs("?p")?, rank)?.into_iter().eq(0..rank))
            },
        ),
        rule("transpose-of-ones", "x^p = reshape x", "(transpose ?p ?x)", "(reshape ?r ?x)")
            .exact()
            .when("axes above 1 keep their order", |m| {
                let shape = m.shape("?x")?;
                let moved = permutation(m.attrs("?p")?, shape.len())?;
                Some(moved.into_iter().filter(|&axis| shape[axis] != 1).is_sorted())
            })
            .with("?r", to_result),
        rule(
            "reshape-reshape",
            "reshape reshape x = reshape x",
            "(reshape ?p (reshape ?q ?x))",
            "(reshape ?r ?x)",
        )
        .exact()
        .with("?r", to_result),
        rule("reshape-nothing", "reshape x = x", "(reshape ?p ?x)", "?x").exact(),
        rule("squeeze", "squeeze x = reshape x", "(squeeze ?p ?x)", "(reshape ?r ?x)")
            .exact()
            .with("?r", to_result),
        rule("expand-dims", "expand_dims x = reshape x", "(expand_dims ?p ?x)", "(reshape ?r ?x)")
            .exact()
            .with("?r", to_result),
        rule(
            "reshape-of-one-shape",
            "reshape to [-1, 4] = reshape to its shape",
            "(reshape ?p ?x)",
            "(reshape ?r ?x)",
        )
        .exact()
        .with("?r", to_result),
        rule("broadcast-nothing", "broadcast x = x", "(broadcast_to ?p ?x)", "?x").exact(),
        rule(
            "broadcast-broadcast",
            "broadcast broadcast x = broadcast x",
            "(broadcast_to ?p (broadcast_to ?q ?x))",
            "(broadcast_to ?p ?x)",
        )
        .exact(),
        rule("tile-nothing", "tile x = x", "(tile ?p ?x)", "?x").exact(),
        rule("pad-nothing", "pad x = x", "(pad ?p ?x)", "?x")
            .exact()
            .when("there is no padding", |m| Some(m.attrs("?p")?.ints("padding")?.iter().all(|&n| n == 0))),
        rule("reverse-reverse", "reverse reverse x = x", "(reverse ?p (reverse ?p ?x))", "?x").exact(),
        rule(
            "mean-of-pool",
            "global_avg_pool x = mean over the spatial axes",
            "(global_avg_pool ?p ?x)",
            "(reduce_mean ?q ?x)",
        )
        .within(SUMS)
        .with("?q", |m| {
            let rank = m.ty("?x")?.rank() as i64;
            Some(Node::attrs(Attrs::new().with("axes", (2..rank).collect::<Vec<_>>()).with("keepdims", true)))
        }),
    ]
}

fn to_result(found: &Match) -> Option<Node> {
    Some(Node::attrs(shaping(&found.result()?.shape()?)))
}

/// The rules that go over all elementwise operators.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "elementwise-of-transpose",
        equation: "f(x^p) = f(x)^p",
        rounding: Rounding::Exact,
        conditions: &["f is elementwise, of one operand"],
        find: |graph| unary_of(graph, |n| n.calls(&TRANSPOSE)),
    },
    SearchRule {
        name: "elementwise-of-reshape",
        equation: "f(reshape x) = reshape f(x)",
        rounding: Rounding::Exact,
        conditions: &["f is elementwise, of one operand"],
        find: |graph| unary_of(graph, |n| n.calls(&RESHAPE)),
    },
    SearchRule {
        name: "transpose-of-elementwise",
        equation: "f(x, y)^p = f(x^p, y^p)",
        rounding: Rounding::Exact,
        conditions: &[
            "f is elementwise or a broadcast",
            "an operand is a transpose, the others too or constants or of one element",
        ],
        find: transposes_of,
    },
    SearchRule {
        name: "elementwise-of-transposes",
        equation: "f(x^p, y^p) = f(x, y)^p",
        rounding: Rounding::Exact,
        conditions: &[
            "f is a broadcast of operands of one rank",
            "other operands are constants, or have one element",
        ],
        find: calls_of_transposes,
    },
    SearchRule {
        name: "operand-of-broadcast",
        equation: "f(broadcast x, y) = f(x, y)",
        rounding: Rounding::Exact,
        conditions: &["f broadcasts its operands"],
        find: broadcast_operands,
    },
];

/// Calls in the order of classes, with the class that each belongs to.
pub fn calls(graph: &Graph) -> Vec<(Id, &Node)> {
    let all = graph.classes().flat_map(|c| c.nodes.iter().map(move |n| (c.id, n)));
    all.filter(|(_, n)| matches!(n.head, Head::Call(_))).collect()
}

/// The attributes that a class is.
pub fn attrs_of(graph: &Graph, id: Id) -> Attrs {
    super::super::analysis::attrs(graph, id).cloned().unwrap_or_default()
}

/// `f(m x) = m f(x)` for elementwise operators of one operand, and movers.
pub fn unary_of(graph: &Graph, is_mover: impl Fn(&Node) -> bool) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, call) in calls(graph) {
        let Some(operator) = call.operator().filter(|o| o.fusion == FusionKind::Elementwise) else {
            continue;
        };
        let &[attrs, operand] = &call.children[..] else { continue };
        // Movers go element by element, so that a class without such calls has none.
        let moves = graph[operand].data.kind.is_some_and(|kind| kind <= FusionKind::Injective);
        if graph[class].data.is_constant || !moves {
            continue;
        }
        for mover in graph[operand].nodes.iter().filter(|n| is_mover(n)) {
            let (Some(moves), &[by, source]) = (mover.operator(), &mover.children[..]) else { continue };
            let mut draft = Draft::of(class);
            let source = draft.class(source);
            let inner = draft.call(operator, attrs_of(graph, attrs), &[source]);
            draft.call(moves, attrs_of(graph, by), &[inner]);
            drafts.push(draft);
        }
    }
    drafts
}

fn transposes(graph: &Graph, id: Id) -> impl Iterator<Item = (Id, Vec<usize>)> + '_ {
    let rank = only_type(graph, id).map_or(0, |t| t.rank());
    graph[id].nodes.iter().filter(|n| n.calls(&TRANSPOSE)).filter_map(move |n| {
        let axes = permutation(super::super::analysis::attrs(graph, n.children[0])?, rank)?;
        Some((n.children[1], axes))
    })
}

fn inverse(axes: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; axes.len()];
    axes.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
    inverse
}

/// True for operands that a transpose of the call passes by: it can be moved into them for nothing.
fn is_free(graph: &Graph, id: Id, rank: usize) -> bool {
    let ty = only_type(graph, id);
    graph[id].data.is_constant && ty.is_some_and(|t| t.rank() == rank) || is_one(graph, id)
}

/// True for a value of one element, whose axes do not matter.
fn is_one(graph: &Graph, id: Id) -> bool {
    only_type(graph, id).is_some_and(|t| t.elements() == Some(1) && t.rank() <= 1)
}

/// `f(x^p, y^p) = f(x, y)^p`.
fn calls_of_transposes(graph: &Graph) -> Vec<Draft> {
    let moved = |id: Id| transposes(graph, id).map(|(source, axes)| (source, transposing(&axes))).collect();
    pulled_out(graph, &TRANSPOSE, &moved, &|draft, by, (constant, ty)| {
        let axes = permutation(by, ty.rank())?;
        Some(draft.call(&TRANSPOSE, transposing(&inverse(&axes)), &[constant]))
    })
}

/// What moves a class: the class that it is made of, and the attributes of the mover.
pub type Moved<'a> = &'a dyn Fn(Id) -> Vec<(Id, Attrs)>;

/// Moves a constant of the rank of the call's result back: what the mover with those attributes makes it of.
pub type Back<'a> = &'a dyn Fn(&mut Draft, &Attrs, (Place, &TensorType)) -> Option<Place>;

/// `f(m x, m y) = m f(x, y)` for what broadcasts its operands and a mover `m`. Of several operands all are moved alike, or are constants, or
/// have one element.
pub fn pulled_out(graph: &Graph, mover: &'static Operator, moved: Moved, back: Back) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, call) in calls(graph) {
        let Some(operator) = call.operator().filter(|o| o.fusion == FusionKind::Broadcast) else { continue };
        let operands = &call.children[1..];
        let Some(rank) = only_type(graph, class).map(|t| t.rank()) else { continue };
        if operands.len() < 2 || operator.is(&BROADCAST_TO) || graph[class].data.is_constant {
            continue;
        }
        let full = |id: Id| only_type(graph, id).is_some_and(|t| t.rank() == rank);
        let first = operands.iter().filter(|&&o| full(o)).find_map(|&o| moved(o).into_iter().next());
        let Some((_, by)) = first else { continue };
        let mut draft = Draft::of(class);
        let mut inner = Vec::new();
        for &operand in operands {
            let source = moved(operand).into_iter().find(|(_, other)| full(operand) && *other == by);
            let place = match source {
                Some((source, _)) => Some(draft.class(source)),
                None if is_one(graph, operand) => Some(draft.class(operand)),
                None if graph[operand].data.is_constant => lifted(graph, &mut draft, operand, rank)
                    .and_then(|(constant, ty)| back(&mut draft, &by, (constant, &ty))),
                None => None,
            };
            let Some(place) = place else { break };
            inner.push(place);
        }
        if inner.len() == operands.len() {
            let call = draft.call(operator, attrs_of(graph, call.children[0]), &inner);
            draft.call(mover, by, &[call]);
            drafts.push(draft);
        }
    }
    drafts
}

/// A value with axes of extent 1 put before its own, so that it has that rank.
fn lifted(graph: &Graph, draft: &mut Draft, id: Id, rank: usize) -> Option<(Place, TensorType)> {
    let ty = only_type(graph, id)?;
    let shape = [vec![1; rank.checked_sub(ty.rank())?], ty.shape()?].concat();
    let mut place = draft.class(id);
    if shape.len() != ty.rank() {
        place = draft.call(&RESHAPE, shaping(&shape), &[place]);
    }
    Some((place, TensorType::fixed(&shape, ty.dtype)))
}

/// `f(x, y)^p = f(x^p, y^p)`, where an operand is a transpose already.
fn transposes_of(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, transpose) in calls(graph) {
        if !transpose.calls(&TRANSPOSE) || graph[class].data.is_constant {
            continue;
        }
        let &[by, of] = &transpose.children[..] else { continue };
        let Some(rank) = only_type(graph, class).map(|t| t.rank()) else { continue };
        if graph[of].data.kind.is_none_or(|kind| kind > FusionKind::Broadcast) {
            continue;
        }
        for call in &graph[of].nodes {
            let elementwise = |o: &&fusion_operators::Operator| {
                matches!(o.fusion, FusionKind::Broadcast | FusionKind::Elementwise) && !o.is(&BROADCAST_TO)
            };
            let Some(operator) = call.operator().filter(elementwise) else { continue };
            let operands = &call.children[1..];
            let moves = |&o: &Id| transposes(graph, o).next().is_some();
            let fits = |&o: &Id| is_free(graph, o, rank) || moves(&o);
            if !operands.iter().any(moves) || !operands.iter().all(fits) {
                continue;
            }
            let mut draft = Draft::of(class);
            let mut inner = Vec::new();
            for &operand in operands {
                let source = draft.class(operand);
                inner.push(match is_one(graph, operand) {
                    true => source,
                    false => draft.call(&TRANSPOSE, attrs_of(graph, by), &[source]),
                });
            }
            draft.call(operator, attrs_of(graph, call.children[0]), &inner);
            drafts.push(draft);
        }
    }
    drafts
}

/// `f(broadcast x, y) = f(x, y)`.
fn broadcast_operands(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, call) in calls(graph) {
        let Some(operator) = call.operator().filter(|o| o.fusion == FusionKind::Broadcast) else { continue };
        if call.children.len() < 3 || graph[class].data.is_constant {
            continue;
        }
        for at in 1..call.children.len() {
            let nodes = graph[call.children[at]].nodes.iter();
            for broadcast in nodes.filter(|n| n.calls(&BROADCAST_TO)) {
                let mut draft = Draft::of(class);
                let operands: Vec<usize> = (1..call.children.len())
                    .map(|i| draft.class(if i == at { broadcast.children[1] } else { call.children[i] }))
                    .collect();
                draft.call(operator, attrs_of(graph, call.children[0]), &operands);
                drafts.push(draft);
            }
        }
    }
    drafts
}

/// True when a transpose of x leaves the last axis where it is.
fn keeps_last(found: &Match, attrs: &str) -> Option<bool> {
    let rank = found.ty("?x")?.rank();
    Some(permutation(found.attrs(attrs)?, rank)?.last() == Some(&rank.checked_sub(1)?))
}
