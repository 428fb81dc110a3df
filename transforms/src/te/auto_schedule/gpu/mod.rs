//! Default schedules for GPUs: which loops become blocks and which threads.
//!
//!     placement                as on a processor: what is computed where it is used
//!     attention                a tile of queries a block, some keys and values at a time in shared memory
//!     rows                     a block or a warp a row: softmax, normalizations, reductions along memory
//!     one_row                  the same of a vector: one block
//!     contraction              a tile a block, operands in shared memory: matrix products
//!     transposing              a square a block, through shared memory: transposes
//!     elements                 a thread an element, or a few that lie together
//!
//! Where a reduction has fewer blocks than there are cores, `parts` cuts it up. What `contraction` and `transposing` copy to shared memory, and how, is in `shared`.
//!
//! Every nest gets blocks and threads by one of the kinds; what none is for runs on one thread, slowly but rightly.

mod attention;
mod contraction;
mod elements;
mod one_row;
mod parts;
mod rows;
mod shared;
mod transposing;

use super::writer::Writer;
use super::{placement, rows as groups};
use crate::target::Target;
use crate::te::schedule::StageId;

/// Schedules all stages of a kernel.
pub fn decide(writer: &mut Writer, target: &Target) -> Result<(), String> {
    let nests = placement::place(writer)?;
    if let Some(group) = attention::find(&writer.tree, &nests) {
        return attention::schedule(writer, &group, target);
    }
    if let Some(row) = one_row::find(&writer.tree, &nests, target) {
        return one_row::schedule(writer, &row, target);
    }
    let mut done: Vec<StageId> = Vec::new();
    for group in groups::find(&writer.tree, &nests) {
        if rows::schedule(writer, &group, target)? {
            done.extend(group.members.iter().map(|(stage, _)| *stage).chain([group.host]));
        }
    }
    for nest in nests.iter().filter(|nest| !done.contains(&nest.stage)) {
        let kinds = [rows::alone, contraction::schedule, transposing::schedule, elements::schedule];
        for kind in kinds {
            if kind(writer, nest, target)? {
                break;
            }
        }
    }
    Ok(())
}
