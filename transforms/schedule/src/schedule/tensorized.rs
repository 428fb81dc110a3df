//! Loops of a stage that an intrinsic does.

use super::AxisId;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, Value, kind_of, ops_in};

/// The `te.compute` of an intrinsic.
pub fn computes<'c>(intrinsic: Op<'c>) -> Option<Op<'c>> {
    let ops = intrinsic.body(0).map(ops_in)?;
    ops.into_iter().find(|op| matches!(kind_of(*op), Some(Kind::Te(Te::Compute))))
}

/// The inner loops of a stage, as an intrinsic.
#[derive(Clone, Debug)]
pub struct Tensorized<'c> {
    /// The outermost of the loops.
    pub axis: AxisId,
    /// The loops, one an axis of the intrinsic.
    pub loops: Vec<AxisId>,
    /// The `te.intrinsic`.
    pub op: Op<'c>,
    /// What it reads, by argument.
    pub operands: Vec<Operand<'c>>,
}

impl Tensorized<'_> {
    /// True for an intrinsic without parallel axes, which makes a sum of the one so far.
    pub fn is_sum(&self) -> bool {
        computes(self.op).and_then(|compute| compute.ints("axes")).is_some_and(|axes| axes.is_empty())
    }

    /// The loops that number the threads of a warp, where they do it together.
    pub fn lanes(&self) -> Vec<AxisId> {
        let lanes = self.op.ints("lanes").unwrap_or_default();
        lanes.iter().filter_map(|lane| self.loops.get(usize::try_from(*lane).ok()?).copied()).collect()
    }
}

/// A tensor that an intrinsic reads.
#[derive(Clone, Debug)]
pub struct Operand<'c> {
    /// The tensor of the kernel.
    pub tensor: Value<'c>,
    /// The stage's indices, of its axes.
    pub indices: Vec<Expr>,
    /// For each axis of the intrinsic's tensor, the axis of the intrinsic that is its index; none where there is one.
    pub dims: Vec<Option<usize>>,
}
