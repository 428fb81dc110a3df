//! Primitives that make stages, or say where they are computed.

use super::Writer;
use crate::schedule::primitives::recompute::Part;
use crate::schedule::primitives::{
    cache_read, cache_write, compute_at, compute_inline, divide, recompute, reindex, reverse_reindex, rfactor,
};
use crate::schedule::{AxisId, Handle, StageId};
use fusion_dialects::indices::loads;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{OpExt, int_attr, ints_attr, stage_type, str_attr};

impl Writer<'_> {
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

    /// Has a load of a reader, by its number, read a copy, which is a new stage.
    pub fn cache_read(
        &mut self,
        source: Handle,
        name: &str,
        (reader, read): (StageId, usize),
    ) -> Result<StageId, String> {
        let operands = [self.source(source)?, self.stage(reader)];
        // The number is said where the tensor alone does not say which load it is.
        let (tensor, loads) =
            (cache_read::tensor_of(&self.tree, source)?, loads(self.tree.stages[reader].op));
        let read = Some(read).filter(|_| cache_read::reads_of(&loads, tensor).len() > 1);
        let copy = cache_read::cache_read(&mut self.tree, source, name, &[reader], read)?;
        let context = self.build.context();
        let mut attrs = vec![("name", str_attr(context, name))];
        attrs.extend(read.map(|read| ("read", int_attr(context, read as i64))));
        let value = self.build.value(Te::CacheRead.name(), &operands, stage_type(context), &attrs);
        self.stages.insert(copy, value);
        Ok(copy)
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
}
