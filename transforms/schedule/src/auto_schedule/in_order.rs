//! Schedules of programs of strict arithmetic: each reduction in the order of the source, by one thread.
//!
//!     for i, j { acc = for k ... }    =>    for io (parallel) for ii (unrolled) for j (vectorized) { acc = for k ... }
//!
//! Tiles, vectors and threads go over results alone, so that an element is summed in the same order on every target and by any number of
//! threads. On a GPU each element has a thread of its own.

use super::gpu::{elements, transposing};
use super::writer::Writer;
use super::{placement, tiling};
use fusion_machine::Machine;
use fusion_machine::Target;

/// Schedules all stages of a kernel for a processor.
pub fn schedule(writer: &mut Writer, machine: &Machine) -> Result<(), String> {
    let machine = Machine { in_order: true, ..*machine };
    let nests = placement::place(writer, &[])?;
    nests.iter().try_for_each(|nest| tiling::tile(writer, nest, &machine))
}

/// The same for a GPU.
pub fn schedule_on_gpu(writer: &mut Writer, target: &Target) -> Result<(), String> {
    for nest in placement::place(writer, &[])? {
        if !transposing::schedule(writer, &nest, target)? {
            elements::schedule(writer, &nest, target)?;
        }
    }
    Ok(())
}
