//! Bound inference: which part of an attached stage the rest of an iteration reads.
//!
//! At a loop of a consumer, the indices of the loops around it are fixed and those of the loops inside it run over
//! their ranges. Each index with which the stage is read is then a fixed part plus a range:
//!
//!     y[io * 16 + ii] reads x[io * 16 + ii + k]   at io:   from io * 16, 16 + K - 1 elements
//!
//! Reads whose fixed parts differ by a number are joined; what cannot be bounded is taken whole.

use super::Lowering;
use super::nest::{Bindings, Nest};
use super::parts;
use super::ranges::{Range, is_inside, join, ranged, span};
use fusion_dialects::indices::RANGED;
use fusion_dialects::indices::expr::{Expr, Var};
use fusion_dialects::indices::{accesses, put};
use fusion_dialects::loops::Scope;
use fusion_dialects::te::Parts;
use fusion_dialects::{OpExt, Value, key};
use fusion_schedule::schedule::{Attach, StageId};

/// Variables from here on are numbers of threads that run over their range.
const THREADS: usize = 2 * RANGED;

impl<'c> Lowering<'c, '_> {
    /// What is read of an attached stage in the rest of an iteration of `nest`.
    pub(super) fn required(&self, stage: StageId, nest: &Nest, bound: &Bindings) -> Vec<Range> {
        let shape = self.shape(stage);
        let whole: Vec<Range> = shape.iter().map(|&n| (Expr::constant(0), n)).collect();
        // What threads compute beyond the end, they do not store.
        let beyond = self.pads && !self.thread_vars.is_empty();
        if !beyond && self.has_guards(nest, bound) {
            return whole;
        }
        if self.tree.stages[stage].scope == Some(Scope::Shared) && !self.thread_vars.is_empty() {
            let (nest, bound) = self.for_all_threads(nest, bound);
            return self.required_of(stage, &nest, &bound, beyond);
        }
        self.required_of(stage, nest, bound, beyond)
    }

    /// A nest as all threads of a block see it: the numbers of threads run over their range.
    fn for_all_threads(&self, nest: &Nest, bound: &Bindings) -> (Nest, Bindings) {
        let ranged = |v: Var| self.thread_vars.contains(&v.id).then(|| Expr::var(THREADS + v.id, v.extent));
        let relaxed = |e: &Expr| e.substitute(&ranged);
        let region = nest.region.iter().map(|(from, n)| (relaxed(from), *n)).collect();
        let mut all = bound.clone();
        all.values.values_mut().for_each(|e| *e = relaxed(e));
        let Nest { stage, reduction, in_memory, .. } = *nest;
        (Nest { stage, region, order: nest.order.clone(), reduction, in_memory }, all)
    }

    /// The same, also where it lies `beyond` the end of the stage.
    pub(super) fn required_of(
        &self,
        stage: StageId,
        nest: &Nest,
        bound: &Bindings,
        beyond: bool,
    ) -> Vec<Range> {
        let op = self.tree.stages[stage].op;
        let shape = self.shape(stage);
        let whole: Vec<Range> = shape.iter().map(|&n| (Expr::constant(0), n)).collect();
        let of_stage = |value| self.stage_of.get(&key(value)).is_some_and(|(s, _)| *s == stage);
        let mut reads: Vec<Vec<Option<Expr>>> = Vec::new();
        let mut fresh = RANGED;
        let own = self.ranged_axes(nest, bound, &mut fresh);
        self.reads_of(&of_stage, nest.stage, &own, &mut reads);
        for (other, s) in self.tree.stages.iter().enumerate() {
            if other == stage || !self.is_computed_in(other, nest.stage) {
                continue;
            }
            // Another attached stage reads this one: over the part of it that is itself required.
            if self.tree.consumers(stage).iter().any(|&c| self.reaches(c, other)) {
                let region = match beyond && self.thread_vars.is_empty() {
                    true => self.required_of(other, nest, bound, beyond),
                    false => self.required(other, nest, bound),
                };
                if let Some(parts) = Parts::of(s.op) {
                    let range = parts::parts_of(&parts, &region);
                    let inputs = s.op.operand_values().into_iter().enumerate();
                    for (input, _) in inputs.filter(|(_, tensor)| of_stage(*tensor)) {
                        reads.push(parts::reads(&parts, input, &range, &shape, &mut fresh));
                    }
                    continue;
                }
                let mut axes: Vec<Option<Expr>> = Vec::new();
                // A split that pads has it computed, and read, beyond what is required of it.
                let required: Vec<u64> = region.iter().map(|(_, extent)| *extent).collect();
                let extents = if beyond { required } else { s.padded(required) };
                for ((from, _), extent) in region.into_iter().zip(extents) {
                    axes.push(Some(from.plus(&ranged(&mut fresh, extent))));
                }
                let reduced = s.op.ints("reduce").unwrap_or_default();
                axes.extend(reduced.iter().map(|&n| Some(ranged(&mut fresh, n as u64))));
                self.reads_of(&of_stage, other, &axes, &mut reads);
            }
        }
        let is_tensorized = |s: StageId| self.tree.stages[s].tensorized.as_ref().is_some_and(|t| !t.is_sum());
        let by_tiles = is_tensorized(stage) || self.tree.readers(stage).into_iter().any(is_tensorized);
        let region: Vec<Range> = (0..shape.len())
            .map(|axis| {
                let mut all = reads.iter().map(|r| r[axis].as_ref().and_then(span));
                let first = all.next().flatten();
                let joined = all.fold(first, |so_far, next| join(&so_far?, &next?));
                match joined {
                    // An intrinsic computes and reads whole tiles, also where these are larger than the tensor.
                    Some(range) if beyond && by_tiles => range,
                    // A conditional load may be asked for elements that do not exist.
                    Some(range) if range.1 < shape[axis] && (beyond || is_inside(&range, shape[axis])) => {
                        range
                    }
                    _ => whole[axis].clone(),
                }
            })
            .collect();
        match Parts::of(op) {
            Some(parts) => parts::by_whole_parts(&parts, &region, &shape),
            None => region,
        }
    }

    /// True when a stage is attached to a nest, or to another that is.
    pub(super) fn is_computed_in(&self, stage: StageId, nest: StageId) -> bool {
        match self.tree.stages[stage].attach {
            Attach::At(other, _) => other == nest || self.is_computed_in(other, nest),
            _ => false,
        }
    }

    /// True when `from` is `to`, or inlined into it.
    fn reaches(&self, from: StageId, to: StageId) -> bool {
        from == to
            || (self.tree.stages[from].attach == Attach::Inline
                && self.tree.consumers(from).into_iter().any(|c| self.reaches(c, to)))
    }

    /// The indices with which `reader`, at the point `axes`, reads a tensor, directly or through inlined stages.
    pub(super) fn reads_of(
        &self,
        wanted: &dyn Fn(Value<'c>) -> bool,
        reader: StageId,
        axes: &[Option<Expr>],
        found: &mut Vec<Vec<Option<Expr>>>,
    ) {
        for access in accesses(self.tree.stages[reader].op) {
            let at = || -> Vec<Option<Expr>> {
                access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, axes))).collect()
            };
            if wanted(access.tensor) {
                found.push(at());
            } else if let Some((read, _)) = self.stage_of.get(&key(access.tensor)).copied()
                && self.tree.stages[read].attach == Attach::Inline
            {
                self.reads_of(wanted, read, &at(), found);
            }
        }
    }

    /// The axes of a nest's stage: loops that are bound are fixed, others run over their range.
    pub(super) fn ranged_axes(&self, nest: &Nest, bound: &Bindings, fresh: &mut usize) -> Vec<Option<Expr>> {
        let mut all = bound.clone();
        let axes = &self.tree.stages[nest.stage].axes;
        // Parents come before what they were made into: an axis none of whose loops is bound runs as a whole, so that
        // what its splits leave over does not widen it.
        for axis in 0..axes.len() {
            let inside = self.tree.stages[nest.stage].made_of(axis).any(|parent| all.is_bound(parent));
            if !inside && !self.touched(nest.stage, bound, axis) {
                let extent = self.extent(nest, &all, axis);
                all.bind(axis, ranged(fresh, extent));
            }
        }
        self.root_axes(nest, &all).into_iter().map(Some).collect()
    }
}
