//! `fusion pool`: the tracker of a pool of devices, and what a pool has.

mod entry;
mod model;
mod serve;
mod status;

pub use entry::{Connected, Elsewhere};
pub use model::Remote;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Serve a pool of devices, or ask what it has.
///
/// Devices register with the tracker (`fusion device serve`), and `fusion tune`, `run` and `bench` have their jobs done there with --pool and --key
/// (see docs/how-to/device-pool.md).
#[derive(Debug, Args)]
pub struct Pool {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Serve>),
    Status(Box<status::Status>),
    Readmit(Box<status::Readmit>),
}

impl Pool {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        match &self.command {
            Command::Serve(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Readmit(command) => command.run(),
        }
    }
}
