//! The ways to run a loop: all of it, or in parts that differ in what is known inside.
//!
//!     for i in 0..10 by 4   =>   for i in 0..8 by 4 { 4 iterations }  { 2 iterations }           a split with a remainder
//!     for io in 0..2  for ii in 0..3 (ii of 5) by 4     the same where that loop is split again: the last of all is a part of its own
//!                           =>   for ii in 0..3 { 4 iterations }     for ii in 0..1 { 4 iterations }  { 2 iterations }
//!     for i in 0..10  if 1 <= i < 9 x[i - 1] else 0
//!                           =>   { 0 }  for i in 1..9 { x[i - 1] }  { 0 }                        a condition that changes
//!
//! Conditions are those that padding makes of indices. In a part where all of them are decided, nothing is asked.

use super::Lowering;
use super::nest::{Bindings, Nest};
use super::ranges::ranged;
use fusion_dialects::indices::RANGED;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{accesses, conditions, put};
use fusion_dialects::key;
use fusion_dialects::loops::LoopKind;
use fusion_schedule::schedule::{Attach, AxisId, Origin, Relation, StageId, Tail};

/// More parts than this are not worth their code: of a nest that reduces, and of one that does not, where a part has
/// little more than what is computed in it.
const MOST_PARTS: usize = 5;
const MOST_PARTS_OF_ELEMENTS: usize = 64;

/// A part of a loop.
pub struct Way {
    /// Its number of iterations.
    pub iterations: u64,
    begin: u64,
    bound: Bindings,
}

impl Way {
    /// The first of its iterations, among those of the loop.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// What is known around the part's loop, or in its only iteration.
    pub fn unless_looped(self, axis: AxisId) -> Bindings {
        if self.iterations == 1 { self.at(axis, Expr::constant(0)) } else { self.bound }
    }

    /// What is known in an iteration of the part.
    pub fn at(&self, axis: AxisId, iteration: Expr) -> Bindings {
        let mut inside = self.bound.clone();
        inside.bind(axis, iteration.plus(&Expr::constant(self.begin as i64)));
        inside
    }
}

impl Lowering<'_, '_> {
    /// The parts of a loop, in order.
    pub(super) fn ways(&self, nest: &Nest, bound: &Bindings, axis: AxisId) -> Vec<Way> {
        let s = &self.tree.stages[nest.stage];
        let extent = self.extent(nest, bound, axis);
        if let Origin::Split(relation) = s.axes[axis].origin
            && let Relation::Split { parent, outer, inner, factor, tail } = s.relations[relation]
            && axis == outer
            && !matches!(tail, Tail::Guard | Tail::Pad)
            && !self.touched(nest.stage, bound, inner)
        {
            let whole = self.extent(nest, bound, parent);
            let (blocks, rest) = (whole / factor, whole % factor);
            if rest > 0 && blocks > 0 {
                let mut full = bound.clone();
                full.exact.insert(relation, (blocks, factor));
                let mut last = bound.clone();
                last.exact.insert(relation, (1, rest));
                let mut ways = self.cut(nest, full, axis, blocks);
                ways.push(Way { iterations: 1, begin: blocks, bound: last });
                return ways;
            }
        }
        self.ways_to_last(nest, bound, axis, extent)
            .unwrap_or_else(|| self.cut(nest, bound.clone(), axis, extent))
    }

