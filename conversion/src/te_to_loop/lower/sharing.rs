//! Parallel loops that run in several ways: threads share all iterations, and each asks which way is its own.
//!
//!     for io in 0..9 (parallel) { 13 rows }         for io in 0..10 (parallel)
//!     { 11 rows }                             =>      if io < 9 { 13 rows }
//!                                                     if io >= 9 { 11 rows }
//!
//! What a split leaves over, or what stands at the edge of an image, would else run on one thread while the others wait: of ten
//! blocks of rows the last took as long as a thread's whole share of the nine. A loop around nothing but lanes stays in parts:
//! its iterations are many and short, and would ask more than they do.
//!
//! No iteration runs in more than one way, so the large buffers of one are those of the others.

use super::Lowering;
use super::nest::{Nest, is_jammed, notes_of};
use super::ways::Way;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::{Buffer, LoopKind, Loops, Scope};
use fusion_dialects::te::Compare;
use fusion_dialects::{Value, ValueLike, buffer_parts, buffer_type, set_type};
use fusion_operators::DType;
use fusion_schedule::schedule::AxisId;

/// The buffers of iterations that run in one of several ways.
pub(super) struct Buffers<'c> {
    /// Where they are made: outside of the ways.
    outside: Loops<'c>,
    all: Vec<Buffer<'c>>,
    /// How many of them the way that is being made has.
    taken: usize,
}

impl<'c> Lowering<'c, '_> {
    /// True for loops whose ways are to be shared as one.
    pub(super) fn is_shared_as_one(&self, nest: &Nest, kind: LoopKind, depth: usize, ways: &[Way]) -> bool {
        let axes = &self.tree.stages[nest.stage].axes;
        let outermost = kind == LoopKind::Parallel && self.parallel_loops == 0;
        let is_long = |l: &AxisId| axes[*l].extent > 1 && !is_jammed(axes[*l].kind);
        let inside = &nest.order[depth + 1..];
        outermost && ways.len() > 1 && (inside.iter().any(is_long) || self.has_attached(nest.stage))
    }

    /// Makes a parallel loop over the iterations of all ways.
    pub(super) fn share_ways(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        ways: Vec<Way>,
        axis: AxisId,
        depth: usize,
    ) {
        let all: u64 = ways.iter().map(|way| way.iterations).sum();
        let notes = notes_of(&self.tree.stages[nest.stage], axis);
        self.parallel_loops += 1;
        loops.for_with(all, LoopKind::Parallel, &notes, &[], |inner, index, _| {
            self.way_buffers = Some(Buffers { outside: *inner, all: Vec::new(), taken: 0 });
            for way in ways {
                if let Some(buffers) = &mut self.way_buffers {
                    buffers.taken = 0;
                }
                self.one_way(inner, nest, way, axis, depth, (index, all));
            }
            self.way_buffers = None;
            Vec::new()
        });
        self.parallel_loops -= 1;
    }

    /// Makes one way, for the iterations that are its own.
    fn one_way(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        way: Way,
        axis: AxisId,
        depth: usize,
        (index, all): (Value<'c>, u64),
    ) {
        let (begin, n) = (way.begin(), way.iterations);
        let compare =
            |how, at: u64| loops.scalars().index_compare(how, index, loops.scalars().index(at as i64));
        let from = (begin > 0).then(|| compare(Compare::GreaterEqual, begin));
        let to = (begin + n < all).then(|| compare(Compare::Less, begin + n));
        let condition = match (from, to) {
            (Some(from), Some(to)) => loops.scalars().and(from, to),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return,
        };
        loops.guard(condition, |inner| {
            if n == 1 {
                self.inside(inner, nest, way.at(axis, Expr::constant(0)), depth);
                return;
            }
            let first = self.indices.var(index, all).minus(&Expr::constant(begin as i64));
            let own = self.indices.value(&inner.build, &first);
            let var = self.loop_var(own, n, LoopKind::Parallel);
            let bound = way.at(axis, var.clone());
            let before = self.enter(inner, nest, &bound, axis, (&var, n));
            self.inside(inner, nest, bound, depth);
            self.leave(inner, nest, axis, before);
        });
    }

    /// A large buffer of a way, where one is being made: that of an earlier way, of the larger of their sizes.
    pub(super) fn buffer_of_way(&mut self, elements: u64, dtype: DType, scope: Scope) -> Option<Buffer<'c>> {
        let buffers = self.way_buffers.as_mut().filter(|_| matches!(scope, Scope::Local | Scope::Global))?;
        let at = (buffers.taken..buffers.all.len()).find(|&i| buffers.all[i].dtype == dtype);
        let at = match at {
            Some(at) => at,
            None => {
                buffers.all.push(buffers.outside.alloc(elements, dtype, scope));
                buffers.all.len() - 1
            }
        };
        buffers.taken = at + 1;
        let buffer = buffers.all[at];
        if let Some((_, held)) = buffer_parts(buffer.value.r#type())
            && held < elements
        {
            set_type(buffer.value, buffer_type(buffers.outside.build.context(), elements, dtype));
        }
        Some(buffer)
    }
}
