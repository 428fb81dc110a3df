//! Finds a good state: greedy, then improved.
//!
//! 1. *Choice.* Each class takes the candidate of the cheapest tree: the least fixed point of
//!    `cost(c) = min over candidates (own time + sum of cost(operands))`. It counts shared work once a use, so it is only a start.
//! 2. *Fusion.* All classes are stored. The class whose becoming lazy gains most becomes lazy, until nothing gains (XLA's priority
//!    fusion); then pairs of kernels that gain by storing together are joined (multi-output fusion).
//! 3. *Improvement.* Moves, in an order that follows from the space: compute a class by another candidate; let all classes that could
//!    read a class do so (three products of one operand become pieces of one only together). A move is kept when the sum over
//!    all kernels is less after the neighbourhood is fused anew.
//! 4. *Comparison.* Where the space is small, the best program of kernels with one result each is found exactly (`exact`), and taken
//!    where it is better. At last, small kernels of like shape become one (`horizontal`).
//!
//! The cost is that of the program as it would run: shared work once, recomputed work as often as it is. Moves are counted, not timed.

use super::cost;
use super::edits::Mark;
use super::exact;
use super::forms;
use super::kernel::Kernel;
use super::moves::{Move, moves};
use super::plan::Plan;
use super::space::{ClassId, Space};
use super::state::State;
use fusion_operators::FusionKind;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What may be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freedom {
    /// Whether classes may become lazy.
    pub fuse: bool,
    /// Whether kernels may store several results.
    pub join: bool,
    /// Moves of the improvement that are tried at most.
    pub moves: usize,
}

/// What the search did.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SearchReport {
    /// Seconds the program would take before the improvement.
    pub greedy: f64,
    /// Seconds it would take.
    pub cost: f64,
    /// Moves tried.
    pub tried: usize,
    /// Moves kept.
    pub kept: usize,
    /// True when all moves were tried until none gained, without those left out as many of their form did not.
    pub is_complete: bool,
    /// Seconds of the best program of kernels with one result each, where the space is small enough to find it.
    #[serde(default)]
    pub exact: Option<f64>,
}

/// Less gain than this share of the quickest of the kernels concerned is noise of the model.
pub(super) const LEAST_GAIN: f64 = 1e-2;

/// Seconds of a class at least, so that none is cheapest by way of itself.
const LEAST: f64 = 1e-12;
/// The share of a cost that sums in another order differ by.
const ROUNDING: f64 = 1e-9;
/// Less gain than this share of the program's time is no reason for a move.
const LEAST_OF_ALL: f64 = 1e-6;

/// Members of kernels that the improvement looks at, at most, some two million a second. Most graphs need some thousands. Those that
/// were unrolled over time, whose kernels compute the steps before again where calls cost much, would take minutes.
const MOST_LOOKED_AT: u64 = 8_000_000;

/// Moves of one form that are tried in a row without a gain, in each round over all moves.
const MOST_IN_VAIN: u32 = 16;

/// Finds a good state of a space.
pub fn search(space: &Space, freedom: Freedom) -> (Plan, SearchReport) {
    let start = cheapest_trees(space);
    let mut plan = Plan::new(space, State::new(space, start.clone()));
    let all: Vec<ClassId> = (0..space.classes.len()).collect();
    plan.settle(space, &all, freedom);
    plan.keep();
    let mut report = SearchReport { greedy: plan.total(space), ..SearchReport::default() };
    report.is_complete = plan.improve(space, freedom, &mut report);
    if freedom.moves > 0
        && let Some(state) = exact::solve(space, start)
    {
        let mut best = Plan::new(space, state);
        report.exact = Some(best.total(space));
        if freedom.join {
            best.settle_joined(space, &all);
        }
        if best.total(space) < plan.total(space) * (1.0 - LEAST_OF_ALL) {
            plan = best;
        }
    }
    if freedom.join {
        plan.join_alike(space);
    }
    plan.keep();
    report.cost = plan.total(space);
    (plan, report)
}

/// For each class the candidate of the cheapest tree.
fn cheapest_trees(space: &Space) -> Vec<u32> {
    let count = space.classes.len();
    let (mut best, mut choice) = (vec![f64::INFINITY; count], vec![0; count]);
    for (class, facts) in space.classes.iter().enumerate() {
        if facts.is_external {
            best[class] = 0.0;
        }
    }
    // Operands come first, so that once is enough but for classes that may be computed of each other.
    let mut upwards: Vec<ClassId> = (0..count).filter(|&class| !space.classes[class].is_external).collect();
    upwards.sort_by_key(|&class| space.classes[class].height);
    loop {
        let mut changed = false;
        for &class in &upwards {
            let facts = &space.classes[class];
            for (number, candidate) in facts.candidates.iter().enumerate() {
                let operands: f64 = candidate.operands.iter().map(|&o| best[o]).sum();
                let memory =
                    if candidate.is_view { 0.0 } else { space.rates.moving(facts.bytes) + space.rates.call };
                let cost = operands + candidate.seconds + memory + LEAST;
                if cost < best[class] * (1.0 - ROUNDING) {
                    best[class] = cost;
                    choice[class] = number as u32;
                    changed = true;
                }
            }
        }
        if !changed {
            return choice;
        }
    }
}

