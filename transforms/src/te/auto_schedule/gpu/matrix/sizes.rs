//! How large a block's tile of a product is, and whether several blocks share what is summed up for it.
//!
//! Cores compute their shares of the blocks one after another, in waves, and in each block they either multiply or wait for what is copied:
//!
//! ```text
//!   150 tiles, 132 cores:            wave 1  ################################        2 times
//!                                    wave 2  ####............................
//!
//!   the same in 7 parts each:        1050 blocks, of which each takes a seventh      8 / 7 times, and to add the parts up
//! ```
//!
//! So the last wave costs little where parts are small, as with CUTLASS's stream-K (Osama et al., "Stream-K", 2023), which gives each core one
//! range of steps that may begin and end within tiles. Loops of a schedule have one extent for all blocks; here each tile is cut into the same
//! parts. Each part's sums are kept, and added up by a second launch in a fixed order, so that what comes out is the same in every
//! run.

use super::super::contraction::Contraction;
use super::super::parts::MOST_PARTS;
use super::{MOST_SUMS, Tile, warps};
use crate::target::Target;
use crate::te::intrinsics::Facts;
use crate::te::schedule::{Schedule, StageId};

/// Rows and columns of a block's tile, at most. The largest is for instructions that read shared memory themselves.
const SIZES: [u64; 4] = [256, 128, 64, 32];
/// Bytes of a row of an operand that are copied at a time.
const STEP_BYTES: u64 = 64;
/// Steps of a part, at least: the first ones are waited for.
const FEWEST_STEPS: u64 = 4;
/// Steps that a block takes as long as to begin and to end.
const STEPS_AROUND: f64 = 3.0;
/// Parts are worth it where they take that share of the time.
const LEAST_GAIN: f64 = 0.85;

/// The extents of a product, and of how many there are beside each other.
pub struct Extents {
    pub rows: u64,
    pub columns: u64,
    pub depth: u64,
    pub others: u64,
}

impl Extents {
    /// Those of a product of matrices.
    pub fn of(tree: &Schedule, sums: StageId, found: &Contraction) -> Extents {
        let s = &tree.stages[sums];
        let extent = |axis: usize| s.axes[axis].extent;
        let others = (0..s.rank()).filter(|a| *a != found.row && *a != found.column).map(extent).product();
        let (rows, columns, depth) = (extent(found.row), extent(found.column), extent(found.depth));
        Extents { rows, columns, depth, others }
    }

    fn blocks(&self, tile: &Tile) -> u64 {
        self.rows.div_ceil(tile.rows) * self.columns.div_ceil(tile.columns) * self.others
    }
}

/// The instruction, the tile of a block and the steps of the sum that take the least time.
pub fn sizes(
    tree: &Schedule,
    sums: StageId,
    (found, facts): (&Contraction, &[Facts]),
    target: &Target,
) -> Option<(Facts, Tile, u64)> {
    let extents = Extents::of(tree, sums, found);
    let time = |(facts, tile, _): &(&Facts, Tile, u64)| {
        extents.blocks(tile).div_ceil(target.cores) as f64 * of_depth(facts, tile, target)
    };
    let all = tiles(&extents, facts, target);
    let (facts, tile, step) = all.into_iter().min_by(|a, b| time(a).total_cmp(&time(b)))?;
    Some((facts.clone(), tile, step))
}

/// The number of parts of a product's depth, where some take less time than the whole: of an axis that it is, or is made of.
pub fn parts(extents: &Extents, axis: u64, facts: &[Facts], target: &Target) -> Option<u64> {
    let results = (extents.rows * extents.columns * extents.others) as f64;
    let of_parts = |parts: u64| {
        let depth = extents.depth / parts;
        let time = |(facts, tile, step): &(&Facts, Tile, u64)| {
            let waves = (extents.blocks(tile) * parts).div_ceil(target.cores) as f64;
            waves * (depth as f64 + STEPS_AROUND * *step as f64) * of_depth(facts, tile, target)
        };
        let whole = |(_, _, step): &&(&Facts, Tile, u64)| {
            parts == 1 || depth.is_multiple_of(*step) && depth / step >= FEWEST_STEPS
        };
        let all = tiles(extents, facts, target);
        all.iter().filter(whole).map(time).min_by(f64::total_cmp)
    };
    // Each part is written once and read once, in f32.
    let adding_up = |parts: u64| {
        let bytes = 4.0 * results * parts as f64;
        let cached = 2.0 * bytes <= target.l3.bytes as f64;
        let rate = if cached { target.l3.bandwidth_all } else { target.memory.bandwidth_all };
        target.kernel_call + 2.0 * bytes / rate.max(1.0)
    };
    let whole = of_parts(1)?;
    let divides = (2..=MOST_PARTS).filter(|parts| axis.is_multiple_of(*parts));
    let timed = divides.filter_map(|parts| Some((parts, of_parts(parts)? + adding_up(parts))));
    let (parts, least) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (least < LEAST_GAIN * whole).then_some(parts)
}

/// Seconds that a core takes for a step of depth one of a tile.
fn of_depth(facts: &Facts, tile: &Tile, target: &Target) -> f64 {
    let bytes = facts.dtype.size() as u64;
    // Instructions that read shared memory take as long for as many bytes.
    let flops = match facts.panels {
        None if bytes != 2 => target.peak_flops,
        _ => target.gpu.matrix_flops * 2.0 / bytes as f64,
    };
    let multiply = 2.0 * (tile.rows * tile.columns) as f64 / flops.max(1.0);
    let copy = ((tile.rows + tile.columns) * bytes) as f64 / target.l3.bandwidth.max(1.0);
    multiply.max(copy)
}

/// The tiles that fit, with their instructions and steps.
fn tiles<'f>(extents: &Extents, facts: &'f [Facts], target: &Target) -> Vec<(&'f Facts, Tile, u64)> {
    let all = facts.iter().flat_map(|facts| {
        let (warps, step) = (warps(facts), step_of(facts, extents.depth));
        let tile = move |rows, columns| (facts, Tile { rows, columns, warps }, step);
        SIZES.iter().flat_map(move |&rows| SIZES.iter().map(move |&columns| tile(rows, columns)))
    });
    let fits = |(facts, tile, step): &(&Facts, Tile, u64)| {
        let [rows, columns, lanes] = facts.extents();
        let (down, along) = (tile.rows / tile.warps[0], tile.columns / tile.warps[1]);
        down.is_multiple_of(rows)
            && along.is_multiple_of(columns)
            && (tile.rows.max(tile.columns) < SIZES[0] || facts.panels.is_some())
            && tile.sums(lanes) <= MOST_SUMS
            && tile.bytes(facts, *step) <= target.gpu.shared_bytes
            && tile.warps[0] * tile.warps[1] * lanes <= target.gpu.block_threads
    };
    all.filter(fits).collect()
}

/// How much of the depth is copied at a time.
pub fn step_of(facts: &Facts, depth: u64) -> u64 {
    let longest = (STEP_BYTES / facts.dtype.size() as u64).max(facts.depth);
    let mut halves = std::iter::successors(Some(longest), |n| Some(n / 2).filter(|n| *n >= facts.depth));
    halves.find(|n| depth.is_multiple_of(*n)).unwrap_or(longest.min(depth.next_multiple_of(facts.depth)))
}
