//! Orders of images: NCHW, channels last, and channels in blocks.
//!
//!     x * w = (x^p * w)^q                       where the convolution takes less in another order (`relay/layouts.rs`)
//!     (x^p) * w = x * w {data_layout}           a kernel reads its data as it lies,
//!     (x * w)^q = x * w {out_layout}            and stores its result as the next one wants it
//!     pool(x^p) = (pool {data_layout} x)^p      what goes over each channel by itself keeps the order
//!
//! Channels last are a `transpose`, which the rules of axes move; blocks are a `layout_transform`, which is moved here. Where a network is
//! computed in another order, changes of order meet and cancel, and those of constants are made when compiling. What is left, at the
//! beginning and at the end, is a kernel or goes into a neighbour's.

use super::super::analysis::{Graph, only_type};
use super::super::language::Node;
use super::super::orders::Orders;
use super::super::rule::{Match, Rounding, Rule, rule};
use super::super::search_rule::{Draft, Place, SearchRule};
use super::axes::{attrs_of, calls, pulled_out, unary_of};
use super::conditions::{SUMS, permutation, shaping, transposing};
use crate::layouts::{BLOCKS, BLOCKS_OF_WEIGHTS, LAST, Windows, is_known, pays};
use egg::Id;
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::layout::{IMAGES, LAYOUT_TRANSFORM, WEIGHTS, orders};
use fusion_operators::ops::shape::{CONCAT, RESHAPE, TRANSPOSE};
use fusion_operators::relation::normalize_axis;
use fusion_operators::{Attrs, Layout, Operator};

/// The axes of NHWC in NCHW, and back.
const TO_LAST: [usize; 4] = [0, 2, 3, 1];
const FROM_LAST: [usize; 4] = [0, 3, 1, 2];

fn changing(from: &str, to: &str) -> Attrs {
    Attrs::new().with("src_layout", from).with("dst_layout", to)
}

/// The rules that are equations between terms.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "conv2d-channels-last",
            "x * w = (x^p * w)^q",
            "(conv2d ?c ?x ?w)",
            "(transpose ?q (layout_conv2d ?l (transpose ?p ?x) ?w))",
        )
        .within(SUMS)
        .when("w is a constant, and the convolution takes less with channels last", |m| {
            Some(m.is_constant("?w") && takes_less(m, LAST, WEIGHTS)?)
        })
        .with("?p", |_| Some(Node::attrs(transposing(&TO_LAST))))
        .with("?q", |_| Some(Node::attrs(transposing(&FROM_LAST))))
        .with("?l", |m| in_order(m, LAST)),
        rule(
            "conv2d-in-blocks",
            "x * w = unblock(block x * block w)",
            "(conv2d ?c ?x ?w)",
            "(layout_transform ?q (layout_conv2d ?l (layout_transform ?p ?x) (layout_transform ?r ?w)))",
        )
        .within(SUMS)
        .when("w is a constant, and the convolution takes less in blocks of channels", |m| {
            Some(m.is_constant("?w") && takes_less(m, BLOCKS, BLOCKS_OF_WEIGHTS)?)
        })
        .with("?p", |_| Some(Node::attrs(changing(IMAGES, BLOCKS))))
        .with("?q", |_| Some(Node::attrs(changing(BLOCKS, IMAGES))))
        .with("?r", |_| Some(Node::attrs(changing(WEIGHTS, BLOCKS_OF_WEIGHTS))))
        .with("?l", |m| in_order(m, BLOCKS)),
        rule("layout-back", "unblock block x = x", "(layout_transform ?p (layout_transform ?q ?x))", "?x")
            .exact()
            .when("the second undoes the first", |m| {
                let (p, q) = (m.attrs("?p")?, m.attrs("?q")?);
                Some(
                    p.str_or("src_layout", "") == q.str_or("dst_layout", "")
                        && p.str_or("dst_layout", "") == q.str_or("src_layout", ""),
                )
            }),
        rule(
            "layout-as-transpose",
            "an order of whole axes is a transpose",
            "(layout_transform ?p ?x)",
            "(transpose ?q ?x)",
        )
        .exact()
        .with("?q", |m| {
            let (from, to) = orders(m.attrs("?p")?).ok()?;
            let whole = |layout: &Layout| layout.parts().iter().all(|part| part.inner.is_none());
            let place = |axis: usize| from.parts().iter().position(|part| part.axis == axis);
            let axes: Option<Vec<usize>> = to.parts().iter().map(|part| place(part.axis)).collect();
            (whole(&from) && whole(&to)).then_some(Node::attrs(transposing(&axes?)))
        }),
        rule(
            "mean-of-transpose",
            "mean(x^p) = (mean x)^p",
            "(reduce_mean ?a (transpose ?p ?x))",
            "(transpose ?p (reduce_mean ?b ?x))",
        )
        .within(SUMS)
        .when("the mean keeps its axes", |m| Some(m.attrs("?a")?.flag("keepdims")))
        .with("?b", |m| {
            Some(Node::attrs(Attrs::new().with("axes", moved_axes(m)?.0).with("keepdims", true)))
        }),
        rule(
            "mean-over-transpose",
            "mean(x^p) = mean x",
            "(reduce_mean ?a (transpose ?p ?x))",
            "(reduce_mean ?b ?x)",
        )
        .within(SUMS)
        .when("the axes that are left keep their order", |m| {
            Some(!m.attrs("?a")?.flag("keepdims") && moved_axes(m)?.1.is_sorted())
        })
        .with("?b", |m| Some(Node::attrs(Attrs::new().with("axes", moved_axes(m)?.0)))),
        rule(
            "mean-of-blocks",
            "mean(unblock x) = reshape mean x",
            "(reduce_mean ?a (layout_transform ?p ?x))",
            "(reshape ?r (reduce_mean ?b ?x))",
        )
        .within(SUMS)
        .when("the mean is over all pixels, of blocks of channels", |m| {
            let p = m.attrs("?p")?;
            let mut axes = reduced(m, 4)?;
            axes.sort_unstable();
            Some(
                p.str_or("src_layout", "") == BLOCKS
                    && p.str_or("dst_layout", "") == IMAGES
                    && axes == [2, 3],
            )
        })
        .with("?b", |_| Some(Node::attrs(Attrs::new().with("axes", [2, 3]).with("keepdims", true))))
        .with("?r", |m| Some(Node::attrs(shaping(&m.result()?.shape()?)))),
    ]
}

