//! How long a contraction takes with a tile: a count of cycles.

use super::reach::Shared;
use super::{Contraction, Tile};
use crate::auto_schedule::accesses::LANE_BYTES;
use fusion_dialects::indices::expr::{flatten, gcd};
use fusion_machine::Machine;

/// Shorter axes fill no vector.
const FEWEST: u64 = 4;
/// Vectors of a tile, at most: more find no registers beside rows.
const MOST_VECTORS: u64 = 8;
/// The same of a tile that is one row.
const MOST_ALONE: u64 = 16;
/// Rows of a panel so far apart have a page each after a few.
const FAR_BYTES: u64 = 1 << 10;
/// One of so many lines of a set is for what else is read.
const FOR_OTHERS: u64 = 4;
/// Cycles to store or pack an element when its vectors have to be transposed, and when not.
const TRANSPOSED: f64 = 0.7;
const STRAIGHT: f64 = 0.15;
/// Cycles to store an element on its own.
const SCATTERED: f64 = 2.0;
/// Cycles of a step of the reduction beside the arithmetic: the loop, and what the out-of-order window does not hide.
const STEP: f64 = 0.5;
/// A panel is copied when it is used for at least this many rows.
const WORTH_PACKING: u64 = 16;

impl Contraction {
    /// The tile that takes the fewest cycles, with these.
    pub(super) fn best(
        &self,
        machine: &Machine,
        constant: &[bool],
        allowed: &dyn Fn(&Tile) -> bool,
    ) -> Option<(f64, Tile)> {
        let mut best: Option<(f64, Tile)> = None;
        for tile in self.legal_tiles(machine, constant).into_iter().filter(|tile| allowed(tile)) {
            let cycles = self.cycles(&tile, machine, constant);
            if best
                .as_ref()
                .is_none_or(|(least, so_far)| cycles < *least || cycles == *least && tile.lies_closer(so_far))
            {
                best = Some((cycles, tile));
            }
        }
        best
    }

    /// The operand that alone varies along an axis, which vectors of it go along then.
    pub(super) fn panel_along(&self, vector: usize) -> Option<usize> {
        let along: Vec<usize> = (0..2).filter(|&o| self.operands[o].mentions(vector)).collect();
        let [panel] = along[..] else { return None };
        Some(panel)
    }

    /// All tiles that a schedule may have.
    pub(super) fn legal_tiles(&self, machine: &Machine, constant: &[bool]) -> Vec<Tile> {
        let mut legal = Vec::new();
        for vector in 0..self.extents.len() {
            let Some(panel) = self.panel_along(vector) else { continue };
            if self.extents[vector] < FEWEST || !self.can_be_vectors(panel, vector, constant) {
                continue;
            }
            let other = 1 - panel;
            let is_row = |&a: &usize| self.operands[other].mentions(a) && !self.operands[panel].mentions(a);
            let second: Vec<usize> = (0..self.extents.len()).filter(is_row).collect();
            let mut rows: Vec<Option<usize>> = second.iter().copied().map(Some).collect();
            if rows.is_empty() {
                rows.push(None);
            }
            let tiles = rows.iter().flat_map(|&r| self.tiles((vector, panel), r, &second, machine));
            legal.extend(tiles.filter(|tile| self.is_possible(tile) && self.fits_dots(tile, constant)));
        }
        legal
    }

    /// True for one of these.
    pub(super) fn is_legal(&self, tile: &Tile, machine: &Machine, constant: &[bool]) -> bool {
        self.legal_tiles(machine, constant).iter().any(|legal| legal.config() == tile.config())
    }

    fn is_possible(&self, tile: &Tile) -> bool {
        let has_rows = match tile.across {
            Some(_) => self.is_by_phases(tile),
            None => !tile.packs_rows || self.row_dimension(tile).is_some(),
        };
        has_rows && self.reads_vectors(tile)
    }

