//! Which candidates compute a kernel: those that were chosen for it, or those of least estimate.

use super::chance;
use super::choice::{self, Choice};
use super::cover::{Candidate, candidates, least};
use super::kind::{Kernel, Kind};
use super::remarks::{self, KindRemark};
use crate::schedule::Schedule;
use fusion_dialects::OpExt;
use fusion_machine::{Machine, Target};

/// What is known of a kernel beside its stages.
#[derive(Clone, Copy)]
pub struct Given<'g> {
    /// What it is compiled for.
    pub target: &'g Target,
    /// One core of that.
    pub machine: &'g Machine,
    /// Which inputs are constants in all calls.
    pub constant: &'g [bool],
    /// The number that kinds and knobs are drawn by, in place of those that take least.
    pub seed: Option<u64>,
}

/// The kinds of a table that arithmetic allows.
pub fn allowed(table: &[&'static dyn Kind], machine: &Machine) -> Vec<&'static dyn Kind> {
    table.iter().copied().filter(|kind| !machine.in_order || kind.about().keeps_order).collect()
}

/// The candidates that were chosen, or those of least estimate together; of all it is told what they would take.
pub fn taken(
    table: &[&dyn Kind],
    (tree, kernel): (&Schedule, &Kernel),
    (choices, seed): (Option<&[Choice]>, Option<u64>),
    told: Option<&mut Vec<KindRemark>>,
) -> Result<Vec<Candidate>, String> {
    if let (None, Some(seed)) = (choices, seed) {
        let name = tree.kernel.text("sym_name").unwrap_or_default();
        return chance::drawn(table, (tree, kernel), &mut chance::numbers(seed, name));
    }
    let mut all = candidates(table, tree, kernel);
    let taken = match choices {
        Some(choices) => choice::place(choice::chosen(table, choices, tree, kernel)?, &mut all),
        None => least(&all, kernel.nests.len()).ok_or("has a nest that no kind matches")?,
    };
    if let Some(told) = told {
        *told = remarks::of(&all, &taken, tree, kernel);
    }
    let mut all: Vec<Option<Candidate>> = all.into_iter().map(Some).collect();
    Ok(taken.into_iter().filter_map(|at| all[at].take()).collect())
}
