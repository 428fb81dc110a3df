//! `fusion what-if`: what the kernels of a model would take on other machines.

use super::options::Options;
use crate::failure::Failure;
use crate::print;
use crate::report::Report;
use crate::report::parity::{self, OnTarget};
use clap::Args;
use fusion::driver::{self, CompileOptions, Target};
use fusion::load;
use fusion_tuning::points::Points;
use indexmap::IndexMap;
use std::path::PathBuf;

/// Estimate the kernels of a model on machines that are described, side by side; nothing is run.
///
/// The first column is the base (--base). Beside it stand the machines of --target-file, --targets and --vary: what each kernel is estimated to take, beside the
/// base in brackets, its share of the roof there, and what bounds it. Kernels that are far from their roof are listed below (see docs/reference/targets.md).
#[derive(Debug, Args)]
pub struct WhatIf {
    /// The model: .onnx, .relay, .mlir, .mlirbc or .jax.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// What the others are compared with.
    #[arg(long, value_name = "TARGET", default_value = driver::HOST)]
    base: String,

    /// More targets, by name.
    #[arg(long, value_name = "TARGET,...", value_delimiter = ',', conflicts_with = "target")]
    targets: Vec<String>,

    /// The base with another number in its description, such as `l2_bytes=2097152`; several behind commas are a machine each. Wider vectors raise the peak.
    #[arg(long, value_name = "KEY=NUMBER,...", value_delimiter = ',', value_parser = number)]
    vary: Vec<(String, f64)>,

    /// Print JSON, with times in seconds.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: Options,
}

impl WhatIf {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        self.options.fit(&self.model)?;
        if load::is_compiled(&self.model)? {
            return Err(Failure::ModelNeeded(self.model.clone()));
        }
        let all = self.machines()?.into_iter().map(|target| self.on(target));
        let all = all.collect::<Result<Vec<OnTarget>, Failure>>()?;
        print::line(if self.json { serde_json::to_string_pretty(&all)? } else { parity::text(&all) })
    }

    /// The base first.
    fn machines(&self) -> Result<Vec<Target>, Failure> {
        let base: Target = self.base.parse()?;
        let mut all = vec![base.clone()];
        if let Some(file) = &self.options.target_file {
            all.push(Target::from_file(file)?);
        }
        if self.options.target != driver::HOST {
            all.push(self.options.target.parse()?);
        }
        for name in &self.targets {
            all.push(name.parse()?);
        }
        for (key, value) in &self.vary {
            all.push(base.varied(key, *value)?);
        }
        Ok(all)
    }

    fn on(&self, target: Target) -> Result<OnTarget, Failure> {
        let name = target.name.clone();
        let call = target.description().kernel_call;
        let (spaces, explain) = (target.device().is_none(), true);
        let options = Options { target_file: None, target: driver::HOST.to_owned(), ..self.options.clone() };
        let options = CompileOptions { target, spaces, explain, ..options.resolve()? };
        let mut compiled = driver::compile(&self.model, &options)?;
        let report = Report::of(&mut compiled, &options);
        let estimate = |(name, found): (&String, &fusion_conversion::tuned::Tunable)| {
            let points = Points::of(&found.space);
            Some((name.clone(), points.estimate(&points.of_choices(&found.space.default)?)))
        };
        let estimates: IndexMap<String, f64> = compiled.tunable.iter().filter_map(estimate).collect();
        Ok(OnTarget::of(&name, &report, call, &estimates))
    }
}

fn number(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("a variation is KEY=NUMBER, such as l2_bytes=2097152, and {text:?} is none");
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    let value: f64 = value.trim().parse().map_err(|_| wrong())?;
    Ok((key.trim().to_owned(), value))
}
