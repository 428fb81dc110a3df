//! How large a block's tile of a product is: the one of which all take the least time, where cores compute their shares of the blocks one after
//! another, and in each block either multiply or wait for what is copied. Whether blocks share what is summed up is in `waves`.

use super::super::contraction::Contraction;
use super::{MBARRIER_BYTES, MOST_SUMS, Tile, reads_shared, warps};
use crate::intrinsics::Facts;
use crate::schedule::{Schedule, StageId};
use fusion_machine::Target;

/// Rows and columns of a block's tile, at most. The largest is for instructions that read shared memory themselves.
const SIZES: [u64; 4] = [256, 128, 64, 32];
/// Bytes of a row of an operand that are copied at a time.
const STEP_BYTES: u64 = 64;
/// The extents of a product, and of how many there are beside each other.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    pub rows: u64,
    pub columns: u64,
    pub depth: u64,
    pub others: u64,
}

impl Extents {
    /// Those of a product of matrices, of whose first axes only a part is computed: what a stage has of them.
    pub fn of(
        tree: &Schedule,
        sums: StageId,
        found: &Contraction,
        (host, first): (StageId, usize),
    ) -> Extents {
        let s = &tree.stages[sums];
        let extent = |axis: usize| tree.stages[if axis < first { host } else { sums }].axes[axis].extent;
        let others = (0..s.rank()).filter(|a| *a != found.row && *a != found.column).map(extent).product();
        let (rows, columns, depth) = (extent(found.row), extent(found.column), extent(found.depth));
        Extents { rows, columns, depth, others }
    }

    /// How many results there are.
    pub fn results(&self) -> u64 {
        self.rows * self.columns * self.others
    }

    /// How many tiles there are.
    pub fn blocks(&self, tile: &Tile) -> u64 {
        self.rows.div_ceil(tile.rows) * self.columns.div_ceil(tile.columns) * self.others
    }
}

/// The instruction, the tile of a block and the steps of the sum that take the least time; of those with the rows and columns that are asked for,
/// where some have them.
pub fn sizes(
    extents: &Extents,
    facts: &[Facts],
    target: &Target,
    wanted: Option<[u64; 2]>,
) -> Option<(Facts, Tile, u64)> {
    let time = |(facts, tile, _): &&Choice| {
        extents.blocks(tile).div_ceil(target.cores) as f64 * of_depth(facts, tile, target)
    };
    let all = tiles(extents.depth, facts, target);
    let least = |wanted: Option<[u64; 2]>| {
        let fits = |(_, tile, _): &&Choice| wanted.is_none_or(|sides| sides == [tile.rows, tile.columns]);
        all.iter().filter(fits).min_by(|a, b| time(a).total_cmp(&time(b)))
    };
    let (facts, tile, step) = least(wanted).or_else(|| least(None))?;
    Some(((*facts).clone(), *tile, *step))
}

/// An instruction, the tile of a block, and how much of the depth is copied at a time.
pub type Choice<'f> = (&'f Facts, Tile, u64);

/// Seconds that a core takes for a step of depth one of a tile.
pub fn of_depth(facts: &Facts, tile: &Tile, target: &Target) -> f64 {
    let bytes = facts.dtype.size() as u64;
    let flops = target.matrix_flops_of(facts.factors);
    let multiply = 2.0 * (tile.rows * tile.columns) as f64 / flops.max(1.0);
    let copy = ((tile.rows + tile.columns) * bytes) as f64 / target.l3.bandwidth.max(1.0);
    multiply.max(copy)
}

/// The tiles that fit, with their instructions and steps.
pub fn tiles<'f>(depth: u64, facts: &'f [Facts], target: &Target) -> Vec<Choice<'f>> {
    let all = facts.iter().flat_map(|facts| {
        let (warps, step) = (warps(facts), step_of(facts, depth));
        let tile = move |rows, columns| (facts, Tile { rows, columns, warps }, step);
        SIZES.iter().flat_map(move |&rows| SIZES.iter().map(move |&columns| tile(rows, columns)))
    });
    // Boxes are copied ahead, and two blocks share a core.
    let fits_twice = |tile: &Tile, facts: &Facts, step| {
        2 * tile.bytes(facts, step) + MBARRIER_BYTES <= target.gpu.most_shared_bytes / 2
    };
    let fits = |(facts, tile, step): &Choice| {
        let [rows, columns, lanes] = facts.extents();
        let (down, along) = (tile.rows / tile.warps[0], tile.columns / tile.warps[1]);
        down.is_multiple_of(rows)
            && along.is_multiple_of(columns)
            && (tile.rows.max(tile.columns) < SIZES[0] || reads_shared(facts))
            && facts.panels.is_none_or(|panels| tile.rows.min(tile.columns) >= panels)
            && (facts.panels.is_none() || reads_shared(facts) || fits_twice(tile, facts, *step))
            && tile.sums(lanes) <= MOST_SUMS
            && tile.bytes(facts, *step) <= target.gpu.shared_bytes
            && tile.warps[0] * tile.warps[1] * lanes <= target.gpu.block_threads
    };
    all.filter(fits).collect()
}

/// How much of the depth is copied at a time.
pub fn step_of(facts: &Facts, depth: u64) -> u64 {
    // Of panels a whole line.
    let longest = (STEP_BYTES / facts.dtype.size() as u64).max(facts.depth);
    if let Some(panels) = facts.panels {
        return panels.max(facts.depth);
    }
    let mut halves = std::iter::successors(Some(longest), |n| Some(n / 2).filter(|n| *n >= facts.depth));
    halves.find(|n| depth.is_multiple_of(*n)).unwrap_or(longest.min(depth.next_multiple_of(facts.depth)))
}