    /// The parts of one of the loops that the outer loop of a split was split into: those in which all blocks are whole, and the last iteration,
    /// in which there is what is left over; where a loop further in tells in which of its iterations, that one is cut in its turn. None for
    /// other loops, and where it is not known that it is the last.
    fn ways_to_last(&self, nest: &Nest, bound: &Bindings, axis: AxisId, extent: u64) -> Option<Vec<Way>> {
        let s = &self.tree.stages[nest.stage];
        // Lanes of a reduction go through all iterations of the loops around them (`lanes`).
        if s.axes[axis].kind.is_thread() || s.axes[axis].reduce {
            return None;
        }
        let (mut all, mut fresh) = (bound.clone(), RANGED);
        all.bind(axis, Expr::var(RANGED, extent));
        for &other in &nest.order {
            if !all.is_bound(other) {
                let extent = self.extent(nest, &all, other);
                all.bind(other, ranged(&mut fresh, extent));
            }
        }
        for (i, relation) in s.relations.iter().enumerate() {
            let Relation::Split { parent, outer, inner, factor, tail } = *relation else { continue };
            let whole = self.extent(nest, bound, parent);
            let (blocks, rest) = (whole / factor, whole % factor);
            if matches!(tail, Tail::Guard | Tail::Pad)
                || bound.exact.contains_key(&i)
                || rest == 0
                || blocks == 0
                || self.touched(nest.stage, bound, inner)
                || !s.made_of(axis).any(|a| a == outer)
                // Fused with the outer loop, the inner one has as many iterations in the last as in all.
                || s.made_of(axis).any(|a| a == inner)
            {
                continue;
            }
            let block = self.value(nest, &all, outer);
            let at = |i: u64| {
                let at = |id| (id == RANGED).then(|| Expr::constant(i as i64));
                block.substitute(&|v| at(v.id)).range()
            };
            let full = first(extent, |i| at(i).is_none_or(|(_, high)| high >= blocks as i64));
            if extent > 1 && block.direction(RANGED) != Some(1) || full + 1 < extent {
                continue;
            }
            let part = |each: u64| {
                let mut part = bound.clone();
                part.exact.insert(i, (blocks + 1, each));
                part
            };
            let mut ways = if full > 0 { self.cut(nest, part(factor), axis, full) } else { Vec::new() };
            if full < extent {
                let is_rest = at(full) == Some((blocks as i64, blocks as i64));
                let bound = if is_rest { part(rest) } else { bound.clone() };
                ways.push(Way { iterations: 1, begin: full, bound });
            }
            return Some(ways);
        }
        None
    }

    /// A loop cut where a condition changes.
    fn cut(&self, nest: &Nest, bound: Bindings, axis: AxisId, extent: u64) -> Vec<Way> {
        let a = &self.tree.stages[nest.stage].axes[axis];
        let whole = !matches!(a.kind, LoopKind::Serial | LoopKind::Parallel) || a.reduce;
        let mut cuts = if whole { Vec::new() } else { self.cuts(nest, &bound, axis, extent) };
        cuts.sort_unstable();
        cuts.dedup();
        let most = match self.tree.stages[nest.stage].is_reduction() || self.has_attached(nest.stage) {
            true => MOST_PARTS,
            false => MOST_PARTS_OF_ELEMENTS,
        };
        if cuts.len() >= most {
            cuts.clear();
        }
        cuts.insert(0, 0);
        cuts.push(extent);
        let part = |w: &[u64]| Way { iterations: w[1] - w[0], begin: w[0], bound: bound.clone() };
        cuts.windows(2).map(part).collect()
    }

    /// True when other stages are computed in the loops of one.
    pub(super) fn has_attached(&self, stage: StageId) -> bool {
        let inside = |at: Attach| matches!(at, Attach::At(of, _) | Attach::After(of, _) if of == stage);
        self.tree.stages.iter().any(|s| inside(s.attach))
    }

    /// The iterations at which a condition begins or ceases to be decided.
    fn cuts(&self, nest: &Nest, bound: &Bindings, axis: AxisId, extent: u64) -> Vec<u64> {
        let probe = RANGED;
        let mut all = bound.clone();
        all.bind(axis, Expr::var(probe, extent));
        let mut fresh = RANGED;
        let axes = self.ranged_axes(nest, &all, &mut fresh);
        let mut asked = Vec::new();
        self.conditions_of(nest.stage, &axes, &mut asked);
        let mut cuts = Vec::new();
        for e in asked {
            // Decided where the least value is not negative or the greatest is: each begins or ends once.
            let Some(direction) = e.direction(probe) else { continue };
            let at = |i: u64| e.substitute(&|v| (v.id == probe).then(|| Expr::constant(i as i64))).range();
            let least = |i: u64| at(i).is_some_and(|(low, _)| low >= 0) == (direction > 0);
            let greatest = |i: u64| at(i).is_some_and(|(_, high)| high >= 0) == (direction > 0);
            for cut in [first(extent, least), first(extent, greatest)] {
                cuts.extend(Some(cut).filter(|i| (1..extent).contains(i)));
            }
        }
        cuts
    }

    /// The conditions that a stage and those inlined into it ask at the point `axes`.
    fn conditions_of(&self, stage: StageId, axes: &[Option<Expr>], found: &mut Vec<Expr>) {
        let op = self.tree.stages[stage].op;
        found.extend(conditions(op).iter().filter_map(|e| put(e, axes)));
        for access in accesses(op) {
            let Some((read, _)) = self.stage_of.get(&key(access.tensor)).copied() else { continue };
            if self.tree.stages[read].attach == Attach::Inline {
                let at: Vec<Option<Expr>> =
                    access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, axes))).collect();
                self.conditions_of(read, &at, found);
            }
        }
    }
}

/// The first number for which something holds that holds for all later ones; `extent` when there is none below it.
fn first(extent: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, extent);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
