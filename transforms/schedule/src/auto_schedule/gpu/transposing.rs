//! Transposes: a square of the tensor goes through shared memory, so that it is read and written along memory.
//!
//! ```text
//!   for i, j  y[i, j] = f(x[j, i])     =>     for i / 32 (block_y)  for j / 32 (block_x)  for 8 (thread_y)  for 32 (thread_x)
//!                                               t[j, i] = x[j, i]            neighbouring threads read neighbours along i
//!                                               for 4  y[i, j] = f(t[j, i])  and write neighbours along j
//! ```
//!
//! The rows of `t` are 33 words apart: a column of it, which a warp reads at once, has an element in each of the 32 banks (Ruetsch
//! and Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009). Other axes are more blocks.

use super::super::operands::{Operand, operands};
use super::super::placement::Nest;
use super::super::writer::Writer;
use super::shared::together;
use super::{grid, reads};
use crate::layout::Align;
use crate::schedule::AxisId;
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::{OpExt, tensor_type};
use fusion_machine::Target;

/// Rows and columns of the square: the threads of a warp, or half of one.
const SIDE: u64 = 32;
/// Rows that are read or written at once.
const ROWS: u64 = 8;
/// Bytes of a bank of shared memory.
const BANK_BYTES: u64 = 4;
/// The most blocks in z.
const MOST_BLOCKS: u64 = 65_535;

/// Writes the primitives of a nest that reads along another axis than it writes; false for another one.
pub fn schedule(writer: &mut Writer, nest: &Nest, target: &Target) -> Result<bool, String> {
    let s = &writer.tree.stages[nest.stage];
    let rank = s.rank();
    let reduces = nest.reduction.is_some() || s.is_reduction() || s.op.result_values().len() != 1;
    if reduces || rank < 2 || target.gpu.block_threads < SIDE * ROWS {
        return Ok(false);
    }
    let column = rank - 1;
    let Some(mut read) = operands(&writer.tree, nest.stage) else { return Ok(false) };
    let along = |o: &Operand| along_memory(o).filter(|a| *a != column && o.mentions(column));
    let extent = |axis: AxisId| writer.tree.stages[nest.stage].axes[axis].extent;
    let Some(row) = read.iter().find_map(along) else { return Ok(false) };
    let others: Vec<AxisId> = (0..rank).filter(|a| *a != row && *a != column).collect();
    let blocks: u64 = others.iter().map(|a| extent(*a)).product();
    let large = extent(row) >= SIDE / 2 && extent(column) >= SIDE / 2;
    let rows_fit = extent(row).div_ceil(SIDE) <= MOST_BLOCKS;
    if !large || !rows_fit || blocks > MOST_BLOCKS {
        return Ok(false);
    }
    if read.iter().any(|o| along(o) == Some(row) && is_tile(o, column)) && reads::apart(writer, nest.stage)? {
        read = operands(&writer.tree, nest.stage).unwrap_or_default();
    }
    let tiles: Vec<&Operand> = read.iter().filter(|o| along(o) == Some(row) && is_tile(o, column)).collect();
    if tiles.is_empty() {
        return Ok(false);
    }
    write(writer, nest, (row, column), &others, &tiles)?;
    Ok(true)
}

/// The axis along which a tensor is read in memory.
fn along_memory(operand: &Operand) -> Option<AxisId> {
    let (last, n) = (operand.indices.last()?, operand.shape.last()?);
    last.as_variable().filter(|v| v.extent == *n).map(|v| v.id)
}

/// True when a square of the result needs a square of a tensor that no other stage reads on its way.
fn is_tile(operand: &Operand, column: AxisId) -> bool {
    let plain = operand.indices.iter().filter(|e| e.mentions(column)).all(|e| e.as_variable().is_some());
    plain && operand.handle().is_some()
}

fn write(
    writer: &mut Writer,
    nest: &Nest,
    (row, column): (AxisId, AxisId),
    others: &[AxisId],
    tiles: &[&Operand],
) -> Result<(), String> {
    let host = nest.stage;
    let (ro, ri) = writer.split_guarded(host, row, SIDE)?;
    let (co, ci) = writer.split_guarded(host, column, SIDE)?;
    let (step, thread) = writer.split(host, ri, ROWS)?;
    let order = [others, &[ro, co, thread, ci, step]].concat();
    writer.reorder(host, &order)?;
    grid::bind(writer, host, others, [ro, co])?;
    writer.bind(host, thread, LoopKind::ThreadY)?;
    writer.bind(host, ci, LoopKind::ThreadX)?;
    writer.unroll(host, step)?;
    for (i, operand) in tiles.iter().enumerate() {
        let Some(source) = operand.handle() else { continue };
        let name = format!("square_{i}_of_{}", writer.tree.stages[host].name);
        let copy = writer.cache_read(source, &name, (operand.reader, operand.read))?;
        writer.compute_at(copy, host, ci)?;
        writer.set_scope(copy, Scope::Shared)?;
        let of_column = operand.indices.iter().position(|e| e.mentions(column));
        let result = writer.tree.stages[copy].op.result_values().first().copied().and_then(tensor_type);
        let size = result.map_or(4, |t| t.dtype.size() as u64).max(1);
        if let Some(dim) = of_column.filter(|_| BANK_BYTES.is_multiple_of(size)) {
            let (factor, offset) = (SIDE * BANK_BYTES / size, BANK_BYTES / size);
            writer.storage_align(copy, Align { dim, factor, offset })?;
        }
        together(writer, copy, 1, [SIDE, ROWS])?;
    }
    Ok(())
}
