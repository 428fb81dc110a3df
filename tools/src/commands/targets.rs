//! `fusion targets`: what models can be compiled for, and what is known of it.

use crate::calibrate::calibrate;
use crate::failure::Failure;
use crate::print;
use crate::targets::{self, gpus};
use clap::Args;
use fusion::driver::Target;
use std::path::PathBuf;

/// List what models can be compiled for, with what the compiler knows of each.
///
/// Descriptions of your own are files NAME.toml in the directory $FUSION_TARGETS, by default
/// $XDG_CONFIG_HOME/fusion/targets or ~/.config/fusion/targets; they are `cpu:NAME` then.
#[derive(Debug, Args)]
pub struct Targets {
    /// Print the description of this one, as a file to edit.
    #[arg(value_name = "TARGET")]
    target: Option<String>,

    /// Print the names of the GPUs that are described, a line each, and nothing else.
    #[arg(long, conflicts_with = "target")]
    gpus: bool,

    /// Measure this machine, which takes some ten seconds in which it should do nothing else, and keep its description
    /// where `cpu` finds it.
    #[arg(long, conflicts_with_all = ["target", "gpus"])]
    calibrate: bool,

    /// Where to write the description instead.
    #[arg(short, long, value_name = "FILE.toml", requires = "calibrate")]
    output: Option<PathBuf>,
}

impl Targets {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        if self.calibrate {
            return self.calibrate();
        }
        if self.gpus {
            return gpus()?.iter().try_for_each(|(name, _)| print::line(name));
        }
        if let Some(name) = &self.target {
            return print::line(name.parse::<Target>()?.description().to_string().trim_end());
        }
        let all = targets::targets()?;
        let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
        for (name, about) in all {
            print::line(format_args!("{name:<width$}{}", about.replace('\n', &format!("\n{:width$}", ""))))?;
        }
        Ok(())
    }

    fn calibrate(&self) -> Result<(), Failure> {
        let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
        let host = Target::uncalibrated();
        let path = match &self.output {
            Some(path) => path.clone(),
            None => targets::file_of_host().ok_or(Failure::NoDirectory)?,
        };
        let measured = calibrate(host.description(), scratch.path())?;
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(Failure::file("write", directory))?;
        }
        std::fs::write(&path, measured.to_string()).map_err(Failure::file("write", &path))?;
        print::line(format_args!("{}\n{}", path.display(), targets::facts(&measured)))
    }
}
