//! Results that are stored past the caches: those of kernels that read and write as much as the last cache holds.
//!
//!     y = a + b, of 16.8 MB each      reads a and b, and the lines of y only to overwrite them      67 MB
//!     te.stream y                     reads a and b                                                 50 MB
//!
//! What such a kernel stored first is in no cache any more when the next one reads it. Products reuse what lies in the caches, so that
//! elementwise kernels are left, those that move elements, and rows with their sums.

use crate::auto_schedule::reductions::reads_once;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{Attach, Schedule, StageId};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{OpExt, kind_of, tensor_type};
use fusion_machine::Machine;

/// Stores the results of a kernel past the caches where that spares reading them.
pub fn schedule(writer: &mut Writer, machine: &Machine) -> Result<(), String> {
    results(&writer.tree, machine).into_iter().try_for_each(|stage| writer.stream(stage))
}

/// The stages whose results are stored so.
pub fn results(tree: &Schedule, machine: &Machine) -> Vec<StageId> {
    let once = |stage: StageId| {
        let s = &tree.stages[stage];
        matches!(kind_of(s.op), Some(Kind::Te(Te::Compute))) && (!s.is_reduction() || reads_once(tree, stage))
    };
    if !(0..tree.stages.len()).all(once) {
        return Vec::new();
    }
    let given = given(tree);
    let stored: Vec<StageId> = tree.results.iter().copied().filter(|&s| is_end(tree, s)).collect();
    let written: u64 = stored.iter().map(|&s| bytes(tree, s)).sum();
    if given + written < machine.last_cache {
        return Vec::new();
    }
    let large = |s: &StageId| bytes(tree, *s) > machine.second_cache && !tree.stages[*s].is_reduction();
    stored.into_iter().filter(large).collect()
}

/// Bytes of all that a kernel is given.
pub fn given(tree: &Schedule) -> u64 {
    tree.inputs.iter().filter_map(|&input| tensor_type(input)?.bytes()).sum()
}

/// A nest of its own that no other one reads.
fn is_end(tree: &Schedule, stage: StageId) -> bool {
    tree.stages[stage].attach == Attach::Root && tree.readers(stage).is_empty()
}

fn bytes(tree: &Schedule, stage: StageId) -> u64 {
    let results = tree.stages[stage].op.result_values().into_iter();
    results.filter_map(|result| tensor_type(result)?.bytes()).sum()
}
