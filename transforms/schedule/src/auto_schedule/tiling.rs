//! How the loops of a nest are tiled, unrolled and vectorized.
//!
//!     for i, j { acc = for k ... ; y[i, j] = epilogue(acc) }
//!  =>
//!     for io, jo { for ii (unrolled) for ju (unrolled) for jv (vectorized) { acc = for k ... } }
//!
//! The innermost axis is vectorized when every access is contiguous or constant along it; axes that are contiguous
//! together are fused first. A reduction keeps `rows x vectors` accumulators in registers: rows along the axis in which the
//! vectorized operands are reused.

use super::accesses::{lanes, offsets};
use super::choices;
use super::fusion::{along_fused, fusable, fuse_last};
use super::iterated;
use super::placement::Nest;
use super::reductions;
use super::transposing;
use super::writer::Writer;
use crate::schedule::AxisId;
use fusion_dialects::indices::expr::Expr;
use fusion_machine::Machine;

/// Writes the primitives of a nest.
pub fn tile(writer: &mut Writer, nest: &Nest, machine: &Machine) -> Result<(), String> {
    let vector_bytes = machine.vector_bytes;
    let stage = nest.stage;
    let rank = writer.tree.stages[stage].rank();
    let accesses = offsets(&writer.tree, stage, nest.reduction);
    if rank == 0 {
        return along_memory(writer, nest, None, machine);
    }
    let extents: Vec<u64> = writer.tree.stages[stage].axes[..rank].iter().map(|a| a.extent).collect();
    let reduces = nest.reduction.is_some() || writer.tree.stages[stage].is_reduction();
    let together = fusable(&accesses, &extents);
    let inner = fuse_last(writer, stage, rank, together)?;
    let first_fused = rank - together;
    let extent: u64 = extents[first_fused..].iter().product();
    let along = along_fused(&accesses, &extents, together);
    let contiguous = along.iter().all(|c| matches!(c, Some(0 | 1)));
    let row = if reduces { row_axis(&accesses, &along, &extents[..first_fused]) } else { None };
    // Operands that are gathered (a strided convolution's data) are worth it where each is used for several rows.
    let gathered = row.is_some() && matches!(along[0], Some(0 | 1)) && along.iter().all(Option::is_some);
    if !contiguous
        && !reduces
        && together == 1
        && transposing::schedule(writer, stage, &accesses, &extents, machine)?
    {
        return Ok(());
    }
    // Elements a few places apart are loaded whole and shuffled, where those between them are not read as well.
    let apart = nest.reduction.unwrap_or(stage);
    let near = matches!(along[0], Some(0 | 1))
        && along.iter().all(|c| matches!(c, Some(0..=4)))
        && !(reduces && !machine.in_order && reductions::reads_once(&writer.tree, apart));
    if !(contiguous || gathered || near) || extent < 4 {
        return along_memory(writer, nest, Some(inner), machine);
    }
    let mut lanes = lanes(writer, stage, vector_bytes).min(extent);
    if !reduces {
        let reads = along[1..].iter().filter(|c| **c != Some(0)).count() as u64;
        lanes *= match extent / lanes {
            // Two and what is left over behind them take longer than three.
            0 | 1 | 3 => 1,
            most => iterated::registers(&writer.tree, stage, reads, machine).min(most),
        };
    }
    let vectors = match extent / lanes {
        _ if !reduces => 1,
        n if n >= 4 && row.is_some() => 4,
        n if n >= 2 => 2,
        _ => 1,
    };
    let mut order: Vec<AxisId> = writer.tree.stages[stage].leaves[..first_fused].to_vec();
    let mut register: Vec<AxisId> = Vec::new();
    if let Some(row) = row {
        let (outer, inner) = writer.split(stage, row, rows(extents[row], vectors))?;
        let place = order.iter().position(|&a| a == row).unwrap_or(0);
        order[place] = outer;
        register.push(inner);
        writer.unroll(stage, inner)?;
    }
    let vector = if extent > lanes {
        let (outer, block) = writer.split(stage, inner, lanes * vectors)?;
        order.push(outer);
        if vectors > 1 {
            let (copies, vector) = writer.split(stage, block, lanes)?;
            writer.unroll(stage, copies)?;
            register.push(copies);
            vector
        } else {
            block
        }
    } else {
        inner
    };
    writer.vectorize(stage, vector)?;
    if let Some(choice) = choices::find(&writer.tree, nest, &accesses, first_fused) {
        order.retain(|&axis| axis != choice);
        register.push(choice);
        writer.unroll(stage, choice)?;
    }
    register.push(vector);
    order.extend(register);
    // Reduction loops of the stage itself stay innermost.
    let own: Vec<AxisId> = writer.tree.stages[stage]
        .leaves
        .iter()
        .copied()
        .filter(|&l| writer.tree.stages[stage].axes[l].reduce)
        .collect();
    order.extend(own);
    if order != writer.tree.stages[stage].leaves {
        writer.reorder(stage, &order)?;
    }
    attach(writer, nest, Some(vector))
}

/// Without vectors along the result, a reduction has them along what it combines, unless it keeps its order.
fn along_memory(
    writer: &mut Writer,
    nest: &Nest,
    innermost: Option<AxisId>,
    machine: &Machine,
) -> Result<(), String> {
    attach(writer, nest, innermost)?;
    match machine.in_order {
        true => Ok(()),
        false => reductions::alone(writer, nest.reduction.unwrap_or(nest.stage), machine.vector_bytes),
    }
}

/// Puts the reduction into the innermost loop.
fn attach(writer: &mut Writer, nest: &Nest, innermost: Option<AxisId>) -> Result<(), String> {
    match (nest.reduction, innermost) {
        (Some(reduction), Some(axis)) => writer.compute_at(reduction, nest.stage, axis),
        _ => Ok(()),
    }
}

/// The axis along which an operand that varies in the vectors is reused; the longest of them.
fn row_axis(accesses: &[Option<Expr>], along: &[Option<i64>], extents: &[u64]) -> Option<AxisId> {
    // The first access is the store.
    let vectors =
        || accesses.iter().zip(along).skip(1).filter(|(_, c)| **c != Some(0)).filter_map(|(e, _)| e.as_ref());
    let reused = |axis: usize| vectors().any(|e| !e.mentions(axis));
    (0..extents.len()).filter(|&a| extents[a] > 1 && reused(a)).max_by_key(|&a| (extents[a], a))
}

/// Rows of a register tile: a divisor near the best, so that little is left over.
fn rows(extent: u64, vectors: u64) -> u64 {
    let best = if vectors >= 4 { 6 } else { 8 };
    if extent <= best {
        return extent;
    }
    (best - 2..=best).rev().find(|&n| extent.is_multiple_of(n)).unwrap_or(best)
}
