//! Loops over blocks become the dimensions of the grid.
//!
//!     for other (block_z)  for row (block_y)  for column (block_x)              where few are of each
//!     for f in 0..others * rows * columns (block_x)                             where there are more of some than y or z go to
//!
//! A grid has up to 65535 blocks along y and z, and 2147483647 along x (CUDA C++ Programming Guide, "Technical Specifications per Compute
//! Capability"; HIP has the same along y and z).

use super::super::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::loops::LoopKind;

/// Blocks along y and z, at most.
const MOST: u64 = 65_535;

/// Binds the outermost loops of a stage: those over further axes, and over the rows and columns of tiles.
pub fn bind(
    writer: &mut Writer,
    stage: StageId,
    others: &[AxisId],
    [row, column]: [AxisId; 2],
) -> Result<(), String> {
    if !fits(&writer.tree, stage, others) || !fits(&writer.tree, stage, &[row]) {
        return along_x(writer, stage, &[others, &[row, column]].concat());
    }
    if let Some(other) = writer.fuse_all(stage, others)? {
        writer.bind(stage, other, LoopKind::BlockZ)?;
    }
    writer.bind(stage, row, LoopKind::BlockY)?;
    writer.bind(stage, column, LoopKind::BlockX)
}

/// True when there are no more iterations of some loops together than blocks along y or z can be.
pub fn fits(tree: &Schedule, stage: StageId, axes: &[AxisId]) -> bool {
    let extents = axes.iter().map(|axis| tree.stages[stage].axes[*axis].extent);
    extents.fold(1, u64::saturating_mul) <= MOST
}

/// Binds the outermost loops of a stage as one.
pub fn along_x(writer: &mut Writer, stage: StageId, all: &[AxisId]) -> Result<(), String> {
    match writer.fuse_all(stage, all)? {
        Some(block) => writer.bind(stage, block, LoopKind::BlockX),
        None => Ok(()),
    }
}
