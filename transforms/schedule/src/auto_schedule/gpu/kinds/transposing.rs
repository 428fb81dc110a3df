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

use super::elements;
use crate::auto_schedule::gpu::launch::Launch;
use crate::auto_schedule::gpu::shared::together;
use crate::auto_schedule::gpu::{grid, reads};
use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::layout::Align;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::OpExt;
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_machine::Target;

/// Rows and columns of the square: the threads of a warp, or half of one.
const SIDE: u64 = 32;
/// Rows that are read or written at once.
const ROWS: u64 = 8;
/// Bytes of a bank of shared memory.
const BANK_BYTES: u64 = 4;
/// The most blocks in z.
const MOST_BLOCKS: u64 = 65_535;

/// The kind.
pub struct Transposing;

impl Kind for Transposing {
    fn about(&self) -> About {
        About {
            name: "transposing",
            matches: "a nest without a reduction that reads some tensor along another axis than it writes",
            knobs: &[],
            formula: "points x operations; tensors once, and squares through shared memory",
            keeps_order: true,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().filter_map(|nest| recognize(tree, nest, kernel.target)))
    }
}

/// A nest that reads along another axis than it writes.
struct Squares {
    stage: StageId,
    row: AxisId,
    column: AxisId,
    others: Vec<AxisId>,
}

impl Match for Squares {
    fn nests(&self) -> Vec<StageId> {
        vec![self.stage]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let extent = |axis: &AxisId| tree.stages[self.stage].axes[*axis].extent;
        let blocks = extent(&self.row).div_ceil(SIDE)
            * extent(&self.column).div_ceil(SIDE)
            * self.others.iter().map(extent).product::<u64>();
        let launch = Launch::of(tree, kernel, &[self.stage], (blocks, SIDE * ROWS));
        // A square is written to shared memory and read from it.
        let loaded = 2.0 * launch.loaded;
        Some(Launch { loaded, ..launch }.in_lanes(SIDE / ROWS).seconds(kernel.target))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        reads::apart(writer, self.stage)?;
        let read = operands(&writer.tree, self.stage).unwrap_or_default();
        let tiles: Vec<&Operand> = read.iter().filter(|o| self.is_across(o)).collect();
        match tiles.is_empty() {
            true => elements::schedule(writer, &Nest { stage: self.stage, reduction: None }, kernel.target),
            false => self.write(writer, &tiles),
        }
    }
}

fn recognize(tree: &Schedule, nest: &Nest, target: &Target) -> Option<Squares> {
    let s = &tree.stages[nest.stage];
    let rank = s.rank();
    let reduces = nest.reduction.is_some() || s.is_reduction() || s.op.result_values().len() != 1;
    if reduces || rank < 2 || target.gpu.block_threads < SIDE * ROWS {
        return None;
    }
    let column = rank - 1;
    let read = operands(tree, nest.stage)?;
    let extent = |axis: AxisId| s.axes[axis].extent;
    let row = read.iter().find_map(|o| across(o, column))?;
    let others: Vec<AxisId> = (0..rank).filter(|a| *a != row && *a != column).collect();
    let blocks: u64 = others.iter().map(|a| extent(*a)).product();
    let large = extent(row) >= SIDE / 2 && extent(column) >= SIDE / 2;
    let fits = extent(row).div_ceil(SIDE) <= MOST_BLOCKS && blocks <= MOST_BLOCKS;
    let found = Squares { stage: nest.stage, row, column, others };
    (large && fits && read.iter().any(|o| found.is_across(o))).then_some(found)
}

/// The axis along which a tensor is read in memory, where the result goes along that column and the tensor across it.
fn across(operand: &Operand, column: AxisId) -> Option<AxisId> {
    along_memory(operand).filter(|a| *a != column && operand.mentions(column))
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

impl Squares {
    fn is_across(&self, operand: &Operand) -> bool {
        across(operand, self.column) == Some(self.row) && is_tile(operand, self.column)
    }

    fn write(&self, writer: &mut Writer, tiles: &[&Operand]) -> Result<(), String> {
        let Squares { stage: host, row, column, ref others } = *self;
        let (ro, ri) = writer.split_guarded(host, row, SIDE)?;
        let (co, ci) = writer.split_guarded(host, column, SIDE)?;
        let (step, thread) = writer.split(host, ri, ROWS)?;
        let order = [others.as_slice(), &[ro, co, thread, ci, step]].concat();
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
            let size = traffic::element_bytes(&writer.tree, copy) as u64;
            if let Some(dim) = of_column.filter(|_| BANK_BYTES.is_multiple_of(size)) {
                let (factor, offset) = (SIDE * BANK_BYTES / size, BANK_BYTES / size);
                writer.storage_align(copy, Align { dim, factor, offset })?;
            }
            together(writer, copy, 1, [SIDE, ROWS])?;
        }
        Ok(())
    }
}
