//! `fusion ablate`: what each family of rules and each strategy is worth on a model.

use super::options::Options;
use crate::driver::{self, CompileOptions, Strategy};
use crate::failure::Failure;
use crate::inputs::inputs;
use crate::report::Report;
use crate::report::ablation::{Ablation, Way};
use crate::{load, print};
use clap::Args;
use fusion_operators::Tensor;
use fusion_runtime::compare::{Tolerance, compare};
use fusion_runtime::measure::{Plan, measure};
use std::path::PathBuf;
use std::time::Duration;

/// Compile a model without each family of rules, and with each strategy, and compare them.
///
/// Each way runs on the same inputs as the one with all rules, and its outputs are compared with that one's. Where families were
/// switched off by --rules-off, they are off in all rows.
#[derive(Debug, Args)]
pub struct Ablate {
    /// The model: .onnx, .relay or .mlir.
    model: PathBuf,

    /// Inputs by name, as numpy.savez writes them. By default random ones: floats between -1 and 1,
    /// integers 0 or 1; but what the model was compiled for where it relies on a value.
    #[arg(long, value_name = "FILE.npz")]
    inputs: Option<PathBuf>,

    /// Seed of random inputs.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Stop timing each way after this many seconds.
    #[arg(long, value_name = "SECONDS", default_value = "0.3", value_parser = super::bench::budget)]
    budget: Duration,

    /// Print one JSON object, with sizes in bytes and times in seconds.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: Options,
}

impl Ablate {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let base = CompileOptions { explain: true, ..self.options.resolve()? };
        let (mut ways, mut wanted, mut name) = (Vec::new(), None, String::new());
        for (what, options) in ways_of(&base) {
            let (way, outputs, model) = self.way(what, &options, wanted.as_deref())?;
            ways.push(way);
            wanted.get_or_insert(outputs);
            name = model;
        }
        let ablation = Ablation { model: name, target: base.target.name, ways };
        match self.json {
            true => print::line(serde_json::to_string_pretty(&ablation)?),
            false => print::line(ablation.text()),
        }
    }

    /// A way, its outputs, and the model's name.
    fn way(
        &self,
        what: String,
        options: &CompileOptions,
        wanted: Option<&[Tensor]>,
    ) -> Result<(Way, Vec<Tensor>, String), Failure> {
        let mut compiled = driver::compile(&self.model, options)?;
        let module = load::linked(&compiled)?;
        let inputs = inputs(&module, self.inputs.as_deref(), self.seed)?;
        let mut session = module.session()?;
        let plan = Plan { warm_up: 2, runs: 1000, budget: Some(self.budget) };
        let measured_s = measure(plan, || session.run(&inputs))?.min_s;
        let outputs = session.outputs()?;
        let error = match wanted {
            Some(wanted) => {
                error(&outputs, wanted).map_err(|why| Failure::OtherOutputs { what: what.clone(), why })?
            }
            None => 0.0,
        };
        let report = Report::of(&mut compiled, options);
        let way = Way {
            what,
            kernels: report.kernels.len(),
            bytes: report.totals.bytes,
            predicted_s: report.totals.predicted_s.unwrap_or(0.0),
            measured_s,
            error,
        };
        Ok((way, outputs, report.name))
    }
}

/// All rules, each family off, and the other strategies.
fn ways_of(base: &CompileOptions) -> Vec<(String, CompileOptions)> {
    let with = |strategy| CompileOptions { strategy, ..base.clone() };
    let mut ways = vec![("all on".to_owned(), with(Strategy::EGraph))];
    for family in driver::switches().filter(|family| !base.rules_off.contains(family)) {
        let mut options = with(Strategy::EGraph);
        options.rules_off.push(family);
        ways.push((format!("{family} off"), options));
    }
    for (strategy, name) in Strategy::ALL.iter().filter(|(s, _)| *s != Strategy::EGraph) {
        ways.push((format!("strategy {name}"), with(*strategy)));
    }
    ways
}

/// The largest difference of outputs from those wanted, as a part of the largest element of each; 0 for none.
fn error(outputs: &[Tensor], wanted: &[Tensor]) -> Result<f64, String> {
    let mut error: f64 = 0.0;
    for (output, wanted) in outputs.iter().zip(wanted) {
        let found = compare(output, wanted, Tolerance::default()).map_err(|mismatch| mismatch.to_string())?;
        let finite = (0..wanted.len()).map(|i| wanted.f64_at(i).abs()).filter(|x| x.is_finite());
        let largest = finite.fold(0.0, f64::max);
        if found.max_absolute > 0.0 {
            error = error.max(found.max_absolute / largest.max(f64::MIN_POSITIVE));
        }
    }
    Ok(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_and_strategy_has_a_row() {
        let base =
            CompileOptions { rules_off: vec!["axes"], ..CompileOptions::for_target(Default::default()) };
        let ways = ways_of(&base);
        let names: Vec<&str> = ways.iter().map(|(what, _)| what.as_str()).collect();
        assert_eq!((names[0], names[1]), ("all on", "algebra off"));
        assert!(
            !names.contains(&"axes off")
                && names.ends_with(&["strategy none", "strategy relay", "strategy xla"])
        );
        assert_eq!(ways[1].1.rules_off, ["axes", "algebra"]);
    }

    #[test]
    fn the_error_is_relative_to_the_largest_element() {
        let tensor = |values: &[f32]| Tensor::from_slice(&[values.len()], values).unwrap();
        assert_eq!(error(&[tensor(&[0.0, 4.0])], &[tensor(&[0.0, 4.0])]), Ok(0.0));
        assert_eq!(error(&[tensor(&[1.0, 4.0])], &[tensor(&[0.0, 4.0])]), Ok(0.25));
        assert!(error(&[tensor(&[1.0])], &[tensor(&[0.0, 4.0])]).is_err());
    }
}
