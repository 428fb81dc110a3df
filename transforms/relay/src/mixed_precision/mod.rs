//! `relay-to-mixed-precision`: f32 becomes f16 or bf16 where operators bear it.
//!
//! ```text
//!   %0 = conv2d %x, W : f32              %a = cast %x : f16                        narrow    a contraction asks for it
//!   %1 = add %0, B : f32          =>     %0 = conv2d %a, W' : f16, summed in f32   narrow
//!   %2 = relu %1 : f32                   %1 = add %0, B'; %2 = relu %1 : f16       follow    as what they take is narrow
//!   %3 = softmax %2 : f32                %b = cast %2 : f32; %3 = softmax %b       wide      f32 as before
//! ```
//! Which of the three an operator is, is a fact of its row ([`Precision`]). The groups are those of Micikevicius et al., "Mixed Precision
//! Training", 2018; TVM has the pass as `ToMixedPrecision`. [`colours`] finds which operators become narrow, [`rewrite`] makes them so.
//! A contraction whose result nothing narrow takes gives f32, where an attribute of it can say so.
//!
//! Arguments are cast where they are used and taken to be in range. Constants are looked at: one that would overflow, or whose elements would
//! become 0, is not made narrow beside an elementwise operator.

mod colours;
mod rewrite;

use super::language::{functions, named_by};
use colours::Colours;
use fusion_dialects::{
    Op, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec,
};
use fusion_operators::DType;
#[cfg(doc)]
use fusion_operators::Precision;
use std::collections::HashSet;

/// The pass.
pub struct ToMixedPrecision;

impl Pass for ToMixedPrecision {
    const NAME: &'static str = "relay-to-mixed-precision";
    const DESCRIPTION: &'static str = "Compute in f16 or bf16 where operators bear it";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "type",
            description: "The narrow type, f16 or bf16",
            kind: OptionKind::Text,
            initial: "f16",
        },
        OptionSpec {
            name: "narrow-signature",
            description: "Let functions that nothing else calls take and give narrow tensors where they need no others",
            kind: OptionKind::Flag,
            initial: "false",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "narrowed", description: "Operators that compute in the narrow type" },
        StatisticSpec { name: "casts", description: "Casts put in" },
    ];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let asked = cx.options.text("type");
        let Some(narrow) = asked.parse().ok().filter(|ty| matches!(ty, DType::F16 | DType::BF16)) else {
            let message = format!("the option type of {} must be f16 or bf16, found {asked:?}", Self::NAME);
            return Err(PassError::new(module.location(), message));
        };
        let functions = functions(module);
        let called: HashSet<&str> = named_by(module).into_iter().collect();
        for (name, function) in &functions {
            let colours = Colours::of(*function, narrow);
            let signature = cx.options.flag("narrow-signature") && !called.contains(name);
            let made = rewrite::rewrite(*function, narrow, &colours, signature)?;
            cx.count(0, colours.narrow.len() as u64);
            cx.count(1, made);
        }
        Ok(())
    }
}
