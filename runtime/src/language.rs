//! The code that programs of the whole language need, ready to link into a library: `language/*.c`.

use crate::object_file::Machine;

/// The object files for a machine, by name. They define `fusion_run`, `fusion_call` and what reads values of `docs/abi.md`, and
/// need `fusion_program_enter` and `fusion_program_facts`.
pub fn objects(machine: Machine) -> [(&'static str, &'static [u8]); 3] {
    match machine {
        Machine::X86_64 => [
            ("memory", include_bytes!(concat!(env!("OUT_DIR"), "/language-memory-x86_64.o"))),
            ("run", include_bytes!(concat!(env!("OUT_DIR"), "/language-run-x86_64.o"))),
            ("value", include_bytes!(concat!(env!("OUT_DIR"), "/language-value-x86_64.o"))),
        ],
        Machine::AArch64 => [
            ("memory", include_bytes!(concat!(env!("OUT_DIR"), "/language-memory-aarch64.o"))),
            ("run", include_bytes!(concat!(env!("OUT_DIR"), "/language-run-aarch64.o"))),
            ("value", include_bytes!(concat!(env!("OUT_DIR"), "/language-value-aarch64.o"))),
        ],
    }
}
