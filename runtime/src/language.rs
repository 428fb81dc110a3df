//! The code that programs of the whole language need, ready to link into a library: `language/*.c`.

use crate::embedded::embedded;
use crate::machine::Machine;

/// The object files for a machine, by name. They define `fusion_run`, `fusion_call` and what reads values of `docs/reference/abi.md`, and
/// need `fusion_program_enter`, `fusion_program_facts` and `fusion_program_strings`.
pub fn objects(machine: Machine) -> [(&'static str, &'static [u8]); 7] {
    [
        ("memory", embedded!(machine, "language-memory")),
        ("run", embedded!(machine, "language-run")),
        ("strings", embedded!(machine, "language-strings")),
        ("text", embedded!(machine, "language-text")),
        ("decimal", embedded!(machine, "language-decimal")),
        ("shapes", embedded!(machine, "language-shapes")),
        ("value", embedded!(machine, "language-value")),
    ]
}
