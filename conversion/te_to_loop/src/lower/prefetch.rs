//! Prefetches: what an iteration some steps ahead touches, prefetched a line at a time.
//!
//! Either an iteration of the loop prefetches all of it, or a loop inside does a share in each of its iterations: of `n` lines and `m`
//! iterations, the `t`-th one prefetches line `t n / m`, or several where there are more lines than iterations.

use super::nest::{Bindings, Nest};
use super::ranges::{Range, join, ranged, span};
use super::{Lowering, Part, Place};
use fusion_dialects::indices::RANGED;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop};
use fusion_dialects::{OpExt, Value, key};
use fusion_schedule::schedule::{AxisId, Prefetch, StageId};

/// Bytes of a line of a cache.
const LINE: u64 = 64;
/// As many lines are prefetched one behind the other, and more by loops.
const WRITTEN_OUT: u64 = 16;
/// Lines that an iteration prefetches at most, where it prefetches a share: more would wait for each other.
const MOST_AT_ONCE: u64 = 4;
/// The same, where they lie side by side.
const MOST_SIDE_BY_SIDE: u64 = 8;
/// Runs that are prefetched side by side at most.
const MOST_RUNS: u64 = 2;

/// A part of a tensor that a loop inside prefetches, a share in each iteration.
pub(super) struct Share<'c> {
    over: (StageId, AxisId),
    part: Part<'c>,
    region: Vec<Range>,
    /// The loops around this place, from the one that wants the part inwards: their variables and iterations.
    passed: Vec<(Expr, u64)>,
}

