//! Stages that run a loop for each element.
//!
//!     for e  x = x0[e] ; for i in 0..100  x = f(x)      =>      for eo  for u in 0..4 (unrolled)  for ev in 0..16 (vectorized)
//!
//! A step needs what the step before gave, so that one vector takes the latency of all of `f` in each step. Several vectors
//! side by side, whose loops are jammed, take turns (unroll and jam: Callahan, Cocke and Kennedy, "Estimating Interlock and
//! Improving Balance for Pipelined Architectures", 1988): as many as find room in registers with what they carry.

use crate::te::schedule::{Schedule, StageId};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Block, Op, OpExt, kind_of, ops_in};

/// Registers for what is carried, beside those for the work on it.
const CARRIED_REGISTERS: u64 = 24;
/// More vectors than this find no more idle cycles.
const MOST_VECTORS: u64 = 4;
/// Operations of a body up to which so many take turns. Of longer ones, a compiler that orders operations by the registers they need puts
/// the vectors one behind the other, and a core does not see from one to the next: then two are as good as any.
const LONG_BODY: f64 = 256.0;
/// Operations that a transcendental function counts as.
const TRANSCENDENTAL: f64 = 15.0;

/// How many vectors of a stage are computed side by side: one where its elements run no loop.
pub fn vectors(tree: &Schedule, stage: StageId) -> u64 {
    let body = tree.stages[stage].op.body(0).map(ops_in).unwrap_or_default();
    let loops = body.iter().filter(|op| matches!(kind_of(**op), Some(Kind::Loop(Loop::For))));
    let of_loop = |op: &Op| (op.operand_values().len() as u64, op.body(0).map_or(0.0, operations));
    loops
        .map(of_loop)
        .max_by_key(|(carried, _)| *carried)
        .map_or(1, |(carried, work)| side_by_side(carried, work))
}

/// How many vectors take turns in a loop that carries so many values, in a body of so many operations.
pub fn side_by_side(carried: u64, operations: f64) -> u64 {
    let most = if operations > LONG_BODY { 2 } else { MOST_VECTORS };
    (CARRIED_REGISTERS / carried.max(1)).clamp(1, most)
}

/// Operations that a block of scalars takes, in all steps of the loops inside.
pub fn operations(block: Block) -> f64 {
    let of = |op: &Op| match kind_of(*op) {
        Some(Kind::Upstream(kind)) if kind.is_transcendental() => TRANSCENDENTAL,
        Some(Kind::Upstream(Upstream::ArithConstant)) | Some(Kind::Te(Te::Load | Te::LoadIf | Te::Yield)) => {
            0.0
        }
        Some(Kind::Loop(Loop::For)) => {
            op.int("extent").unwrap_or(0).max(0) as f64 * op.body(0).map_or(0.0, operations)
        }
        Some(Kind::Loop(_)) => 0.0,
        _ => 1.0,
    };
    ops_in(block).iter().map(of).sum()
}