fn takes_less(found: &Match, order: &str, of_weight: &str) -> Option<bool> {
    let types = [found.ty("?x")?, found.ty("?w")?, found.result()?];
    let lies = Orders::named(order).is_some_and(|order| found.orders("?x").has(order));
    Some(pays(found.attrs("?c")?, types, (order, of_weight), lies))
}

/// The attributes of the convolution in an order.
fn in_order(found: &Match, order: &str) -> Option<Node> {
    let layout = Layout::parse(order, IMAGES).ok()?;
    let (_, attrs) = Windows::of(&CONV2D, found.attrs("?c")?)?.in_orders(&layout, &layout)?.call()?;
    Some(Node::attrs(attrs))
}

/// The axes that `?a` combines, of a value of that rank.
fn reduced(found: &Match, rank: usize) -> Option<Vec<usize>> {
    match found.attrs("?a")?.ints("axes") {
        Some(axes) => axes.iter().map(|&a| normalize_axis(a, rank)).collect(),
        None => Some((0..rank).collect()),
    }
}

/// The axes of x that `?a` combines in its transpose, and those that it leaves, in the order of the result.
fn moved_axes(found: &Match) -> Option<(Vec<i64>, Vec<usize>)> {
    let rank = found.ty("?x")?.rank();
    let (axes, by) = (reduced(found, rank)?, permutation(found.attrs("?p")?, rank)?);
    let left = (0..rank).filter(|axis| !axes.contains(axis)).map(|axis| by[axis]).collect();
    Some((axes.iter().map(|&axis| by[axis] as i64).collect(), left))
}

