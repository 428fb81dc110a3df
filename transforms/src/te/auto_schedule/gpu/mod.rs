//! Default schedules for GPUs: which loops become blocks and which threads.
//!
//!     placement                as on a processor: what is computed where it is used
//!     elements                 a thread an element, or a few that lie together
//!
//! Every nest gets blocks and threads by one of the kinds; what none is for runs on one thread, slowly but rightly.

mod elements;

use super::placement;
use super::writer::Writer;
use crate::target::Target;

/// Schedules all stages of a kernel.
pub fn decide(writer: &mut Writer, target: &Target) -> Result<(), String> {
    let nests = placement::place(writer)?;
    for nest in &nests {
        elements::schedule(writer, nest, target)?;
    }
    Ok(())
}
