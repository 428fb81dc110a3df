//! Default schedules for processors.
//!
//!     prepare     rearrange what follows products, place stages, take padding into windows
//!     choose      the matches of all kinds ([`kinds::TABLE`]) that hold each nest once and take least together
//!     apply       their primitives; then blocks, streams and threads, which any kind may have
//!
//! For strict arithmetic each reduction keeps the order of the source: only kinds that do so are asked, tiles, vectors and threads go over
//! results alone, and an element is summed in the same order on every target and by any number of threads.

pub mod blocks;
mod choices;
mod even_shares;
pub mod iterated;
pub mod kinds;
mod parallel;
mod pipelines;
mod prefetch_row;
mod regrouping;
mod streams;

use super::choice::{self, Choice};
use super::cover::{Candidate, candidates, least};
use super::kind::{Kernel, Kind};
use super::placement::{self, Nest};
use super::rearranging;
use super::remarks::{self, KindRemark};
use super::space::KernelSpace;
use super::writer::Writer;
use crate::schedule::Schedule;
use blocks::Blocks;
use fusion_machine::Machine;
use kinds::TABLE;
use kinds::windows::inline_padding;

/// Schedules all stages of a kernel, whose inputs are constants or not: as it was chosen, or as takes least.
pub fn decide(
    writer: &mut Writer,
    machine: &Machine,
    constant: &[bool],
    choices: Option<&[Choice]>,
    told: Option<&mut Vec<KindRemark>>,
) -> Result<(), String> {
    let (nests, blocks) = prepare(writer, machine, constant)?;
    let kernel = Kernel { nests: &nests, machine, constant, blocks: blocks.as_ref() };
    for candidate in taken(&writer.tree, &kernel, choices, told)? {
        candidate.found.apply(writer, &kernel, &candidate.config)?;
    }
    if let Some(blocks) = &blocks {
        blocks.write(writer)?;
    }
    if !machine.in_order {
        streams::schedule(writer, machine)?;
    }
    parallel::parallelize(writer, machine)
}

/// What a search may choose for a kernel.
pub fn space(writer: &mut Writer, machine: &Machine, constant: &[bool]) -> Result<KernelSpace, String> {
    let (nests, blocks) = prepare(writer, machine, constant)?;
    let kernel = Kernel { nests: &nests, machine, constant, blocks: blocks.as_ref() };
    let tree = &writer.tree;
    let default = taken(tree, &kernel, None, None)?.iter().map(|c| Choice::of(c, tree, &kernel)).collect();
    Ok(KernelSpace::of(&table(machine), tree, &kernel, default))
}

/// Rearranges and places the stages; the nests, and a product between them that is computed in blocks.
fn prepare(
    writer: &mut Writer,
    machine: &Machine,
    constant: &[bool],
) -> Result<(Vec<Nest>, Option<Blocks>), String> {
    if !machine.in_order {
        rearranging::follow_products(writer, machine)?;
    }
    let mut nests = placement::place(writer, &[])?;
    if machine.in_order {
        return Ok((nests, None));
    }
    inline_padding(writer, &mut nests, machine)?;
    let blocks = blocks::find(&writer.tree, &nests, machine, constant);
    Ok((nests, blocks))
}

/// The kinds that arithmetic allows.
fn table(machine: &Machine) -> Vec<&'static dyn Kind> {
    TABLE.iter().copied().filter(|kind| !machine.in_order || kind.about().keeps_order).collect()
}

/// The candidates that were chosen, or those of least estimate together.
fn taken(
    tree: &Schedule,
    kernel: &Kernel,
    choices: Option<&[Choice]>,
    told: Option<&mut Vec<KindRemark>>,
) -> Result<Vec<Candidate>, String> {
    let table = table(kernel.machine);
    let mut all = candidates(&table, tree, kernel);
    let taken = match choices {
        Some(choices) => choice::place(choice::chosen(&table, choices, tree, kernel)?, &mut all),
        None => least(&all, kernel.nests.len()).ok_or("has a nest that no kind matches")?,
    };
    if let Some(told) = told {
        *told = remarks::of(&all, &taken, tree, kernel);
    }
    let mut all: Vec<Option<Candidate>> = all.into_iter().map(Some).collect();
    Ok(taken.into_iter().filter_map(|at| all[at].take()).collect())
}
