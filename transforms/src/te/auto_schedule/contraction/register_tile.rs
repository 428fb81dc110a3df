//! The tile that a contraction would have, for kinds of kernels that compute it in their own nest: attention, and blocks of it.

use super::super::machine::Machine;
use super::super::writer::Writer;
use super::{Tile, recognize};
use crate::te::schedule::StageId;

/// The tile of a contraction in registers.
pub struct RegisterTile {
    /// Rows of a tile.
    pub height: u64,
    /// Its vectors.
    pub vectors: u64,
    /// Elements of a vector.
    pub lanes: u64,
}

impl RegisterTile {
    /// Columns of a tile.
    pub fn width(&self) -> u64 {
        self.vectors * self.lanes
    }
}

/// The best tile of a contraction with those axes of the result as vectors and rows, of which so many are computed at a time.
pub fn tile_of(
    writer: &Writer,
    (stage, reduction): (StageId, StageId),
    machine: &Machine,
    constant: &[bool],
    (vector, rows): (usize, usize),
    at_a_time: Option<u64>,
) -> Option<RegisterTile> {
    let mut contraction =
        recognize(writer, stage, reduction, machine).filter(|c| c.fused == 1 && c.groups.is_none())?;
    if let Some(block) = at_a_time {
        contraction.extents[rows] = block.min(contraction.extents[rows]);
    }
    let fits = |tile: &Tile| tile.vector == vector && tile.rows == Some(rows) && tile.across.is_none();
    let tile = contraction.best_tile(machine, constant, &fits)?;
    Some(RegisterTile { height: tile.height, vectors: tile.vectors, lanes: contraction.lanes })
}

/// The best tile of a contraction with those axes as vectors and rows that has so many vectors.
pub fn tile_of_vectors(
    writer: &Writer,
    stage: StageId,
    machine: &Machine,
    constant: &[bool],
    (vector, rows): (usize, usize),
    vectors: u64,
) -> Option<RegisterTile> {
    let contraction =
        recognize(writer, stage, stage, machine).filter(|c| c.fused == 1 && c.groups.is_none())?;
    let fits = |tile: &Tile| {
        let along = tile.vector == vector && tile.rows == Some(rows) && tile.across.is_none();
        along && tile.vectors == vectors && !tile.packs_rows
    };
    let tile = contraction.best_tile(machine, constant, &fits)?;
    Some(RegisterTile { height: tile.height, vectors: tile.vectors, lanes: contraction.lanes })
}
