//! A plan: a state with what its kernels take, and what single edits of it would gain.

use super::class_set::ClassSet;
use super::cost;
use super::facts::Facts;
use super::kernel::{Illegal, Kernel};
use super::space::{ClassId, Space};
use super::state::State;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A state with the costs of its kernels.
#[derive(Clone)]
pub struct Plan {
    /// The state.
    pub state: State,
    /// What is known of the kernel of each class that is the first of its group. Copies of plans differ in few kernels.
    pub(super) facts: Vec<Rc<Facts>>,
    /// What edits replaced of it, oldest first.
    pub(super) replaced: Vec<(ClassId, Rc<Facts>)>,
    /// For each class those whose facts say that they read it.
    pub(super) read_by: Vec<Vec<ClassId>>,
    /// Members of kernels that were looked at so far, which is what a search takes.
    pub(super) looked_at: u64,
}

impl Plan {
    /// The plan of a state.
    pub fn new(space: &Space, state: State) -> Plan {
        let unknown = Rc::new(Facts::default());
        let count = space.classes.len();
        let (facts, read_by) = (vec![unknown; count], vec![Vec::new(); count]);
        let mut plan = Plan { state, facts, replaced: Vec::new(), read_by, looked_at: 0 };
        for class in 0..space.classes.len() {
            if plan.has_kernel(space, class) {
                plan.measure(space, class);
            }
        }
        plan.keep();
        plan
    }

    /// Finds out anew what is known of the kernel that a class is the first of.
    pub(super) fn measure(&mut self, space: &Space, class: ClassId) {
        self.set_facts(space, class, Kernel::of(space, &self.state, class));
    }

    /// What is known of the kernel that stores a class.
    pub(super) fn facts(&self, class: ClassId) -> &Facts {
        &self.facts[self.state.group(class)]
    }

    /// True when a kernel is named by this class: it is live, stored and the first of its group.
    pub fn has_kernel(&self, space: &Space, class: ClassId) -> bool {
        !space.classes[class].is_external && self.state.row(class).has_kernel(class)
    }

    /// Seconds of all kernels, added in one order.
    pub fn total(&self, space: &Space) -> f64 {
        (0..space.classes.len()).filter(|&c| self.has_kernel(space, c)).map(|c| self.cost(c)).sum()
    }

    /// Seconds of the kernel that stores a class.
    pub fn cost(&self, class: ClassId) -> f64 {
        self.facts(class).seconds
    }

    /// The kernel that stores a class, and its seconds.
    pub fn kernel(&self, space: &Space, class: ClassId) -> (Kernel, f64) {
        let kernel = Kernel::of(space, &self.state, class);
        let cost = cost::kernel(space, &self.state, &kernel);
        (kernel, cost)
    }

    /// True when the kernel of a stored class may surely not be computed in one that reads it, as what is known of both says: most may
    /// not, and to look at all of their members takes longer.
    pub(super) fn stays_apart(&self, space: &Space, class: ClassId, reader: ClassId) -> bool {
        let (own, reader) = (self.facts(class), self.facts(reader));
        let two = own.contraction.zip(reader.contraction).is_some_and(|(a, b)| a != b);
        let is_operand =
            |contraction: ClassId| self.state.candidate(space, contraction).operands.contains(&class);
        own.computes
            && reader.computes
            && (own.is_opaque
                || reader.is_opaque
                || two
                || own.contraction.is_some() && reader.cannot_follow
                || reader.contraction.is_some_and(|c| own.cannot_stand_beside || is_operand(c)))
    }

    /// True for a view of a product that a kernel rearranges. To make it lazy gains nothing, but the product may become lazy then.
    pub(super) fn stands_before_move(&self, space: &Space, view: ClassId, reader: ClassId) -> bool {
        if self.facts(view).computes
            || self.facts(reader).cannot_follow
            || !self.facts(reader).moves_or_reduces
        {
            return false;
        }
        let mut source = view;
        while !space.classes[source].is_external && self.state.candidate(space, source).is_view {
            source = self.state.candidate(space, source).operands[0];
        }
        !space.classes[source].is_external
            && self
                .kernels_with(space, source)
                .into_iter()
                .any(|kernel| self.facts(kernel).contraction.is_some())
    }

    /// The kernel that stores a class, where it may be one: most that are asked for may not, and what a kernel costs takes longer to
    /// find out.
    pub(super) fn legal(&self, space: &Space, class: ClassId) -> Result<Kernel, Illegal> {
        let kernel = Kernel::of(space, &self.state, class);
        kernel.check(space, &self.state)?;
        Ok(kernel)
    }

    /// The kernels that compute a class: its own, or those that it is lazy in.
    pub fn kernels_with(&self, space: &Space, class: ClassId) -> BTreeSet<ClassId> {
        self.kernels_with_any(space, [class])
    }

    /// The kernels that compute one of some classes. Classes that many lazy ones lead to are looked at once.
    pub(super) fn kernels_with_any(
        &self,
        space: &Space,
        classes: impl IntoIterator<Item = ClassId>,
    ) -> BTreeSet<ClassId> {
        let (mut found, mut seen) = (BTreeSet::new(), ClassSet::of(space.classes.len()));
        let mut stack: Vec<ClassId> = classes.into_iter().collect();
        while let Some(at) = stack.pop() {
            if self.state.is_stored(at) {
                found.insert(self.state.group(at));
            } else {
                stack.extend(self.state.users(space, at).filter(|u| seen.add(*u)));
            }
        }
        found
    }