impl<'c> Lowering<'c, '_> {
    /// Prefetches, at the beginning of an iteration of a loop, what the schedule says, and keeps in mind what loops inside are to prefetch. Gives
    /// how much was in mind before, for [`Lowering::leave`].
    pub(super) fn enter(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        axis: AxisId,
        (index, extent): (&Expr, u64),
    ) -> usize {
        if self.tree.stages[nest.stage].axes[axis].kind == LoopKind::Serial {
            for share in &mut self.shares {
                share.passed.push((index.clone(), extent));
            }
        }
        let before = self.shares.len();
        let wanted: Vec<Prefetch> =
            self.tree.stages[nest.stage].prefetches.iter().filter(|p| p.axis == axis).copied().collect();
        for prefetch in wanted {
            let Some(Place::Memory(part)) = self.places.get(&key(prefetch.tensor)).cloned() else { continue };
            let mut later = bound.clone();
            let steps = Expr::constant(prefetch.ahead as i64);
            later.bind(axis, self.value(nest, bound, axis).plus(&steps));
            let Some(over) = prefetch.over else {
                for region in self.regions(nest, &later, prefetch.tensor, &part) {
                    let along = |(axis, r): (usize, &Range)| trips(&part, axis, r.1);
                    let trips: Vec<(u64, i64)> = region.iter().enumerate().map(along).collect();
                    match trips.iter().try_fold(1u64, |all, (n, _)| all.checked_mul(*n)) {
                        Some(..=WRITTEN_OUT) => {
                            self.prefetch_lines(loops, &part, &lines(&part, &region, &trips))
                        }
                        _ => self.prefetch_region(loops, &part, &region, &mut Vec::new()),
                    }
                }
                continue;
            };
            for region in self.regions_inside(nest, &later, prefetch.tensor, &part) {
                self.shares.push(Share { over, part: part.clone(), region, passed: Vec::new() });
            }
        }
        before
    }

    /// Prefetches, at the end of an iteration of a loop, its shares of what loops around it want, and forgets what those inside were to prefetch.
    /// Behind the loads of the iteration they do not change in which order LLVM has these, which accumulators that fill all registers need.
    pub(super) fn leave(&mut self, loops: &Loops<'c>, nest: &Nest, axis: AxisId, before: usize) {
        self.shares.truncate(before);
        if self.tree.stages[nest.stage].axes[axis].kind == LoopKind::Serial {
            self.prefetch_shares(loops, (nest.stage, axis));
            self.shares.iter_mut().for_each(|share| drop(share.passed.pop()));
        }
    }

    /// What the rest of an iteration reads of a tensor, load by load; along an axis that is not known, all of it.
    fn regions(&self, nest: &Nest, bound: &Bindings, tensor: Value<'c>, part: &Part<'c>) -> Vec<Vec<Range>> {
        let mut fresh = RANGED;
        let own = self.ranged_axes(nest, bound, &mut fresh);
        let mut reads = Vec::new();
        self.reads_of(&|value| key(value) == key(tensor), nest.stage, &own, &mut reads);
        spans(&reads, part)
    }

    /// The same, with what stages that are computed in the iteration read, and with what it writes.
    fn regions_inside(
        &self,
        nest: &Nest,
        bound: &Bindings,
        tensor: Value<'c>,
        part: &Part<'c>,
    ) -> Vec<Vec<Range>> {
        let mut fresh = RANGED;
        let own = self.ranged_axes(nest, bound, &mut fresh);
        let wanted = |value: Value<'c>| key(value) == key(tensor);
        let mut touched = Vec::new();
        if self.tree.stages[nest.stage].op.result_values().into_iter().any(wanted) {
            touched.push(own[..nest.region.len()].to_vec());
        }
        self.reads_of(&wanted, nest.stage, &own, &mut touched);
        for (other, s) in self.tree.stages.iter().enumerate() {
            if !self.is_computed_in(other, nest.stage) {
                continue;
            }
            // A later iteration may be none: what it would read is prefetched as far as there is something.
            let region = self.required_of(other, nest, bound, true);
            let reduced = s.op.ints("reduce").unwrap_or_default();
            let extents = reduced.iter().map(|&n| (Expr::constant(0), n.max(0) as u64));
            let each = |(from, n): Range| Some(from.plus(&ranged(&mut fresh, n)));
            let axes: Vec<Option<Expr>> = region.into_iter().chain(extents).map(each).collect();
            self.reads_of(&wanted, other, &axes, &mut touched);
        }
        spans(&touched, part)
    }

    /// Prefetches lines: all of them from the first, where the others are a known way from it.
    fn prefetch_lines(&mut self, loops: &Loops<'c>, part: &Part<'c>, lines: &[Expr]) {
        let Some(first) = lines.first() else { return };
        let ways: Option<Vec<i64>> = lines.iter().map(|line| line.minus(first).as_constant()).collect();
        let Some(ways) = ways.filter(|ways| ways.iter().all(|way| (0..=last(part)).contains(way))) else {
            lines.iter().for_each(|line| self.prefetch_at(loops, part, line, &[0]));
            return;
        };
        self.prefetch_at(loops, part, first, &ways);
    }

    /// Prefetches what lies those ways from an offset. Beyond the end there is nothing to prefetch, and an address there must not even be made: the
    /// longest step of the offset, which outer loops take, stays so far before the end as the rest goes, which costs an iteration inside nothing.
    fn prefetch_at(&mut self, loops: &Loops<'c>, part: &Part<'c>, offset: &Expr, ways: &[i64]) {
        let last = (last(part) - ways.iter().copied().max().unwrap_or(0)).max(0);
        let scalars = loops.scalars();
        let place = match offset.range() {
            Some((0.., high)) if high <= last => self.indices.value(&loops.build, offset),
            _ => {
                let (from, along, furthest) = apart(offset, last);
                let from = self.indices.value(&loops.build, &from);
                let from = scalars.index_clamp(from, 0, last - furthest);
                match along.as_constant() {
                    Some(0) => from,
                    _ => scalars.index_add(from, self.indices.value(&loops.build, &along)),
                }
            }
        };
        for &way in ways {
            let place = if way == 0 { place } else { scalars.index_affine(place, 1, way) };
            loops.build.op(Loop::Prefetch.name(), &[part.buffer.value, place], &[], &[]);
        }
    }

    /// A loop for each axis of a region; the one whose elements lie side by side goes by lines.
    fn prefetch_region(&mut self, loops: &Loops<'c>, part: &Part<'c>, region: &[Range], at: &mut Vec<Expr>) {
        let Some((from, extent)) = region.get(at.len()).cloned() else {
            self.prefetch_at(loops, part, &part.offset(at), &[0]);
            return;
        };
        let (trips, step) = trips(part, at.len(), extent);
        if trips == 1 {
            at.push(from);
            self.prefetch_region(loops, part, region, at);
            at.pop();
            return;
        }
        loops.each(trips, |inner, index| {
            let along = self.indices.var(index, trips).times(step);
            at.push(from.plus(&along));
            self.prefetch_region(inner, part, region, at);
            at.pop();
        });
    }

    /// Prefetches the shares that are due in an iteration of a loop.
    fn prefetch_shares(&mut self, loops: &Loops<'c>, here: (StageId, AxisId)) {
        let shares = std::mem::take(&mut self.shares);
        for share in shares.iter().filter(|share| share.over == here) {
            for offset in Lines::of(&share.part, &share.region).shares(&share.part, &share.passed) {
                self.prefetch_at(loops, &share.part, &offset, &[0]);
            }
        }
        self.shares = shares;
    }
}

