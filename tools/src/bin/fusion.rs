//! `fusion`: imports, compiles, runs and times models.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(fusion_tools::commands::main(std::env::args_os()))
}