impl Plan {
    /// Seconds of the program with a class computed by another candidate, and what is around it fused anew; `None` when it
    /// cannot be.
    pub fn with(&self, space: &Space, class: ClassId, candidate: usize) -> Option<f64> {
        let freedom = Freedom { fuse: true, join: false, moves: 0 };
        let mut plan = self.clone();
        plan.try_move(space, &vec![(class, candidate)], freedom).then(|| plan.total(space))
    }

    /// Fuses and joins some classes until nothing gains: what was joined reads other things, so that more may be lazy.
    fn settle(&mut self, space: &Space, classes: &[ClassId], freedom: Freedom) {
        loop {
            if freedom.fuse {
                self.settle_lazy(space, classes.iter().copied().collect());
            }
            if !freedom.join || !self.settle_joined(space, classes) {
                return;
            }
        }
    }

    fn settle_lazy(&mut self, space: &Space, classes: BTreeSet<ClassId>) {
        let is_candidate = |plan: &Plan, class: ClassId| {
            !space.classes[class].is_external
                && space.classes[class].kind != FusionKind::Opaque
                && plan.state.is_live(class)
                && plan.state.is_stored(class)
                && plan.state.is_alone(class)
                && !space.roots.contains(&class)
        };
        // Gains by class; those around a change are computed anew. Of like ones the smallest kernel is first: a chain grows everywhere at
        // once, so that the sum over all kernels looked at is that of its length times the logarithm, and not its square.
        let mut known: BTreeMap<ClassId, Rank> = BTreeMap::new();
        let mut open: BTreeSet<Rank> = BTreeSet::new();
        let mut stale = classes;
        loop {
            for class in std::mem::take(&mut stale) {
                let gain = if is_candidate(self, class) { self.gain_of_lazy(space, class) } else { None };
                let rank = gain.map(|(gain, members)| Rank::of(gain, members, class));
                let old = match rank {
                    Some(rank) => known.insert(class, rank),
                    None => known.remove(&class),
                };
                old.inspect(|old| _ = open.remove(old));
                open.extend(rank);
            }
            let Some(Rank { class, .. }) = open.pop_first() else { return };
            known.remove(&class);
            stale.extend(self.neighbours(space, class));
            self.make_lazy(space, class);
            for kernel in self.kernels_with(space, class) {
                stale.extend(self.concerned(kernel));
            }
            stale.remove(&class);
        }
    }

    /// Seconds that a class gains by becoming lazy, when that is legal and a gain, and the members of the kernels that would have it.
    fn gain_of_lazy(&mut self, space: &Space, class: ClassId) -> Option<(f64, u64)> {
        let readers = self.readers(space, class);
        if readers.iter().any(|&reader| self.stays_apart(space, class, reader)) {
            return None;
        }
        let before: f64 = self.cost(class) + readers.iter().map(|&r| self.cost(r)).sum::<f64>();
        let mark = self.mark();
        self.state.set_stored(class, false);
        let (mut after, mut members) = (Some(0.0), 0);
        for &reader in &readers {
            members += 1 + self.facts(class).members + self.facts(reader).members;
            let kernel = self.legal(space, reader).ok();
            after = after.zip(kernel).map(|(sum, kernel)| sum + cost::kernel(space, &self.state, &kernel));
            if after.is_none() {
                break;
            }
        }
        self.undo_to(mark);
        self.looked_at += members;
        let after = after?;
        let quickest = readers.iter().map(|&r| self.cost(r)).fold(self.cost(class), f64::min);
        let gain = before - after;
        let opens =
            gain >= 0.0 && readers.iter().all(|&reader| self.stands_before_move(space, class, reader));
        (gain > LEAST_GAIN * quickest || opens).then_some((gain, members))
    }

    /// Classes whose gain may change with a class: what its kernel and its readers read and store.
    fn neighbours(&self, space: &Space, class: ClassId) -> Vec<ClassId> {
        let mut kernels = self.readers(space, class);
        kernels.insert(self.state.group(class));
        kernels.into_iter().flat_map(|kernel| self.concerned(kernel)).collect()
    }

    /// The classes whose gain may change with a kernel: what it reads, and what it stores, unless that is several, which stay as they are.
    fn concerned(&self, kernel: ClassId) -> impl Iterator<Item = ClassId> {
        let own = Some(kernel).filter(|&kernel| self.state.is_alone(kernel));
        self.facts(kernel).reads.iter().copied().chain(own)
    }