/// The rules over operators of any kind.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "windows-of-order",
        equation: "(x^p) * w = x * w {data_layout}, pool(x^p) = (pool{data_layout} x)^p",
        rounding: Rounding::Bounded(SUMS),
        conditions: &[
            "x lies in an order that windows have kernels for",
            "a weight that is read in another order is a constant",
        ],
        find: windows_of_order,
    },
    SearchRule {
        name: "order-of-windows",
        equation: "(x * w)^q = x * w {out_layout}, (pool x)^q = pool{data_layout} (x^q)",
        rounding: Rounding::Bounded(SUMS),
        conditions: &[
            "the result is to lie in an order that windows have kernels for",
            "a weight that is read in another order is a constant",
        ],
        find: order_of_windows,
    },
    SearchRule {
        name: "elementwise-of-order",
        equation: "f(unblock x) = unblock f(x)",
        rounding: Rounding::Exact,
        conditions: &["f is elementwise, of one operand"],
        find: |graph| unary_of(graph, |n| n.calls(&LAYOUT_TRANSFORM)),
    },
    SearchRule {
        name: "elementwise-of-orders",
        equation: "f(unblock x, c) = unblock f(x, block c)",
        rounding: Rounding::Exact,
        conditions: &[
            "f broadcasts its operands",
            "other operands are unblocked as well, constants, or have one element",
        ],
        find: elementwise_of_orders,
    },
    SearchRule {
        name: "concat-of-orders",
        equation: "concat(x^p, y^p) = concat(x, y)^p",
        rounding: Rounding::Exact,
        conditions: &["all operands are moved alike, and blocks are not split"],
        find: concat_of_orders,
    },
];

/// The changes of order that a class is computed by: what they change, their operator, and the attributes.
fn changes(graph: &Graph, id: Id) -> impl Iterator<Item = (Id, &'static Operator, Attrs)> + '_ {
    graph[id].nodes.iter().filter_map(|node| {
        let operator = node.operator().filter(|o| o.is(&TRANSPOSE) || o.is(&LAYOUT_TRANSFORM))?;
        Some((node.children[1], operator, attrs_of(graph, node.children[0])))
    })
}

/// The order that becomes `layout` by a change.
fn before(operator: &Operator, by: &Attrs, layout: &Layout) -> Option<Layout> {
    let before = match operator.is(&TRANSPOSE) {
        true => {
            let axes = permutation(by, layout.parts().len())?;
            let mut back = vec![0; axes.len()];
            axes.iter().enumerate().for_each(|(to, &from)| back[from] = to);
            layout.transposed(&back)
        }
        false => change(by).filter(|(_, to)| to == layout)?.0,
    };
    is_known(&before).then_some(before)
}

/// The order that `layout` becomes by a change.
fn after(operator: &Operator, by: &Attrs, layout: &Layout) -> Option<Layout> {
    let after = match operator.is(&TRANSPOSE) {
        true => layout.transposed(&permutation(by, layout.parts().len())?),
        false => change(by).filter(|(from, _)| from == layout)?.1,
    };
    is_known(&after).then_some(after)
}

/// Both orders of a `layout_transform` of images.
fn change(by: &Attrs) -> Option<(Layout, Layout)> {
    let parse = |name: &str| Layout::parse(by.str_or(name, ""), IMAGES).ok();
    Some((parse("src_layout")?, parse("dst_layout")?))
}

/// Windows in an order, of a source and of the weight that a call has, which is put in order as well when it is a constant.
fn in_orders(
    graph: &Graph,
    draft: &mut Draft,
    (windows, ordered): (&Windows, &Windows),
    (source, rest): (Place, &[Id]),
) -> Option<Place> {
    let (row, attrs) = ordered.call()?;
    let mut operands = vec![source];
    if let (Some(from), Some(to), &[weight]) = (&windows.weight, &ordered.weight, rest) {
        let mut place = draft.class(weight);
        if from != to {
            let fits = only_type(graph, weight).and_then(|ty| to.stored(&from.value(ty)?));
            fits.filter(|_| graph[weight].data.is_constant)?;
            place = draft.call(&LAYOUT_TRANSFORM, changing(&from.to_string(), &to.to_string()), &[place]);
        }
        operands.push(place);
    }
    Some(draft.call(row, attrs, &operands))
}

/// `f(m x) = f x`, read in the order of x; of windows that go over each channel by itself `m f(x)`.
fn windows_of_order(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, call) in calls(graph).into_iter().filter(|(class, _)| !graph[*class].data.is_constant) {
        let found = call.operator().and_then(|op| Windows::of(op, &attrs_of(graph, call.children[0])));
        let (Some(windows), Some((&operand, rest))) = (found, call.children[1..].split_first()) else {
            continue;
        };
        for (source, mover, by) in changes(graph, operand) {
            let Some(order) = before(mover, &by, &windows.data) else { continue };
            let result = if windows.is_product() { &windows.result } else { &order };
            let Some(ordered) = windows.in_orders(&order, result) else { continue };
            let mut draft = Draft::of(class);
            let source = draft.class(source);
            let Some(y) = in_orders(graph, &mut draft, (&windows, &ordered), (source, rest)) else {
                continue;
            };
            if !windows.is_product() {
                draft.call(mover, by, &[y]);
            }
            drafts.push(draft);
        }
    }
    drafts
}

