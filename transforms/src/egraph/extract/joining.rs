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
//! kind. Nearly all of them wait for each other. So who reads what is found once for all kernels, and for a kernel, once, all those that
//! it can reach through a third one; what is left is few.

use super::class_set::ClassSet;
use super::plan::Plan;
use super::search::LEAST_GAIN;
use super::space::{ClassId, Space};
use std::collections::BTreeSet;

impl Plan {
    /// Joins kernels of some classes with others while that gains.
    pub(super) fn settle_joined(&mut self, space: &Space, classes: &[ClassId]) {
        let mut readers = Readers::of(self, space);
        for &class in classes {
            if space.classes[class].is_external || !self.state.is_live(class) || !self.state.is_stored(class)
            {
                continue;
            }
            let others = readers.partners(self, space, class);
            let mut beyond = readers.beyond(self, class, &others);
            for other in others {
                if self.state.group(other) == self.state.group(class) || beyond.has(self.state.group(other)) {
                    continue;
                }
                let quickest = self.cost(class).min(self.cost(other));
                if let Ok((plan, gain)) = self.joined(space, class, other)
                    && gain > LEAST_GAIN * quickest
                {
                    *self = plan;
                    readers = Readers::of(self, space);
                    beyond = readers.beyond(self, class, &[other]);
                }
            }
        }
    }

    /// Pairs of kernels of which one reads the other, or that read the same.
    pub fn pairs(&self, space: &Space) -> Vec<(ClassId, ClassId)> {
        let readers = Readers::of(self, space);
        let mut pairs = BTreeSet::new();
        for class in (0..space.classes.len()).filter(|&c| self.has_kernel(space, c)) {
            for other in readers.partners(self, space, class) {
                pairs.insert((class.min(other), class.max(other)));
            }
        }
        pairs.into_iter().collect()
    }
}

/// Who reads what, of all kernels of a plan.
struct Readers {
    /// For each class the kernels with a member, or a view, that reads it.
    of_class: Vec<Vec<ClassId>>,
    /// For each kernel those that read what it stores.
    of_kernel: Vec<Vec<ClassId>>,
}

impl Readers {
    fn of(plan: &Plan, space: &Space) -> Readers {
        let count = space.classes.len();
        let mut readers = Readers { of_class: vec![Vec::new(); count], of_kernel: vec![Vec::new(); count] };
        for kernel in (0..count).filter(|&c| plan.has_kernel(space, c)) {
            let facts = plan.facts(kernel);
            facts.touches.iter().for_each(|&class| readers.of_class[class].push(kernel));
            facts.reads.iter().for_each(|&class| readers.of_kernel[plan.state.group(class)].push(kernel));
        }
        readers
    }

    /// The kernels that that of a class could be joined with, in order.
    fn partners(&self, plan: &Plan, space: &Space, class: ClassId) -> Vec<ClassId> {
        let facts = plan.facts(class);
        if !facts.computes {
            return Vec::new();
        }
        let near = facts.inputs.iter().chain([&class]).flat_map(|&read| &self.of_class[read]);
        let mut others: Vec<ClassId> = near.copied().collect();
        others.sort_unstable();
        others.dedup();
        let own = plan.state.group(class);
        others.retain(|&other| {
            other != own
                && space.classes[other].place == space.classes[class].place
                && plan.facts(other).computes
        });
        others
    }

    /// The kernels that need what a third one makes of a class's kernel, and those of which a third one makes what this needs. Nothing
    /// where nobody asks.
    fn beyond(&self, plan: &Plan, class: ClassId, others: &[ClassId]) -> ClassSet {
        let mut found = ClassSet::of(self.of_class.len());
        if others.is_empty() {
            return found;
        }
        let own = plan.state.group(class);
        let operands = |kernel: ClassId| plan.facts(kernel).reads.iter().map(|&read| plan.state.group(read));
        let mut stack: Vec<ClassId> = operands(own).flat_map(&operands).collect();
        while let Some(kernel) = stack.pop() {
            if found.add(kernel) {
                stack.extend(operands(kernel));
            }
        }
        let mut below = ClassSet::of(self.of_class.len());
        let users = |kernel: ClassId| self.of_kernel[kernel].iter().copied();
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