    /// The moves, until none gains or so many were tried. True when none gains.
    fn improve(&mut self, space: &Space, freedom: Freedom, report: &mut SearchReport) -> bool {
        let moves = moves(space);
        let forms = forms::of(space);
        let form = |step: &Move| step.iter().map(|&(class, at)| (forms[class], at)).collect::<Vec<_>>();
        let (mut idle, mut in_vain) = (0, HashMap::new());
        let mut total = self.total(space);
        for (at, step) in moves.iter().enumerate().cycle() {
            if idle == moves.len() {
                break;
            }
            idle += 1;
            if at == 0 {
                in_vain.clear();
            }
            let in_vain: &mut u32 = in_vain.entry(form(step)).or_default();
            if *in_vain == MOST_IN_VAIN {
                continue;
            }
            if report.tried >= freedom.moves || self.looked_at > MOST_LOOKED_AT {
                return false;
            }
            let mark = self.mark();
            let is_possible = self.try_move(space, step, freedom);
            report.tried += usize::from(is_possible);
            let gain = if is_possible { self.gain_since(space, mark) } else { 0.0 };
            if gain > LEAST_OF_ALL * total {
                self.keep();
                let before = std::mem::replace(&mut total, self.total(space));
                debug_assert!(
                    (before - gain - total).abs() < ROUNDING * before,
                    "facts of a kernel were not measured"
                );
                report.kept += 1;
                (idle, *in_vain) = (0, 0);
            } else {
                *in_vain += u32::from(is_possible);
                self.undo_to(mark);
            }
        }
        true
    }

    /// Makes a move and fuses what it changed anew. False when the move changes nothing or is not possible: the plan is in no order then.
    fn try_move(&mut self, space: &Space, step: &Move, freedom: Freedom) -> bool {
        let mark = self.mark();
        let is_possible = self.make(space, step);
        if is_possible && freedom.fuse {
            // What a class gains by becoming lazy follows from its kernel and those that read it. Elsewhere nothing gained before.
            let changed = self.changed(space, mark);
            let concerned = changed.into_iter().flat_map(|kernel| self.concerned(kernel)).collect();
            self.settle_lazy(space, concerned);
        }
        if is_possible && freedom.join {
            let changed = self.changed(space, mark);
            self.settle_joined(space, &changed);
        }
        is_possible
    }

    /// The kernels that were measured since the mark.
    fn changed(&self, space: &Space, mark: Mark) -> Vec<ClassId> {
        self.edited(mark).into_iter().filter(|&class| self.has_kernel(space, class)).collect()
    }

    /// Computes the classes of a move by its candidates, and stores what was lazy around them.
    fn make(&mut self, space: &Space, step: &Move) -> bool {
        let reads =
            |class| step.iter().any(|&(by, at)| space.classes[by].candidates[at].operands.contains(&class));
        let changes: Vec<(ClassId, usize)> = step
            .iter()
            .filter(|(class, candidate)| {
                (self.state.is_live(*class) || reads(*class)) && self.state.choice(*class) != *candidate
            })
            .copied()
            .collect();
        if !changes.iter().any(|(class, _)| self.state.is_live(*class)) {
            return false;
        }
        let mark = self.mark();
        let mut concerned = BTreeSet::new();
        for &(class, _) in &changes {
            if self.state.is_live(class) {
                concerned.extend(self.restore(space, class));
            }
        }
        for &(class, candidate) in &changes {
            if self.state.is_live(class) && self.state.choose(space, class, candidate).is_err() {
                return false;
            }
        }
        // What it reads now may have been lazy in other kernels, and may not be in this one.
        for (class, _) in changes {
            let is_wrong = |kernel: &ClassId| self.legal(space, *kernel).is_err();
            if self.state.is_live(class) && self.kernels_with(space, class).iter().any(is_wrong) {
                concerned.extend(self.restore(space, class));
            }
        }
        concerned.extend(self.edited(mark).into_iter().map(|class| self.state.group(class)));
        concerned.retain(|&class| self.has_kernel(space, class));
        concerned.iter().for_each(|&kernel| self.measure(space, kernel));
        self.part_cycles_at(space, concerned);
        true
    }

    /// Stores again what is lazy in the kernels around a class, so that they are fused anew. Gives the kernels concerned.
    fn restore(&mut self, space: &Space, class: ClassId) -> BTreeSet<ClassId> {
        let kernels = self.kernels_with(space, class);
        let mut concerned = kernels.clone();
        for kernel in kernels {
            for member in Kernel::of(space, &self.state, kernel).all {
                // Where another kernel recomputes the member, it will read it.
                if !self.state.is_stored(member) {
                    concerned.extend(self.kernels_with(space, member));
                    self.state.set_stored(member, true);
                }
            }
        }
        concerned
    }
}

/// What becomes lazy first: the greatest gain, and of those that differ by rounding alone the one of fewest members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    gain: Reverse<u32>,
    members: u64,
    class: ClassId,
}

impl Rank {
    /// Of a gain that is not below zero, whose bits are in order.
    fn of(gain: f64, members: u64, class: ClassId) -> Rank {
        Rank { gain: Reverse((gain.max(0.0) as f32).to_bits()), members, class }
    }
}