/// An offset as its longest step with what is constant, the rest, and how far that goes: from 0, and no further than to the end.
fn apart(offset: &Expr, last: i64) -> (Expr, Expr, i64) {
    let longest = offset.terms().max_by_key(|(_, step)| *step);
    let along = longest.map_or(Expr::constant(0), |(atom, step)| {
        let from = Expr::atom(atom.clone()).times(step).plus(&Expr::constant(offset.offset()));
        offset.minus(&from)
    });
    match along.range() {
        Some((0.., high)) if high <= last => (offset.minus(&along), along, high),
        _ => (offset.clone(), Expr::constant(0), 0),
    }
}

/// Where reads begin along each axis of a part, and how far they go; those that meet as one.
fn spans(reads: &[Vec<Option<Expr>>], part: &Part) -> Vec<Vec<Range>> {
    let mut regions: Vec<Vec<Range>> = Vec::new();
    for read in reads {
        let each = |(index, &n): (&Option<Expr>, &u64)| match index.as_ref().and_then(span) {
            Some((from, length)) => (from, length.min(n)),
            None => (Expr::constant(0), n),
        };
        let mut region: Vec<Range> = read.iter().zip(&part.shape).map(each).collect();
        // What was joined may reach a third.
        while let Some((at, joined)) =
            regions.iter().enumerate().find_map(|(at, other)| Some((at, union(other, &region, &part.shape)?)))
        {
            regions.remove(at);
            region = joined;
        }
        regions.push(region);
    }
    regions
}

/// The least region that has both, where it has no more elements than they have.
fn union(a: &[Range], b: &[Range], shape: &[u64]) -> Option<Vec<Range>> {
    let each =
        |((a, b), &n): ((&Range, &Range), &u64)| join(a, b).map(|(from, length)| (from, length.min(n)));
    let joined: Vec<Range> = a.iter().zip(b).zip(shape).map(each).collect::<Option<_>>()?;
    let elements = |region: &[Range]| region.iter().fold(1u64, |all, (_, n)| all.saturating_mul(*n));
    (elements(&joined) <= elements(a).saturating_add(elements(b))).then_some(joined)
}

fn elements_of_a_line(part: &Part) -> u64 {
    (LINE / part.buffer.dtype.size().max(1) as u64).max(1)
}

/// The axis along which neighbours lie side by side.
fn contiguous_axis(part: &Part) -> Option<usize> {
    match part.layout.as_ref().map(|layout| layout.digits().last()) {
        None => part.shape.len().checked_sub(1),
        Some(digit) => digit.filter(|d| d.unit == 1).map(|d| d.axis),
    }
}

/// A region of a tensor as runs of elements side by side.
struct Lines<'r> {
    region: &'r [Range],
    /// Where runs begin: along which axes, so many elements apart, and how many there are.
    runs: Vec<(usize, u64, u64)>,
    /// Elements of a run.
    run: u64,
}

impl<'r> Lines<'r> {
    fn of(part: &Part, region: &'r [Range]) -> Self {
        let Some(layout) = &part.layout else {
            let whole = |axis: usize| region[axis].1 == part.shape[axis];
            let mut outer = region.len().saturating_sub(1);
            while outer > 0 && whole(outer) {
                outer -= 1;
            }
            let run = region[outer.min(region.len())..].iter().map(|(_, n)| n).product();
            let runs = (0..outer).map(|axis| (axis, 1, region[axis].1)).collect();
            return Lines { region, runs, run };
        };
        // Digits from the innermost on, as far as the region has all their values; of the next one, those it has.
        let (mut covered, mut run) = (vec![1; region.len()], 1);
        for digit in layout.digits().iter().rev() {
            let values = region[digit.axis].1.div_ceil(digit.unit);
            let all = digit.base.unwrap_or(values);
            if digit.unit != covered[digit.axis] {
                break;
            }
            run *= values.min(all);
            covered[digit.axis] = digit.unit * values.min(all);
            if values < all || (digit.base.is_none() && values * digit.unit < part.shape[digit.axis]) {
                break;
            }
        }
        let begin = |(axis, step): (usize, u64)| (axis, step, region[axis].1.div_ceil(step));
        Lines { region, runs: covered.into_iter().enumerate().map(begin).collect(), run }
    }

