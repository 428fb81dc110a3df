//! The loops of a stage.
//!
//! Loops are made in the schedule's order. Where a split leaves a remainder, or a condition on indices changes, the nest is
//! made several times (`ways`); where the inner loop of a split stands outside the outer one, a guard is made instead.
//! The accumulators of a reduction are values carried around its loops. Parallel loops that are unrolled or
//! vectorized inside a reduction are moved around it, where they jam into separate accumulators:
//!
//!     for k  for u (unrolled)  acc[u] += ...      =>      for u (unrolled)  acc = for k  acc + ...
//!
//! Other parallel loops inside a reduction accumulate in memory; the reduction loops inside all of them do so in values.
//! A reduction loop that is vectorized has partial results of its own (`lanes`).

use super::ranges::Range;
use super::{Lowering, Place, from};
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::te::{Parts, Scalar};
use fusion_dialects::{Attribute, OpExt, Value, key, tensor_type};
use fusion_operators::TensorType;
use fusion_schedule::schedule::primitives::skip_padding::SKIPS_PADDING;
use fusion_schedule::schedule::{Attach, AxisId, Stage, StageId, Tensorized};
use std::collections::HashMap;

/// A stage whose loops are being made.
pub struct Nest {
    /// The stage.
    pub stage: StageId,
    /// What is computed of each parallel axis.
    pub region: Vec<Range>,
    /// Loops in order; reduction loops last, unless parallel ones stand inside them.
    pub(super) order: Vec<AxisId>,
    /// Place of the first reduction loop in `order`.
    pub(super) reduction: usize,
    /// Where parallel loops stand inside the reduction, or an intrinsic does it, the accumulators are in memory.
    pub(super) in_memory: bool,
}

/// What is known of the loops around a point.
#[derive(Clone, Default)]
pub struct Bindings {
    pub(super) values: HashMap<AxisId, Expr>,
    /// Splits without a remainder here: number of blocks and iterations of each.
    pub(super) exact: HashMap<usize, (u64, u64)>,
}

/// What a schedule keeps on a loop for passes that come later.
pub(super) fn notes_of<'t, 'c>(stage: &'t Stage<'c>, axis: AxisId) -> Vec<(&'t str, Attribute<'c>)> {
    let kept = stage.notes.iter().filter(|n| n.axis == axis && n.key != SKIPS_PADDING);
    kept.map(|n| (n.key.as_str(), n.value)).collect()
}

/// True for loops whose iterations are copied side by side.
pub(super) fn is_jammed(kind: LoopKind) -> bool {
    matches!(kind, LoopKind::Unrolled | LoopKind::Vectorized | LoopKind::VirtualThread)
}

impl Nest {
    /// The reduction loops, and what stands inside them.
    pub fn reduction_loops(&self) -> &[AxisId] {
        &self.order[self.reduction..]
    }

    /// The same nest without some of its loops.
    pub fn without(&self, gone: impl Fn(AxisId) -> bool) -> Nest {
        let kept = |loops: &[AxisId]| loops.iter().copied().filter(|&l| !gone(l)).collect::<Vec<_>>();
        let outer = kept(&self.order[..self.reduction]);
        let reduction = outer.len();
        let order = [outer, kept(self.reduction_loops())].concat();
        Nest { stage: self.stage, region: self.region.clone(), order, reduction, in_memory: self.in_memory }
    }
}

impl Bindings {
    /// True when the loop has a value.
    pub fn is_bound(&self, axis: AxisId) -> bool {
        self.values.contains_key(&axis)
    }

    /// Gives a loop its value.
    pub fn bind(&mut self, axis: AxisId, value: Expr) {
        self.values.insert(axis, value);
    }
}

