//! The code that programs of the whole language need, ready to link into a library: `language/*.c`.

use crate::embedded::embedded;
use crate::machine::Machine;

/// The object files for a machine, by name. They define `fusion_run`, `fusion_call` and what reads values of `docs/reference/abi.md`, and
/// need `fusion_program_enter` and `fusion_program_facts`.
pub fn objects(machine: Machine) -> [(&'static str, &'static [u8]); 3] {
    [
        ("memory", embedded!(machine, "language-memory")),
        ("run", embedded!(machine, "language-run")),
        ("value", embedded!(machine, "language-value")),
    ]
}
