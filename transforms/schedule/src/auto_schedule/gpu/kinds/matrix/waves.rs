//! Whether blocks share what is summed up for a tile of a product. Cores compute tiles in waves, of which the last may leave most of them
//! idle:
//!
//! ```text
//!   150 tiles, 132 cores    whole      ################################ | ####                              2 times a tile
//!                           split      each tile in 7 parts, 1050 blocks in 8 waves                      8 / 7 times, and to add 1050 parts up
//!                           streamed   ################################ | 18 tiles in 7 parts                1 + 1 / 7 times, and 126 parts
//! ```
//!
//! Stream-K (Osama et al., 2023) gives each core one range of steps that may begin and end within tiles. Where there are several waves, its authors
//! prefer to have all but the last ones computed whole, and only what is left over as such ranges. That is what is done here: the tiles are divided
//! along an axis, those of full waves are computed whole by one launch, and of the others each is cut into as many parts as fill
//! the cores. Where there is no full wave, all tiles are cut (split-K). Parts are added up by another launch in a
//! fixed order, so that what comes out is the same in every run.

use super::FEWEST;
use super::sizes::{Choice, Extents, of_depth, tiles};
use crate::auto_schedule::gpu::launch::adding_up;
use crate::auto_schedule::parts::MOST_PARTS;
use crate::intrinsics::Facts;
use crate::schedule::AxisId;
use fusion_machine::Target;

/// Steps of a part, at least: the first ones are waited for.
const FEWEST_STEPS: u64 = 4;
/// Steps that a block takes as long as to begin and to end.
const STEPS_AROUND: f64 = 3.0;
/// Parts are worth it where they take that share of the time.
const LEAST_GAIN: f64 = 0.85;

/// How blocks share what is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// That many of them each tile.
    Split(u64),
    /// As many each tile that lies from a place on along an axis; those before it have one block.
    Streamed { axis: AxisId, at: u64, parts: u64 },
}

/// What an axis of the result is to a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Rows,
    Columns,
    /// Products beside each other, of which it has so many.
    Others(u64),
}

/// A product that is to be shared out.
pub struct Work<'a> {
    pub extents: &'a Extents,
    /// The axis whose elements are shared: the depth, or one of which it is made.
    pub axis: u64,
    /// Axes along which the tiles may be divided.
    pub along: &'a [(AxisId, Role)],
    pub facts: &'a [Facts],
    /// Whether parts of what is summed up may be added up by another launch.
    pub may_be_cut: bool,
}

impl Work<'_> {
    /// How its blocks share what is summed up, where that takes less time than each tile by one; and seconds of all launches but the first itself.
    pub fn shares(&self, target: &Target) -> Option<(Shares, f64)> {
        if !self.may_be_cut {
            return None;
        }
        let all = tiles(self.extents.depth, self.facts, target);
        let timing = Timing { all: &all, axis: self.axis, target };
        let whole = timing.of(self.extents, 1)?;
        let split = timing.in_parts(self.extents).map(|(parts, time)| (Shares::Split(parts), time));
        let streamed = self.along.iter().flat_map(|&(axis, role)| {
            let timing = &timing;
            places(self.extents, role, &all, target).into_iter().filter_map(move |at| {
                let (first, rest) = cut(self.extents, role, at);
                let (parts, time) = timing.in_parts(&rest)?;
                let time = time + timing.of(&first, 1)? + target.kernel_call;
                Some((Shares::Streamed { axis, at, parts }, time))
            })
        });
        let (shares, least) = split.into_iter().chain(streamed).min_by(|a, b| a.1.total_cmp(&b.1))?;
        (least < LEAST_GAIN * whole).then_some((shares, least))
    }

    /// The numbers of parts there may be.
    pub fn parts(&self, target: &Target) -> impl Iterator<Item = u64> {
        let most = if self.may_be_cut { MOST_PARTS.min(2 * target.cores) } else { 1 };
        let (axis, depth) = (self.axis, self.extents.depth);
        (1..=most).filter(move |n| *n == 1 || axis.is_multiple_of(*n) && depth / n >= FEWEST_STEPS * FEWEST)
    }

    /// Seconds of so many parts, with tiles of such rows and columns where they are asked for and a part has whole steps of these.
    pub fn seconds(&self, parts: u64, sides: Option<[u64; 2]>, target: &Target) -> Option<f64> {
        let all = tiles(self.extents.depth, self.facts, target);
        let is_asked = |(_, tile, _): &&Choice| sides.is_none_or(|sides| [tile.rows, tile.columns] == sides);
        let own: Vec<Choice> = all.iter().filter(is_asked).copied().collect();
        let of = |all: &[Choice]| Timing { all, axis: self.axis, target }.of(self.extents, parts);
        let multiplying = of(&own).or_else(|| of(&all))?;
        let adding_up = if parts > 1 { adding_up(self.extents.results(), parts, target) } else { 0.0 };
        Some(multiplying + adding_up)
    }
}

