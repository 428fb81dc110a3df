//! Edits of a plan that can be taken back: a move changes few kernels of many, and most moves do not gain.
//!
//! ```text
//!     mark --> edits ... --> gain > 0 ?  keep  :  undo_to(mark)
//! ```
//!
//! Rows of the state and facts of kernels that an edit replaces are kept in order, so that trying a move takes what it changes and not
//! what the program has. The gain is the sum over the kernels that were edited.

use super::facts::Facts;
use super::kernel::Kernel;
use super::plan::Plan;
use super::space::{ClassId, Space};
use super::state::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A place in the edits of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    rows: usize,
    facts: usize,
}

impl Plan {
    /// Sets what is known of a kernel.
    pub(super) fn set_facts(&mut self, space: &Space, class: ClassId, kernel: Kernel) {
        let facts = Facts::of(space, &self.state, kernel);
        let before = self.replace(class, facts);
        self.replaced.push((class, before));
    }

    fn replace(&mut self, class: ClassId, facts: Rc<Facts>) -> Rc<Facts> {
        for &read in &facts.reads {
            self.read_by[read].push(class);
        }
        let before = std::mem::replace(&mut self.facts[class], facts);
        for &read in &before.reads {
            let place = self.read_by[read].iter().position(|&by| by == class);
            place.map(|place| self.read_by[read].swap_remove(place));
        }
        before
    }

    /// The kernels that read what a kernel stores, some of them twice.
    pub(super) fn users(&self, space: &Space, kernel: ClassId) -> impl Iterator<Item = ClassId> {
        let group = self.state.group_of(kernel).into_iter();
        group.flat_map(|class| &self.read_by[class]).copied().filter(|&by| self.has_kernel(space, by))
    }

    /// Where the plan stands, to come back to.
    pub(super) fn mark(&self) -> Mark {
        Mark { rows: self.state.replaced().len(), facts: self.replaced.len() }
    }

    /// Takes back all edits since the mark.
    pub(super) fn undo_to(&mut self, mark: Mark) {
        self.state.undo_to(mark.rows);
        for (class, facts) in self.replaced.split_off(mark.facts).into_iter().rev() {
            self.replace(class, facts);
        }
    }

    /// Lets all edits be as they are.
    pub(super) fn keep(&mut self) {
        self.state.keep();
        self.replaced.clear();
    }

    /// The classes that were edited since the mark, and the kernels that were measured, in order.
    pub(super) fn edited(&self, mark: Mark) -> BTreeSet<ClassId> {
        let rows = self.state.replaced()[mark.rows..].iter().map(|(class, _)| *class);
        rows.chain(self.replaced[mark.facts..].iter().map(|(class, _)| *class)).collect()
    }

    /// Seconds that the program takes less than at the mark.
    pub(super) fn gain_since(&self, space: &Space, mark: Mark) -> f64 {
        // Of several that were replaced, the oldest stood at the mark: the last one to be put in.
        let rows: BTreeMap<ClassId, Row> = self.state.replaced()[mark.rows..].iter().rev().copied().collect();
        let facts = self.replaced[mark.facts..].iter().rev().map(|(class, facts)| (*class, &**facts));
        let facts: BTreeMap<ClassId, &Facts> = facts.collect();
        let seconds = |class: ClassId, row: Row, facts: &Facts| {
            if !space.classes[class].is_external && row.has_kernel(class) { facts.seconds } else { 0.0 }
        };
        let gain = |class: ClassId| {
            let (row, own): (Row, &Facts) = (self.state.row(class), &self.facts[class]);
            let before = rows.get(&class).copied().unwrap_or(row);
            seconds(class, before, facts.get(&class).unwrap_or(&own)) - seconds(class, row, own)
        };
        self.edited(mark).into_iter().map(gain).sum()
    }
}
