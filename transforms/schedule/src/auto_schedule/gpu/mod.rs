//! Default schedules for GPUs: which loops become blocks and which threads.
//!
//!     prepare     place stages as on a processor, but keep those that products may copy
//!     choose      the matches of all kinds ([`kinds::TABLE`]) that hold each nest once and take least together
//!     again       where no match copies what was kept for it: that is computed where it is read
//!     apply       their primitives
//!
//! How long a launch takes is in `launch`. What kinds copy to shared memory, and how, is in `shared`, how loops over blocks become a grid in `grid`, what a
//! thread reads at once in `lanes`; `reads` keeps reads of one tensor apart.
//!
//! For strict arithmetic each element has a thread of its own, which sums in the order of the source.

mod grid;
pub mod kinds;
mod lanes;
mod launch;
mod reads;
mod shared;

use super::choice::Choice;
use super::cover::Candidate;
use super::driver::{Given, allowed, taken};
use super::kind::Kernel;
use super::placement::{self, Nest};
use super::remarks::KindRemark;
use super::space::KernelSpace;
use super::writer::Writer;
use crate::schedule::StageId;
use kinds::{TABLE, matrix, windows};

/// Schedules all stages of a kernel: as it was chosen, or as takes least.
pub fn decide(
    writer: &mut Writer,
    given: &Given,
    choices: Option<&[Choice]>,
    told: Option<&mut Vec<KindRemark>>,
) -> Result<(), String> {
    let mut stages = Stages::prepare(writer, given)?;
    let all = stages.settle(writer, given, choices, told)?;
    let kernel = stages.kernel(given);
    all.iter().try_for_each(|candidate| candidate.found.apply(writer, &kernel, &candidate.config))
}

/// What a search may choose for a kernel.
pub fn space(writer: &mut Writer, given: &Given) -> Result<KernelSpace, String> {
    let mut stages = Stages::prepare(writer, given)?;
    let table = allowed(TABLE, given.machine);
    let space = KernelSpace::of(&table, &writer.tree, &stages.kernel(given), Vec::new());
    let all = stages.settle(writer, given, None, None)?;
    let kernel = stages.kernel(given);
    let default = all.iter().map(|candidate| Choice::of(candidate, &writer.tree, &kernel)).collect();
    Ok(KernelSpace { default, ..space })
}

/// Stages that are placed.
struct Stages {
    nests: Vec<Nest>,
    /// Those that a product may copy.
    kept: Vec<StageId>,
}

impl Stages {
    fn prepare(writer: &mut Writer, given: &Given) -> Result<Stages, String> {
        let mut kept = Vec::new();
        if !given.machine.in_order {
            kept = matrix::sources(&writer.tree, given.target)?;
            windows::inline_sources(writer)?;
        }
        let mut nests = placement::place(writer, &kept)?;
        nests.retain(|nest| !kept.contains(&nest.stage));
        Ok(Stages { nests, kept })
    }

    fn kernel<'k>(&'k self, given: &Given<'k>) -> Kernel<'k> {
        let Given { target, machine, constant, .. } = *given;
        Kernel { nests: &self.nests, machine, target, constant, blocks: None, kept: &self.kept }
    }

    /// Takes candidates until each stage that is kept is one that a match copies: what none does is read through, which may be another match.
    fn settle(
        &mut self,
        writer: &mut Writer,
        given: &Given,
        choices: Option<&[Choice]>,
        mut told: Option<&mut Vec<KindRemark>>,
    ) -> Result<Vec<Candidate>, String> {
        let table = allowed(TABLE, given.machine);
        loop {
            let all = taken(
                &table,
                (&writer.tree, &self.kernel(given)),
                (choices, given.seed),
                told.as_deref_mut(),
            )?;
            let copied: Vec<StageId> = all.iter().flat_map(|candidate| candidate.found.copies()).collect();
            let (kept, left): (Vec<StageId>, Vec<StageId>) =
                self.kept.iter().partition(|stage| copied.contains(stage));
            if left.is_empty() {
                return Ok(all);
            }
            left.iter().try_for_each(|stage| writer.inline(*stage))?;
            self.kept = kept;
        }
    }
}
