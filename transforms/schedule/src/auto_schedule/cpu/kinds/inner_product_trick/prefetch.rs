//! The weights of the next panel, prefetched while this one is multiplied.
//!
//!     for ft  for pi                     for ft  for pi
//!       for q  .. x[q, pi] w[ft, q]  =>    for q  .. x[q, pi] w[ft, q], prefetch a part of w[ft + 1]
//!
//! Each number of a panel is read into all lanes of a register by itself, from six places of the panel in turns, and a core's prefetcher makes nothing of it:
//! weights that are not in its caches, as in a model with more of them than the last cache holds for one program, come at 6 to 9 GB/s while
//! nothing is multiplied. On a core of Zen 5, with weights from memory and with weights from its caches, before and after:
//!
//!     96 -> 576 channels of 14 x 14    114 and 74 us,    78 and 76
//!     160 -> 960 of 7 x 7               80 and 48        56 and 52
//!     320 -> 1280 of 7 x 7             205 and 139      153 and 150

use super::{BYTES, InnerProductTrick};
use crate::auto_schedule::cpu::kinds::contraction::serial_step;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle};
use fusion_machine::Machine;

/// Has the steps of the products prefetch what the next iteration of the loop `panels` reads of the right side, where that is constant,
/// more than the nearest cache holds, and the constants of all kernels are so many that they leave the others.
pub(super) fn next_panel(
    writer: &mut Writer,
    trick: &InnerProductTrick,
    panels: AxisId,
    machine: &Machine,
    constant: &[bool],
) -> Result<(), String> {
    let bytes = trick.right.shape.iter().product::<u64>().saturating_mul(BYTES);
    let may_wait =
        machine.constants_leave && bytes > machine.first_cache && trick.right.is_constant(constant);
    let (Some(input), Some(step), true) =
        (trick.right.input, serial_step(&writer.tree, trick.products), may_wait)
    else {
        return Ok(());
    };
    writer.prefetch_over(Handle::Input(input), (trick.host, panels), 1, Some((trick.products, step)))
}
