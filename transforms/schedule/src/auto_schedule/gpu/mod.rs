//! Default schedules for GPUs: which loops become blocks and which threads.
//!
//!     placement                as on a processor: what is computed where it is used
//!     attention                a tile of queries a block, some keys and values at a time in shared memory; its products by `matrix`
//!     rows                     a block or a warp a row: softmax, normalizations, reductions along memory
//!     own_rows                 a thread a row whose elements lie apart, or are few
//!     matrix                   products by matrix instructions, where the target has some for these elements
//!     one_row                  the same of a vector: one block
//!     contraction              a tile a block, operands in shared memory: matrix products
//!     columns                  several threads a column: reductions across memory, vectors by matrices
//!     windows                  a few results a thread, no padded input in memory: pools, depthwise convolutions
//!     transposing              a square a block, through shared memory: transposes
//!     elements                 a thread an element, or a few that lie together
//!
//! Where a reduction has fewer blocks than there are cores, `parts` cuts it up. What `contraction` and `transposing` copy to shared memory, and how, is in `shared`,
//! how loops over blocks become a grid in `grid`; `reads` keeps reads of one tensor apart.
//!
//! Every nest gets blocks and threads by one of the kinds; what none is for runs on one thread, slowly but rightly.

mod attention;
mod columns;
mod contraction;
pub mod elements;
mod grid;
mod lanes;
mod matrix;
mod one_row;
mod own_rows;
mod reads;
mod rows;
mod shared;
pub mod transposing;
mod windows;

use super::writer::Writer;
use super::{placement, row_groups as groups};
use crate::schedule::StageId;
use fusion_machine::Target;

/// So many elements take less than a launch, in whatever order they are read.
const MOST_OF_A_LAUNCH: u64 = 1 << 16;

/// Schedules all stages of a kernel of strict arithmetic: each element has a thread of its own, which sums in the order of the source.
pub fn in_order(writer: &mut Writer, target: &Target) -> Result<(), String> {
    for nest in placement::place(writer, &[])? {
        if !transposing::schedule(writer, &nest, target)? {
            elements::schedule(writer, &nest, target)?;
        }
    }
    Ok(())
}

/// Schedules all stages of a kernel.
pub fn decide(writer: &mut Writer, target: &Target) -> Result<(), String> {
    let products = matrix::find(&writer.tree, target)?;
    let kept: Vec<StageId> = products.iter().flat_map(|p| p.sources.iter().copied()).collect();
    windows::inline_sources(writer)?;
    let mut nests = placement::place(writer, &kept)?;
    nests.retain(|nest| !kept.contains(&nest.stage));
    if let Some(group) = attention::find(&writer.tree, &nests) {
        if matrix::attention::schedule(writer, &group, &products, target)? {
            return Ok(());
        }
        kept.iter().try_for_each(|source| writer.inline(*source))?;
        // What was kept is read through now.
        let group =
            attention::find(&writer.tree, &nests).ok_or("has an attention whose operands are computed")?;
        return attention::schedule(writer, &group, target);
    }
    if let Some(row) = one_row::find(&writer.tree, &nests, target) {
        kept.iter().try_for_each(|source| writer.inline(*source))?;
        return one_row::schedule(writer, &row, target);
    }
    let mut done: Vec<StageId> = Vec::new();
    for product in &products {
        let nest = nests.iter().find(|n| n.reduction.unwrap_or(n.stage) == product.reduction);
        match nest {
            Some(nest) if matrix::schedule(writer, nest, product, target)? => done.push(nest.stage),
            _ => product.sources.iter().try_for_each(|source| writer.inline(*source))?,
        }
    }
    nests.retain(|nest| !done.contains(&nest.stage));
    for group in groups::find(&writer.tree, &nests) {
        if rows::schedule(writer, &group, target)? {
            done.extend(group.members.iter().map(|(stage, _)| *stage).chain([group.host]));
        }
    }
    nests.retain(|nest| !done.contains(&nest.stage));
    for group in groups::find_apart(&writer.tree, &nests) {
        let few = own_rows::elements(&writer.tree, &group) <= MOST_OF_A_LAUNCH;
        let alone = nests.iter().find(|n| n.stage == group.host && n.reduction.is_some());
        let is_columns = match alone.filter(|_| group.members.len() == 1) {
            Some(nest) => columns::schedule(writer, nest, target)?,
            None => columns::group::schedule(writer, &group, target)?,
        };
        if is_columns
            || own_rows::schedule(writer, &group, target)?
            || (few && rows::schedule(writer, &group, target)?)
        {
            done.extend(group.members.iter().map(|(stage, _)| *stage).chain([group.host]));
        }
    }
    for nest in nests.iter().filter(|nest| !done.contains(&nest.stage)) {
        let kinds = [
            rows::alone,
            contraction::schedule,
            columns::schedule,
            windows::schedule,
            transposing::schedule,
            elements::schedule,
        ];
        for kind in kinds {
            if kind(writer, nest, target)? {
                break;
            }
        }
    }
    Ok(())
}
