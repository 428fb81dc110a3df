//! The tile that a contraction would have, for kinds of kernels that compute it in their own nest: attention, and blocks of it.

use super::{Contraction, Tile, beside_memory, recognize};
use crate::schedule::{Schedule, StageId};
use fusion_machine::Machine;

/// The tile of a contraction in registers.
pub struct RegisterTile {
    /// Rows of a tile.
    pub height: u64,
    /// Its vectors.
    pub vectors: u64,
    /// Elements of a vector.
    pub lanes: u64,
    /// Cycles of all tiles of what it was asked for.
    pub cycles: f64,
}

impl RegisterTile {
    /// Columns of a tile.
    pub fn width(&self) -> u64 {
        self.vectors * self.lanes
    }
}

/// The best tile of a contraction with those axes of the result as vectors and rows, of which so many are computed at a time.
pub fn tile_of(
    tree: &Schedule,
    (stage, reduction): (StageId, StageId),
    machine: &Machine,
    constant: &[bool],
    axes: (usize, usize),
    at_a_time: Option<u64>,
) -> Option<RegisterTile> {
    let mut contraction = plain(tree, stage, reduction, machine)?;
    if let Some(block) = at_a_time {
        contraction.extents[axes.1] = block.min(contraction.extents[axes.1]);
    }
    best(&contraction, machine, constant, axes, &|_| true)
}

/// The best tile of a contraction with those axes as vectors and rows that has so many vectors, and rows as they lie.
pub fn tile_of_vectors(
    tree: &Schedule,
    stage: StageId,
    machine: &Machine,
    constant: &[bool],
    axes: (usize, usize),
    vectors: u64,
) -> Option<RegisterTile> {
    let contraction = plain(tree, stage, stage, machine)?;
    best(&contraction, machine, constant, axes, &|tile| tile.vectors == vectors && !tile.packs_rows)
}

/// A contraction whose axes are all loops of their own.
fn plain(tree: &Schedule, stage: StageId, reduction: StageId, machine: &Machine) -> Option<Contraction> {
    recognize(tree, stage, reduction, machine).filter(|c| c.fused == 1 && c.groups.is_none())
}

fn best(
    contraction: &Contraction,
    machine: &Machine,
    constant: &[bool],
    (vector, rows): (usize, usize),
    allowed: &dyn Fn(&Tile) -> bool,
) -> Option<RegisterTile> {
    let fits = |tile: &Tile| {
        tile.vector == vector && tile.rows == Some(rows) && tile.across.is_none() && allowed(tile)
    };
    let (_, tile) = contraction.best(machine, constant, &fits)?;
    let cycles = contraction.cycles(&tile, &beside_memory(machine), constant);
    Some(RegisterTile { height: tile.height, vectors: tile.vectors, lanes: contraction.lanes, cycles })
}
