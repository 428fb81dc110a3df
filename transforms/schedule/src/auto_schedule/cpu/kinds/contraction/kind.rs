//! The kind of contractions: what it matches, its knobs, and its estimate by the count of cycles (`model`).

use super::{Contraction, Tile, beside_memory, best_of, write};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{Schedule, StageId};
use std::collections::BTreeSet;

/// Operations in which a place along axes that are one loop is taken apart again: a division by multiplying, and what is left of it.
const DIVIDED: f64 = 8.0;

/// The kind.
pub struct Products;

impl Kind for Products {
    fn about(&self) -> About {
        About {
            name: "contraction",
            matches: "a nest that sums products of elements of two tensors: matrix products and convolutions",
            knobs: &[
                ("vector", "the axis of the result that vectors go along"),
                ("row", "the axis of rows; -1 for none"),
                ("vectors", "vectors of a tile"),
                ("rows", "rows of a tile"),
                ("second row", "a second axis of rows; -1 for none"),
                ("second rows", "rows of a tile along it"),
                ("pack", "1 where rows are packed beforehand as well"),
            ],
            formula: "steps x tiles x (the most of multiply-adds, their latency, and loads), packing, and storing",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        all(kernel.nests.iter().filter_map(|nest| Product::of(tree, nest, kernel)))
    }
}

/// A nest that is a contraction. One that is computed in blocks of an axis, of that extent, lays out no rows beforehand.
struct Product {
    nest: Nest,
    contraction: Contraction,
    block: Option<(usize, u64)>,
}

impl Product {
    fn of(tree: &Schedule, nest: &Nest, kernel: &Kernel) -> Option<Product> {
        let reduction = nest.reduction.unwrap_or(nest.stage);
        let mut contraction = best_of(tree, nest.stage, reduction, kernel.machine, kernel.constant)?;
        let block = kernel.blocks.filter(|blocks| blocks.product == nest.stage).map(|blocks| blocks.part);
        if let Some((axis, extent)) = block.filter(|b| b.0 < contraction.extents.len()) {
            contraction.blocks = contraction.extents[axis].div_ceil(extent);
            contraction.extents[axis] = extent.min(contraction.extents[axis]);
        }
        Some(Product { nest: *nest, contraction, block })
    }

    fn allows(&self, tile: &Tile) -> bool {
        self.block.is_none_or(|(axis, _)| !tile.packs_rows && tile.vector != axis)
    }

    fn seconds(&self, tree: &Schedule, kernel: &Kernel, tile: &Tile) -> Seconds {
        let (contraction, constant) = (&self.contraction, kernel.constant);
        let mut cycles = contraction.cycles(tile, &beside_memory(kernel.machine), constant);
        if !contraction.is_copied(tile, constant) {
            let points = (contraction.extents.iter().product::<u64>() * contraction.depth) as f64;
            let reduction = self.nest.reduction.unwrap_or(self.nest.stage);
            // It is found out of each element whether it lies in the padding.
            let divided = if contraction.fused > 1 { DIVIDED } else { 0.0 };
            let before = traffic::conditions(tree, reduction) * (1.0 + divided);
            cycles += points / contraction.lanes as f64 * before / kernel.machine.multiply_adds as f64;
        }
        let epilogue = traffic::epilogue(tree, &self.nest, kernel);
        let all = cycles * self.contraction.blocks as f64 + epilogue;
        traffic::seconds(tree, kernel, &[self.nest.stage], all)
    }
}

impl Match for Product {
    fn nests(&self) -> Vec<StageId> {
        vec![self.nest.stage]
    }

