//! `fusion`: imports, compiles, runs and times models.

use clap::Parser;
use fusion_tools::commands::Cli;
use fusion_tools::print;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(code) => code,
        Err(failure) => {
            print::error(&failure);
            ExitCode::FAILURE
        }
    }
}
