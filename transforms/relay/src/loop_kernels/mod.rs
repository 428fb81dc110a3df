//! `relay-loop-kernels`: a loop that computes each element by itself becomes one kernel, which keeps its state in registers.
//!
//!     %x = relay.while(%x0) { i < 100 } do { f(%x, i) }      for e    a vector of elements
//!                                                      =>      x = x0[e]
//!     100 kernels, which load and store the state                for i in 0..100  x = f(x, i)
//!                                                              y[e] = x
//!
//! Such a loop counts to a constant ([`counting`]), and its body is elementwise over tensors of one shape, and scalars. State that
//! is stacked along leading axes and taken apart again in each step ([`pieces`]) is carried in pieces. What the kernel does is
//! known to `convert-relay-to-te`, which finds the `relay.while` in the primitive function that this pass makes ([`outline`]).
//! Loops that ask the data whether to go on, and those with anything else in the body, stay as they are.
//!
//! This is fusion along time: XLA and others fuse the body and go through memory in each step.
//!
//! How many steps stand behind each other in the kernel is a choice of `relay-optimize` by what they take ([`steps`]). So a body
//! that consists of several equal steps is taken as one of them ([`rolled`]).

mod counting;
mod outline;
mod pieces;
mod rolled;
mod steps;

pub use counting::{Counting, counting};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, arguments, kind_of,
    nested_ops, ops_in, relay, top_level,
};
pub use outline::outline;
pub use pieces::{Form, form};
pub use steps::{Steps, loop_of, steps};

/// The attribute of a loop with the number of steps whose operations stand behind each other; one where it has none.
pub const UNROLL: &str = "unroll";

/// The pass.
pub struct LoopKernels;

impl Pass for LoopKernels {
    const NAME: &'static str = "relay-loop-kernels";
    const DESCRIPTION: &'static str = "Make one kernel of each counted loop that is elementwise";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "unroll",
            description: "Steps whose operations stand behind each other in the kernel; 0 leaves that to relay-optimize",
            kind: OptionKind::Int,
            initial: "0",
        },
        OptionSpec {
            name: "max-operators",
            description: "The most operators of a body",
            kind: OptionKind::Int,
            initial: "2048",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "loops", description: "Loops that became kernels" }];
    const DIALECTS: &'static [&'static str] = &["relay", "func"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let (unroll, most) = (cx.options.int("unroll").max(0), cx.options.int("max-operators"));
        for function in top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func))) {
            if function.attr(super::fuse_ops::PRIMITIVE).is_some() {
                continue;
            }
            let is_loop = |op: &Op<'c>| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::While)));
            // A loop that becomes a kernel has none inside.
            for op in nested_ops(function).into_iter().filter(is_loop).collect::<Vec<_>>() {
                if nested_ops(op).len() as i64 <= most
                    && let Some(form) = form(op)
                {
                    outline(module, op, &form, unroll as u64)?;
                    cx.count(0, 1);
                }
            }
        }
        Ok(())
    }
}

/// True for a value of the state that the body does not change.
fn passes(op: Op, k: usize) -> bool {
    let Some(body) = op.body(1) else { return false };
    let next = ops_in(body).last().map(|last| last.operand_values()).unwrap_or_default();
    next.get(k) == arguments(body).get(k)
}
