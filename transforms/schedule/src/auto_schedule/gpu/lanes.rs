//! How many elements a thread reads or writes at once: as many as 16 bytes have, where they lie together and begin at multiples of them.
//!
//! ```text
//!   for k  s += x[i, k]      x has rows of 1000 f32: 4 at once       of 1002: 2, as every other row begins in the middle of 4
//! ```

use super::super::fusion::along_fused;
use super::super::operands::{Operand, operands};
use super::super::writer::Writer;
use crate::auto_schedule::traffic;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::{OpExt, tensor_type};
use std::ops::Range;

/// Elements of an access, at most: narrower ones than of two bytes are read as few at a time.
pub const MOST_LANES: u64 = 8;
/// Bytes that a thread reads or writes in one access.
pub const ACCESS_BYTES: u64 = 16;

/// The largest number of lanes along some axes as one, which are the last ones of those before an end. `extents` are those of all axes.
pub fn of(
    tree: &Schedule,
    stage: StageId,
    accesses: &[Option<Expr>],
    extents: &[u64],
    along: &Range<usize>,
) -> u64 {
    let count = along.len();
    let goes_on = |c: &Option<i64>| matches!(c, Some(0 | 1));
    if count == 0 || !along_fused(accesses, &extents[..along.end], count).iter().all(goes_on) {
        return 1;
    }
    let elements: u64 = extents[along.clone()].iter().product();
    let others: Vec<usize> = (0..extents.len()).filter(|a| !along.contains(a) && extents[*a] > 1).collect();
    let aligned = |e: &Expr, lanes: i64| {
        let steps = others.iter().map(|a| e.coefficient(*a));
        let known: Option<Vec<i64>> = steps.chain([Some(e.offset())]).collect();
        known.is_some_and(|all| all.iter().all(|c| c % lanes == 0))
    };
    let varies = |e: &&Expr| along.clone().any(|a| e.mentions(a));
    let whole = |lanes: &u64| {
        let all = accesses.iter().flatten().filter(varies).all(|e| aligned(e, *lanes as i64));
        // One of several axes that become one must be whole vectors itself, so that these stay in a row of it.
        all && elements.is_multiple_of(*lanes)
            && (count == 1 || extents[along.end - 1].is_multiple_of(*lanes))
    };
    let most = (ACCESS_BYTES / narrowest(tree, stage, along).max(1)).clamp(1, MOST_LANES);
    [8, 4, 2].into_iter().filter(|n| *n <= most).find(whole).unwrap_or(1)
}

/// Has a thread take so many iterations of a loop at once; gives the loop that is left, and that of the lanes where there are several.
pub fn take(
    writer: &mut Writer,
    stage: StageId,
    along: AxisId,
    lanes: u64,
) -> Result<(AxisId, Option<AxisId>), String> {
    if lanes <= 1 {
        return Ok((along, None));
    }
    let (outer, vector) = writer.split(stage, along, lanes)?;
    writer.vectorize(stage, vector)?;
    Ok((outer, Some(vector)))
}

/// Bytes of the smallest element of those that are read along the axes; of the results where none is.
fn narrowest(tree: &Schedule, stage: StageId, along: &Range<usize>) -> u64 {
    let size = |operand: &Operand| {
        let tensor = match (operand.input, operand.stage) {
            (Some(input), _) => tree.inputs.get(input).copied(),
            (_, Some(stage)) => tree.stages[stage].op.result_values().first().copied(),
            _ => None,
        };
        tensor.and_then(tensor_type).map(|t| t.dtype.size() as u64)
    };
    let read = operands(tree, stage).unwrap_or_default();
    let varies = |o: &&Operand| along.clone().any(|a| o.mentions(a));
    read.iter().filter(varies).filter_map(size).min().unwrap_or(traffic::element_bytes(tree, stage) as u64)
}
