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
                self.ask(loops, &part, &region, &mut Vec::new());
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

    /// A loop for each axis of a region; the one whose elements lie side by side goes by lines.
    fn ask(&mut self, loops: &Loops<'c>, part: &Part<'c>, region: &[Range], at: &mut Vec<Expr>) {
        let Some((from, extent)) = region.get(at.len()).cloned() else {
            let offset = part.offset(at);
            let mut place = self.indices.value(&loops.build, &offset);
            // Beyond the end there is nothing to ask for; an address there must not even be made.
            let last = super::workspace::room(&part.shape, part.layout.as_ref()).max(1) as i64 - 1;
            if !offset.range().is_some_and(|(low, high)| low >= 0 && high <= last) {
                place = loops.scalars().index_clamp(place, 0, last);
            }
            loops.build.op(Loop::Prefetch.name(), &[part.buffer.value, place], &[], &[]);
            return;
        };
        let contiguous = match part.layout.as_ref().map(|layout| layout.digits().last()) {
            None => at.len() + 1 == region.len(),
            Some(digit) => digit.is_some_and(|d| d.axis == at.len() && d.unit == 1),
        };
        let step = if contiguous { (LINE / part.buffer.dtype.size().max(1) as u64).max(1) } else { 1 };
        let trips = extent.div_ceil(step);
        if trips == 1 {
            at.push(from);
            self.ask(loops, part, region, at);
            at.pop();
            return;
        }
        loops.each(trips, |inner, index| {
            let along = self.indices.var(index, trips).times(step as i64);
            at.push(from.plus(&along));
            self.ask(inner, part, region, at);
            at.pop();
        });
    }
}
