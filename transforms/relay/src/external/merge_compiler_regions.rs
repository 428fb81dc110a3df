//! `relay-merge-compiler-regions`: neighbours that the same code generator compiles become one region.
//!
//! ```text
//!   %0 = conv2d {relay.compiler = "npu"}         %0 = conv2d {relay.compiler = "npu", relay.region = 0}
//!   %1 = exp                               =>    %2 = relu %0 {relay.compiler = "npu", relay.region = 0}
//!   %2 = relu %0 {relay.compiler = "npu"}        %1 = exp
//! ```
//! A region can be called: nothing that it needs comes out of something that needs it. [`super::stages`] finds regions, in time linear in
//! edges, and operations move so that each stands together. TVM has the pass as `MergeCompilerRegions`.

use super::stages::Graph;
use super::{COMPILER, REGION, order};
use crate::fuse_ops::blocks_under;
use fusion_dialects::{Op, OpExt, Pass, PassError, RunContext, StatisticSpec, int_attr, ops_in};
use std::collections::HashMap;

/// The pass.
pub struct MergeCompilerRegions;

impl Pass for MergeCompilerRegions {
    const NAME: &'static str = "relay-merge-compiler-regions";
    const DESCRIPTION: &'static str = "Join operators that the same code generator compiles to regions";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "regions", description: "Regions made" }];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let mut count = 0;
        for block in blocks_under(function) {
            let mut ops = ops_in(block);
            let Some(end) = ops.pop() else { continue };
            if !ops.iter().any(|op| op.attr(COMPILER).is_some()) {
                continue;
            }
            let graph = Graph::of(ops);
            let regions = graph.regions();
            let mut numbers: HashMap<usize, i64> = HashMap::new();
            for at in order::together(&graph.before, &regions) {
                let op = graph.ops[at];
                op.move_before_op(end);
                if op.attr(COMPILER).is_some() {
                    let number = *numbers.entry(regions[at]).or_insert_with(|| {
                        count += 1;
                        count - 1
                    });
                    op.set_attr(REGION, int_attr(op.context_ref(), number));
                }
            }
        }
        cx.count(0, count as u64);
        Ok(())
    }
}