/// `m f(x) = f x`, stored in the order that m makes; of windows that go over each channel by itself `f(m x)`.
fn order_of_windows(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, call) in calls(graph).into_iter().filter(|(class, _)| !graph[*class].data.is_constant) {
        let is_change = |o: &&'static Operator| o.is(&TRANSPOSE) || o.is(&LAYOUT_TRANSFORM);
        let Some(mover) = call.operator().filter(is_change) else { continue };
        let by = attrs_of(graph, call.children[0]);
        for of in &graph[call.children[1]].nodes {
            let found = of.operator().and_then(|op| Windows::of(op, &attrs_of(graph, of.children[0])));
            let (Some(windows), Some((&operand, rest))) =
                (found, of.children.get(1..).and_then(<[Id]>::split_first))
            else {
                continue;
            };
            let Some(order) = after(mover, &by, &windows.result) else { continue };
            let data = if windows.is_product() { &windows.data } else { &order };
            let Some(ordered) = windows.in_orders(data, &order) else { continue };
            let mut draft = Draft::of(class);
            let mut source = draft.class(operand);
            if !windows.is_product() {
                source = draft.call(mover, by.clone(), &[source]);
            }
            if in_orders(graph, &mut draft, (&windows, &ordered), (source, rest)).is_some() {
                drafts.push(draft);
            }
        }
    }
    drafts
}

fn elementwise_of_orders(graph: &Graph) -> Vec<Draft> {
    let moved = |id: Id| {
        let found = changes(graph, id).filter(|(_, operator, _)| operator.is(&LAYOUT_TRANSFORM));
        found.map(|(source, _, by)| (source, by)).collect()
    };
    pulled_out(graph, &LAYOUT_TRANSFORM, &moved, &|draft, by, (constant, ty)| {
        let (from, to) = change(by)?;
        if from.stored(ty).is_some() {
            return Some(draft.call(
                &LAYOUT_TRANSFORM,
                changing(&to.to_string(), &from.to_string()),
                &[constant],
            ));
        }
        // One number for all channels is that of each part.
        let shape = ty.shape().filter(|shape| shape.len() == IMAGES.len())?;
        let one =
            |part: &fusion_operators::layout::Part| if part.inner.is_some() { 1 } else { shape[part.axis] };
        let single = from.parts().iter().filter(|p| p.inner.is_some()).all(|p| shape[p.axis] == 1);
        let parts: Vec<u64> = from.parts().iter().map(one).collect();
        single.then(|| draft.call(&RESHAPE, shaping(&parts), &[constant]))
    })
}

fn concat_of_orders(graph: &Graph) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (class, call) in calls(graph).into_iter().filter(|(class, _)| !graph[*class].data.is_constant) {
        if !call.calls(&CONCAT) || call.children.len() < 2 {
            continue;
        }
        let attrs = attrs_of(graph, call.children[0]);
        let rank = only_type(graph, class).map_or(0, |ty| ty.rank());
        let Some(axis) = normalize_axis(attrs.int_or("axis", 0), rank) else { continue };
        for (_, operator, by) in changes(graph, call.children[1]) {
            // The axis of what is moved: blocks stay whole along the axis of their numbers.
            let along = match operator.is(&TRANSPOSE) {
                true => permutation(&by, rank).map(|axes| axes[axis]),
                false => change(&by).and_then(|(from, to)| {
                    let whole = to.parts().iter().all(|part| part.inner.is_none());
                    from.parts().iter().position(|p| p.axis == axis && p.inner.is_none()).filter(|_| whole)
                }),
            };
            let Some(along) = along else { continue };
            let mut draft = Draft::of(class);
            let alike = |operand: &Id| {
                changes(graph, *operand)
                    .find(|(_, o, b)| o.is(operator) && *b == by)
                    .map(|(source, ..)| source)
            };
            let Some(sources) = call.children[1..].iter().map(alike).collect::<Option<Vec<Id>>>() else {
                continue;
            };
            let operands: Vec<_> = sources.into_iter().map(|source| draft.class(source)).collect();
            let joined = draft.call(&CONCAT, Attrs::new().with("axis", along as i64), &operands);
            draft.call(operator, by, &[joined]);
            drafts.push(draft);
        }
    }
    drafts
}
