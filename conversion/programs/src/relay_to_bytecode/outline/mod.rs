//! `relay-outline-kernels`: moves what computes tensors out of functions of the language, into functions of its own.
//!
//! ```text
//!   %a = relay.add %x, %y                            %a:2 = call @kernel_0(%x, %y)
//!   %r = relay.call @f(%a)                           %r = relay.call @f(%a#0)
//!   %b = relay.mul %x, %x                   ==>      %c = call @kernel_1(%a#1, %r)
//!   %c = relay.sub %b, %r
//!                                                    func.func private @kernel_0(%x, %y) { relay.add, relay.mul }
//!                                                    func.func private @kernel_1(%b, %r) { relay.sub }
//! ```
//!
//! Operators of a block share a kernel unless one waits for the other through a call, a match or whatever else is no tensor code
//! ([`levels`]). Branches and loops whose regions are tensor code are tensor code as well. A value that only one region of a
//! branch wants is computed there ([`sink`]). Operators on tensors of dynamic extents have kernels of their own, beside those whose
//! extents are known, and are marked where they are computed in tiles ([`fusion_relay_to_te::tiles`]). Kernels that are the same
//! are one function. What is left in the functions is the language: calls, data, closures, cells, control flow. Each kernel goes the
//! way of a model by itself ([`crate::program`]).

mod kernel;
pub(super) mod levels;
mod sink;

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Value, kind_of, nested_ops,
    ops_in, relay, tensor_type, top_level,
};
use fusion_relay::fuse_ops::PRIMITIVE;
use fusion_relay_to_te::definitions::definition_of;
use fusion_relay_to_te::{dynamic, tiles};

/// The attribute of functions that are tensor code taken out of functions of the language.
pub const SEGMENT: &str = "relay.segment";

/// The pass.
pub struct OutlineKernels;

impl Pass for OutlineKernels {
    const NAME: &'static str = "relay-outline-kernels";
    const DESCRIPTION: &'static str = "Move tensor code out of functions of the language";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "calls", description: "Calls of kernels" },
        StatisticSpec { name: "kernels", description: "Kernels that differ" },
    ];
    // Whether rows are computed each by itself is read off definitions in te.
    const DIALECTS: &'static [&'static str] =
        &["relay", "func", "te", "loop", "arith", "math", "scf", "tensor"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(mut kernels) = kernel::Kernels::new(module) else { return Ok(()) };
        for function in top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func))) {
            if function.attr(PRIMITIVE).is_some() || function.attr(SEGMENT).is_some() {
                continue;
            }
            // Outer blocks first: what sinks into a region becomes part of it.
            let mut blocks: Vec<Block<'c>> = function.body(0).into_iter().collect();
            while let Some(block) = blocks.pop() {
                sink::sink(block);
                outline(block, &mut kernels, cx);
                let inner = ops_in(block)
                    .into_iter()
                    .flat_map(|op| (0..op.region_count()).filter_map(move |i| op.body(i)));
                let mut inner: Vec<_> = inner.collect();
                inner.reverse();
                blocks.extend(inner);
            }
        }
        cx.count(1, kernels.defined() as u64);
        Ok(())
    }
}

/// Moves the kernels of a block out of it.
fn outline<'c>(block: Block<'c>, kernels: &mut kernel::Kernels<'c>, cx: &mut RunContext) {
    let mut ops = ops_in(block);
    let Some(last) = ops.pop() else { return };
    let order = levels::levels(&ops);
    if order.iter().all(|level| level.tensors.is_empty()) {
        return;
    }
    for level in order {
        for op in &level.others {
            op.move_before_op(last);
        }
        for group in levels::groups(&level.tensors) {
            let dynamic = group.iter().any(|op| extents(*op) == Some(Extents::Dynamic));
            let group = if dynamic { tiles::mark(&group) } else { group };
            group.iter().for_each(|op| op.move_before_op(last));
            kernels.outline(&group);
            cx.count(0, 1);
        }
    }
}

/// What tensor code knows of its tensors when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extents {
    /// All extents.
    Known,
    /// Not all of them.
    Dynamic,
}

/// True for operations that are tensor code.
pub fn is_tensor_code(op: Op) -> bool {
    extents(op).is_some()
}

/// Which tensor code an operation is: operators on tensors, and control flow around such whose shapes are known.
pub fn extents(op: Op) -> Option<Extents> {
    if is_known_code(op) {
        return Some(Extents::Known);
    }
    let dynamic = |operator| !is_static(op) && dynamic::compiles(op, operator);
    let Some(Kind::Operator(operator)) = kind_of(op) else { return None };
    dynamic(operator).then_some(Extents::Dynamic)
}

fn is_known_code(op: Op) -> bool {
    let flows = |op: Op| match kind_of(op) {
        Some(Kind::Operator(operator)) => definition_of(operator).is_some() && is_static(op),
        Some(Kind::Relay(relay::Op::If | relay::Op::While | relay::Op::Yield)) => is_static(op),
        Some(Kind::Relay(relay::Op::Constant)) => true,
        _ => false,
    };
    // A constant by itself is no work.
    !is_constant(op) && flows(op) && (op.region_count() == 0 || nested_ops(op).into_iter().all(flows))
}

/// True for constants.
pub fn is_constant(op: Op) -> bool {
    matches!(kind_of(op), Some(Kind::Relay(relay::Op::Constant)))
}

fn is_static(op: Op) -> bool {
    let known = |v: &Value| tensor_type(*v).is_some_and(|ty| ty.bytes().is_some());
    op.operand_values().iter().chain(&op.result_values()).all(known)
}

/// The values an operation uses, itself or inside of its regions.
pub fn used<'c>(op: Op<'c>) -> Vec<Value<'c>> {
    let mut values = op.operand_values();
    if op.region_count() > 0 {
        values.extend(nested_ops(op).into_iter().flat_map(|inner| inner.operand_values()));
    }
    values
}
