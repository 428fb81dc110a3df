//! `loop-value-ranges`: notes how large the operands of functions can be, where that makes the functions simpler.
//!
//!     %s = math.sin %x         =>      %s = math.sin %x {loop.within = 0.2}        x in [-0.2, 0.2]
//!
//! A sine of a small angle is a polynomial; that of any number needs the angle's rest of a quarter of a circle first, in some thirty
//! operations. What values can be follows from comparisons, choices and the types they come from (`analysis`).
//!
//! The first iteration of a loop begins with whatever came from memory, of which nothing is known. Where all later ones are
//! simpler, it stands before the loop:
//!
//!     loop.for 100 iter(%x) { body }      =>      body(0, %x);  loop.for 99 iter(..) { body }
//!
//! So a simulation that starts anew when an angle leaves its bounds computes with small angles in all steps but the first.

mod analysis;
mod interval;

use super::iteration::iteration;
use analysis::Ranges;
pub(super) use analysis::constant;
use fusion_dialects::loops::{LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Value, arguments,
    attr_to_mlir, int_attr, is_elementwise, is_pure, key, kind_of, nested_ops, ops_in,
};
use fusion_operators::Attr;
use interval::Interval;

/// The largest absolute value an operand can have, as an attribute of a function.
pub const WITHIN: &str = "loop.within";

/// Fewer iterations are not worth another copy of the body.
const FEWEST_ITERATIONS: i64 = 8;
/// Nor are longer bodies.
const MOST_OPERATIONS: usize = 1024;

/// The pass.
pub struct LoopValueRanges;

impl Pass for LoopValueRanges {
    const NAME: &'static str = "loop-value-ranges";
    const DESCRIPTION: &'static str = "Note how large operands of functions can be";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "bounded", description: "Functions of operands that are small" },
        StatisticSpec { name: "peeled", description: "Loops whose first iteration stands before them" },
    ];
    const DIALECTS: &'static [&'static str] = &["arith", "affine"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0) else { return Ok(()) };
        if !nested_ops(function).into_iter().any(is_of_angle) {
            return Ok(());
        }
        let mut ranges = Ranges::default();
        ranges.block(body);
        let loops: Vec<Op> =
            nested_ops(function).into_iter().filter(|op| wants_peeling(*op, &ranges)).collect();
        for op in &loops {
            peel(*op);
        }
        cx.count(1, loops.len() as u64);
        if !loops.is_empty() {
            ranges = Ranges::default();
            ranges.block(body);
        }
        for op in nested_ops(function).into_iter().filter(|op| is_of_angle(*op)) {
            let most = ranges.of(op.operand_values()[0]).magnitude();
            if most.is_finite() {
                op.set_attr(WITHIN, attr_to_mlir(op.context_ref(), &Attr::Float(most)));
                cx.count(0, 1);
            }
        }
        Ok(())
    }
}

/// Functions that are simpler for small numbers.
fn is_of_angle(op: Op) -> bool {
    matches!(kind_of(op), Some(Kind::Upstream(Upstream::Sin | Upstream::Cos | Upstream::Tan)))
}

/// True for loops with a function of a small angle in all iterations but the first.
fn wants_peeling(op: Op, ranges: &Ranges) -> bool {
    let is_serial = matches!(kind_of(op), Some(Kind::Loop(Loop::For))) && loop_kind(op) == LoopKind::Serial;
    let Some(body) = op.body(0).filter(|_| is_serial && op.operand_count() > 0) else { return false };
    let inside = nested_ops(op);
    let angles: Vec<Op> = ops_in(body).into_iter().filter(|op| is_of_angle(*op)).collect();
    let plain = |op: &Op| {
        is_pure(*op) || is_elementwise(*op) || matches!(kind_of(*op), Some(Kind::Loop(Loop::Yield)))
    };
    if angles.is_empty()
        || op.int("extent").unwrap_or(0) < FEWEST_ITERATIONS
        || inside.len() > MOST_OPERATIONS
        || !inside.iter().all(plain)
    {
        return false;
    }
    let is_small = |ranges: &Ranges, op: &Op| ranges.of(op.operand_values()[0]).is_small_angle();
    let now = angles.iter().filter(|op| is_small(ranges, op)).count();
    let mut later = ranges.clone();
    let second = later.iteration(body, &vec![Interval::ALL; op.operand_count()]);
    later.carried(body, &second);
    angles.iter().filter(|op| is_small(&later, op)).count() > now
}

/// Puts the first iteration of a loop before it.
fn peel(op: Op) {
    let (Some(body), extent) = (op.body(0), op.int("extent").unwrap_or(0)) else { return };
    let build = Build::before(op);
    let Some(index) = arguments(body).first().copied() else { return };
    let first = Scalars { build }.index(0);
    for (i, value) in iteration(&build, body, first, &op.operand_values()).into_iter().enumerate() {
        op.set_operand_value(i, value);
    }
    op.set_attr("extent", int_attr(op.context_ref(), extent - 1));
    count_from_one(op, body, index);
}

/// Has the body of a loop use the number after its index.
fn count_from_one<'c>(op: Op<'c>, body: Block<'c>, index: Value<'c>) {
    let uses: Vec<(Op, usize)> = nested_ops(op)
        .into_iter()
        .flat_map(|user| user.operand_values().into_iter().enumerate().map(move |(i, v)| (user, i, v)))
        .filter(|(.., value)| key(*value) == key(index))
        .map(|(user, i, _)| (user, i))
        .collect();
    let (Some(first), false) = (ops_in(body).first().copied(), uses.is_empty()) else { return };
    let scalars = Scalars { build: Build::before(first) };
    let next = scalars.index_add(index, scalars.index(1));
    for (user, i) in uses {
        user.set_operand_value(i, next);
    }
}
