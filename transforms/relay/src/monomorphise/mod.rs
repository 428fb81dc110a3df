//! `relay-monomorphise`: a copy of each polymorphic function and closure for each of its instances.
//!
//! ```text
//!     @map<a, b>((a) -> b, List<a>) -> List<b>     @map$1 : a = tensor<4xf32>, b = tensor<i1>
//!     call @map(..)  at two types            =>    @map$2 : a = b = tensor<f32>
//! ```
//! From the functions without type parameters on, calls choose type variables, and named extents where they are known: the
//! callee is copied with these in place, once for all calls that choose the same, and its own calls are looked at in turn.
//! Named extents that are not known stay: one copy for all sizes. In each function, polymorphic closures are copied before
//! (`closures.rs`). Then no type variable is left, and functions with type parameters go. A function that calls itself at ever
//! larger types has no end of instances (polymorphic recursion); that is refused by bounds.

mod choices;
mod closures;
mod instances;

use fusion_dialects::{Op, Pass, PassError, RunContext, StatisticSpec};

/// The pass.
pub struct Monomorphise;

impl Pass for Monomorphise {
    const NAME: &'static str = "relay-monomorphise";
    const DESCRIPTION: &'static str = "Copy polymorphic functions and closures for each of their instances";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "functions", description: "Copies of functions made" },
        StatisticSpec { name: "closures", description: "Copies of closures made" },
    ];
    const DIALECTS: &'static [&'static str] = &["relay", "func"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let (functions, closures) = instances::run(module)?;
        cx.count(0, functions as u64);
        cx.count(1, closures as u64);
        Ok(())
    }
}