    /// All tiles that registers hold, with vectors along an axis of the panel and rows along another, or two.
    fn tiles(
        &self,
        (vector, panel): (usize, usize),
        rows: Option<usize>,
        all_rows: &[usize],
        machine: &Machine,
    ) -> Vec<Tile> {
        let mut tiles = Vec::new();
        let most = self.extents[vector].div_ceil(self.lanes).min(if rows.is_none() {
            MOST_ALONE
        } else {
            MOST_VECTORS
        });
        for vectors in 1..=most {
            // A vector of the panel that is used once needs no register of its own.
            let room = (machine.registers - 1).saturating_sub(vectors) / vectors;
            let most = rows.map_or(1, |u| self.extents[u].min(room));
            let tile = |height, packs_rows, across| Tile {
                vector,
                rows,
                vectors,
                height,
                across,
                panel,
                packs_rows,
            };
            tiles.extend((1..=most).flat_map(|h| [tile(h, false, None), tile(h, true, None)]));
            for &second in all_rows.iter().filter(|&&a| Some(a) != rows) {
                let along = |h| {
                    (2..=self.extents[second].min(room / h)).map(move |n| tile(h, false, Some((second, n))))
                };
                tiles.extend((2..=most).flat_map(along));
            }
        }
        tiles
    }

    /// True when the panel is read in vectors along the axis, as it is or packed.
    fn can_be_vectors(&self, panel: usize, vector: usize, constant: &[bool]) -> bool {
        self.stride(panel, vector) == Some(1) || self.packable(panel, vector, constant)
    }

    /// Distance in memory of an operand's elements along an axis.
    pub(super) fn stride(&self, operand: usize, axis: usize) -> Option<i64> {
        let o = &self.operands[operand];
        flatten(&o.indices, &o.shape).coefficient(axis)
    }

    /// True when the axis is an axis of the tensor as well, or the channels of a group in one, so that a layout can have it last.
    pub(super) fn packable(&self, panel: usize, vector: usize, constant: &[bool]) -> bool {
        let (operand, extent) = (&self.operands[panel], self.extents[vector]);
        let is_constant = operand.is_constant(constant);
        operand.dimension(vector, extent).is_some() && (is_constant || self.reuse(panel) >= WORTH_PACKING)
            || operand.dimension_of_groups(vector, extent).is_some() && is_constant
    }

    /// True when the tile reads the panel in vectors: as it lies, or cut at the tile's width.
    fn reads_vectors(&self, tile: &Tile) -> bool {
        self.panels_of(tile).is_some() || self.stride(tile.panel, tile.vector) == Some(1)
    }

    /// How often an element of an operand is used over the parallel axes.
    pub(super) fn reuse(&self, operand: usize) -> u64 {
        let axes = (0..self.extents.len()).filter(|&a| !self.operands[operand].mentions(a));
        axes.map(|a| self.extents[a]).product()
    }

    /// True when the panel is copied: rows far apart fall on few sets of the caches, and on a page each.
    pub(super) fn is_copied(&self, tile: &Tile, constant: &[bool]) -> bool {
        let panel = &self.operands[tile.panel];
        let far = self.extents[tile.vector] * LANE_BYTES >= FAR_BYTES
            && self.reuse(tile.panel) >= 2 * WORTH_PACKING;
        !panel.is_constant(constant)
            && panel.dimension(tile.vector, self.extents[tile.vector]).is_some()
            && (self.dot.is_some() || self.stride(tile.panel, tile.vector) != Some(1) || far)
    }

