//! What the rows of a tile read. Those of a convolution read windows that overlap:
//!
//!     4 pixels, 3 steps of the kernel       a0 a1 a2              6 elements, of which steps that are written out load each once,
//!                                              a1 a2 a3           and 6 of a line of the cache
//!                                                 a2 a3 a4
//!                                                    a3 a4 a5

use super::{Contraction, Tile};
use crate::auto_schedule::accesses::LANE_BYTES;
use fusion_dialects::indices::expr::Atom;
use fusion_machine::Machine;

/// What a row reads in a step, where rows and steps share elements.
pub(super) struct Shared {
    /// Steps that are written out together.
    pub together: u64,
    /// Elements that are loaded to registers.
    pub loads: f64,
    /// Bytes that come from beyond the near cache.
    pub bytes: f64,
}

impl Shared {
    pub(super) fn of(contraction: &Contraction, tile: &Tile, machine: &Machine) -> Self {
        let axes = contraction.written_out(tile, machine);
        let together = contraction.steps[..axes].iter().map(|(_, n)| n).product();
        let elements = contraction.reach(tile, axes).product::<u64>() as f64;
        let loads = elements / (together * tile.all_rows()) as f64;
        Shared { together, loads, bytes: contraction.bytes_of_rows(tile, machine) }
    }
}

impl Contraction {
    /// True where rows read windows that overlap, and the sums of several phases, each with a panel of its own, go to memory: a
    /// transposed convolution, whose images are small beside its panels.
    pub(super) fn is_by_phases(&self, tile: &Tile) -> bool {
        let panel = &self.operands[tile.panel];
        let selects = |a: usize| a != tile.vector && self.extents[a] > 1 && panel.mentions(a);
        self.is_alone
            && self.steps.iter().any(|step| self.slides(tile, step.0))
            && (0..self.extents.len()).any(selects)
    }

    /// How many of the innermost axes of the reduction are written out: of few steps, so that the panel's vectors and what slides
    /// over the rows have registers beside the accumulators. Vectors that slide along the panel are all loaded at once: without room for
    /// them, 64 x 32 x 32 by windows of 7 x 7 took 2.75 ms in two groups on a core of Zen 4, and 1.75 in a loop. What passes over padding is
    /// a loop.
    pub(super) fn written_out(&self, tile: &Tile, machine: &Machine) -> usize {
        const MOST_STEPS: u64 = 8;
        const MOST_WORK: u64 = 256;
        const SLIDING: u64 = 6;
        if self.dot.is_some() {
            return 0;
        }
        let accumulators = tile.vectors * tile.all_rows();
        let panel = &self.operands[tile.panel];
        let slides_along = |axis| panel.indices.iter().any(|e| e.mentions(tile.vector) && e.mentions(axis));
        let (by_phases, mut steps) = (self.is_by_phases(tile), 1);
        let fits = |&(step, &(axis, extent)): &(usize, &(usize, u64))| {
            steps *= extent;
            let vectors = accumulators + steps * tile.vectors;
            let room = match by_phases {
                true => vectors + SLIDING <= machine.registers,
                false if self.is_alone || steps != extent || self.slides(tile, axis) => false,
                false => !slides_along(axis) || vectors < machine.registers,
            };
            room && extent <= MOST_STEPS
                && steps * accumulators <= MOST_WORK
                && self.passed_over(tile, step) == 0.0
        };
        let all = self.steps.len().saturating_sub(1);
        self.steps[..all].iter().enumerate().take_while(fits).count()
    }

    /// How many elements of each axis of the other operand the rows of a tile read in steps of that many innermost axes of the reduction.
    fn reach(&self, tile: &Tile, axes: usize) -> impl Iterator<Item = u64> {
        let other = &self.operands[1 - tile.panel];
        let in_tile = move |axis: usize| match axis {
            a if Some(a) == tile.rows => tile.height,
            a if a >= self.axes() => self.steps[..axes].iter().find(|s| s.0 == a).map_or(1, |s| s.1),
            a => tile.across.filter(|(b, _)| *b == a).map_or(1, |(_, n)| n),
        };
        other.indices.iter().map(move |index| {
            let along = index.terms().filter_map(|(atom, by)| match atom {
                Atom::Var(v) => Some((in_tile(v.id), by.unsigned_abs())),
                _ => None,
            });
            let (span, count) = along.fold((1, 1), |(span, count), (n, by)| (span + (n - 1) * by, count * n));
            span.min(count)
        })
    }

    /// Bytes of the other operand that a row reads from beyond the near cache in a step, where it is too long for that: whole lines,
    /// of which windows that overlap share some.
    fn bytes_of_rows(&self, tile: &Tile, machine: &Machine) -> f64 {
        let shape = &self.operands[1 - tile.panel].shape;
        if tile.rows.is_none() || shape.iter().product::<u64>() * LANE_BYTES <= machine.first_cache / 2 {
            return 0.0;
        }
        let mut reach: Vec<f64> = self.reach(tile, self.steps.len()).map(|n| n as f64).collect();
        if let (Some(last), Some(&extent), false) = (reach.last_mut(), shape.last(), tile.packs_rows) {
            let line = (machine.line / LANE_BYTES) as f64;
            *last = (*last + line - 1.0).min(line.max(extent as f64));
        }
        reach.iter().product::<f64>() * LANE_BYTES as f64 / (self.depth * tile.all_rows()) as f64
    }
}
