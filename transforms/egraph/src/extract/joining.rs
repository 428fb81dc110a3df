//! Joins kernels that read the same, or of which one reads the other: what both read is read once, what one stores for the other stays
//! in registers, and a call is spared.
//!
//! ```text
//!     w --> a --> c        a and b both read w: they may be joined
//!     w --> b              a and d as well, but d needs what c makes of a: joined, they would wait for each other
//!     w, c --> d
//! ```
//!
//! In a graph that was unrolled over time all steps read the same weights, so that each kernel could be joined with all of the same
//! kind. Nearly all of them wait for each other. So those that stand nearest in the program are tried, and all that a kernel can reach
//! through a third one are found once; what is left is few.

use super::class_set::ClassSet;
use super::plan::Plan;
use super::search::LEAST_GAIN;
use super::space::{ClassId, Space};
use std::collections::BTreeSet;

/// Of what more classes read, as many are tried: those that stand at about the same height, as kernels that do not wait for each other do.
const MOST_READERS: usize = 32;

impl Plan {
    /// Joins kernels of some classes with others while that gains. True when it joined some.
    pub(super) fn settle_joined(&mut self, space: &Space, classes: &[ClassId]) -> bool {
        let mut joined = false;
        for &class in classes {
            if space.classes[class].is_external || !self.state.is_live(class) || !self.state.is_stored(class)
            {
                continue;
            }
            let others = self.partners(space, class);
            let mut beyond = self.beyond(space, class, &others);
            for other in others {
                if self.state.group(other) == self.state.group(class) || beyond.has(self.state.group(other)) {
                    continue;
                }
                let quickest = self.cost(class).min(self.cost(other));
                let mark = self.mark();
                match self.join(space, class, other) {
                    Ok(gain) if gain > LEAST_GAIN * quickest => {
                        beyond = self.beyond(space, class, &[other]);
                        joined = true;
                    }
                    _ => self.undo_to(mark),
                }
            }
        }
        joined
    }

    /// Pairs of kernels of which one reads the other, or that read the same.
    pub fn pairs(&self, space: &Space) -> Vec<(ClassId, ClassId)> {
        let mut pairs = BTreeSet::new();
        for class in (0..space.classes.len()).filter(|&c| self.has_kernel(space, c)) {
            for other in self.partners(space, class) {
                pairs.insert((class.min(other), class.max(other)));
            }
        }
        pairs.into_iter().collect()
    }

    /// The kernels that that of a class could be joined with, in order: with a member, or a view, that reads what this one reads or makes.
    fn partners(&self, space: &Space, class: ClassId) -> Vec<ClassId> {
        let facts = self.facts(class);
        if !facts.computes {
            return Vec::new();
        }
        let mut others = Vec::new();
        let own = self.state.group(class);
        let height = space.classes[class].height;
        for &read in facts.inputs.iter().chain([&class]) {
            let users = self.state.users_near(space, read, height, MOST_READERS);
            let touches = |&kernel: &ClassId| self.facts(kernel).touches.binary_search(&read).is_ok();
            others.extend(self.kernels_with_any(space, users).into_iter().filter(touches));
        }
        others.sort_unstable();
        others.dedup();
        let is_partner = |&other: &ClassId| {
            other != own
                && space.classes[other].place == space.classes[class].place
                && self.facts(other).computes
        };
        others.into_iter().filter(is_partner).collect()
    }

    /// The kernels that need what a third one makes of a class's kernel, and those of which a third one makes what this needs. Nothing
    /// where nobody asks.
    fn beyond(&self, space: &Space, class: ClassId, others: &[ClassId]) -> ClassSet {
        let mut found = ClassSet::of(space.classes.len());
        if others.is_empty() {
            return found;
        }
        let own = self.state.group(class);
        let heights = |other: &ClassId| self.facts(*other).heights;
        let lowest = others.iter().map(|other| heights(other).0).min().unwrap_or(0);
        let highest = others.iter().map(|other| heights(other).1).max().unwrap_or(0);
        let operands = |kernel: ClassId| {
            let reads = self.facts(kernel).reads.iter().map(|&read| self.state.group(read));
            reads.filter(|read| heights(read).1 >= lowest)
        };
        let mut stack: Vec<ClassId> = operands(own).flat_map(&operands).collect();
        while let Some(kernel) = stack.pop() {
            if found.add(kernel) {
                stack.extend(operands(kernel));
            }
        }
        let mut below = ClassSet::of(space.classes.len());
        let users = |kernel: ClassId| self.users(space, kernel).filter(|user| heights(user).0 <= highest);
        let mut stack: Vec<ClassId> = users(own).flat_map(&users).collect();
        while let Some(kernel) = stack.pop() {
            if below.add(kernel) {
                found.add(kernel);
                stack.extend(users(kernel));
            }
        }
        found
    }
}
