//! Writes a schedule while applying it to the tree, so that the rest of the decisions see its effect.

use crate::te::intrinsics;
use crate::te::layout::{Align, Layout};
use crate::te::schedule::primitives::recompute::Part;
use crate::te::schedule::primitives::{
    annotate, bind, bulk_copy, cache_read, cache_write, compute_at, compute_inline, divide, double_buffer,
    fuse, parallel, prefetch, recompute, reindex, reorder, reverse_reindex, rfactor, set_scope, split,
    storage_align, storage_swizzle, tensorize, transform_layout, unroll, vectorize,
};
use crate::te::schedule::{AxisId, Handle, InputId, Schedule, StageId, Tail};
use fusion_dialects::loops::{LoopKind, Scope};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Attribute, Build, Op, OpExt, OperationLike, Region, Value, ValueMap, axis_type, int_attr, ints_attr,
    stage_type, str_attr, symbol_attr,
};
use std::collections::HashMap;

/// A schedule being written.
pub struct Writer<'c> {
    /// The tree so far.
    pub tree: Schedule<'c>,
    build: Build<'c>,
    stages: HashMap<StageId, Value<'c>>,
    inputs: HashMap<InputId, Value<'c>>,
    axes: HashMap<(StageId, AxisId), Value<'c>>,
}

impl<'c> Writer<'c> {
    /// Writes the schedule of a kernel behind it; none when nothing is written.
    pub fn write(
        kernel: Op<'c>,
        decide: impl FnOnce(&mut Writer<'c>) -> Result<(), String>,
    ) -> Result<(), String> {
        let build = Build::after(kernel);
        // Some primitives edit the kernel: that is the business of who applies the schedule.
        let copy = ValueMap::new().clone_op(&build, kernel);
        let tree = Schedule::of(copy);
        let mut outcome = Ok(());
        let region: Region = build.region(&[], |inner, _| {
            let mut writer = Writer {
                tree,
                build: inner,
                stages: HashMap::new(),
                inputs: HashMap::new(),
                axes: HashMap::new(),
            };
            outcome = decide(&mut writer);
        });
        copy.erase();
        outcome?;
        let name = kernel.text("sym_name").unwrap_or_default();
        let attrs = [("kernel", symbol_attr(build.context(), name))];
        build.op_with_regions(Te::Schedule.name(), &[], &[], &attrs, vec![region]);
        Ok(())
    }

    fn stage(&mut self, stage: StageId) -> Value<'c> {
        if let Some(value) = self.stages.get(&stage) {
            return *value;
        }
        let context = self.build.context();
        let name = str_attr(context, &self.tree.stages[stage].name);
        let value = self.build.value(Te::Stage.name(), &[], stage_type(context), &[("name", name)]);
        self.stages.insert(stage, value);
        value
    }

