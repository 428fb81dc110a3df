//! The kind of contractions by multiply-adds: what it matches and how long it takes.

use super::super::elements;
use super::Contraction;
use super::{FEWEST_OF_A_PART, STEP, THREADS, TILES, Tile, parts, recognize, tile, write};
use crate::auto_schedule::gpu::launch::{self, Launch};
use crate::auto_schedule::gpu::reads;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::parts as cut;
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::primitives::rfactor;
use crate::schedule::{Schedule, StageId};
use fusion_machine::Target;

/// The kind.
pub struct Products;

impl Kind for Products {
    fn about(&self) -> About {
        About {
            name: "contraction",
            matches: "a nest that sums products of elements of two tensors: matrix products and convolutions",
            knobs: &[
                ("rows", "rows of a thread's results"),
                ("columns", "columns of a thread's results"),
                ("parts", "parts of what is summed up, each by a block of its own"),
            ],
            formula: "multiply-adds; operands once for each row and column of tiles from the cache, once for those of threads from shared memory; a launch that adds up parts",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = |nest: &Nest| {
            let reduction = nest.reduction.unwrap_or(nest.stage);
            let found = recognize(tree, nest.stage, reduction)?;
            Some(ByTiles { nest: *nest, sizes: Sizes::of(tree, nest.stage, reduction, &found) })
        };
        all(kernel.nests.iter().filter_map(found))
    }
}

struct ByTiles {
    nest: Nest,
    sizes: Sizes,
}

/// The extents of a contraction.
struct Sizes {
    rows: u64,
    columns: u64,
    others: u64,
    depth: u64,
}

impl Sizes {
    fn of(tree: &Schedule, stage: StageId, reduction: StageId, found: &Contraction) -> Sizes {
        let s = &tree.stages[stage];
        let extent = |axis: usize| s.axes[axis].extent;
        let others = (0..s.rank()).filter(|a| *a != found.row && *a != found.column).map(extent).product();
        let depth = tree.stages[reduction].axes[found.depth].extent;
        Sizes { rows: extent(found.row), columns: extent(found.column), others, depth }
    }

    fn blocks(&self, tile: &Tile) -> u64 {
        tile.blocks(self.rows, self.columns) * self.others
    }
}

impl Match for ByTiles {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let side = |of: fn(&Tile) -> u64| {
            let mut values: Vec<i64> = TILES.iter().map(|tile| of(tile) as i64).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        let may_be_cut = rfactor::may_be_factored(&tree.stages[reduction]);
        let is_whole = |n: &u64| {
            *n == 1 || self.sizes.depth.is_multiple_of(n * STEP) && self.sizes.depth / n >= FEWEST_OF_A_PART
        };
        let most = if may_be_cut { cut::MOST_PARTS.min(2 * kernel.target.cores) } else { 1 };
        let parts = (1..=most).filter(is_whole).map(|n| n as i64).collect();
        vec![
            Knob { name: "rows", values: side(|tile| tile.rows) },
            Knob { name: "columns", values: side(|tile| tile.columns) },
            Knob { name: "parts", values: parts },
        ]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let (tile, parts) = tile_of(config)?;
        let Sizes { rows, columns, .. } = self.sizes;
        if THREADS * tile.rows > rows || THREADS * tile.columns > columns {
            return None;
        }
        let stages: Vec<StageId> = traffic::stages_of(&self.nest).collect();
        let blocks = self.sizes.blocks(&tile);
        let launch = Launch::of(tree, kernel, &stages, (blocks * parts, THREADS * THREADS));
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        let bytes = traffic::element_bytes(tree, reduction) as f64;
        // Of each product a block fetches as many elements of both operands as there are in the tile's sides, a thread of its own.
        let (points, [down, along]) =
            (traffic::points(tree, reduction), [tile.rows, tile.columns].map(|n| n as f64));
        let loaded = points * bytes * (1.0 / down + 1.0 / along);
        let fetched = launch.fetched + loaded / THREADS as f64;
        let beyond = (blocks * (THREADS * tile.rows) * (THREADS * tile.columns)) as f64
            / (rows * columns * self.sizes.others).max(1) as f64;
        let operations = launch.operations * beyond;
        // What a step needs is asked for while the one before is computed.
        let steps = self.sizes.depth as f64 / (parts * STEP) as f64;
        let whole =
            Launch { loaded, fetched, operations, steps, ..launch }.in_lanes(tile.rows * tile.columns);
        let results = rows * columns * self.sizes.others;
        let adding_up = if parts > 1 { launch::adding_up(results, parts, kernel.target) } else { 0.0 };
        Some(whole.seconds(kernel.target) + adding_up)
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let Sizes { rows, columns, others, depth } = self.sizes;
        let tile = tile(rows, columns, (others, depth), kernel.target)?;
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        let may_be_cut = rfactor::may_be_factored(&tree.stages[reduction]);
        let parts = parts(depth, self.sizes.blocks(&tile), kernel.target).filter(|_| may_be_cut).unwrap_or(1);
        let config = [tile.rows, tile.columns, parts].map(|n| n as i64).to_vec();
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let (tile, parts) = tile_of(config).ok_or("has a contraction without a tile")?;
        let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
        reads::apart(writer, reduction)?;
        let found = recognize(&writer.tree, self.nest.stage, reduction)
            .ok_or("has a contraction that is none once its operands are read apart")?;
        if parts > 1
            && let Some(partial) = cut::of(writer, reduction, found.depth, parts)?
        {
            return in_parts(writer, &self.nest, partial, tile, kernel.target);
        }
        write(writer, &self.nest, reduction, (&found, tile), kernel.target)
    }
}

/// The tile and the number of parts of a config.
fn tile_of(config: &[i64]) -> Option<(Tile, u64)> {
    let &[rows, columns, parts] = config else { return None };
    let is_one = |tile: &&Tile| (tile.rows as i64, tile.columns as i64) == (rows, columns);
    Some((*TILES.iter().find(is_one)?, parts.max(1) as u64))
}

/// Writes the primitives of a contraction whose reduction is computed in parts by another stage.
fn in_parts(
    writer: &mut Writer,
    nest: &Nest,
    partial: StageId,
    tile: Tile,
    target: &Target,
) -> Result<(), String> {
    let own = Nest { stage: partial, reduction: None };
    match recognize(&writer.tree, partial, partial) {
        Some(found) => write(writer, &own, partial, (&found, tile), target)?,
        None => elements::schedule(writer, &own, target)?,
    }
    cut::apart(writer, partial)?;
    elements::schedule(writer, nest, target)
}
