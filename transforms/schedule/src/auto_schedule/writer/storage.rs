//! Primitives of how tensors are stored, and prefetched.

use super::Writer;
use crate::layout::{Align, Layout};
use crate::schedule::primitives::{
    bulk_copy, double_buffer, prefetch, set_scope, storage_align, storage_swizzle, stream, transform_layout,
};
use crate::schedule::{AxisId, Handle, StageId};
use fusion_dialects::loops::Scope;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Attribute, int_attr};

impl Writer<'_> {
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

    /// Stores a stage past the caches.
    pub fn stream(&mut self, stage: StageId) -> Result<(), String> {
        let handle = self.stage(stage);
        stream::stream(&mut self.tree, stage)?;
        self.build.op(Te::Stream.name(), &[handle], &[], &[]);
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

    /// Gives a stage or an argument another order in memory.
    pub fn transform_layout(&mut self, source: Handle, layout: Layout) -> Result<(), String> {
        let handle = self.source(source)?;
        let map = layout.to_map();
        let map = Attribute::parse(self.build.context(), &map).ok_or("has a layout that is no affine map")?;
        transform_layout::transform_layout(&mut self.tree, source, layout)?;
        self.build.op(Te::TransformLayout.name(), &[handle], &[], &[("layout", map)]);
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

    /// The same; over a loop inside, each iteration of that prefetches a share.
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
}