impl<'c> Lowering<'c, '_> {
    /// Computes a whole stage into its buffers.
    pub(super) fn root_stage(&mut self, loops: &Loops<'c>, stage: StageId) {
        let (origin, extents) = self.computed(stage);
        self.stage(loops, stage, origin.into_iter().zip(extents).collect());
    }

    /// What is computed of a stage that stands on its own: where that begins, and its extents.
    pub(super) fn computed(&self, stage: StageId) -> (Vec<Expr>, Vec<u64>) {
        let s = &self.tree.stages[stage];
        let (begins, extents): (Vec<u64>, Vec<u64>) = match s.is_narrowed() {
            true => s.part().into_iter().unzip(),
            false => self.shape(stage).into_iter().map(|n| (0, n)).unzip(),
        };
        (begins.into_iter().map(|n| Expr::constant(n as i64)).collect(), s.padded(extents))
    }

    pub(super) fn shape(&self, stage: StageId) -> Vec<u64> {
        let first = self.tree.stages[stage].op.result_values().first().copied();
        first.and_then(tensor_type).as_ref().and_then(TensorType::shape).unwrap_or_default()
    }

    /// Computes a part of a stage: into its buffers when it has some, otherwise it is one element and is returned.
    pub(super) fn stage(&mut self, loops: &Loops<'c>, stage: StageId, region: Vec<Range>) -> Vec<Value<'c>> {
        let s = &self.tree.stages[stage];
        if let Some(parts) = Parts::of(s.op) {
            self.by_parts(loops, stage, &parts, &region);
            return Vec::new();
        }
        let mut nest = Nest { stage, region, order: Vec::new(), reduction: 0, in_memory: false };
        let trivial = |a: AxisId| self.extent(&nest, &Bindings::default(), a) == 1;
        let first = s.leaves.iter().position(|&l| s.axes[l].reduce).unwrap_or(s.leaves.len());
        if let Some(at) = s.tensorized.as_ref().filter(|t| !t.is_sum()).and_then(|t| s.place(t.axis).ok()) {
            nest.order = s.leaves.clone();
            nest.reduction = if s.is_reduction() { first.min(at) } else { s.leaves.len() };
            nest.in_memory = s.is_reduction();
            return self.loops_from(loops, &nest, Bindings::default(), 0);
        }
        let inside: Vec<AxisId> = s.leaves[first..].iter().copied().filter(|&l| !s.axes[l].reduce).collect();
        // What is computed in a step of the reduction is computed once for all accumulators.
        let jammed = !self.has_steps_in_memory(stage)
            && inside.iter().all(|&l| trivial(l) || is_jammed(s.axes[l].kind));
        (nest.order, nest.reduction, nest.in_memory) = if jammed {
            let reduced = s.leaves[first..].iter().copied().filter(|&l| s.axes[l].reduce);
            let order: Vec<_> =
                s.leaves[..first].iter().copied().chain(inside.iter().copied()).chain(reduced).collect();
            (order, first + inside.len(), false)
        } else {
            (s.leaves.clone(), first, true)
        };
        self.loops_from(loops, &nest, Bindings::default(), 0)
    }

    /// True when others are computed in the steps of a reduction, but for sums of which each accumulator has its own: these are values.
    pub(super) fn has_steps_in_memory(&self, stage: StageId) -> bool {
        let s = &self.tree.stages[stage];
        let in_steps =
            |o: &&Stage| matches!(o.attach, Attach::At(of, at) if of == stage && s.axes[at].reduce);
        let is_sum =
            |o: &Stage| o.is_reduction() && o.scope.is_none() && o.store.is_none() && o.tensorized.is_none();
        let mut behind = s.leaves.iter().skip_while(|l| !s.axes[**l].reduce);
        let is_innermost = behind.all(|l| s.axes[*l].reduce);
        self.tree.stages.iter().filter(in_steps).any(|o| !is_innermost || !is_sum(o))
    }

    /// Makes the loops from a place in the order on; gives the element when the stage is one.
    pub(super) fn loops_from(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: Bindings,
        depth: usize,
    ) -> Vec<Value<'c>> {
        if depth == nest.reduction && !self.tree.stages[nest.stage].is_reduction() {
            return self.point(loops, nest, &bound);
        }
        if depth == nest.reduction {
            if !nest.in_memory {
                return self.reduction(loops, nest, bound);
            }
            self.initialize(loops, nest, bound.clone(), depth);
        }
        let s = &self.tree.stages[nest.stage];
        let here = |t: &&Tensorized| !t.is_sum() && nest.order.get(depth) == Some(&t.axis);
        if let Some(tensorized) = s.tensorized.as_ref().filter(here)
            && self.replace(loops, nest, &bound, tensorized)
        {
            return Vec::new();
        }
        if nest.in_memory && depth >= nest.reduction && nest.order[depth..].iter().all(|&l| s.axes[l].reduce)
        {
            self.accumulate(loops, nest, &bound, depth);
            return Vec::new();
        }
        let axis = nest.order[depth];
        let kind = match s.axes[axis].kind {
            // Lanes of their own are for accumulators in registers.
            LoopKind::Vectorized if s.axes[axis].reduce => LoopKind::Serial,
            kind => kind,
        };
        let ways = self.ways(nest, &bound, axis);
        if self.is_shared_as_one(nest, kind, depth, &ways) {
            self.around.push(*loops);
            self.share_ways(loops, nest, ways, axis, depth);
            self.around.pop();
            return Vec::new();
        }
        let notes = notes_of(&self.tree.stages[nest.stage], axis);
        let mut result = Vec::new();
        self.around.push(*loops);
        for way in ways {
            result = match way.iterations {
                0 => Vec::new(),
                1 => self.inside(loops, nest, way.at(axis, Expr::constant(0)), depth),
                n => {
                    let parallel = usize::from(!matches!(kind, LoopKind::Serial) && !is_jammed(kind));
                    self.parallel_loops += parallel;
                    self.at_mark(loops, nest.stage, axis).for_with(
                        n,
                        kind,
                        &notes,
                        &[],
                        |inner, index, _| {
                            let inner = &from(inner, loops);
                            let var = self.loop_var(index, n, kind);
                            let inside = way.at(axis, var.clone());
                            let before = self.enter(inner, nest, &inside, axis, (&var, n));
                            self.inside(inner, nest, inside, depth);
                            self.leave(inner, nest, axis, before);
                            Vec::new()
                        },
                    );
                    self.parallel_loops -= parallel;
                    Vec::new()
                }
            };
        }
        self.around.pop();
        result
    }

    /// A variable for the index of a loop; that of threads is kept in mind.
    pub(super) fn loop_var(&mut self, index: Value<'c>, extent: u64, kind: LoopKind) -> Expr {
        let var = self.indices.var(index, extent);
        if kind.is_thread()
            && let Some((Atom::Var(v), _)) = var.terms().next()
        {
            self.thread_vars.insert(v.id);
        }
        var
    }

    /// One element without reduction.
    fn point(&mut self, loops: &Loops<'c>, nest: &Nest, bound: &Bindings) -> Vec<Value<'c>> {
        let axes = self.root_axes(nest, bound);
        match self.guards(loops, nest, bound, false) {
            None => {
                let elements = self.elements(loops, nest.stage, &axes);
                self.store(loops, nest, &axes, &elements);
                elements
            }
            Some(condition) => {
                loops.guard(condition, |inner| {
                    let elements = self.elements(inner, nest.stage, &axes);
                    self.store(inner, nest, &axes, &elements);
                });
                Vec::new()
            }
        }
    }

    /// The index of an element in the memory of a tensor.
    pub(super) fn slot(
        &mut self,
        loops: &Loops<'c>,
        tensor: Value<'c>,
        axes: &[Expr],
    ) -> Option<(Buffer<'c>, Value<'c>)> {
        let Some(Place::Memory(part)) = self.places.get(&key(tensor)).cloned() else {
            return None;
        };
        let index = self.indices.value(&loops.build, &part.offset(axes));
        Some((part.buffer, index))
    }

    pub(super) fn stored(
        &mut self,
        loops: &Loops<'c>,
        tensor: Value<'c>,
        axes: &[Expr],
    ) -> Option<Value<'c>> {
        let (buffer, index) = self.slot(loops, tensor, axes)?;
        Some(loops.load_raw(buffer, index).value)
    }

    /// Stores the elements of results that are in memory.
    pub(super) fn store(&mut self, loops: &Loops<'c>, nest: &Nest, axes: &[Expr], elements: &[Value<'c>]) {
        for (tensor, element) in self.tree.stages[nest.stage].op.result_values().into_iter().zip(elements) {
            if let Some((buffer, index)) = self.slot(loops, tensor, axes) {
                loops.store(Scalar { value: *element, dtype: buffer.dtype }, buffer, index);
            }
        }
    }
}