/// Predicts times with some tiles.
struct Timing<'a> {
    all: &'a [Choice<'a>],
    axis: u64,
    target: &'a Target,
}

impl Timing<'_> {
    /// Seconds of the products alone, each tile in so many parts.
    fn of(&self, extents: &Extents, parts: u64) -> Option<f64> {
        let depth = extents.depth / parts;
        let time = |(facts, tile, step): &Choice| {
            let waves = (extents.blocks(tile) * parts).div_ceil(self.target.cores) as f64;
            waves * (depth as f64 + STEPS_AROUND * *step as f64) * of_depth(facts, tile, self.target)
        };
        let whole = |(_, _, step): &&Choice| {
            parts == 1 || depth.is_multiple_of(*step) && depth / step >= FEWEST_STEPS
        };
        self.all.iter().filter(whole).map(time).min_by(f64::total_cmp)
    }

    /// The number of parts that takes the least time, and that, with what adding them up takes.
    fn in_parts(&self, extents: &Extents) -> Option<(u64, f64)> {
        let divides = (2..=MOST_PARTS).filter(|parts| self.axis.is_multiple_of(*parts));
        let timed = divides.filter_map(|parts| {
            Some((parts, self.of(extents, parts)? + adding_up(extents.results(), parts, self.target)))
        });
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Places along an axis before which there are as many tiles as fill all cores once or several times, or a little fewer.
fn places(extents: &Extents, role: Role, all: &[Choice], target: &Target) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    for (_, tile, _) in all {
        let blocks = extents.blocks(tile);
        // What is left over must be a product still.
        let (lines, unit, most) = match role {
            Role::Rows => (extents.rows.div_ceil(tile.rows), tile.rows, extents.rows.saturating_sub(FEWEST)),
            Role::Columns => {
                (extents.columns.div_ceil(tile.columns), tile.columns, extents.columns.saturating_sub(FEWEST))
            }
            Role::Others(n) => (n, 1, n),
        };
        let of_line = (blocks / lines.max(1)).max(1);
        let full = blocks / target.cores;
        // The rest is better cut into long parts of one wave more than into short ones.
        let lines_before = [full, full.saturating_sub(1)].map(|waves| waves * target.cores / of_line);
        let places = lines_before.into_iter().filter(|n| (1..lines).contains(n)).map(|n| n * unit);
        found.extend(places.filter(|at| *at <= most));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What lies before a place along an axis, and what from it on.
fn cut(extents: &Extents, role: Role, at: u64) -> (Extents, Extents) {
    let whole = *extents;
    match role {
        Role::Rows => (Extents { rows: at, ..whole }, Extents { rows: whole.rows - at, ..whole }),
        Role::Columns => (Extents { columns: at, ..whole }, Extents { columns: whole.columns - at, ..whole }),
        Role::Others(n) => {
            let each = whole.others / n.max(1);
            (Extents { others: each * at, ..whole }, Extents { others: each * (n - at), ..whole })
        }
    }
}