    fn source(&mut self, source: Handle) -> Result<Value<'c>, String> {
        let input = match source {
            Handle::Stage(stage) => return Ok(self.stage(stage)),
            Handle::Input(input) => input,
            Handle::Axis(..) => return Err("a loop is no source".into()),
        };
        if let Some(value) = self.inputs.get(&input) {
            return Ok(*value);
        }
        let context = self.build.context();
        let index = int_attr(context, input as i64);
        let value = self.build.value(Te::Input.name(), &[], stage_type(context), &[("index", index)]);
        self.inputs.insert(input, value);
        Ok(value)
    }

    fn axis(&mut self, stage: StageId, axis: AxisId) -> Value<'c> {
        if let Some(value) = self.axes.get(&(stage, axis)) {
            return *value;
        }
        // Handles of the loops before any primitive are made together, before the first primitive names one.
        let handle = self.stage(stage);
        let leaves = self.tree.stages[stage].leaves.clone();
        let types = vec![axis_type(self.build.context()); leaves.len()];
        let op = self.build.op(Te::Axes.name(), &[handle], &types, &[]);
        for (leaf, value) in leaves.into_iter().zip(op.result_values()) {
            self.axes.insert((stage, leaf), value);
        }
        self.axes[&(stage, axis)]
    }

    fn define(&mut self, stage: StageId, made: &[AxisId], op: Op<'c>) {
        for (axis, value) in made.iter().zip(op.result_values()) {
            self.axes.insert((stage, *axis), value);
        }
    }

    /// Splits a loop.
    pub fn split(&mut self, stage: StageId, axis: AxisId, factor: u64) -> Result<(AxisId, AxisId), String> {
        let (handle, context) = (self.axis(stage, axis), self.build.context());
        let (outer, inner) = split::split(&mut self.tree, stage, axis, factor)?;
        let types = [axis_type(context), axis_type(context)];
        let op = self.build.op(
            Te::Split.name(),
            &[handle],
            &types,
            &[("factor", int_attr(context, factor as i64))],
        );
        self.define(stage, &[outer, inner], op);
        Ok((outer, inner))
    }

    /// Splits a loop; what is left over is not computed by iterations of the inner one.
    pub fn split_guarded(
        &mut self,
        stage: StageId,
        axis: AxisId,
        factor: u64,
    ) -> Result<(AxisId, AxisId), String> {
        self.split_with(stage, axis, factor, (Tail::Guard, split::GUARD))
    }

    /// Splits a loop of a reduction that sums up products, beyond the end those of zeros.
    pub fn split_padded(
        &mut self,
        stage: StageId,
        axis: AxisId,
        factor: u64,
    ) -> Result<(AxisId, AxisId), String> {
        self.split_with(stage, axis, factor, (Tail::Pad, split::PAD))
    }

    fn split_with(
        &mut self,
        stage: StageId,
        axis: AxisId,
        factor: u64,
        (tail, number): (Tail, i64),
    ) -> Result<(AxisId, AxisId), String> {
        let (handle, context) = (self.axis(stage, axis), self.build.context());
        let size = split::Size::Factor(factor);
        let (outer, inner) = split::split_with(&mut self.tree, stage, axis, size, tail)?;
        let types = [axis_type(context), axis_type(context)];
        let attrs = [("factor", int_attr(context, factor as i64)), ("tail", int_attr(context, number))];
        let op = self.build.op(Te::Split.name(), &[handle], &types, &attrs);
        self.define(stage, &[outer, inner], op);
        Ok((outer, inner))
    }

    /// Binds a loop to the blocks or threads of a GPU.
    pub fn bind(&mut self, stage: StageId, axis: AxisId, kind: LoopKind) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        bind::bind(&mut self.tree, stage, axis, kind)?;
        let attrs = [("binding", int_attr(self.build.context(), kind as i64))];
        self.build.op(Te::Bind.name(), &[handle], &[], &attrs);
        Ok(())
    }

    /// Puts a stage into a memory.
    pub fn set_scope(&mut self, stage: StageId, scope: Scope) -> Result<(), String> {
        let handle = self.stage(stage);
        set_scope::set_scope(&mut self.tree, stage, scope)?;
        let attrs = [("scope", int_attr(self.build.context(), scope as i64))];
        self.build.op(Te::SetScope.name(), &[handle], &[], &attrs);
        Ok(())
    }

    /// Keeps neighbours along an axis of a stage in memory apart.
    pub fn storage_align(&mut self, stage: StageId, align: Align) -> Result<(), String> {
        let handle = self.stage(stage);
        storage_align::storage_align(&mut self.tree, stage, align)?;
        let number = |n: u64| int_attr(self.build.context(), n as i64);
        let attrs = [
            ("dim", number(align.dim as u64)),
            ("factor", number(align.factor)),
            ("offset", number(align.offset)),
        ];
        self.build.op(Te::StorageAlign.name(), &[handle], &[], &attrs);
        Ok(())
    }

    /// Keeps a stage in shared memory in another order, so that what lies below each other falls on different banks.
    pub fn storage_swizzle(&mut self, stage: StageId) -> Result<(), String> {
        let handle = self.stage(stage);
        storage_swizzle::storage_swizzle(&mut self.tree, stage)?;
        self.build.op(Te::StorageSwizzle.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Has boxes copied to a stage.
    pub fn bulk_copy(&mut self, stage: StageId) -> Result<(), String> {
        let handle = self.stage(stage);
        bulk_copy::bulk_copy(&mut self.tree, stage)?;
        self.build.op(Te::BulkCopy.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Has so many buffers of a stage take turns.
    pub fn double_buffer(&mut self, stage: StageId, buffers: u64) -> Result<(), String> {
        let handle = self.stage(stage);
        double_buffer::double_buffer(&mut self.tree, stage, buffers)?;
        let attrs = [("count", int_attr(self.build.context(), buffers as i64))];
        self.build.op(Te::DoubleBuffer.name(), &[handle], &[], &attrs);
        Ok(())
    }

    /// Computes the partial results of a reduction for each iteration of one of its loops, in a new stage.
    pub fn rfactor(&mut self, stage: StageId, axis: AxisId, name: &str) -> Result<StageId, String> {
        let handle = self.axis(stage, axis);
        let partial = rfactor::rfactor(&mut self.tree, stage, axis, name)?;
        // The stage has other loops now.
        self.axes.retain(|(of, _), _| *of != stage);
        let context = self.build.context();
        let value = self.build.value(
            Te::RFactor.name(),
            &[handle],
            stage_type(context),
            &[("name", str_attr(context, name))],
        );
        self.stages.insert(partial, value);
        Ok(partial)
    }

    /// Has what lies from a place on along an axis computed by a stage of its own, which is given.
    pub fn divide(&mut self, stage: StageId, axis: AxisId, at: u64, name: &str) -> Result<StageId, String> {
        let handle = self.axis(stage, axis);
        let rest = divide::divide(&mut self.tree, stage, axis, at, name)?;
        let context = self.build.context();
        let attrs = [("at", int_attr(context, at as i64)), ("name", str_attr(context, name))];
        let value = self.build.value(Te::Divide.name(), &[handle], stage_type(context), &attrs);
        self.stages.insert(rest, value);
        Ok(rest)
    }

    /// Has readers of a stage read one of their own that is the same, which is given.
    pub fn recompute(&mut self, stage: StageId, name: &str, reader: StageId) -> Result<StageId, String> {
        self.recompute_part(stage, name, &[reader], None)
    }

    /// Has readers of a stage, where they read a part of it, read one of their own that is the same, which is given.
    pub fn recompute_part(
        &mut self,
        stage: StageId,
        name: &str,
        readers: &[StageId],
        part: Option<Part>,
    ) -> Result<StageId, String> {
        let mut handles = vec![self.stage(stage)];
        handles.extend(readers.iter().map(|&r| self.stage(r)));
        let made = recompute::recompute(&mut self.tree, stage, name, readers, part)?;
        let context = self.build.context();
        let mut attrs = vec![("name", str_attr(context, name))];
        let places = part.map(|p| [p.axis as i64, p.from as i64, p.to as i64]);
        attrs.extend(places.map(|places| ("part", ints_attr(context, &places))));
        let value = self.build.value(Te::Recompute.name(), &handles, stage_type(context), &attrs);
        self.stages.insert(made, value);
        Ok(made)
    }

    /// Fuses two neighbouring loops.
    pub fn fuse(&mut self, stage: StageId, first: AxisId, second: AxisId) -> Result<AxisId, String> {
        let handles = [self.axis(stage, first), self.axis(stage, second)];
        let fused = fuse::fuse(&mut self.tree, stage, first, second)?;
        let op = self.build.op(Te::Fuse.name(), &handles, &[axis_type(self.build.context())], &[]);
        self.define(stage, &[fused], op);
        Ok(fused)
    }

    /// Fuses loops that follow each other; none where there are none.
    pub fn fuse_all(&mut self, stage: StageId, axes: &[AxisId]) -> Result<Option<AxisId>, String> {
        let Some((&first, rest)) = axes.split_first() else { return Ok(None) };
        let mut fused = first;
        for next in rest {
            fused = self.fuse(stage, fused, *next)?;
        }
        Ok(Some(fused))
    }

    /// Reorders loops.
    pub fn reorder(&mut self, stage: StageId, order: &[AxisId]) -> Result<(), String> {
        let handles: Vec<_> = order.iter().map(|&a| self.axis(stage, a)).collect();
        reorder::reorder(&mut self.tree, stage, order)?;
        self.build.op(Te::Reorder.name(), &handles, &[], &[]);
        Ok(())
    }

    /// Vectorizes a loop.
    pub fn vectorize(&mut self, stage: StageId, axis: AxisId) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        vectorize::vectorize(&mut self.tree, stage, axis)?;
        self.build.op(Te::Vectorize.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Keeps a mark under a name on a loop.
    pub fn mark(&mut self, stage: StageId, axis: AxisId, name: &str) -> Result<(), String> {
        let (handle, context) = (self.axis(stage, axis), self.build.context());
        let value = int_attr(context, 1);
        annotate::annotate(&mut self.tree, stage, axis, name, value)?;
        let attrs = [("key", str_attr(context, name)), ("value", value)];
        self.build.op(Te::Annotate.name(), &[handle], &[], &attrs);
        Ok(())
    }

    /// Unrolls a loop.
    pub fn unroll(&mut self, stage: StageId, axis: AxisId) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        unroll::unroll(&mut self.tree, stage, axis)?;
        self.build.op(Te::Unroll.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Computes a stage where it is used.
    pub fn inline(&mut self, stage: StageId) -> Result<(), String> {
        let handle = self.stage(stage);
        compute_inline::compute_inline(&mut self.tree, stage)?;
        self.build.op(Te::ComputeInline.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Computes a stage at a loop of a consumer.
    pub fn compute_at(&mut self, stage: StageId, consumer: StageId, axis: AxisId) -> Result<(), String> {
        let handles = [self.stage(stage), self.axis(consumer, axis)];
        compute_at::compute_at(&mut self.tree, stage, consumer, axis)?;
        self.build.op(Te::ComputeAt.name(), &handles, &[], &[]);
        Ok(())
    }

    /// Runs the iterations of a loop at the same time.
    pub fn parallel(&mut self, stage: StageId, axis: AxisId) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        parallel::parallel(&mut self.tree, stage, axis)?;
        self.build.op(Te::Parallel.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Asks, in each iteration of a loop, for what one so many steps later reads.
    pub fn prefetch(
        &mut self,
        source: Handle,
        stage: StageId,
        axis: AxisId,
        ahead: u64,
    ) -> Result<(), String> {
        self.prefetch_over(source, (stage, axis), ahead, None)
    }

    /// The same; over a loop inside, each iteration of that asks for a share.
    pub fn prefetch_over(
        &mut self,
        source: Handle,
        (stage, axis): (StageId, AxisId),
        ahead: u64,
        over: Option<(StageId, AxisId)>,
    ) -> Result<(), String> {
        let mut operands = vec![self.source(source)?, self.axis(stage, axis)];
        operands.extend(over.map(|(stage, axis)| self.axis(stage, axis)));
        prefetch::prefetch(&mut self.tree, source, stage, axis, ahead, over)?;
        let attrs = [("ahead", int_attr(self.build.context(), ahead as i64))];
        self.build.op(Te::Prefetch.name(), &operands, &[], &attrs);
        Ok(())
    }

    /// Has readers read a copy, which is a new stage.
    pub fn cache_read(&mut self, source: Handle, name: &str, readers: &[StageId]) -> Result<StageId, String> {
        let mut operands = vec![self.source(source)?];
        operands.extend(readers.iter().map(|&r| self.stage(r)));
        let copy = cache_read::cache_read(&mut self.tree, source, name, readers)?;
        let context = self.build.context();
        let attrs = [("name", str_attr(context, name))];
        let value = self.build.value(Te::CacheRead.name(), &operands, stage_type(context), &attrs);
        self.stages.insert(copy, value);
        Ok(copy)
    }

    /// Makes few axes of those of a sum of products, and copies of what it reads, which are new stages.
    pub fn reindex(
        &mut self,
        stage: StageId,
        groups: &[usize],
        copies: [reindex::Copy; 2],
    ) -> Result<[StageId; 2], String> {
        let handle = self.stage(stage);
        let made = reindex::reindex(&mut self.tree, stage, groups, copies)?;
        let context = self.build.context();
        let list = |all: &[usize]| ints_attr(context, &all.iter().map(|n| *n as i64).collect::<Vec<_>>());
        let attrs = [
            ("groups", list(groups)),
            ("first", str_attr(context, copies[0].0)),
            ("first_axes", list(copies[0].1)),
            ("second", str_attr(context, copies[1].0)),
            ("second_axes", list(copies[1].1)),
        ];
        let op = self.build.op(Te::Reindex.name(), &[handle], &[stage_type(context); 2], &attrs);
        for (copy, value) in made.into_iter().zip(op.result_values()) {
            self.stages.insert(copy, value);
        }
        Ok(made)
    }

    /// Has a stage go over the axes of one that it reads, and store where it did.
    pub fn reverse_reindex(&mut self, stage: StageId, producer: StageId) -> Result<(), String> {
        let handles = [self.stage(stage), self.stage(producer)];
        reverse_reindex::reverse_reindex(&mut self.tree, stage, producer)?;
        self.build.op(Te::ReverseReindex.name(), &handles, &[], &[]);
        Ok(())
    }

    /// Has a stage computed into a buffer of its own, which is a new stage.
    pub fn cache_write(&mut self, stage: StageId, name: &str) -> Result<StageId, String> {
        let handle = self.stage(stage);
        let computing = cache_write::cache_write(&mut self.tree, stage, name)?;
        let context = self.build.context();
        let attrs = [("name", str_attr(context, name))];
        let value = self.build.value(Te::CacheWrite.name(), &[handle], stage_type(context), &attrs);
        self.stages.insert(computing, value);
        Ok(computing)
    }

    /// Gives a stage or an argument another order in memory.
    pub fn transform_layout(&mut self, source: Handle, layout: Layout) -> Result<(), String> {
        let handle = self.source(source)?;
        let map = layout.to_map();
        let map = Attribute::parse(self.build.context(), &map).ok_or("has a layout that is no affine map")?;
        transform_layout::transform_layout(&mut self.tree, source, layout)?;
        self.build.op(Te::TransformLayout.name(), &[handle], &[], &[("layout", map)]);
        Ok(())
    }

    /// Has a declared intrinsic do what the loops from one inwards do.
    pub fn tensorize(&mut self, stage: StageId, axis: AxisId, name: &str) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        let module = self.tree.kernel.parent_operation().ok_or("is in no module")?;
        let declared = intrinsics::declare(module, name)?;
        tensorize::tensorize(&mut self.tree, stage, axis, declared)?;
        let attrs = [("intrinsic", symbol_attr(self.build.context(), name))];
        self.build.op(Te::Tensorize.name(), &[handle], &[], &attrs);
        Ok(())
    }
}