    fn space(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        let tiles = self.contraction.legal_tiles(kernel.machine, kernel.constant);
        let mut values = vec![BTreeSet::new(); Tile::KNOBS.len()];
        for tile in tiles.iter().filter(|tile| self.allows(tile)) {
            values.iter_mut().zip(tile.config()).for_each(|(all, value)| {
                all.insert(value);
            });
        }
        let knob = |(name, values): (&&'static str, BTreeSet<i64>)| Knob {
            name,
            values: values.into_iter().collect(),
        };
        Tile::KNOBS.iter().zip(values).map(knob).collect()
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let (machine, constant) = (kernel.machine, kernel.constant);
        let tile = self.contraction.tile_of_config(config)?;
        let is_one = self.allows(&tile) && self.contraction.is_legal(&tile, machine, constant);
        is_one.then(|| self.seconds(tree, kernel, &tile))
    }

    fn configs(&self, tree: &Schedule, kernel: &Kernel) -> Vec<(Config, Seconds)> {
        let tiles = self.contraction.legal_tiles(kernel.machine, kernel.constant).into_iter();
        let allowed = tiles.filter(|tile| self.allows(tile));
        allowed.map(|tile| (tile.config().to_vec(), self.seconds(tree, kernel, &tile))).collect()
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let (_, tile) = self.contraction.best(kernel.machine, kernel.constant, &|tile| self.allows(tile))?;
        Some((tile.config().to_vec(), self.seconds(tree, kernel, &tile)))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let (nest, contraction) = (&self.nest, &self.contraction);
        let (machine, constant) = (kernel.machine, kernel.constant);
        let reduction = nest.reduction.unwrap_or(nest.stage);
        let tile = contraction.tile_of_config(config).ok_or("has no such tile")?;
        let loops = write(writer, nest, reduction, contraction, &tile, machine, constant)?;
        // A product that is to be computed in blocks of another nest has its panels in each of them, and finds its rows nearby.
        let alone = Some(&loops).filter(|_| self.block.is_none());
        let panels = alone.and_then(|l| l.packing).map(|axis| (nest.stage, axis));
        contraction.stream(writer, reduction, panels, &tile, machine, constant)?;
        if let Some(batch) = alone.and_then(|l| l.batch) {
            contraction.prefetch_next_batch(
                writer,
                reduction,
                (nest.stage, batch),
                &tile,
                machine,
                constant,
            )?;
        }
        if let Some(rows) = alone.and_then(|l| l.rows) {
            contraction.prefetch_next_rows(writer, nest, &tile, rows, machine, constant)?;
        }
        if let Some(panels) = alone.and_then(|l| l.packing) {
            contraction.prefetch_next_panel(writer, nest, &tile, panels, machine, constant)?;
        }
        Ok(())
    }
}

impl Tile {
    /// The knobs that a tile is a config of.
    const KNOBS: [&'static str; 7] =
        ["vector", "row", "vectors", "rows", "second row", "second rows", "pack"];

    /// The tile as a config.
    pub(super) fn config(&self) -> [i64; 7] {
        let axis = |axis: Option<usize>| axis.map_or(-1, |axis| axis as i64);
        let (across, more) = (self.across.map(|(axis, _)| axis), self.across.map_or(1, |(_, n)| n));
        let (rows, pack) = (self.height as i64, i64::from(self.packs_rows));
        [self.vector as i64, axis(self.rows), self.vectors as i64, rows, axis(across), more as i64, pack]
    }
}

impl Contraction {
    /// The tile that a config is of, if it is one of some tile.
    fn tile_of_config(&self, config: &[i64]) -> Option<Tile> {
        let &[vector, row, vectors, height, second, more, pack] = config else { return None };
        let axis = |axis: i64| usize::try_from(axis).ok().filter(|axis| *axis < self.extents.len());
        let several = |n: i64| u64::try_from(n).ok().filter(|n| *n > 0);
        let vector = axis(vector)?;
        let panel = self.panel_along(vector)?;
        let across = axis(second).map(|second| Some((second, several(more)?)));
        let across = if second < 0 { None } else { across? };
        let rows = if row < 0 { None } else { Some(axis(row)?) };
        let (vectors, height) = (several(vectors)?, several(height)?);
        Some(Tile { vector, rows, vectors, height, across, panel, packs_rows: pack != 0 })
    }
}
