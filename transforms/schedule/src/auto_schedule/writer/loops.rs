//! Primitives of the loops of a stage.

use super::Writer;
use crate::intrinsics;
use crate::schedule::primitives::{
    annotate, bind, fuse, parallel, pipeline, reorder, skip_padding, split, tensorize, unroll, vectorize,
};
use crate::schedule::{AxisId, StageId, Tail};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{OperationLike, axis_type, int_attr, str_attr, symbol_attr};

impl Writer<'_> {
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

    /// Runs the iterations of a loop at the same time.
    pub fn parallel(&mut self, stage: StageId, axis: AxisId) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        parallel::parallel(&mut self.tree, stage, axis)?;
        self.build.op(Te::Parallel.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Stores what an iteration stores last while the next one is computed.
    pub fn pipeline(&mut self, stage: StageId, axis: AxisId) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        pipeline::pipeline(&mut self.tree, stage, axis)?;
        self.build.op(Te::Pipeline.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Passes over what a loop of a reduction only adds zeros of a padding in.
    pub fn skip_padding(&mut self, stage: StageId, axis: AxisId) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        skip_padding::skip_padding(&mut self.tree, stage, axis)?;
        self.build.op(Te::SkipPadding.name(), &[handle], &[], &[]);
        Ok(())
    }

    /// Binds a loop to the blocks or threads of a GPU.
    pub fn bind(&mut self, stage: StageId, axis: AxisId, kind: LoopKind) -> Result<(), String> {
        let handle = self.axis(stage, axis);
        bind::bind(&mut self.tree, stage, axis, kind)?;
        let attrs = [("binding", int_attr(self.build.context(), kind as i64))];
        self.build.op(Te::Bind.name(), &[handle], &[], &attrs);
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