    /// The kernels that read a stored class.
    pub fn readers(&self, space: &Space, class: ClassId) -> BTreeSet<ClassId> {
        let mut readers = self.kernels_with_any(space, self.state.users(space, class));
        readers.remove(&self.state.group(class));
        readers
    }

    /// The plan with a stored class lazy, and the seconds that gains.
    pub fn lazy(&self, space: &Space, class: ClassId) -> Result<(Plan, f64), Illegal> {
        let mut plan = self.clone();
        let readers = plan.readers(space, class);
        let before: f64 = plan.cost(class) + readers.iter().map(|&r| plan.cost(r)).sum::<f64>();
        plan.state.set_stored(class, false);
        let mut after = 0.0;
        for reader in readers {
            let kernel = plan.legal(space, reader)?;
            plan.set_facts(space, reader, kernel);
            after += plan.cost(reader);
        }
        Ok((plan, before - after))
    }

    /// Makes a stored class lazy, which is known to be legal.
    pub(super) fn make_lazy(&mut self, space: &Space, class: ClassId) {
        let readers = self.readers(space, class);
        self.state.set_stored(class, false);
        readers.into_iter().for_each(|reader| self.measure(space, reader));
    }

    /// The plan with the kernels of two stored classes joined, and the seconds that gains.
    pub fn joined(&self, space: &Space, a: ClassId, b: ClassId) -> Result<(Plan, f64), Illegal> {
        let mut plan = self.clone();
        let gain = plan.join(space, a, b)?;
        Ok((plan, gain))
    }

    /// Joins the kernels of two stored classes, and gives the seconds that gains. Where it fails it leaves the plan in no order.
    pub(super) fn join(&mut self, space: &Space, a: ClassId, b: ClassId) -> Result<f64, Illegal> {
        let before = self.cost(a) + self.cost(b);
        self.state.join(a, b);
        let kernel = self.legal(space, a)?;
        self.set_facts(space, self.state.group(a), kernel);
        let cost = self.cost(a);
        // The last question, as it goes over the whole program.
        if cost < before && self.is_cyclic(a) {
            return Err(Illegal::Cyclic);
        }
        Ok(before - cost)
    }

    /// Seconds of the program with a lazy class stored.
    pub fn stored(&self, space: &Space, class: ClassId) -> f64 {
        let mut plan = self.clone();
        let concerned = plan.kernels_with(space, class);
        plan.state.set_stored(class, true);
        for kernel in concerned.into_iter().chain([class]) {
            plan.measure(space, kernel);
        }
        plan.total(space)
    }

    /// Seconds of the program with the classes of a group stored by kernels of their own.
    pub fn apart(&self, space: &Space, group: &[ClassId]) -> f64 {
        let mut plan = self.clone();
        plan.state.part(group);
        for &class in group {
            plan.measure(space, class);
        }
        plan.total(space)
    }

    /// Parts kernels of several results that, with what their classes are computed by now, would wait for each other:
    ///
    ///     a, b stored together; b is computed by another candidate now, which reads c, which reads a
    pub fn part_cycles(&mut self, space: &Space) {
        let kernels = (0..space.classes.len()).filter(|&c| self.has_kernel(space, c)).collect();
        self.part_cycles_at(space, kernels);
    }

    /// The same for cycles through some kernels.
    pub(super) fn part_cycles_at(&mut self, space: &Space, mut kernels: BTreeSet<ClassId>) {
        while let Some(cycle) = self.cycle(space, &kernels) {
            // Classes alone need nothing that needs them: one of these kernels has several.
            let mut parted = false;
            for kernel in cycle {
                let group = self.state.group_of(kernel);
                if group.len() > 1 {
                    parted = true;
                    self.state.part(&group);
                    group.iter().for_each(|&class| self.measure(space, class));
                    kernels.extend(group);
                }
            }
            if !parted {
                return;
            }
        }
    }

    /// Kernels each of which reads the one before it, and the first one the last one: of some kernels and those that these need.
    fn cycle(&self, space: &Space, kernels: &BTreeSet<ClassId>) -> Option<Vec<ClassId>> {
        let count = space.classes.len();
        let (mut open, mut done) = (ClassSet::of(count), ClassSet::of(count));
        for &root in kernels {
            let mut path = vec![(root, 0)];
            while let Some((kernel, next)) = path.pop() {
                if next == 0 && (done.has(kernel) || !open.add(kernel)) {
                    continue;
                }
                let Some(&read) = self.facts(kernel).reads.get(next) else {
                    open.remove(kernel);
                    done.add(kernel);
                    continue;
                };
                path.push((kernel, next + 1));
                let read = self.state.group(read);
                if open.has(read) {
                    let begin = path.iter().position(|(at, _)| *at == read).unwrap_or(0);
                    return Some(path[begin..].iter().map(|(at, _)| *at).collect());
                }
                path.push((read, 0));
            }
        }
        None
    }

    /// True when the kernel of a class would need what another kernel makes of its results.
    fn is_cyclic(&self, class: ClassId) -> bool {
        let own = self.state.group(class);
        let mut seen = ClassSet::of(self.facts.len());
        let mut stack: Vec<ClassId> = self.facts(own).reads.clone();
        while let Some(at) = stack.pop() {
            let group = self.state.group(at);
            if group == own {
                return true;
            }
            if seen.add(group) {
                stack.extend(&self.facts(group).reads);
            }
        }
        false
    }
}
