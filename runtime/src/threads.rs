//! The code that runs parallel loops on threads, ready to link into a compiled model: `threads/threads.c`.

use crate::object_file::Machine;

/// The object file for a machine. It defines `fusion_parallel`, which code calls, and `fusion_set_threads` of `docs/abi.md`.
pub fn object(machine: Machine) -> &'static [u8] {
    match machine {
        Machine::X86_64 => include_bytes!(concat!(env!("OUT_DIR"), "/threads-threads-x86_64.o")),
        Machine::AArch64 => include_bytes!(concat!(env!("OUT_DIR"), "/threads-threads-aarch64.o")),
    }
}
