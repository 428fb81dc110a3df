//! `relay-fuse-ops`: puts operators that are computed together into functions of their own.
//!
//! Relay's fusion (Roesch et al., "Relay: A High-Level Compiler for Deep Learning", 2019, section 4.4). All
//! that is known of an operator is its fusion kind, ordered from free to strict:
//!
//! ```text
//!     elementwise < broadcast < injective < reduction < contraction < opaque
//! ```
//!
//! An operator may join another only if no value between them is needed elsewhere. The places where all uses
//! of a value have come together again are its *post-dominators*; the nearest one is its parent in a tree:
//!
//! ```text
//!         conv2d                   relu      The parent of conv2d is mul, not sigmoid: mul needs conv2d,
//!         /    \        post-       |        too. An edge of the tree knows the strictest kind on all
//!     sigmoid   |     dominators   mul       paths it stands for: from conv2d to mul it is elementwise,
//!         \    /     ----------->  |  \      so sigmoid and mul become the epilogue of conv2d, and
//!          mul                 conv2d sigmoid   relu after them.
//!           |
//!          relu
//! ```
//!
//! Every operator begins as a group of one. In order of the program, a group is joined with everything up to
//! the parent of its last operator when the kinds on all paths allow it ([`groups`] has the rules). So a group
//! always has one value that is used outside: that of its last operator, in whose place it is called.
//!
//! Reshapes move nothing. Where they begin or end a group they are left outside, as views.
//! Each block is a graph of its own. Groups that are the same share a function.

mod dominators;
mod graph;
mod groups;
mod outline;
mod pieces;
mod rows;

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, BlockLike, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RegionLike,
    RunContext, StatisticSpec, nested_ops, top_level,
};
pub use outline::is_copied;
pub use outline::{Outliner, PRIMITIVE};
pub use pieces::contiguous_piece;

/// The pass.
pub struct FuseOps;

impl Pass for FuseOps {
    const NAME: &'static str = "relay-fuse-ops";
    const DESCRIPTION: &'static str = "Outline groups of operators that are computed together";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "max-depth",
        description: "The most operators of a group",
        kind: OptionKind::Int,
        initial: "128",
    }];
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "groups", description: "Groups outlined" },
        StatisticSpec { name: "fused", description: "Operators that share a group with another" },
    ];
    const DIALECTS: &'static [&'static str] = &["func"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let asked = cx.options.int("max-depth");
        let Some(most) = usize::try_from(asked).ok().filter(|&n| n > 0) else {
            let message = format!("the option max-depth of {} must be above 0, found {asked}", Self::NAME);
            return Err(PassError::new(module.location(), message));
        };
        fuse_module(module, most, cx)
    }
}

/// The most operators of a group, unless another number is asked for.
pub const MOST: usize = 128;

/// Outlines the groups of all functions of a module. Statistics 0 and 1 of the pass count them.
pub fn fuse_module<'c>(module: Op<'c>, most: usize, cx: &mut RunContext) -> Result<(), PassError<'c>> {
    let Some(mut outliner) = outline::Outliner::new(module) else { return Ok(()) };
    for function in top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func))) {
        if function.attr(PRIMITIVE).is_some() {
            continue;
        }
        for block in blocks_under(function) {
            let graph = graph::Graph::of(block);
            let mut groups = groups::fuse(&graph, most);
            groups.retain_mut(|group| {
                graph.trim_views(group);
                !group.is_empty()
            });
            for group in groups {
                cx.count(0, 1);
                cx.count(1, if group.len() > 1 { group.len() as u64 } else { 0 });
                let ops: Vec<Op> = group.iter().map(|&node| graph.ops[node]).collect();
                let results = ops.last().map(|op| op.result_values()).unwrap_or_default();
                outliner.outline(&ops, &results);
            }
        }
    }
    Ok(())
}

/// All blocks in an operation, outer ones first.
pub fn blocks_under(op: Op) -> Vec<Block> {
    let owners = std::iter::once(op).chain(nested_ops(op));
    let regions = owners.flat_map(|op| op.regions().collect::<Vec<_>>());
    regions
        .flat_map(|region| {
            std::iter::successors(region.first_block(), |b| b.next_in_region()).collect::<Vec<_>>()
        })
        .collect()
}