    /// Where in the buffer the lines are that an iteration of loops with these variables, and so many iterations, prefetches.
    fn shares(&self, part: &Part, passed: &[(Expr, u64)]) -> Vec<Expr> {
        let line = elements_of_a_line(part);
        let steps_of = |loops: &[(Expr, u64)]| loops.iter().map(|(_, n)| n).product::<u64>();
        let step_of = |loops: &[(Expr, u64)]| {
            loops.iter().fold(Expr::constant(0), |t, (v, n)| t.times(*n as i64).plus(v))
        };
        let runs: u64 = self.runs.iter().map(|(_, _, n)| n).product();
        // Less than a line at a time, or some lines: an address that is linear in the step costs nothing. The outer loops go over runs.
        let in_run = self.run.div_ceil(line).max(1);
        for at in (0..=passed.len()).rev() {
            let (outer, inner) = passed.split_at(at);
            let each = runs / steps_of(outer).max(1);
            let (whole, steps) = (each * steps_of(outer) == runs, steps_of(inner).max(1));
            let at_once = in_run.div_ceil(steps);
            let few = at_once == 1 || each * at_once <= MOST_SIDE_BY_SIDE;
            if whole && (1..=MOST_RUNS).contains(&each) && few {
                let of_a_step = if at_once == 1 { self.run.div_ceil(steps) } else { at_once * line };
                let along = step_of(inner).times(of_a_step as i64);
                let first = step_of(outer).times(each as i64);
                let of_line = |n: u64| {
                    let run = first.plus(&Expr::constant((n / at_once) as i64));
                    self.offset(part, &run, &along.plus(&Expr::constant((n % at_once * line) as i64)))
                };
                return (0..each * at_once).map(of_line).collect();
            }
        }
        let (step, steps) = (step_of(passed), steps_of(passed));
        let lines = runs * in_run;
        let each = lines.div_ceil(steps.max(1));
        let of_line = |number: Expr| {
            let along = number.modulo(in_run as i64).times(line as i64);
            self.offset(part, &number.div(in_run as i64), &along)
        };
        match each {
            0 => Vec::new(),
            1 => vec![of_line(step.times(lines as i64).div(steps as i64))],
            _ => (0..each.min(MOST_AT_ONCE))
                .map(|n| of_line(step.times(each as i64).plus(&Expr::constant(n as i64))))
                .collect(),
        }
    }

    /// Where an element of a run is.
    fn offset(&self, part: &Part, run: &Expr, along: &Expr) -> Expr {
        let mut at: Vec<Expr> = self.region.iter().map(|(from, _)| from.clone()).collect();
        let mut rest = run.clone();
        for (place, &(axis, step, n)) in self.runs.iter().enumerate().rev() {
            let n = n.max(1) as i64;
            let number = if place == 0 { rest.clone() } else { rest.modulo(n) };
            at[axis] = at[axis].plus(&number.times(step as i64));
            rest = rest.div(n);
        }
        part.offset(&at).plus(along)
    }
}

/// The last element of a buffer.
fn last(part: &Part) -> i64 {
    super::workspace::room(&part.shape, part.layout.as_ref()).max(1) as i64 - 1
}

/// How many steps there are along an axis of a region, and of how many elements; where elements lie side by side, each is a line.
fn trips(part: &Part, axis: usize, extent: u64) -> (u64, i64) {
    let step = if contiguous_axis(part) == Some(axis) { elements_of_a_line(part) } else { 1 };
    (extent.div_ceil(step), step as i64)
}

/// The offsets of all lines of a region.
fn lines(part: &Part, region: &[Range], trips: &[(u64, i64)]) -> Vec<Expr> {
    let mut places: Vec<Vec<Expr>> = vec![Vec::new()];
    for ((from, _), &(n, step)) in region.iter().zip(trips) {
        let along = |place: Vec<Expr>| {
            let next = move |i| [&place[..], &[from.plus(&Expr::constant(i as i64 * step))]].concat();
            (0..n).map(next)
        };
        places = places.into_iter().flat_map(along).collect();
    }
    places.iter().map(|place| part.offset(place)).collect()
}
