//! The process that runs a job: work and its objects come on the standard input, answers and outputs go to the standard output.
//!
//! ```text
//!     limits    memory, time, no files, no network        elf       what is in a shared library
//!     library   it in memory, and its functions           symbols   what it may use of the C library
//!     job       runs, times and writes
//! ```

mod elf;
mod job;
mod library;
mod limits;
mod symbols;
mod timing;

pub use elf::{Image, text_of};
pub use library::ABI_VERSION;
pub use limits::{Limits, NO_SANDBOX};

use std::io::{self, Write};

/// Runs a job.
pub fn main(limits: &Limits) -> io::Result<()> {
    let sandbox = limits.apply()?;
    if limits.is_probe() {
        return writeln!(io::stdout(), "{sandbox}");
    }
    job::run(&mut io::stdin().lock(), &mut io::stdout().lock())
}
