//! Where a schedule says what turns out to be wrong once all of it is known, or loops are made of it.
//!
//! ```text
//!   te.bind %k to thread_x        the loops of "sum" are made:  24 threads cannot combine what they have
//!        ^---------------------------------------------------- told here, not where the model says "sum"
//! ```

use super::{AxisId, Handle, Schedule, StageId};
use fusion_dialects::te::Op as Te;
use fusion_dialects::te::handles;
use fusion_dialects::{Op, OpExt, PassError};

/// A primitive that was applied.
#[derive(Clone, Debug)]
pub struct Said<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// What it is.
    pub kind: Te,
    /// What its operands name.
    pub handles: Vec<Handle>,
}

impl Said<'_> {
    /// The stage it arranges: the first it names, but of `te.prefetch`, which names what is read before the loop.
    fn stage(&self) -> Option<StageId> {
        let subject = usize::from(self.kind == Te::Prefetch);
        match self.handles.get(subject) {
            Some(Handle::Stage(stage) | Handle::Axis(stage, _)) => Some(*stage),
            _ => None,
        }
    }
}

/// Why a tree of loops cannot be what its primitives say.
#[derive(Debug)]
pub struct Refusal {
    /// The stage that is arranged so.
    pub stage: StageId,
    /// The loop that is, where it is one.
    pub axis: Option<AxisId>,
    /// The primitives that may have said so.
    pub by: &'static [Te],
    /// What is wrong, as what the primitive does.
    pub why: String,
}

impl Refusal {
    /// Of a stage.
    pub fn of(stage: StageId, by: &'static [Te], why: impl Into<String>) -> Refusal {
        Refusal { stage, axis: None, by, why: why.into() }
    }

    /// Of a loop.
    pub fn of_loop(stage: StageId, axis: AxisId, by: &'static [Te], why: impl Into<String>) -> Refusal {
        Refusal { axis: Some(axis), ..Refusal::of(stage, by, why) }
    }
}

impl<'c> Schedule<'c> {
    /// The last primitive of these kinds that named a loop, or arranged its stage; or else the last one of any kind that did.
    pub fn said_of(&self, stage: StageId, axis: Option<AxisId>, by: &[Te]) -> Option<&Said<'c>> {
        let arranged = || self.said.iter().rev().filter(|said| said.stage() == Some(stage));
        let named = axis.and_then(|axis| self.said_of_loop(stage, axis, by));
        named.or_else(|| arranged().find(|said| by.contains(&said.kind))).or_else(|| arranged().next())
    }

    /// The last primitive of these kinds that named a loop.
    pub fn said_of_loop(&self, stage: StageId, axis: AxisId, by: &[Te]) -> Option<&Said<'c>> {
        let names =
            |said: &&Said| by.contains(&said.kind) && said.handles.contains(&Handle::Axis(stage, axis));
        self.said.iter().rev().find(names)
    }

    /// An error where the schedule says what is wrong; where it says nothing of the stage, at the stage.
    pub fn refuse(&self, refusal: Refusal) -> PassError<'c> {
        let Refusal { stage, axis, by, why } = refusal;
        match self.said_of(stage, axis, by) {
            Some(said) => {
                let handles: Vec<_> = said.handles.iter().copied().map(Some).collect();
                PassError::at(said.op, format_args!("{why} {}", self.context_of(said.op, &handles)))
            }
            None => PassError::at(self.stages[stage].op, why),
        }
    }

    /// What the operands of a primitive name and the kernel of its schedule, with the iterations of loops.
    pub(super) fn context_of(&self, op: Op, operands: &[Option<Handle>]) -> String {
        let with_extent = |(value, handle): (fusion_dialects::Value, &Option<Handle>)| {
            let name = handles::named(value);
            match handle {
                Some(Handle::Axis(stage, axis)) => match self.stages[*stage].axes.get(*axis) {
                    Some(a) => format!("{name}, {} iterations", a.extent),
                    None => name,
                },
                _ => name,
            }
        };
        let kernel = self.kernel.text("sym_name").unwrap_or_default();
        handles::context(op.operand_values().into_iter().zip(operands).map(with_extent), kernel)
    }
}
