//! The C code that goes into libraries, as `build.rs` compiled it for each machine.

/// The object file of a machine by its name there, which may come in parts.
macro_rules! embedded {
    ($machine:expr, $($part:literal)+) => {
        match $machine {
            $crate::machine::Machine::X86_64 => {
                include_bytes!(concat!(env!("OUT_DIR"), "/", $($part,)+ "-x86_64.o")).as_slice()
            }
            $crate::machine::Machine::AArch64 => {
                include_bytes!(concat!(env!("OUT_DIR"), "/", $($part,)+ "-aarch64.o")).as_slice()
            }
        }
    };
}

pub(crate) use embedded;
