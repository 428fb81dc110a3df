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

use super::choice::Choice;
use super::driver::{Given, allowed, taken};
use super::kind::Kernel;
use super::placement::{self, Nest};
use super::rearranging;
use super::remarks::KindRemark;
use super::space::KernelSpace;
use super::writer::Writer;
use blocks::Blocks;
use kinds::TABLE;
use kinds::windows::inline_padding;

/// Schedules all stages of a kernel: as it was chosen, or as takes least.
pub fn decide(
    writer: &mut Writer,
    given: &Given,
    choices: Option<&[Choice]>,
    told: Option<&mut Vec<KindRemark>>,
) -> Result<(), String> {
    let machine = given.machine;
    let (nests, blocks) = prepare(writer, given)?;
    let kernel = kernel(&nests, blocks.as_ref(), given);
    let table = allowed(TABLE, machine);
    for candidate in taken(&table, (&writer.tree, &kernel), (choices, given.seed), told)? {
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
pub fn space(writer: &mut Writer, given: &Given) -> Result<KernelSpace, String> {
    let (nests, blocks) = prepare(writer, given)?;
    let kernel = kernel(&nests, blocks.as_ref(), given);
    let (tree, table) = (&writer.tree, allowed(TABLE, given.machine));
    let all = taken(&table, (tree, &kernel), (None, None), None)?;
    let default = all.iter().map(|candidate| Choice::of(candidate, tree, &kernel)).collect();
    Ok(KernelSpace::of(&table, tree, &kernel, default))
}

fn kernel<'k>(nests: &'k [Nest], blocks: Option<&'k Blocks>, given: &Given<'k>) -> Kernel<'k> {
    let Given { target, machine, constant, .. } = *given;
    Kernel { nests, machine, target, constant, blocks, kept: &[] }
}

/// Rearranges and places the stages; the nests, and a product between them that is computed in blocks.
fn prepare(writer: &mut Writer, given: &Given) -> Result<(Vec<Nest>, Option<Blocks>), String> {
    let Given { machine, constant, .. } = *given;
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
