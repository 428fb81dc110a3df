//! `relay-split-args`: concatenations of many tensors become trees of concatenations of few.
//!
//! ```text
//!   concat(a, b, c, d, e)        concat(concat(a, b), concat(c, d), e)        limit=3: 3 operands at most, all leaves as deep as needed
//! ```
//! A kernel has an argument for each tensor that it takes, and some drivers bound how many there may be. Each level takes runs of `limit`
//! neighbours, so a tree of n tensors has about n / (limit - 1) operations and is log n deep. Results are the same bits. TVM has it as `SplitArgs`.

use fusion_dialects::relay::Builder;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec,
    Value, kind_of, nested_ops,
};
use fusion_operators::ops::shape::CONCAT;

/// The pass.
pub struct SplitArgs;

impl Pass for SplitArgs {
    const NAME: &'static str = "relay-split-args";
    const DESCRIPTION: &'static str = "Make trees of concatenations that have many operands";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "limit",
        description: "The most operands of a concatenation",
        kind: OptionKind::Int,
        initial: "64",
    }];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "split", description: "Concatenations split" }];
    const DIALECTS: &'static [&'static str] = &["relay"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let asked = cx.options.int("limit");
        let Some(limit) = usize::try_from(asked).ok().filter(|&n| n > 1) else {
            let message = format!("the option limit of {} must be 2 or more, found {asked}", Self::NAME);
            return Err(PassError::new(function.location(), message));
        };
        let is_long = |op: &Op| {
            matches!(kind_of(*op), Some(Kind::Operator(row)) if row.is(&CONCAT)) && op.operand_count() > limit
        };
        for op in nested_ops(function).into_iter().filter(is_long) {
            let value = tree(op, limit)?;
            op.replace_all_uses(&[value]);
            op.erase();
            cx.count(0, 1);
        }
        Ok(())
    }
}

/// The concatenation of an operation's operands as a tree.
fn tree<'c>(op: Op<'c>, limit: usize) -> Result<Value<'c>, PassError<'c>> {
    let (builder, attrs) = (Builder::new(Build::before(op)), op.attrs());
    let mut level = op.operand_values();
    while level.len() > 1 {
        let mut next = Vec::new();
        for run in level.chunks(limit) {
            match run {
                [alone] => next.push(*alone),
                _ => next.extend(builder.op(&CONCAT, run, &attrs).map_err(|why| PassError::at(op, why))?),
            }
        }
        level = next;
    }
    Ok(level[0])
}
