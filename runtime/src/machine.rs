//! Machines that code is for.

use object::elf;

/// Machines code can be packaged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Machine {
    X86_64,
    AArch64,
}

impl Machine {
    /// The machine this program runs on, when it is one of these.
    pub fn host() -> Option<Machine> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Machine::X86_64),
            "aarch64" => Some(Machine::AArch64),
            _ => None,
        }
    }

    /// The machine of an ELF header's `e_machine`.
    pub fn from_elf(machine: u16) -> Option<Machine> {
        match elf::Machine(machine) {
            elf::EM_X86_64 => Some(Machine::X86_64),
            elf::EM_AARCH64 => Some(Machine::AArch64),
            _ => None,
        }
    }

    /// Its name in target triples.
    pub fn name(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64",
            Machine::AArch64 => "aarch64",
        }
    }
}
