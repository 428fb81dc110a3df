//! Which stages read which: found once for a kernel as it is, and again when a primitive has changed it.
//!
//! ```text
//!   stage 0    x                     read by 1, 2
//!   stage 1    y[i] = x[i] + 1       reads 0, read by 2
//!   stage 2    z[i] = x[i] * y[i]    reads 0, 1
//! ```
//!
//! Decisions ask this of every stage; one walk over the kernel answers all of them, so that a kernel of many stages is arranged in
//! a time that grows with it.

use super::{Attach, Schedule, StageId, stages_in};
use fusion_dialects::{OpExt, Value, defining_op, nested_ops, op_key};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What follows from the operations of a kernel.
#[derive(Debug)]
struct Links {
    /// The stages by their operations; only asked, never gone through.
    stages: HashMap<usize, StageId>,
    /// In program order.
    order: Vec<StageId>,
    /// For each stage, those that it reads, in the order of the first reads.
    read: Vec<Vec<StageId>>,
    /// For each stage, those that read it, ascending.
    consumers: Vec<Vec<StageId>>,
}

/// Nothing while it is not known.
#[derive(Clone, Debug, Default)]
pub(super) struct Cached(RefCell<Option<Rc<Links>>>);

impl Links {
    fn of(tree: &Schedule) -> Links {
        let stages: HashMap<usize, StageId> =
            tree.stages.iter().enumerate().map(|(id, s)| (op_key(s.op), id)).collect();
        let order = stages_in(tree.kernel).into_iter().filter_map(|op| stages.get(&op_key(op)).copied());
        let order = order.collect();
        let mut read: Vec<Vec<StageId>> = vec![Vec::new(); tree.stages.len()];
        let mut consumers = read.clone();
        for (id, s) in tree.stages.iter().enumerate() {
            let nested = nested_ops(s.op).into_iter().flat_map(|op| op.operand_values());
            for value in s.op.operand_values().into_iter().chain(nested) {
                let Some(op) = defining_op(value) else { continue };
                let Some(&from) = stages.get(&op_key(op)).filter(|from| **from != id) else { continue };
                // Stages are gone through in order, so that this one would be the last.
                if consumers[from].last() != Some(&id) {
                    consumers[from].push(id);
                    read[id].push(from);
                }
            }
        }
        Links { stages, order, read, consumers }
    }
}

impl<'c> Schedule<'c> {
    fn links(&self) -> Rc<Links> {
        let known = self.links.0.borrow().clone();
        known.unwrap_or_else(|| {
            let links = Rc::new(Links::of(self));
            *self.links.0.borrow_mut() = Some(links.clone());
            links
        })
    }

    /// Takes up that a primitive has changed what stages read, or which there are.
    pub fn changed(&self) {
        *self.links.0.borrow_mut() = None;
    }

    /// The stages in program order: producers before consumers.
    pub fn in_order(&self) -> Vec<StageId> {
        self.links().order.clone()
    }

    /// The stages that read a stage's results.
    pub fn consumers(&self, stage: StageId) -> Vec<StageId> {
        self.links().consumers.get(stage).cloned().unwrap_or_default()
    }

    /// The stages whose results a stage reads, each once.
    pub fn read_by(&self, stage: StageId) -> Vec<StageId> {
        self.links().read.get(stage).cloned().unwrap_or_default()
    }

    /// The stages that read a stage, through inlined ones, each once.
    pub fn readers(&self, stage: StageId) -> Vec<StageId> {
        let links = self.links();
        let consumers = |of: StageId| links.consumers.get(of).into_iter().flatten().rev().copied();
        let mut seen = vec![false; self.stages.len()];
        let mut found = Vec::new();
        let mut open: Vec<StageId> = consumers(stage).collect();
        while let Some(next) = open.pop() {
            if std::mem::replace(&mut seen[next], true) {
                continue;
            }
            match self.stages[next].attach {
                Attach::Inline => open.extend(consumers(next)),
                _ => found.push(next),
            }
        }
        found
    }

    /// The stage that gives a tensor.
    pub fn giving(&self, tensor: Value<'c>) -> Option<StageId> {
        self.links().stages.get(&op_key(defining_op(tensor)?)).copied()
    }
}
