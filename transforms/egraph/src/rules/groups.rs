//! Convolutions in groups, as convolutions.
//!
//!     x *' w = concat(x[group 0] * w[group 0], x[group 1] * w[group 1], ...)
//!
//! A group of many channels is a convolution that is worth a kernel of its own, in Winograd's form where it has one, which pays
//! for copies of the pieces and of the joined result.

use super::super::analysis::{Graph, only_type};
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::SUMS;
use super::pieces::slicing;
use fusion_operators::Attrs;
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::shape::{CONCAT, SLICE};

/// More kernels than this cost more than they gain.
const MOST_GROUPS: i64 = 4;
/// Channels of data and of the result that a group has at least.
pub const FEWEST_CHANNELS: u64 = 32;

/// The rule.
pub const SEARCH_RULES: &[SearchRule] = &[SearchRule {
    name: "conv2d-by-groups",
    equation: "x *' w = concat(x[group 0] * w[group 0], x[group 1] * w[group 1], ..)",
    rounding: Rounding::Bounded(SUMS),
    conditions: &["w is a constant", "2 to 4 groups of 32 channels or more"],
    find: by_groups,
}];

fn by_groups(graph: &Graph) -> Vec<Draft> {
    calls(graph)
        .into_iter()
        .filter(|(_, call)| call.calls(&CONV2D))
        .filter_map(|(class, call)| {
            let (data, weight) = (call.children[1], call.children[2]);
            let attrs = attrs_of(graph, call.children[0]);
            let groups = attrs.int_or("groups", 1);
            let shape = only_type(graph, weight)?.shape()?;
            let filters = shape[0] / groups.max(1) as u64;
            let fits = graph[weight].data.is_constant
                && (2..=MOST_GROUPS).contains(&groups)
                && shape[1].min(filters) >= FEWEST_CHANNELS;
            fits.then(|| {
                let mut draft = Draft::of(class);
                let (data, weight) = (draft.class(data), draft.class(weight));
                let mut alone = attrs.clone();
                alone.set("groups", 1);
                let piece = |draft: &mut Draft, of, axis, group: i64, count: u64| {
                    let count = count as i64;
                    draft.call(&SLICE, slicing(axis, group * count, (group + 1) * count), &[of])
                };
                let parts: Vec<usize> = (0..groups)
                    .map(|group| {
                        let x = piece(&mut draft, data, 1, group, shape[1]);
                        let w = piece(&mut draft, weight, 0, group, filters);
                        draft.call(&CONV2D, alone.clone(), &[x, w])
                    })
                    .collect();
                draft.call(&CONCAT, Attrs::new().with("axis", 1), &parts);
                draft
            })
        })
        .collect()
}
