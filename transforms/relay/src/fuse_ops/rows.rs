//! Which operators go over the same rows.
//!
//!     m = mean of x over axis 1        [1024, 4096] -> [1024, 1]
//!     d = x - m                        [1024, 4096]                  rows of [1024]: each operator computes a row of its
//!     v = mean of d * d over axis 1    [1024, 1]                     result from the same row of what it reads
//!     y = d / sqrt(v)                  [1024, 4096]
//!
//! Operators of one group that share rows are computed row by row, and what one hands to the next stays in cache. The rows are
//! the leading extents that no reduction of the group combines.

use super::graph::Graph;
use fusion_dialects::{Op, OpExt, Value, defining_op, op_key, tensor_type};
use fusion_operators::{Dim, FusionKind};

/// True when the nodes reduce, and share rows of which there are several.
pub fn share_rows(graph: &Graph, nodes: &[usize]) -> bool {
    let reductions = nodes.iter().filter(|&&n| graph.kinds[n] == Some(FusionKind::Reduction));
    let mut rows: Option<Vec<Dim>> = None;
    for &node in reductions {
        let Some(kept) = kept_in_front(graph.ops[node]) else { return false };
        rows = Some(match rows {
            None => kept,
            Some(other) => {
                other.iter().zip(&kept).take_while(|(a, b)| a == b).map(|(a, _)| a.clone()).collect()
            }
        });
    }
    let Some(rows) = rows else { return false };
    let count: Option<u64> = rows.iter().map(Dim::known).product();
    count.is_some_and(|n| n > 1) && nodes.iter().all(|&n| is_by_row(graph, n, nodes, &rows))
}

/// The extents in front of the first axis that a reduction combines.
fn kept_in_front(op: Op) -> Option<Vec<Dim>> {
    let dims = dims_of(*op.operand_values().first()?)?;
    let in_range = |axis: i64| usize::try_from(if axis < 0 { axis + dims.len() as i64 } else { axis }).ok();
    let axes = op.ints("axes").or_else(|| op.int("axis").map(|axis| vec![axis]))?;
    let first = axes.into_iter().map(in_range).collect::<Option<Vec<_>>>()?.into_iter().min()?;
    Some(dims.get(..first)?.to_vec())
}

fn dims_of(value: Value) -> Option<Vec<Dim>> {
    Some(tensor_type(value)?.dims)
}

/// True when a row of the node's result needs the same row of the results of the other nodes it reads.
fn is_by_row(graph: &Graph, node: usize, nodes: &[usize], rows: &[Dim]) -> bool {
    let op = graph.ops[node];
    let Some(result) = op.result_values().first().and_then(|r| dims_of(*r)) else { return false };
    let member =
        |v: Value| defining_op(v).is_some_and(|d| nodes.iter().any(|&n| op_key(graph.ops[n]) == op_key(d)));
    let reads: Vec<Value> = op.operand_values().into_iter().filter(|v| member(*v)).collect();
    let leads = |dims: &[Dim]| dims.starts_with(rows);
    // An operand of fewer axes is aligned with the last ones: its rows would be others.
    let aligned = |v: &Value| dims_of(*v).is_some_and(|d| leads(&d) && d.len() == result.len());
    match graph.kinds[node] {
        Some(FusionKind::Elementwise | FusionKind::Broadcast) => leads(&result) && reads.iter().all(aligned),
        // What is in front of the reduced axes stays in front.
        Some(FusionKind::Reduction) => leads(&result),
        _ => false,
    }
}
