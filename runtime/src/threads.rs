//! The code that runs parallel loops on threads, ready to link into a compiled model: `threads/threads.c`.

use crate::embedded::embedded;
use crate::machine::Machine;

/// The object file for a machine. It defines `fusion_parallel`, which code calls, and `fusion_set_threads` of `docs/reference/abi.md`.
pub fn object(machine: Machine) -> &'static [u8] {
    embedded!(machine, "threads-threads")
}
