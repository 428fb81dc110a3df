//! Prefetches: what an iteration some steps ahead reads, asked for a line at a time.

use super::bounds::{Range, span};
use super::index::RANGED;
use super::nest::{Bindings, Nest};
use super::{Lowering, Part, Place};
use fusion_dialects::loops::{Loops, Op as Loop};
use fusion_dialects::{Value, key};
use fusion_transforms::te::expr::Expr;
use fusion_transforms::te::schedule::AxisId;

/// Bytes of a line of a cache.
const LINE: u64 = 64;
/// As many lines are asked for one behind the other, and more by loops.
const WRITTEN_OUT: u64 = 16;

impl<'c> Lowering<'c, '_> {
    /// Asks, in an iteration of a loop, for what the schedule says.
    pub(super) fn ask_ahead(&mut self, loops: &Loops<'c>, nest: &Nest, bound: &Bindings, axis: AxisId) {
        let wanted: Vec<_> =
            self.tree.stages[nest.stage].prefetches.iter().filter(|p| p.axis == axis).copied().collect();
        for prefetch in wanted {
            let Some(Place::Memory(part)) = self.places.get(&key(prefetch.tensor)).cloned() else { continue };
            let mut later = bound.clone();
            let steps = Expr::constant(prefetch.ahead as i64);
            later.bind(axis, self.value(nest, bound, axis).plus(&steps));
            for region in self.regions(nest, &later, prefetch.tensor, &part) {
                let trips: Vec<(u64, i64)> =
                    region.iter().enumerate().map(|(axis, r)| trips(&part, &region, axis, r.1)).collect();
                match trips.iter().try_fold(1u64, |all, (n, _)| all.checked_mul(*n)) {
                    Some(..=WRITTEN_OUT) => self.ask_for_lines(loops, &part, &lines(&part, &region, &trips)),
                    _ => self.ask(loops, &part, &region, &mut Vec::new()),
                }
            }
        }
    }

    /// What the rest of an iteration reads of a tensor, load by load; along an axis that is not known, all of it.
    fn regions(&self, nest: &Nest, bound: &Bindings, tensor: Value<'c>, part: &Part<'c>) -> Vec<Vec<Range>> {
        let mut fresh = RANGED;
        let own = self.ranged_axes(nest, bound, &mut fresh);
        let mut reads = Vec::new();
        self.reads_of(&|value| key(value) == key(tensor), nest.stage, &own, &mut reads);
        let mut regions: Vec<Vec<Range>> = Vec::new();
        for read in reads {
            let each = |(index, &n): (&Option<Expr>, &u64)| match index.as_ref().and_then(span) {
                Some((from, length)) => (from, length.min(n)),
                None => (Expr::constant(0), n),
            };
            let region: Vec<Range> = read.iter().zip(&part.shape).map(each).collect();
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
        regions
    }

    /// Asks for lines: for all of them from the first, where the others are a known way from it.
    fn ask_for_lines(&mut self, loops: &Loops<'c>, part: &Part<'c>, lines: &[Expr]) {
        let Some(first) = lines.first() else { return };
        let ways: Option<Vec<i64>> = lines.iter().map(|line| line.minus(first).as_constant()).collect();
        let Some(ways) = ways.filter(|ways| ways.iter().all(|way| (0..=last(part)).contains(way))) else {
            lines.iter().for_each(|line| self.ask_for(loops, part, line, &[0]));
            return;
        };
        self.ask_for(loops, part, first, &ways);
    }

    /// Asks for what lies those ways from an offset.
    fn ask_for(&mut self, loops: &Loops<'c>, part: &Part<'c>, offset: &Expr, ways: &[i64]) {
        let mut place = self.indices.value(&loops.build, offset);
        // Beyond the end there is nothing to ask for; an address there must not even be made.
        let last = last(part) - ways.iter().copied().max().unwrap_or(0);
        if !offset.range().is_some_and(|(low, high)| low >= 0 && high <= last) {
            place = loops.scalars().index_clamp(place, 0, last);
        }
        for &way in ways {
            let place = if way == 0 { place } else { loops.scalars().index_affine(place, 1, way) };
            loops.build.op(Loop::Prefetch.name(), &[part.buffer.value, place], &[], &[]);
        }
    }

    /// A loop for each axis of a region; the one whose elements lie side by side goes by lines.
    fn ask(&mut self, loops: &Loops<'c>, part: &Part<'c>, region: &[Range], at: &mut Vec<Expr>) {
        let Some((from, extent)) = region.get(at.len()).cloned() else {
            self.ask_for(loops, part, &part.offset(at), &[0]);
            return;
        };
        let (trips, step) = trips(part, region, at.len(), extent);
        if trips == 1 {
            at.push(from);
            self.ask(loops, part, region, at);
            at.pop();
            return;
        }
        loops.each(trips, |inner, index| {
            let along = self.indices.var(index, trips).times(step);
            at.push(from.plus(&along));
            self.ask(inner, part, region, at);
            at.pop();
        });
    }
}

/// The last element of a buffer.
fn last(part: &Part) -> i64 {
    super::workspace::room(&part.shape, part.layout.as_ref()).max(1) as i64 - 1
}

/// How many steps there are along an axis of a region, and of how many elements; where elements lie side by side, each is a line.
fn trips(part: &Part, region: &[Range], axis: usize, extent: u64) -> (u64, i64) {
    let contiguous = match part.layout.as_ref().map(|layout| layout.digits().last()) {
        None => axis + 1 == region.len(),
        Some(digit) => digit.is_some_and(|d| d.axis == axis && d.unit == 1),
    };
    let step = if contiguous { (LINE / part.buffer.dtype.size().max(1) as u64).max(1) } else { 1 };
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
