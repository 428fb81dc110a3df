//! `fusion ablate`: what each family of rules and each strategy is worth on a model.

use super::options::Options;
use crate::failure::Failure;
use crate::inputs::inputs;
use crate::print;
use crate::report::Report;
use crate::report::ablation::{Ablation, Way};
use clap::Args;
use fusion::driver::{self, CompileOptions, Compiled, Strategy};
use fusion::load;
use fusion_operators::Tensor;
use fusion_runtime::compare::{Tolerance, compare};
use fusion_runtime::measure::{Plan, measure};
use fusion_runtime::{Module, Session};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;

/// Compile a model without each family of rules, and with each strategy, and compare them.
///
/// Each way runs on the same inputs as the one with all rules, and its outputs are compared with that one's. Where families were
/// switched off by --rules-off, they are off in all rows.
#[derive(Debug, Args)]
pub struct Ablate {
    /// The model: .onnx, .relay, .mlir, .mlirbc or .jax.
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

/// Rounds over all programs: what disturbs the machine for a while does not disturb one of them alone.
const ROUNDS: u32 = 3;

/// A program that some ways give.
struct Program {
    fingerprint: u64,
    module: Module,
    /// The first of these ways.
    what: String,
}

impl Ablate {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        self.options.fit(&self.model)?;
        if load::is_compiled(&self.model)? {
            return Err(Failure::ModelNeeded(self.model.clone()));
        }
        let base = CompileOptions { explain: true, ..self.options.resolve()? };
        let (mut programs, mut ways): (Vec<Program>, Vec<(usize, Way)>) = (Vec::new(), Vec::new());
        for (what, options) in ways_of(&base) {
            let mut compiled = driver::compile(&self.model, &options)?;
            let fingerprint = fingerprint(&compiled);
            let known = programs.iter().position(|program| program.fingerprint == fingerprint);
            if known.is_none() {
                programs.push(Program { fingerprint, module: load::linked(&compiled)?, what: what.clone() });
            }
            let report = Report::of(&mut compiled, &options);
            let way = Way {
                what,
                kernels: report.kernels.len(),
                bytes: report.totals.bytes,
                predicted_s: report.totals.predicted_s.unwrap_or(0.0),
                measured_s: f64::INFINITY,
                same_as: known.map(|at| programs[at].what.clone()),
                error: 0.0,
            };
            ways.push((known.unwrap_or(programs.len() - 1), way));
        }
        let measured = self.measure(&programs)?;
        for (at, way) in &mut ways {
            (way.measured_s, way.error) = measured[*at];
        }
        let model = programs.first().map(|p| p.module.description().name.clone()).unwrap_or_default();
        let ways = ways.into_iter().map(|(_, way)| way).collect();
        let ablation = Ablation { model, target: base.target.name, ways };
        match self.json {
            true => print::line(serde_json::to_string_pretty(&ablation)?),
            false => print::line(ablation.text()),
        }
    }

    /// Seconds of each program, and how far its outputs are from those of the first.
    fn measure(&self, programs: &[Program]) -> Result<Vec<(f64, f64)>, Failure> {
        let Some(first) = programs.first() else { return Ok(Vec::new()) };
        let inputs = inputs(&first.module, self.inputs.as_deref(), self.seed)?;
        let mut sessions: Vec<Session> =
            programs.iter().map(|p| p.module.session()).collect::<Result<_, _>>()?;
        let mut best = vec![f64::INFINITY; programs.len()];
        let plan = Plan { warm_up: 2, runs: 1000, budget: Some(self.budget / ROUNDS) };
        for _ in 0..ROUNDS {
            for (session, best) in sessions.iter_mut().zip(&mut best) {
                *best = best.min(measure(plan, || session.run(&inputs))?.min_s);
            }
        }
        let wanted = sessions[0].outputs()?;
        let mut measured = Vec::new();
        for ((program, session), best) in programs.iter().zip(&sessions).zip(best) {
            let error = error(&session.outputs()?, &wanted);
            let error = error.map_err(|why| Failure::OtherOutputs { what: program.what.clone(), why })?;
            measured.push((best, error));
        }
        Ok(measured)
    }
}

/// The same for programs that are the same, but for their names.
fn fingerprint(compiled: &Compiled) -> u64 {
    let mut hasher = DefaultHasher::new();
    compiled.code.objects.hash(&mut hasher);
    compiled.constants.borrow().pieces.hash(&mut hasher);
    hasher.finish()
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
