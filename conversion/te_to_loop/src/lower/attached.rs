//! What is computed in the loops of another stage.
//!
//!     for i
//!       buffers that live here (store_at)
//!       the stages computed here (compute_at), each the part that the rest of the iteration reads
//!       the loops inside
//!       the stages that read what was made here (reverse_compute_at)
//!
//! A part of one element is a value and has no buffer.

use super::nest::{Bindings, Nest};
use super::ranges::{Range, has_holes, is_inside, span};
use super::workspace::room;
use super::{Lowering, Part, Place};
use fusion_dialects::indices::RANGED;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::{Loops, SWIZZLED_BYTES, Scope};
use fusion_dialects::te::{Op as Te, Parts};
use fusion_dialects::{OpExt, Value, defining_op, key, tensor_type, unit_attr};
use fusion_operators::DType;
use fusion_schedule::layout::Layout;
use fusion_schedule::schedule::primitives::reverse_compute_at::matching_axes;
use fusion_schedule::schedule::{Attach, AxisId, Refusal, StageId, Store, Tensorized};

impl<'c> Lowering<'c, '_> {
    /// The inside of a loop.
    pub(super) fn inside(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: Bindings,
        depth: usize,
    ) -> Vec<Value<'c>> {
        let axis = nest.order[depth];
        let order = self.tree.in_order();
        for &stage in &order {
            let s = &self.tree.stages[stage];
            let kept = matches!(s.attach, Attach::At(of, _) if of == nest.stage);
            if kept && s.store == Some(Store::At(axis)) {
                let region = self.rounded(stage, self.required(stage, nest, &bound));
                self.give_buffer(loops, stage, region);
            }
        }
        self.attached_at(loops, nest, &bound, axis);
        let after = |s: &StageId| self.tree.stages[*s].attach == Attach::After(nest.stage, axis);
        let epilogues: Vec<StageId> = order.into_iter().filter(after).collect();
        if epilogues.is_empty() {
            return self.loops_from(loops, nest, bound, depth + 1);
        }
        let Some(made) = self.made(nest, &bound) else {
            let why = format!(
                "computes stage \"{}\" at a loop of stage \"{}\" whose iterations make no block of elements known here; \
                 name a loop outside of it, or split so that nothing is left over",
                self.tree.stages[epilogues[0]].name, self.tree.stages[nest.stage].name
            );
            self.refuse(Refusal::of(epilogues[0], &[Te::ReverseComputeAt], why));
            return Vec::new();
        };
        let tensors = self.tree.stages[nest.stage].op.result_values();
        let room = self.rounded(nest.stage, made.clone());
        let one = room.iter().all(|(_, n)| *n == 1) && !nest.in_memory;
        if self.tree.is_passing(nest.stage) {
            for tensor in &tensors {
                self.places.remove(&key(*tensor));
            }
            if !one {
                self.give_buffer(loops, nest.stage, room);
            }
        }
        let elements = self.loops_from(loops, nest, bound, depth + 1);
        for (tensor, element) in tensors.iter().zip(&elements) {
            self.places.entry(key(*tensor)).or_insert(Place::Value(*element));
        }
        for stage in epilogues {
            let Some(axes) = matching_axes(self.tree, stage, nest.stage) else { continue };
            let region =
                axes.iter().map(|dim| dim.map_or((Expr::constant(0), 1), |d| made[d].clone())).collect();
            self.stage(loops, stage, region);
        }
        elements
    }

    /// All stages that are computed in each iteration of a loop.
    pub(super) fn attached_at(&mut self, loops: &Loops<'c>, nest: &Nest, bound: &Bindings, axis: AxisId) {
        for stage in self.tree.in_order() {
            if self.tree.stages[stage].attach == Attach::At(nest.stage, axis) {
                self.attached(loops, nest, bound, stage);
            }
        }
    }

    /// A stage that is computed at this place.
    fn attached(&mut self, loops: &Loops<'c>, nest: &Nest, bound: &Bindings, stage: StageId) {
        let region = self.rounded(stage, self.required(stage, nest, bound));
        let s = &self.tree.stages[stage];
        let tensors = s.op.result_values();
        if s.store.is_some() {
            let region = self.kept(tensors[0], region);
            self.stage(loops, stage, region);
            return;
        }
        // What an earlier branch computed is out of scope here.
        for tensor in &tensors {
            self.places.remove(&key(*tensor));
        }
        let element = region.iter().all(|(_, n)| *n == 1) && Parts::of(s.op).is_none();
        if element
            && s.tensorized.as_ref().is_none_or(Tensorized::is_sum)
            && s.buffers < 2
            && !self.has_steps_in_memory(stage)
        {
            let elements = self.stage(loops, stage, region);
            for (tensor, element) in tensors.iter().zip(elements) {
                self.places.insert(key(*tensor), Place::Value(element));
            }
            return;
        }
        // What a split leaves over is no loop, and needs one buffer.
        let turn = match s.attach {
            Attach::At(_, axis) if s.buffers > 1 => Some(self.value(nest, bound, axis)),
            _ => None,
        };
        match turn.filter(|t| t.as_constant().is_none()).zip(self.around.last().copied()) {
            None => self.give_buffer(loops, stage, region.clone()),
            Some((turn, outside)) => {
                self.give_buffers(&outside, stage, region.clone(), Some(turn.modulo(s.buffers as i64)));
                if s.bulk {
                    self.copy_by_tma(loops, stage, &region);
                    return;
                }
            }
        }
        self.stage(loops, stage, region);
    }

    /// A part of a stage, rounded up where its splits pad.
    fn rounded(&self, stage: StageId, region: Vec<Range>) -> Vec<Range> {
        let extents = self.tree.stages[stage].padded(region.iter().map(|(_, n)| *n).collect());
        region.into_iter().zip(extents).map(|((from, _), n)| (from, n)).collect()
    }

    /// The part of a buffer that lives outside of the loop: along an axis of which it is not sure to hold the part, all it
    /// holds is computed.
    fn kept(&self, tensor: Value<'c>, region: Vec<Range>) -> Vec<Range> {
        let Some(Place::Memory(part)) = self.places.get(&key(tensor)) else { return region };
        let held = part.origin.iter().zip(&part.shape);
        let each = |(range, (origin, &n)): (Range, (&Expr, &u64))| {
            let local = (range.0.minus(origin), range.1);
            if is_inside(&local, n) { range } else { (origin.clone(), n) }
        };
        region.into_iter().zip(held).map(each).collect()
    }

    fn give_buffer(&mut self, loops: &Loops<'c>, stage: StageId, region: Vec<Range>) {
        self.give_buffers(loops, stage, region, None);
    }

    /// Buffers for a part of a stage; several behind each other where they take turns.
    fn give_buffers(&mut self, loops: &Loops<'c>, stage: StageId, region: Vec<Range>, turn: Option<Expr>) {
        let loops = &self.at_scope(loops, stage);
        let s = &self.tree.stages[stage];
        let shape: Vec<u64> = region.iter().map(|(_, n)| *n).collect();
        let origin: Vec<Expr> = region.into_iter().map(|(from, _)| from).collect();
        let layout = s.layout.clone();
        let (scope, count) = (s.scope, s.buffers);
        let swizzled = scope == Some(Scope::Shared) && layout.as_ref().is_some_and(Layout::is_swizzled);
        for tensor in s.op.result_values() {
            let dtype = tensor_type(tensor).map_or(DType::F32, |t| t.dtype);
            let room = room(&shape, layout.as_ref());
            let whole = if swizzled { SWIZZLED_BYTES / dtype.size().max(1) as u64 } else { 1 };
            let elements = room.next_multiple_of(whole);
            let buffer = match (&turn, scope) {
                (Some(_), Some(Scope::Shared)) => loops.alloc_in_turn(elements, count, dtype, Scope::Shared),
                (Some(_), _) => self.local(loops, elements.saturating_mul(count), dtype, scope),
                (None, _) => self.local(loops, elements, dtype, scope),
            };
            if let Some(op) = defining_op(buffer.value).filter(|_| swizzled) {
                op.set_attr("swizzled", unit_attr(op.context_ref()));
            }
            let base = turn.as_ref().map_or(Expr::constant(0), |t| t.times(elements as i64));
            let (origin, shape, layout) = (origin.clone(), shape.clone(), layout.clone());
            self.places.insert(key(tensor), Place::Memory(Part { buffer, origin, shape, layout, base }));
        }
    }

    /// What the rest of an iteration makes of a stage that stands on its own; `None` when that is no block inside the result.
    fn made(&self, nest: &Nest, bound: &Bindings) -> Option<Vec<Range>> {
        let mut fresh = RANGED;
        let axes = self.ranged_axes(nest, bound, &mut fresh);
        let shape = self.shape(nest.stage);
        let each = |(root, e): (usize, &Option<Expr>)| {
            let whole = (Expr::constant(0), shape[root]);
            if !self.touched(nest.stage, bound, root) {
                return Some(whole);
            }
            let e = e.as_ref().filter(|e| !has_holes(e))?;
            span(e).filter(|range| is_inside(range, shape[root]))
        };
        axes.iter().take(shape.len()).enumerate().map(each).collect()
    }
}
