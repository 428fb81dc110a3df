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

use super::cover::{Candidate, candidates, least};
use super::kind::{Kernel, Kind};
use super::remarks::{self, KindRemark};
use super::writer::Writer;
use super::{placement, rearranging};
use fusion_machine::Machine;
use kinds::TABLE;
use kinds::windows::inline_padding;

/// Schedules all stages of a kernel, whose inputs are constants or not.
pub fn decide(
    writer: &mut Writer,
    machine: &Machine,
    constant: &[bool],
    told: Option<&mut Vec<KindRemark>>,
) -> Result<(), String> {
    if !machine.in_order {
        rearranging::follow_products(writer, machine)?;
    }
    let mut nests = placement::place(writer, &[])?;
    if !machine.in_order {
        inline_padding(writer, &mut nests, machine)?;
    }
    let blocks = match machine.in_order {
        true => None,
        false => blocks::find(&writer.tree, &nests, machine, constant),
    };
    let kernel = Kernel { nests: &nests, machine, constant, blocks: blocks.as_ref() };
    for candidate in chosen(writer, &kernel, told)? {
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

/// The candidates of least estimate together.
fn chosen(
    writer: &Writer,
    kernel: &Kernel,
    told: Option<&mut Vec<KindRemark>>,
) -> Result<Vec<Candidate>, String> {
    let table: Vec<&dyn Kind> =
        TABLE.iter().copied().filter(|kind| !kernel.machine.in_order || kind.about().keeps_order).collect();
    let all = candidates(&table, &writer.tree, kernel);
    let least = least(&all, kernel.nests.len()).ok_or("has a nest that no kind matches")?;
    if let Some(told) = told {
        *told = remarks::of(&all, &least, &writer.tree, kernel);
    }
    let mut all: Vec<Option<Candidate>> = all.into_iter().map(Some).collect();
    Ok(least.into_iter().filter_map(|at| all[at].take()).collect())
}
