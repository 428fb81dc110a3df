//! Steps of a convolution in which the rows it reads lie in the padding, so that they add products with zeros.
//!
//!     for oy  for c                                  of a window of 7 x 7 on 7 rows, 12 of 49 rows lie in the padding: 48 x 7 x 100
//!       for ky in max(0, 3 - oy) .. min(7, 10 - oy)    to 64 channels takes 1.36 in place of 1.79 ms on a core of Zen 4
//!         for kx  tile of a row
//!
//! Loops are asked that tiles have nothing of (`te.skip_padding`): one of several rows would be computed where any of them needs it. So where much is
//! padding, pixels are not put into one loop, though tiles fit rows less well.

use super::{Contraction, Tile};
use crate::auto_schedule::writer::Writer;
use crate::schedule::zeros::unless_padding;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::expr::{Atom, Expr, Var};
use fusion_machine::Machine;

/// A loop with bounds of its own takes, beside the arithmetic, as much longer as so many multiply-adds of vectors in each iteration.
const ASKING: f64 = 0.5;
/// Padding is not looked for at more places than these.
const MOST_PLACES: u64 = 1 << 16;

/// Steps of one axis of the reduction that lie in the padding.
pub(super) struct Padding {
    /// The variable of the axis.
    step: usize,
    /// The axes of the result that it goes with.
    rows: Vec<usize>,
    /// The share of its steps, over all rows.
    share: f64,
}

/// The padding along all axes of a sum; `place` gives for an axis of the computation what it is in the contraction.
pub(super) fn find(tree: &Schedule, reduction: StageId, place: &dyn Fn(usize) -> usize) -> Vec<Padding> {
    let rank = tree.stages[reduction].rank();
    let mut found = Vec::new();
    for e in unless_padding(tree, reduction) {
        let plain = |(atom, by): (&Atom, i64)| if let Atom::Var(v) = atom { Some((*v, by)) } else { None };
        let Some(terms) = e.terms().map(plain).collect::<Option<Vec<_>>>() else { continue };
        for (step, _) in terms.iter().filter(|(v, _)| v.id >= rank) {
            let moves = |v: Var| v.id < rank || v.id == step.id;
            let rows = terms.iter().filter(|(v, _)| v.id < rank).map(|(v, _)| place(v.id)).collect();
            found.push(Padding { step: place(step.id), rows, share: share_below_zero(&e, &terms, &moves) });
        }
    }
    found
}

/// The share of places, along the variables that move, at which a sum of terms is negative whatever the others are.
fn share_below_zero(e: &Expr, terms: &[(Var, i64)], moves: &dyn Fn(Var) -> bool) -> f64 {
    let (moving, others): (Vec<_>, Vec<_>) = terms.iter().partition(|(v, _)| moves(*v));
    let greatest: i64 = others.iter().map(|(v, by)| (by * (v.extent as i64 - 1)).max(0)).sum();
    let places: u64 = moving.iter().map(|(v, _)| v.extent).product();
    if places > MOST_PLACES {
        return 0.0;
    }
    let is_below = |place: &u64| {
        let mut rest = *place;
        let mut sum = e.offset() + greatest;
        for (v, by) in &moving {
            sum += by * (rest % v.extent) as i64;
            rest /= v.extent;
        }
        sum < 0
    };
    (0..places).filter(is_below).count() as f64 / places as f64
}

impl Contraction {
    /// The share of the steps of an axis of the reduction that is passed over, by its place in `steps`: none where asking takes longer.
    pub(super) fn passed_over(&self, tile: &Tile, step: usize) -> f64 {
        let is_outside = |axis: &usize| *axis != tile.vector && !tile.has_rows(*axis);
        let along = self.padding.iter().filter(|p| p.step == self.steps[step].0);
        let share: f64 = along.filter(|p| p.rows.iter().all(is_outside)).map(|p| p.share).sum();
        let inside: u64 = self.steps[..step].iter().map(|(_, n)| n).product();
        let spared = share * (inside * tile.vectors * tile.all_rows()) as f64;
        if spared > ASKING { share } else { 0.0 }
    }

    /// The share of all steps that is computed.
    pub(super) fn share_of_steps(&self, tile: &Tile) -> f64 {
        if self.dot.is_some() {
            return 1.0;
        }
        (0..self.steps.len()).map(|step| 1.0 - self.passed_over(tile, step)).product()
    }

    /// Has the loops of the reduction pass over padding, but for those that are written out.
    pub(super) fn skip_padding(
        &self,
        writer: &mut Writer,
        reduction: StageId,
        tile: &Tile,
        machine: &Machine,
    ) -> Result<(), String> {
        if self.dot.is_some() {
            return Ok(());
        }
        let s = &writer.tree.stages[reduction];
        let loops: Vec<AxisId> =
            s.leaves.iter().rev().copied().filter(|&l| s.axes[l].reduce && s.axes[l].extent > 1).collect();
        let asked = loops.into_iter().enumerate().skip(self.written_out(tile, machine));
        for (_, step) in asked.filter(|(step, _)| self.passed_over(tile, *step) > 0.0) {
            writer.skip_padding(reduction, step)?;
        }
        Ok(())
    }
}
