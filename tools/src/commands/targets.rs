//! `fusion targets`: what models can be compiled for.

use crate::driver;
use crate::failure::Failure;
use crate::print;
use clap::Args;

/// List what models can be compiled for.
#[derive(Debug, Args)]
pub struct Targets {}

impl Targets {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        for (name, about) in driver::targets() {
            print::line(format_args!("{name:<16}{about}"))?;
        }
        Ok(())
    }
}
