//! Writes a schedule while applying it to the tree, so that the rest of the decisions see its effect.

mod loops;
mod stages;
mod storage;

use super::TeSchedule;
use crate::schedule::{AxisId, Handle, InputId, Schedule, StageId};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Build, Location, Op, OpExt, OperationLike, Pass, Region, Value, ValueMap, axis_type, int_attr,
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
    /// Writes the schedule of a kernel behind it, at a location with the name of the pass.
    ///
    /// Nothing is left where a primitive refuses what was decided: the error says which one, and why.
    pub fn write(
        kernel: Op<'c>,
        decide: impl FnOnce(&mut Writer<'c>) -> Result<(), String>,
    ) -> Result<Op<'c>, String> {
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
        let place = build.at(Location::name(build.context(), TeSchedule::NAME, kernel.location()));
        Ok(place.op_with_regions(Te::Schedule.name(), &[], &[], &attrs, vec![region]))
    }

    /// What `ask` finds out about a kernel while deciding its schedule, of which nothing is left.
    pub fn asked<T>(
        kernel: Op<'c>,
        ask: impl FnOnce(&mut Writer<'c>) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut answer = None;
        let decide = |writer: &mut Writer<'c>| {
            answer = Some(ask(writer));
            Err(String::new())
        };
        let _ = Writer::write(kernel, decide);
        answer.unwrap_or_else(|| Err("was not looked at".to_owned()))
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
}
