//! Relay text to MLIR and back.

use clap::Parser;
use fusion_tools::print;
use fusion_tools::translate::Translate;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Translate::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print::error(&failure);
            ExitCode::FAILURE
        }
    }
}
