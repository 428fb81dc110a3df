//! A plan: a state with what its kernels take, and what single edits of it would gain.

use super::class_set::ClassSet;
use super::cost;
use super::kernel::{Illegal, Kernel, rearranges};
use super::pieces::cuts;
use super::space::{Candidate, ClassId, Space};
use super::state::State;
use fusion_operators::FusionKind;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A state with the costs of its kernels.
#[derive(Clone)]
pub struct Plan {
    /// The state.
    pub state: State,
    /// What is known of the kernel of each class that is the first of its group. Moves copy plans, and change few kernels.
    facts: Vec<Rc<Facts>>,
    /// Members of kernels that were looked at so far, which is what a search takes.
    pub(super) looked_at: u64,
}

/// What is asked of a kernel again and again.
#[derive(Default)]
pub(super) struct Facts {
    /// Seconds.
    pub seconds: f64,
    /// How many classes it computes, and how many are views at its beginnings and ends.
    pub members: u64,
    /// False for one that moves nothing: what it stores is a view.
    pub computes: bool,
    /// The stored classes of other kernels that it reads, below any views.
    pub reads: Vec<ClassId>,
    /// What members read from outside of them.
    pub inputs: Vec<ClassId>,
    /// What members, and views at their beginnings and ends, read: no members.
    pub touches: Vec<ClassId>,
    /// True where a member stays alone.
    is_opaque: bool,
    /// The member that is a contraction.
    contraction: Option<ClassId>,
    /// True where a member is neither a contraction nor elementwise.
    moves_or_reduces: bool,
    /// True where a member is neither, nor a rearrangement or a piece, which may follow a product.
    cannot_follow: bool,
    /// True where a member is neither, nor cut from something, which may stand beside a product.
    cannot_stand_beside: bool,
}

impl Facts {
    fn of(space: &Space, state: &State, kernel: Kernel) -> Rc<Facts> {
        let mut known = ClassSet::of(space.classes.len());
        kernel.members.iter().for_each(|&member| _ = known.add(member));
        let read = kernel.all.iter().flat_map(|&member| &state.candidate(space, member).operands);
        let touches = read.copied().filter(|&class| known.add(class)).collect();
        let of_kind = |kind: FusionKind| {
            kernel.members.iter().copied().find(|&m| state.candidate(space, m).kind == kind)
        };
        let is_simple =
            |kind| matches!(kind, FusionKind::Contraction | FusionKind::Elementwise | FusionKind::Broadcast);
        let any = |wanted: &dyn Fn(&Candidate) -> bool| {
            kernel.members.iter().any(|&m| wanted(state.candidate(space, m)))
        };
        let may_follow = |c: &Candidate| space.rates.stored_together.is_some() && (rearranges(c) || cuts(c));
        Rc::new(Facts {
            seconds: cost::kernel(space, state, &kernel),
            members: kernel.all.len() as u64,
            computes: !kernel.members.is_empty(),
            reads: kernel.reads(space, state),
            touches,
            is_opaque: of_kind(FusionKind::Opaque).is_some(),
            contraction: of_kind(FusionKind::Contraction),
            moves_or_reduces: any(&|c| !is_simple(c.kind)),
            cannot_follow: any(&|c| !is_simple(c.kind) && !may_follow(c)),
            cannot_stand_beside: any(&|c| !is_simple(c.kind) && !cuts(c)),
            inputs: kernel.inputs,
        })
    }
}

impl Plan {
    /// The plan of a state.
    pub fn new(space: &Space, state: State) -> Plan {
        let unknown = Rc::new(Facts::default());
        let mut plan = Plan { state, facts: vec![unknown; space.classes.len()], looked_at: 0 };
        for class in 0..space.classes.len() {
            if plan.has_kernel(space, class) {
                plan.measure(space, class);
            }
        }
        plan
    }

    /// Finds out anew what is known of the kernel that a class is the first of.
    pub(super) fn measure(&mut self, space: &Space, class: ClassId) {
        self.facts[class] = Facts::of(space, &self.state, Kernel::of(space, &self.state, class));
    }

    /// What is known of the kernel that stores a class.
    pub(super) fn facts(&self, class: ClassId) -> &Facts {
        &self.facts[self.state.group(class)]
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
        self.kernels_with_any(space, vec![class])
    }

    /// The kernels that compute one of some classes. Classes that many lazy ones lead to are looked at once.
    fn kernels_with_any(&self, space: &Space, classes: Vec<ClassId>) -> BTreeSet<ClassId> {
        let (mut found, mut seen) = (BTreeSet::new(), ClassSet::of(space.classes.len()));
        let mut stack = classes;
        while let Some(at) = stack.pop() {
            if self.state.is_stored(at) {
                found.insert(self.state.group(at));
            } else {
                stack.extend(self.state.users(space, at).into_iter().filter(|u| seen.add(*u)));
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
            plan.facts[reader] = Facts::of(space, &plan.state, kernel);
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
        let before = plan.cost(a) + plan.cost(b);
        plan.state.join(a, b);
        let kernel = plan.legal(space, a)?;
        let group = plan.state.group(a);
        plan.facts[group] = Facts::of(space, &plan.state, kernel);
        let cost = plan.cost(a);
        // The last question, as it goes over the whole program.
        if cost < before && plan.is_cyclic(a) {
            return Err(Illegal::Cyclic);
        }
        Ok((plan, before - cost))
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
        while let Some(cycle) = self.cycle(space) {
            // Classes alone need nothing that needs them: one of these kernels has several.
            let mut parted = false;
            for kernel in cycle {
                let group = self.state.group_of(kernel);
                if group.len() > 1 {
                    parted = true;
                    self.state.part(&group);
                    group.iter().for_each(|&class| self.measure(space, class));
                }
            }
            if !parted {
                return;
            }
        }
    }

    /// Kernels each of which reads the one before it, and the first one the last one.
    fn cycle(&self, space: &Space) -> Option<Vec<ClassId>> {
        let count = space.classes.len();
        let (mut open, mut done) = (ClassSet::of(count), ClassSet::of(count));
        for root in (0..count).filter(|&c| self.has_kernel(space, c)) {
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