    /// Panels that tiles of rows go over one after the other: as many as half of the second cache holds, in blocks of one size, where
    /// panel after panel would read the other operand or write the result, in narrow pieces, from and to further away each time.
    pub(super) fn panels_at_once(&self, tile: &Tile, machine: &Machine, copied: bool) -> u64 {
        let (panel, other) = (&self.operands[tile.panel], &self.operands[1 - tile.panel]);
        let outside = (0..self.extents.len()).filter(|&a| a != tile.vector && !tile.has_rows(a));
        let used_again = outside.filter(|&a| !panel.mentions(a) && self.extents[a] > 1);
        let mut rows: u64 = tile.row_axes().map(|a| self.extents[a]).product();
        for axis in used_again {
            // Windows that overlap are read from nearby.
            if other.dimension(axis, self.extents[axis]).is_none() {
                return 1;
            }
            rows *= self.extents[axis];
        }
        if rows <= tile.all_rows() {
            return 1;
        }
        let (near, columns) = (machine.second_cache / 2, self.extents[tile.vector]);
        let panel = self.depth * self.width(tile) * LANE_BYTES;
        let is_long = copied && panel > machine.first_cache / 2;
        if !is_long
            && self.depth * rows * LANE_BYTES <= near
            && columns * rows * LANE_BYTES <= machine.second_cache
        {
            return 1;
        }
        let panels = columns.div_ceil(self.width(tile));
        let most = (near / panel).clamp(1, panels);
        panels.div_ceil(panels.div_ceil(most))
    }

    /// True when rows and steps of the reduction go along one axis of a tensor, as a window slides: steps written out would
    /// share elements, and want registers for them.
    pub(super) fn slides(&self, tile: &Tile, step: usize) -> bool {
        let Some(rows) = tile.rows else { return false };
        self.operands[1 - tile.panel].indices.iter().any(|e| e.mentions(rows) && e.mentions(step))
    }

    /// The axis of the tensor that the rows of a tile are, when it can be laid out by them.
    pub(super) fn row_dimension(&self, tile: &Tile) -> Option<usize> {
        let rows = tile.rows.filter(|_| tile.height > 1)?;
        self.operands[1 - tile.panel].dimension(rows, self.extents[rows])
    }

    /// True when the rows of a tile push each other out of the first-level cache: they are so far apart that they fall on
    /// few of its sets.
    fn rows_conflict(&self, tile: &Tile, machine: &Machine) -> bool {
        let Some(rows) = tile.rows.filter(|_| !tile.packs_rows) else { return false };
        let distance = self.stride(1 - tile.panel, rows).map_or(0, |n| n.unsigned_abs() * LANE_BYTES);
        if distance == 0 || !distance.is_multiple_of(machine.line) {
            return false;
        }
        let sets = machine.first_sets / gcd(distance / machine.line, machine.first_sets);
        tile.height.div_ceil(sets) > machine.first_ways - machine.first_ways / FOR_OTHERS
    }

