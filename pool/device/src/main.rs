//! A device of a pool as a program of its own.

use clap::Parser;
use fusion_pool_device::command::Device;
use std::process::ExitCode;

/// A device of a pool: runs kernels that a tracker sends.
#[derive(Debug, Parser)]
#[command(name = "fusion-device", version)]
struct Cli {
    #[command(flatten)]
    device: Device,
}

fn main() -> ExitCode {
    let own = std::env::current_exe().unwrap_or_else(|_| "fusion-device".into());
    match Cli::parse().device.run(vec![own, "child".into()], None) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
