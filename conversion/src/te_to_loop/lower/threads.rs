//! Reductions across the threads of a block: each thread combines some of the elements, then all are combined.
//!
//!     acc = 0                                    t = the number of the thread
//!     for ko                                     p = 0 ; for ko  p += x[ko * 256 + t]
//!       for t (thread_x)              =>       acc = all_reduce(p), which every thread gets
//!         acc += x[ko * 256 + t]                 if t = 0: y = acc
//!
//! A combiner takes its elements in any order (Harris, "Optimizing Parallel Reduction in CUDA", 2007).

use super::nest::{Bindings, Nest};
use super::{Lowering, Place};
use fusion_dialects::loops::{Buffer, LoopKind, Loops, Scope};
use fusion_dialects::te::{Compare, Op as Te};
use fusion_dialects::{OpExt, Value, defining_op, key, tensor_type};
use fusion_operators::DType;
use fusion_schedule::schedule::{Attach, AxisId, Refusal, StageId};

/// Most warps of a block, each of which puts a value into the scratch buffer.
const MOST_WARPS: u64 = 32;

impl<'c> Lowering<'c, '_> {
    /// The reduction loops that are bound to threads.
    pub(super) fn thread_loops(&self, nest: &Nest) -> Vec<AxisId> {
        let axes = &self.tree.stages[nest.stage].axes;
        nest.reduction_loops()
            .iter()
            .copied()
            .filter(|&l| axes[l].reduce && axes[l].kind.is_thread())
            .collect()
    }

    /// One element of a reduction, whose loops some threads share.
    pub(super) fn reduce_across_threads(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        threads: &[AxisId],
    ) -> Vec<Value<'c>> {
        let s = &self.tree.stages[nest.stage];
        let &[axis] = threads else {
            let why = format!(
                "shares several reduction loops of stage \"{}\" among threads; fuse them first",
                s.name
            );
            self.refuse(Refusal::of(nest.stage, &[Te::Bind], why));
            return Vec::new();
        };
        let (extent, kind) = (s.axes[axis].extent, s.axes[axis].kind);
        if !extent.is_power_of_two() {
            let why = format!(
                "shares a reduction of stage \"{}\" among {extent} threads, which is no power of two; split by another number",
                s.name
            );
            self.refuse(Refusal::of_loop(nest.stage, axis, &[Te::Bind], why));
            return Vec::new();
        }
        let index = self.at_mark(loops, nest.stage, axis).thread_index(extent, kind);
        let mut mine = bound.clone();
        mine.bind(axis, self.loop_var(index, extent, kind));
        let rest = nest.without(|a| a == axis);
        let lanes = self.lanes(&rest);
        let partial = if lanes.is_empty() {
            let neutral = self.neutral(loops, nest.stage);
            self.reduce_serially(loops, &rest, mine, neutral)
        } else {
            self.reduce_in_lanes(loops, &rest, &mine, &lanes)
        };
        let tensors = self.tree.stages[nest.stage].op.result_values();
        let dtypes = tensors.iter().map(|t| tensor_type(*t).map_or(DType::F32, |t| t.dtype));
        let (outside, room) = self.scratch(loops, nest, (extent, kind));
        let scratch: Vec<Buffer> = dtypes.map(|dtype| outside.alloc(room, dtype, Scope::Shared)).collect();
        let marked = self.at_mark(loops, nest.stage, axis);
        let sums = marked.all_reduce(extent, kind, &partial, &scratch, |inner, a, b| {
            self.combine(inner, nest.stage, a, b)
        });
        let axes = self.root_axes(nest, bound);
        if tensors.iter().any(|t| self.is_seen_by_others(*t)) {
            let first = loops.scalars().index_compare(Compare::Equal, index, loops.scalars().index(0));
            loops.guard(first, |inner| self.store(inner, nest, &axes, &sums));
        } else {
            self.store(loops, nest, &axes, &sums);
        }
        sums
    }

    /// Where a scratch buffer is made, and its elements: a value a warp, or a thread where those along another dimension combine values of
    /// their own, several where they have some in a vector.
    fn scratch(&self, loops: &Loops<'c>, nest: &Nest, (extent, kind): (u64, LoopKind)) -> (Loops<'c>, u64) {
        if kind.binding() != LoopKind::ThreadY.binding() {
            return (*loops, MOST_WARPS);
        }
        // The threads are those of the stage and of what it is computed in.
        let around = std::iter::successors(Some(nest.stage), |s| match self.tree.stages[*s].attach {
            Attach::At(of, _) => Some(of),
            _ => None,
        });
        let around: Vec<StageId> = around.collect();
        let longest = |which: LoopKind| {
            let all = around.iter().flat_map(|s| &self.tree.stages[*s].axes);
            all.filter(|a| a.kind.binding() == which.binding()).map(|a| a.extent).max().unwrap_or(1)
        };
        let axes = &self.tree.stages[nest.stage].axes;
        let own = nest.order[..nest.reduction].iter().filter(|l| axes[**l].kind == LoopKind::Vectorized);
        let lanes: u64 = own.map(|l| axes[*l].extent).product();
        let beside = longest(LoopKind::ThreadX) * longest(LoopKind::ThreadZ);
        (self.around.first().copied().unwrap_or(*loops), extent * beside * lanes)
    }

    /// True for tensors in memory that is not a thread's own.
    fn is_seen_by_others(&self, tensor: Value<'c>) -> bool {
        let Some(Place::Memory(part)) = self.places.get(&key(tensor)) else { return false };
        let scope =
            defining_op(part.buffer.value).and_then(|op| op.int("scope")).and_then(Scope::from_number);
        !matches!(scope, Some(Scope::Local | Scope::Fragment))
    }
}