    /// An estimate of the time, of one block.
    pub(super) fn cycles(&self, tile: &Tile, machine: &Machine, constant: &[bool]) -> f64 {
        let width = self.width(tile);
        let panel = &self.operands[tile.panel];
        let packed = self.panels_of(tile).is_some();
        // Vectors that begin anywhere lie in two lines of the cache.
        let lines = if packed { 1 } else { 2 };
        let far = self.depth * width * LANE_BYTES > machine.first_cache / 2;
        let conflict = self.rows_conflict(tile, machine);
        let shared = self.is_by_phases(tile).then(|| Shared::of(self, tile, machine));
        let step = |vectors: u64, rows: u64| {
            let work = vectors * rows * self.multiply_adds_a_step();
            let work = work.div_ceil(machine.multiply_adds).max(machine.latency);
            let bytes = if far { vectors * machine.vector_bytes } else { 0 };
            let again = if conflict { 2 * rows } else { 0 };
            let (reads, turn) = match &shared {
                None => {
                    let loads = (vectors * lines + rows).div_ceil(machine.loads);
                    (loads.max(bytes / machine.near_bytes) as f64, STEP)
                }
                Some(shared) => {
                    let loads = (vectors * lines) as f64 + rows as f64 * shared.loads;
                    let bytes = bytes as f64 + rows as f64 * shared.bytes;
                    let reads = (loads / machine.loads as f64).max(bytes / machine.near_bytes as f64);
                    (reads, STEP / shared.together as f64)
                }
            };
            reads.max(work as f64) + turn + again as f64
        };
        let n = self.extents[tile.vector];
        let m = tile.rows.map_or(1, |u| self.extents[u]);
        let (second, across) = tile.across.map_or((1, 1), |(axis, n)| (self.extents[axis], n));
        let (whole, rest) = (n / width, (n % width).div_ceil(self.lanes));
        let parts = |extent: u64, by: u64| [(extent / by, by), ((extent % by).min(1), extent % by)];
        let column = |vectors: u64| {
            let of_rows = parts(m, tile.height).into_iter();
            let tiles = of_rows.flat_map(|(k, h)| parts(second, across).map(|(l, a)| (k * l, h * a)));
            tiles.filter(|t| t.0 > 0).map(|(k, rows)| k as f64 * step(vectors, rows)).sum::<f64>()
        };
        let plane = whole as f64 * column(tile.vectors) + if rest > 0 { column(rest) } else { 0.0 };
        let elements: u64 = self.extents.iter().product();
        let planes = (elements / (n * m * second)) as f64;
        let contiguous = |axis: usize| match self.innermost {
            Some(innermost) => axis == innermost,
            None => self.extents[axis + 1..].iter().all(|&e| e == 1),
        };
        let storing = elements as f64
            * match tile.rows {
                _ if contiguous(tile.vector) => STRAIGHT,
                Some(rows) if contiguous(rows) => TRANSPOSED,
                _ => SCATTERED,
            };
        let packing = match self.is_copied(tile, constant) {
            false => 0.0,
            true => {
                let straight = self.stride(tile.panel, tile.vector) == Some(1);
                panel.shape.iter().product::<u64>() as f64 * if straight { STRAIGHT } else { TRANSPOSED }
            }
        };
        let other = &self.operands[1 - tile.panel];
        let rows = match tile.packs_rows && !other.is_constant(constant) {
            true => other.shape.iter().product::<u64>() as f64 * TRANSPOSED,
            false => 0.0,
        };
        // The first tile of rows is multiplied while the panel comes.
        let first = |vectors: u64| step(vectors, tile.all_rows());
        let coming = machine.constant_bytes.map_or(0.0, |rate| self.coming(tile, rate, constant, &first));
        let steps = self.depth as f64 * self.share_of_steps(tile);
        plane * planes * steps + storing + packing + rows + coming / self.blocks as f64
    }

    /// Cycles that constants take to come, so many bytes in each, beside those in which steps of so many vectors multiply them. What is no
    /// panel is not prefetched, so that nothing hides its way, nor is what a step does beside the arithmetic hidden.
    fn coming(&self, tile: &Tile, rate: f64, constant: &[bool], step: &dyn Fn(u64) -> f64) -> f64 {
        let [panel, other] = [tile.panel, 1 - tile.panel].map(|o| &self.operands[o]);
        let rows = match other.is_constant(constant) {
            true => (other.shape.iter().product::<u64>() * LANE_BYTES) as f64 / rate,
            false => 0.0,
        };
        if !panel.is_constant(constant) {
            return rows;
        }
        let (n, width) = (self.extents[tile.vector], self.width(tile));
        let of_panel = |vectors: u64| {
            ((vectors * self.lanes * LANE_BYTES) as f64 / rate - step(vectors) + STEP).max(0.0)
        };
        let rest = (n % width).div_ceil(self.lanes);
        let panels =
            (n / width) as f64 * of_panel(tile.vectors) + if rest > 0 { of_panel(rest) } else { 0.0 };
        let selecting = (0..self.extents.len()).filter(|&a| a != tile.vector && panel.mentions(a));
        let each = selecting.map(|a| self.extents[a]).product::<u64>() * self.depth;
        rows + panels * each as f64
    }
}
