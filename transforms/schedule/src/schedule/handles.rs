//! What the values of a `te.schedule` stand for.

use super::{AxisId, InputId, StageId};
use fusion_dialects::{Value, key};
use std::collections::HashMap;

/// What a value of a schedule stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A stage.
    Stage(StageId),
    /// A loop of a stage.
    Axis(StageId, AxisId),
    /// An argument of the kernel.
    Input(InputId),
}

/// The handles a schedule has made so far.
#[derive(Default)]
pub struct Handles {
    map: HashMap<usize, Handle>,
}

impl Handles {
    /// What the values a primitive defines stand for.
    pub fn define(&mut self, values: &[Value], handles: &[Handle]) {
        for (value, handle) in values.iter().zip(handles) {
            self.map.insert(key(*value), *handle);
        }
    }

    /// What a value stands for, if this schedule defined it.
    pub fn get(&self, value: Value) -> Option<Handle> {
        self.map.get(&key(value)).copied()
    }

    /// The stage a value stands for.
    pub fn stage(&self, value: Value) -> Result<StageId, String> {
        match self.map.get(&key(value)) {
            Some(Handle::Stage(stage)) => Ok(*stage),
            _ => Err("takes the handle of a stage that this schedule defined".into()),
        }
    }

    /// The stage or argument a value stands for.
    pub fn source(&self, value: Value) -> Result<Handle, String> {
        match self.map.get(&key(value)) {
            Some(handle @ (Handle::Stage(_) | Handle::Input(_))) => Ok(*handle),
            _ => Err("takes the handle of a stage or argument that this schedule defined".into()),
        }
    }

    /// The loop a value stands for.
    pub fn axis(&self, value: Value) -> Result<(StageId, AxisId), String> {
        match self.map.get(&key(value)) {
            Some(Handle::Axis(stage, axis)) => Ok((*stage, *axis)),
            _ => Err("takes the handle of a loop that this schedule defined".into()),
        }
    }
}
