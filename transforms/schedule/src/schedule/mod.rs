//! Schedules: how the loops of a kernel are arranged.
//!
//! A schedule starts as one nest a stage, in program order, and is edited by primitives (`primitives/`, one a file).
//! Nothing is generated until the tree is complete: `te-lower` then makes the loops once, with bound inference
//! (Ragan-Kelley et al., "Halide", 2013; Chen et al., "TVM", 2018).
//!
//!     stage "c": i (128), j (3072), k (768, reduction)        split j by 16      i, jo, ji, k

mod blame;
mod check;
mod handles;
pub mod intrinsic;
mod links;
pub mod primitives;
mod read;
mod same;
mod stage;
mod tensorized;
mod within;
pub mod zeros;

pub use blame::{Refusal, Said};
pub use handles::{Handle, Handles};
pub use read::apply_schedule;
pub use stage::{Attach, Axis, Note, Origin, Prefetch, Relation, Stage, Store, Tail};
pub use tensorized::{Operand, Tensorized};

use crate::layout::Layout;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{Access, accesses, put};
use fusion_dialects::loops::LoopKind;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, Value, arguments, kind_of, op_key, ops_in};

/// A stage of a schedule: those of the kernel in program order, then those that primitives made.
pub type StageId = usize;
/// An argument of the kernel, by its place.
pub type InputId = usize;
/// An axis of a stage.
pub type AxisId = usize;

/// The tree that primitives edit.
#[derive(Clone, Debug)]
pub struct Schedule<'c> {
    /// The kernel; primitives that make stages put them into it.
    pub kernel: Op<'c>,
    /// The stages; [`Schedule::in_order`] has them in program order.
    pub stages: Vec<Stage<'c>>,
    /// Results of the kernel by stage: those cannot be inlined.
    pub results: Vec<StageId>,
    /// The arguments of the kernel.
    pub inputs: Vec<Value<'c>>,
    /// Layouts that arguments are wanted in.
    pub input_layouts: Vec<Option<Layout>>,
    /// The primitives that were applied, in order.
    pub said: Vec<Said<'c>>,
    /// Which stages read which, while the kernel stays as it is.
    links: links::Cached,
}

impl<'c> Schedule<'c> {
    /// The schedule of a kernel before any primitive.
    pub fn of(kernel: Op<'c>) -> Self {
        let stages: Vec<Stage> = stages_in(kernel).into_iter().map(Stage::of).collect();
        let inputs = kernel.body(0).map(arguments).unwrap_or_default();
        let input_layouts = vec![None; inputs.len()];
        let mut tree = Schedule {
            kernel,
            stages,
            results: Vec::new(),
            inputs,
            input_layouts,
            said: Vec::new(),
            links: links::Cached::default(),
        };
        tree.refresh();
        tree
    }

    /// Reads off the kernel which stages give its results.
    pub fn refresh(&mut self) {
        self.changed();
        let returned: Vec<usize> = self
            .kernel
            .body(0)
            .map(ops_in)
            .unwrap_or_default()
            .iter()
            .filter(|op| matches!(kind_of(**op), Some(Kind::Te(Te::Return))))
            .flat_map(|op| op.operand_values())
            .filter_map(fusion_dialects::defining_op)
            .map(op_key)
            .collect();
        let is_result = |s: &Stage| s.into.is_some() || returned.contains(&op_key(s.op));
        self.results = (0..self.stages.len()).filter(|&s| is_result(&self.stages[s])).collect();
    }

    /// Takes up that another tensor stands for one that several stages store into.
    pub fn moved(&mut self, old: Value<'c>, new: Value<'c>) {
        for into in self.stages.iter_mut().filter_map(|s| s.into.as_mut()) {
            if fusion_dialects::key(*into) == fusion_dialects::key(old) {
                *into = new;
            }
        }
    }

    /// Takes up a stage that a primitive has put into the kernel.
    pub fn add(&mut self, op: Op<'c>) -> StageId {
        self.stages.push(Stage::of(op));
        self.refresh();
        self.stages.len() - 1
    }

    /// The stage of that name.
    pub fn named(&self, name: &str) -> Option<StageId> {
        self.stages.iter().position(|s| s.name == name)
    }

    /// The indices with which a reader at the point `axes` reads a stage, itself or through inlined ones; `None` for one that is no
    /// expression over axes.
    pub fn reads_of(&self, stage: StageId, reader: StageId, axes: &[Option<Expr>]) -> Vec<Vec<Option<Expr>>> {
        let of_access = |access: Access<'c>| {
            let Some(read) = self.giving(access.tensor) else { return Vec::new() };
            let at: Vec<Option<Expr>> =
                access.indices.iter().map(|i| i.as_ref().and_then(|e| put(e, axes))).collect();
            match self.stages[read].attach {
                _ if read == stage => vec![at],
                Attach::Inline => self.reads_of(stage, read, &at),
                _ => Vec::new(),
            }
        };
        accesses(self.stages[reader].op).into_iter().flat_map(of_access).collect()
    }

    /// True when all that reads a stage is computed at the end of an iteration of that one loop, so that nothing of the
    /// stage need be kept behind it.
    pub fn is_passing(&self, stage: StageId) -> bool {
        let readers = self.readers(stage);
        let Some(&first) = readers.first() else { return false };
        let at = self.stages[first].attach;
        matches!(at, Attach::After(of, _) if of == stage)
            && readers.iter().all(|&r| self.stages[r].attach == at)
            && !self.results.contains(&stage)
    }

    /// A stage that is computed at a loop of a stage.
    pub fn attached_to(&self, stage: StageId, axis: AxisId) -> Option<StageId> {
        let here = |at| at == Attach::At(stage, axis) || at == Attach::After(stage, axis);
        (0..self.stages.len()).find(|&s| here(self.stages[s].attach))
    }

    /// Fails when something is computed at a loop that is about to go.
    pub fn must_be_free(&self, stage: StageId, axis: AxisId, what: &str) -> Result<(), String> {
        let s = &self.stages[stage];
        if let Some(attached) = self.attached_to(stage, axis) {
            return Err(format!(
                "{what}s a loop of stage \"{}\" that stage \"{}\" is computed at; {what} it first",
                s.name, self.stages[attached].name
            ));
        }
        self.must_be_plain(stage, axis, what)
    }

    /// Fails when something is said of a loop that is about to go, other than what is computed at it.
    pub fn must_be_plain(&self, stage: StageId, axis: AxisId, what: &str) -> Result<(), String> {
        let s = &self.stages[stage];
        let named = s.notes.iter().any(|n| n.axis == axis)
            || s.prefetches.iter().any(|p| p.axis == axis)
            || self.stages.iter().flat_map(|s| &s.prefetches).any(|p| p.over == Some((stage, axis)))
            || s.tensorized.as_ref().is_some_and(|t| t.axis == axis || t.loops.contains(&axis))
            || self.stages.iter().any(|other| {
                other.store == Some(Store::At(axis))
                    && matches!(other.attach, Attach::At(of, _) if of == stage)
            });
        if named || s.axes[axis].kind != LoopKind::Serial {
            return Err(format!(
                "{what}s a loop of stage \"{}\" that is annotated already; {what} it first",
                s.name
            ));
        }
        Ok(())
    }
}

/// The operations of a kernel that are stages, in program order.
fn stages_in(kernel: Op) -> Vec<Op> {
    let ops = kernel.body(0).map(ops_in).unwrap_or_default();
    ops.into_iter().filter(|op| matches!(kind_of(*op), Some(Kind::Te(Te::Compute | Te::Extern)))).collect()
}
