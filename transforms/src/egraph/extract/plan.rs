//! A plan: a state with what its kernels take, and what single edits of it would gain.

use super::cost;
use super::kernel::{Illegal, Kernel};
use super::space::{ClassId, Space};
use super::state::State;
use std::collections::BTreeSet;

/// A state with the costs of its kernels.
#[derive(Clone)]
pub struct Plan {
    /// The state.
    pub state: State,
    /// Seconds of the kernel of each class that is the first of its group.
    pub(super) costs: Vec<f64>,
}

impl Plan {
    pub(super) fn new(space: &Space, state: State) -> Plan {
        let mut plan = Plan { state, costs: vec![0.0; space.classes.len()] };
        for class in 0..space.classes.len() {
            if plan.has_kernel(space, class) {
                plan.costs[class] = plan.kernel(space, class).1;
            }
        }
        plan
    }

    /// True when a kernel is named by this class: it is live, stored and the first of its group.
    pub fn has_kernel(&self, space: &Space, class: ClassId) -> bool {
        !space.classes[class].is_external
            && self.state.is_live(class)
            && self.state.is_stored(class)
            && self.state.group(class) == class
    }

    /// Seconds of all kernels, added in one order.
    pub fn total(&self, space: &Space) -> f64 {
        (0..space.classes.len()).filter(|&c| self.has_kernel(space, c)).map(|c| self.costs[c]).sum()
    }

    /// Seconds of the kernel that stores a class.
    pub fn cost(&self, class: ClassId) -> f64 {
        self.costs[self.state.group(class)]
    }

    /// The kernel that stores a class, and its seconds.
    pub fn kernel(&self, space: &Space, class: ClassId) -> (Kernel, f64) {
        let kernel = Kernel::of(space, &self.state, class);
        let cost = cost::kernel(space, &self.state, &kernel);
        (kernel, cost)
    }

    /// Seconds of the kernel that stores a class, where it may be one: most that are asked for may not, and what a kernel costs takes
    /// longer to find out.
    pub(super) fn legal(&self, space: &Space, class: ClassId) -> Result<f64, Illegal> {
        let kernel = Kernel::of(space, &self.state, class);
        kernel.check(space, &self.state)?;
        Ok(cost::kernel(space, &self.state, &kernel))
    }

    /// The kernels that compute a class: its own, or those that it is lazy in.
    pub fn kernels_with(&self, space: &Space, class: ClassId) -> BTreeSet<ClassId> {
        let (mut found, mut seen, mut stack) = (BTreeSet::new(), BTreeSet::new(), vec![class]);
        while let Some(at) = stack.pop() {
            if self.state.is_stored(at) {
                found.insert(self.state.group(at));
            } else {
                stack.extend(self.state.users(space, at).into_iter().filter(|u| seen.insert(*u)));
            }
        }
        found
    }

    /// The kernels that read a stored class.
    pub fn readers(&self, space: &Space, class: ClassId) -> BTreeSet<ClassId> {
        let users = self.state.users(space, class);
        let mut readers: BTreeSet<ClassId> =
            users.into_iter().flat_map(|u| self.kernels_with(space, u)).collect();
        readers.remove(&self.state.group(class));
        readers
    }

    /// The plan with a stored class lazy, and the seconds that gains.
    pub fn lazy(&self, space: &Space, class: ClassId) -> Result<(Plan, f64), Illegal> {
        let mut plan = self.clone();
        let readers = plan.readers(space, class);
        let before: f64 = plan.cost(class) + readers.iter().map(|&r| plan.costs[r]).sum::<f64>();
        plan.state.set_stored(class, false);
        let mut after = 0.0;
        for reader in readers {
            let cost = plan.legal(space, reader)?;
            plan.costs[reader] = cost;
            after += cost;
        }
        Ok((plan, before - after))
    }

    /// The plan with the kernels of two stored classes joined, and the seconds that gains.
    pub fn joined(&self, space: &Space, a: ClassId, b: ClassId) -> Result<(Plan, f64), Illegal> {
        let mut plan = self.clone();
        let before = plan.cost(a) + plan.cost(b);
        plan.state.join(a, b);
        let cost = plan.legal(space, a)?;
        // The last question, as it goes over the whole program.
        if cost < before && plan.is_cyclic(space, a) {
            return Err(Illegal::Cyclic);
        }
        plan.costs[plan.state.group(a)] = cost;
        Ok((plan, before - cost))
    }

    /// Seconds of the program with a lazy class stored.
    pub fn stored(&self, space: &Space, class: ClassId) -> f64 {
        let mut plan = self.clone();
        let concerned = plan.kernels_with(space, class);
        plan.state.set_stored(class, true);
        for kernel in concerned.into_iter().chain([class]) {
            plan.costs[kernel] = plan.kernel(space, kernel).1;
        }
        plan.total(space)
    }

    /// Seconds of the program with the classes of a group stored by kernels of their own.
    pub fn apart(&self, space: &Space, group: &[ClassId]) -> f64 {
        let mut plan = self.clone();
        plan.state.part(group);
        for &class in group {
            plan.costs[class] = plan.kernel(space, class).1;
        }
        plan.total(space)
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

    /// The kernels that one could be joined with.
    pub(super) fn partners(&self, space: &Space, class: ClassId) -> BTreeSet<ClassId> {
        let kernel = Kernel::of(space, &self.state, class);
        if kernel.members.is_empty() {
            return BTreeSet::new();
        }
        let mut others: BTreeSet<ClassId> = self.readers(space, class);
        for input in kernel.inputs {
            others.extend(self.readers(space, input));
        }
        others.remove(&self.state.group(class));
        others.retain(|&o| {
            space.classes[o].place == space.classes[class].place
                && self.state.group(o) != self.state.group(class)
                && !Kernel::of(space, &self.state, o).members.is_empty()
        });
        others
    }

    /// True when the kernel of a class would need what another kernel makes of its results.
    fn is_cyclic(&self, space: &Space, class: ClassId) -> bool {
        let own = self.state.group(class);
        let inputs = |class: ClassId| Kernel::of(space, &self.state, class).reads(space, &self.state);
        let mut seen = BTreeSet::new();
        let mut stack: Vec<ClassId> = inputs(class);
        while let Some(at) = stack.pop() {
            let group = self.state.group(at);
            if group == own {
                return true;
            }
            if seen.insert(group) {
                stack.extend(inputs(group));
            }
        }
        false
    }
}
