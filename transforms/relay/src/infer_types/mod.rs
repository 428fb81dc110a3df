//! `relay-infer-types`: finds the types that a program does not write.
//!
//! ```text
//!     %f = relay.fn { ^bb0(%a: !relay.hole): relay.yield %a } : !relay.hole        (?1) -> ?1, for every ?1
//!     %0 = relay.apply %f(%x) : !relay.hole, (tensor<4xf32>) -> !relay.hole        ?1 := tensor<4xf32>
//!     %1 = relay.relu %0 : (!relay.hole) -> !relay.hole                            relation of relu
//! ```
//! Hindley's and Milner's inference (Milner, "A Theory of Type Polymorphism in Programming", 1978) with Relay's type relations
//! (Roesch et al., "Relay: A High-Level Compiler for Deep Learning", 2019, section 3.3): each hole is a variable, each operation
//! compares terms (`constraints.rs`, `data.rs`), operators' relations wait in a queue until their operands are known
//! (`relations.rs`), extents flow (`extents.rs`). Functions are taken in the order in which they call each other, the recursive
//! ones together, and generalised after each group (`functions.rs`); then types are written (`write.rs`). The rules are in
//! `docs/explanation/relay-types.md`. A function without holes is not touched.

mod closures;
mod constraints;
mod data;
mod errors;
mod extents;
mod functions;
pub(super) mod graph;
mod nodes;
mod relations;
mod solver;
mod terms;
mod write;
mod written;

use fusion_dialects::{Op, Pass, PassError, RunContext, StatisticSpec};

/// The pass.
pub struct InferTypes;

impl Pass for InferTypes {
    const NAME: &'static str = "relay-infer-types";
    const DESCRIPTION: &'static str = "Find the types that a relay program does not write";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "inferred", description: "Values whose types were found" },
        StatisticSpec {
            name: "instances",
            description: "Uses of polymorphic closures that were given a type",
        },
    ];
    const DIALECTS: &'static [&'static str] = &["relay"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let mut inference = functions::Inference::new(module);
        inference.run()?;
        cx.count(0, inference.open.len() as u64);
        cx.count(1, inference.instances as u64);
        inference.write()
    }
}
