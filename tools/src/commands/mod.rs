//! The command line of `fusion`, one command a file.

pub mod ablate;
pub mod bench;
pub mod compile;
pub mod dev;
pub mod device;
pub mod executor;
pub mod explain;
pub mod fuzz;
pub mod given;
pub mod import;
pub mod onnx_test;
pub mod options;
pub mod output;
mod pool;
pub mod profile;
pub mod quantize;
pub mod run;
pub mod targets;
mod timing;
pub mod tune;
pub mod what_if;

use crate::environment;
use crate::failure::Failure;
use crate::print;
use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// Compiles deep-learning models to native code, runs them and times them.
///
/// Models are ONNX (.onnx), Relay text (.relay), MLIR (.mlir) or StableHLO (.mlir, .mlirbc, .jax). A compiled model is a shared
/// library (.so) with a C interface; commands that run a model take either.
#[derive(Debug, Parser)]
#[command(
    name = "fusion",
    version,
    after_help = "Exit status: 0 on success, 1 on failure, 2 on wrong usage."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(import::Import),
    Compile(compile::Compile),
    Run(run::Run),
    Bench(bench::Bench),
    Explain(explain::Explain),
    Ablate(ablate::Ablate),
    OnnxTest(onnx_test::OnnxTest),
    Fuzz(fuzz::Fuzz),
    Tune(tune::Tune),
    WhatIf(what_if::WhatIf),
    Quantize(quantize::Quantize),
    Pool(pool::Pool),
    Device(fusion_pool_device::command::Device),
    Targets(targets::Targets),
    Dev(dev::Dev),
}

/// The program `fusion` over arguments, of which the first names it; gives the exit status.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(told) => {
            // That nobody reads help or the error is no failure.
            let _ = told.print();
            return told.exit_code() as u8;
        }
    };
    match cli.run() {
        Ok(passed) => u8::from(!passed),
        Err(failure) => {
            print::error(&failure);
            1
        }
    }
}

impl Cli {
    /// Carries out the command; false where what it tests fails.
    fn run(&self) -> Result<bool, Failure> {
        environment::check()?;
        match &self.command {
            Command::Import(command) => command.run(),
            Command::Compile(command) => command.run(),
            Command::Run(command) => command.run(),
            Command::Bench(command) => command.run(),
            Command::Explain(command) => command.run(),
            Command::Ablate(command) => command.run(),
            Command::OnnxTest(command) => return command.run(),
            Command::Fuzz(command) => return command.run(),
            Command::Tune(command) => command.run(),
            Command::WhatIf(command) => command.run(),
            Command::Quantize(command) => command.run(),
            Command::Pool(command) => command.run(),
            Command::Device(command) => device::run(command),
            Command::Targets(command) => command.run(),
            Command::Dev(command) => command.run(),
        }
        .map(|()| true)
    }
}
