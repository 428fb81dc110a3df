//! Intrinsics in place of inner loops.
//!
//! The declared code is copied, with the buffers of the tensors, the places of their first elements, and how far apart
//! neighbours along each axis are: the coefficients of the loops in the offset of an element.
//!
//! What all threads of a warp do together begins with neutral elements in each thread's own part of a fragment: the loops that
//! number the threads have their number as index.

use super::nest::{Bindings, Nest};
use super::ranges::is_inside;
use super::{Lowering, Part, Place};
use fusion_dialects::indices::RANGED;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::put;
use fusion_dialects::loops::{LoopKind, Loops, Scope};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{OpExt, Value, ValueMap, arguments, defining_op, key, ops_in};
use fusion_schedule::schedule::Tensorized;
use fusion_schedule::schedule::{AxisId, Refusal, StageId};

/// A tensor of an intrinsic: its buffer, where it begins, and its distances.
type Operand<'c> = (Value<'c>, Expr, Vec<i64>);

impl<'c> Lowering<'c, '_> {
    /// Puts an intrinsic in place of the loops from here on; false where they have fewer iterations than it.
    pub(super) fn replace(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        tensorized: &Tensorized<'c>,
    ) -> bool {
        if !self.is_whole(nest, bound, tensorized) {
            return false;
        }
        let mut operands = match self.operands(nest, bound, tensorized) {
            Ok(operands) => operands,
            Err(why) => return self.refuse_intrinsic(nest, tensorized, &why),
        };
        match self.result(nest, bound, tensorized) {
            Ok(result) => operands.push(result),
            Err(why) => return self.refuse_intrinsic(nest, tensorized, &why),
        }
        let values = self.places_of(loops, operands);
        self.copy_intrinsic(loops, nest, tensorized, values).is_some()
    }

    /// The sum that an intrinsic without parallel axes makes of the one so far; none where the loops have fewer iterations than it.
    pub(super) fn replace_sum(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        tensorized: &Tensorized<'c>,
        so_far: &[Value<'c>],
    ) -> Option<Vec<Value<'c>>> {
        if !self.is_whole(nest, bound, tensorized) {
            return None;
        }
        let operands = match self.operands(nest, bound, tensorized) {
            Ok(operands) => operands,
            Err(why) => {
                self.refuse_intrinsic(nest, tensorized, &why);
                return Some(so_far.to_vec());
            }
        };
        let values = [self.places_of(loops, operands), so_far.to_vec()].concat();
        self.copy_intrinsic(loops, nest, tensorized, values)
    }

    /// True where the loops have as many iterations as an intrinsic, all of which are there.
    fn is_whole(&self, nest: &Nest, bound: &Bindings, tensorized: &Tensorized<'c>) -> bool {
        let axes = &self.tree.stages[nest.stage].axes;
        let mut loops = tensorized.loops.iter();
        loops.all(|&l| self.extent(nest, bound, l) == axes[l].extent) && !self.has_guards(nest, bound)
    }

    /// Says that loops cannot be replaced by an intrinsic.
    fn refuse_intrinsic(&mut self, nest: &Nest, tensorized: &Tensorized<'c>, why: &str) -> bool {
        let s = &self.tree.stages[nest.stage];
        let name = tensorized.op.text("sym_name").unwrap_or_default();
        let why = format!("replaces loops of stage \"{}\" by the intrinsic @{name}, but {why}", s.name);
        self.refuse(Refusal::of(nest.stage, &[Te::Tensorize], why));
        true
    }

    /// What the second body of an intrinsic takes for tensors.
    fn places_of(&mut self, loops: &Loops<'c>, operands: Vec<Operand<'c>>) -> Vec<Value<'c>> {
        let mut values = Vec::new();
        for (buffer, at, strides) in operands {
            values.push(buffer);
            values.push(self.indices.value(&loops.build, &at));
            values.extend(strides.into_iter().map(|n| loops.scalars().index(n)));
        }
        values
    }

    /// Copies the second body of an intrinsic; gives what it yields.
    fn copy_intrinsic(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        tensorized: &Tensorized<'c>,
        values: Vec<Value<'c>>,
    ) -> Option<Vec<Value<'c>>> {
        let body = tensorized.op.body(1)?;
        let mut map = ValueMap::new();
        for (argument, value) in arguments(body).into_iter().zip(values) {
            map.insert(argument, value);
        }
        let mut ops = ops_in(body);
        let last = ops.pop()?;
        for op in ops {
            map.clone_op(&loops.build, op);
        }
        self.replaced.push(nest.stage);
        Some(last.operand_values().into_iter().map(|v| map.lookup(v)).collect())
    }

    /// The same place with the loops bound that number the threads of an intrinsic, whose outermost loop that is.
    pub(super) fn as_lane(
        &mut self,
        loops: &Loops<'c>,
        nest: &Nest,
        bound: &Bindings,
        axis: AxisId,
    ) -> Option<Bindings> {
        let s = &self.tree.stages[nest.stage];
        let tensorized = s.tensorized.as_ref().filter(|t| t.axis == axis)?;
        let lanes = tensorized.lanes();
        if lanes.first().is_none_or(|first| bound.is_bound(*first)) {
            return None;
        }
        let threads = lanes.iter().map(|l| s.axes[*l].extent).product();
        let index = loops.thread_index(threads, LoopKind::ThreadX);
        let thread = self.loop_var(index, threads, LoopKind::ThreadX);
        let (mut inside, mut unit) = (bound.clone(), 1);
        for lane in lanes.into_iter().rev() {
            let extent = s.axes[lane].extent;
            inside.bind(lane, thread.div(unit as i64).modulo(extent as i64));
            unit *= extent;
        }
        Some(inside)
    }

    /// True for loops of an intrinsic that all threads of a warp do together.
    pub(super) fn is_shared_by_lanes(&self, stage: StageId, axis: AxisId) -> bool {
        let tensorized = self.tree.stages[stage].tensorized.as_ref();
        tensorized.is_some_and(|t| !t.lanes().is_empty() && t.loops.contains(&axis))
    }

    fn operands(
        &self,
        nest: &Nest,
        bound: &Bindings,
        tensorized: &Tensorized<'c>,
    ) -> Result<Vec<Operand<'c>>, String> {
        let s = &self.tree.stages[nest.stage];
        let axes = self.axes_inside(nest, bound, tensorized);
        let contiguous = tensorized.op.ints("contiguous").unwrap_or_default();
        let mut apart = tensorized.op.ints("apart").unwrap_or_default().into_iter();
        let mut found = Vec::new();
        for (n, operand) in tensorized.operands.iter().enumerate() {
            let indices: Vec<Expr> = operand.indices.iter().filter_map(|e| put(e, &axes)).collect();
            let made = self.operand(operand.tensor, &indices, &operand.dims, &tensorized.loops)?;
            let along = contiguous.get(n).and_then(|d| usize::try_from(*d).ok());
            if let Some(&distance) = along.and_then(|d| made.2.get(d)).filter(|distance| **distance != 1) {
                return Err(format!(
                    "neighbours along axis {} of its argument {n} lie {distance} elements apart, where it wants them together; \
                     have it read a te.cache_read with a te.transform_layout in which that axis is the last",
                    along.unwrap_or(0)
                ));
            }
            let extents =
                operand.dims.iter().map(|dim| dim.map_or(1, |d| s.axes[tensorized.loops[d]].extent));
            for (axis, (distance, extent)) in made.2.iter().zip(extents).enumerate() {
                let wanted = apart.next().filter(|wanted| *wanted >= 0 && extent > 1);
                if let Some(wanted) = wanted.filter(|wanted| wanted != distance) {
                    return Err(format!(
                        "neighbours along axis {axis} of its argument {n} lie {distance} elements apart, where it wants {wanted}; \
                         have it read a te.cache_read with a te.transform_layout in panels"
                    ));
                }
            }
            found.push(made);
        }
        Ok(found)
    }

    /// Where the results of an intrinsic are.
    fn result(
        &self,
        nest: &Nest,
        bound: &Bindings,
        tensorized: &Tensorized<'c>,
    ) -> Result<Operand<'c>, String> {
        let s = &self.tree.stages[nest.stage];
        let axes = self.axes_inside(nest, bound, tensorized);
        let indices: Vec<Expr> = axes.into_iter().take(s.rank()).flatten().collect();
        let parallel = tensorized.loops.iter().filter(|&&l| !s.axes[l].reduce).count();
        let dims: Vec<Option<usize>> = (0..parallel).map(Some).collect();
        let result = self.operand(s.op.result_values()[0], &indices, &dims, &tensorized.loops)?;
        let scope = defining_op(result.0).and_then(|op| op.int("scope")).and_then(Scope::from_number);
        if !tensorized.lanes().is_empty() && scope != Some(Scope::Fragment) {
            return Err(
                "its result is not spread over the registers of a warp's threads; use te.set_scope to fragment".into()
            );
        }
        Ok(result)
    }

    /// The stage's axes where the loops of an intrinsic are variables.
    fn axes_inside(&self, nest: &Nest, bound: &Bindings, tensorized: &Tensorized<'c>) -> Vec<Option<Expr>> {
        let s = &self.tree.stages[nest.stage];
        let mut all = bound.clone();
        for (i, &l) in tensorized.loops.iter().enumerate() {
            all.bind(l, Expr::var(RANGED + 1 + i, s.axes[l].extent));
        }
        self.root_axes(nest, &all).into_iter().map(Some).collect()
    }

    fn operand(
        &self,
        tensor: Value<'c>,
        indices: &[Expr],
        dims: &[Option<usize>],
        loops: &[AxisId],
    ) -> Result<Operand<'c>, String> {
        let Some(Place::Memory(part)) = self.places.get(&key(tensor)) else {
            return Err("one of its tensors is not in memory".into());
        };
        let part: &Part = part;
        let mut each = indices.iter().zip(&part.origin).zip(&part.shape);
        let inside = each.all(|((index, origin), n)| is_inside(&(index.minus(origin), 1), *n));
        if self.pads && !inside {
            return Err(
                "it would read beyond the end of a tensor, as a split pads or guards what is left over; have it read a \
                 te.cache_read, which is filled up with zeros"
                    .into(),
            );
        }
        let place = part.offset(indices);
        let steps: Option<Vec<i64>> = (0..loops.len()).map(|i| place.coefficient(RANGED + 1 + i)).collect();
        let steps = steps.ok_or("elements of it lie at distances that are not the same in all iterations")?;
        let begin = place.substitute(&|v| (v.id > RANGED).then(|| Expr::constant(0)));
        let strides = dims.iter().map(|dim| dim.map_or(0, |d| steps[d])).collect();
        Ok((part.buffer.value, begin, strides))
    }
}
