//! The loops of a reduction: accumulators as values that the loops carry, or in memory.
//!
//!     for i  { a = 0 ; for k  a += x[i, k] ; y[i] = a }            values: nothing parallel stands inside the reduction
//!     for i  y[i] = 0 ; for k  for i  y[i] += x[i, k]              memory: something does

use super::Lowering;
use super::nest::{Bindings, Nest, notes_of};
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_dialects::{OpExt, Value};
use fusion_schedule::schedule::{AxisId, Tensorized};

impl<'c> Lowering<'c, '_> {
    /// One element of a reduction: the accumulators are carried around the reduction loops.
    pub(super) fn reduction(&mut self, loops: &Loops<'c>, nest: &Nest, bound: Bindings) -> Vec<Value<'c>> {
        let whole = |this: &mut Self, loops: &Loops<'c>| {
            let lanes = this.lanes(nest);
            let threads = this.thread_loops(nest);
            if !threads.is_empty() {
                return this.reduce_across_threads(loops, nest, &bound, &threads);
            }
            let sums = if lanes.is_empty() {
                let neutral = this.neutral(loops, nest.stage);
                this.reduce_serially(loops, nest, bound.clone(), neutral)
            } else {
                this.reduce_in_lanes(loops, nest, &bound, &lanes)
            };
            let axes = this.root_axes(nest, &bound);
            this.store(loops, nest, &axes, &sums);
            sums
        };
        match self.guards(loops, nest, &bound, false) {
            None => whole(self, loops),
            Some(condition) => {
                loops.guard(condition, |inner| {
                    whole(self, inner);
                });
                Vec::new()
            }
        }
    }

    /// Combines all elements of the reduction into the values so far, one after another.
    pub(super) fn reduce_serially(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: Bindings,
        so_far: Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        self.reduce_from(loops, nest, bound, nest.reduction, so_far)
    }

    fn reduce_from(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: Bindings,
        depth: usize,
        carried: Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        if depth == nest.order.len() {
            let axes = self.root_axes(nest, &bound);
            return match self.guards(loops, nest, &bound, true) {
                None => {
                    let elements = self.elements(loops, nest.stage, &axes);
                    self.combine(loops, nest.stage, &carried, &elements)
                }
                Some(condition) => loops.guard_else(condition.value, &carried.clone(), |inner| {
                    let elements = self.elements(inner, nest.stage, &axes);
                    self.combine(inner, nest.stage, &carried, &elements)
                }),
            };
        }
        let axis = nest.order[depth];
        let here = |t: &&Tensorized| t.is_sum() && t.axis == axis;
        if let Some(tensorized) = self.tree.stages[nest.stage].tensorized.as_ref().filter(here)
            && let Some(sums) = self.replace_sum(loops, nest, &bound, tensorized, &carried)
        {
            return sums;
        }
        let kind = self.tree.stages[nest.stage].axes[axis].kind;
        let notes = notes_of(&self.tree.stages[nest.stage], axis);
        let mut so_far = carried;
        for way in self.ways(nest, &bound, axis) {
            so_far = match way.iterations {
                0 => so_far,
                1 => {
                    let inside = way.at(axis, Expr::constant(0));
                    self.attached_at(loops, nest, &inside, axis);
                    self.reduce_from(loops, nest, inside, depth + 1, so_far)
                }
                n => {
                    let adding = self.adding(loops, nest, &bound, axis, &way);
                    let first = adding.as_ref().map(|a| a.first);
                    let body = |inner: &Loops<'c>, index: Value<'c>, carried: &[Value<'c>]| {
                        let index = first.map_or(index, |first| inner.scalars().index_add(first, index));
                        let var = self.indices.var(index, n);
                        let inside = way.at(axis, var.clone());
                        let before = self.enter(inner, nest, &inside, axis, (&var, n));
                        self.attached_at(inner, nest, &inside, axis);
                        let sums = self.reduce_from(inner, nest, inside, depth + 1, carried.to_vec());
                        self.leave(inner, nest, axis, before);
                        sums
                    };
                    match adding {
                        Some(adding) => loops.upto(adding.count, kind, &so_far, body),
                        None => loops.for_with(n, kind, &notes, &so_far, body),
                    }
                }
            };
        }
        so_far
    }

    /// Stores the neutral elements for all parallel loops from a place in the order on.
    pub(super) fn initialize(&mut self, loops: &Loops<'c>, nest: &Nest, bound: Bindings, depth: usize) {
        let stage = nest.stage;
        let open = |l: AxisId| !self.tree.stages[stage].axes[l].reduce && !bound.is_bound(l);
        let next = (depth..nest.order.len()).find(|&d| open(nest.order[d]));
        let Some(at) = next else {
            let axes = self.root_axes(nest, &bound);
            let neutral = self.neutral(loops, stage);
            match self.guards(loops, nest, &bound, false) {
                None => self.store(loops, nest, &axes, &neutral),
                Some(condition) => loops.guard(condition, |inner| self.store(inner, nest, &axes, &neutral)),
            }
            return;
        };
        let axis = nest.order[at];
        if let Some(inside) = self.as_lane(loops, nest, &bound, axis) {
            return self.initialize(loops, nest, inside, at);
        }
        for way in self.ways(nest, &bound, axis) {
            match way.iterations {
                0 => {}
                1 => self.initialize(loops, nest, way.at(axis, Expr::constant(0)), at + 1),
                n => {
                    let kind = match self.tree.stages[stage].axes[axis].kind {
                        LoopKind::Vectorized => LoopKind::Vectorized,
                        // A thread's accumulators are registers where all indices are known.
                        LoopKind::Unrolled if !self.thread_vars.is_empty() => LoopKind::Unrolled,
                        _ if self.is_shared_by_lanes(stage, axis) => LoopKind::Unrolled,
                        _ => LoopKind::Serial,
                    };
                    loops.for_(n, kind, &[], |inner, index, _| {
                        let inside = way.at(axis, self.indices.var(index, n));
                        self.initialize(inner, nest, inside, at + 1);
                        Vec::new()
                    });
                }
            }
        }
    }

    /// Combines the elements of the innermost reduction loops into memory.
    pub(super) fn accumulate(&mut self, loops: &Loops<'c>, nest: &Nest, bound: &Bindings, depth: usize) {
        let axes = self.root_axes(nest, bound);
        let step = |this: &mut Self, loops: &Loops<'c>| {
            let results = this.tree.stages[nest.stage].op.result_values();
            let so_far: Vec<Value> = results.iter().filter_map(|t| this.stored(loops, *t, &axes)).collect();
            let sums = this.reduce_from(loops, nest, bound.clone(), depth, so_far);
            this.store(loops, nest, &axes, &sums);
        };
        match self.guards(loops, nest, bound, false) {
            None => step(self, loops),
            Some(condition) => loops.guard(condition, |inner| step(self, inner)),
        }
    }
}
