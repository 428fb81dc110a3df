//! How long kernels take, each as a program of its own on random inputs.
//!
//! A kernel by itself finds what it reads in the caches where that fits, and so may take less than in the model. What a call of the
//! program costs is taken off. Kernels are measured once however often they are called, those predicted to take longest first,
//! until the budget is used up; of the others nothing is known.

use super::Report;
use crate::failure::Failure;
use crate::inputs::inputs;
use fusion::driver::{CompileOptions, Compiled};
use fusion::load;
use fusion_machine::Dot4;
use fusion_runtime::Module;
use fusion_runtime::measure::{Plan, measure};
use indexmap::IndexMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The most seconds that a kernel runs.
const KERNEL: Duration = Duration::from_millis(100);
/// A program that does nothing to speak of.
const NOTHING: &str = "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = relay.relu %x : (tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}";

/// The most seconds that a whole model runs.
pub const MODEL: Duration = Duration::from_secs(1);

/// Measures a compiled model and its kernels, and notes the seconds in the report. Gives how many kernels differ, and how many of them
/// were measured.
pub fn all(
    report: &mut Report,
    compiled: &Compiled,
    options: &CompileOptions,
    budget: Duration,
) -> Result<(usize, usize), Failure> {
    report.totals.model_s = Some(seconds(&load::linked(compiled)?, MODEL)?);
    kernels(report, &compiled.programs, options, budget)
}

/// Measures kernels, given as programs of their own by name, and notes the seconds in the report. Gives how many differ, and how
/// many of them were measured.
pub fn kernels(
    report: &mut Report,
    programs: &IndexMap<String, String>,
    options: &CompileOptions,
    budget: Duration,
) -> Result<(usize, usize), Failure> {
    let start = Instant::now();
    let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
    let options = options.of_kernel();
    let run = |program: &str| seconds_of(program, &options, scratch.path());
    let call = run(NOTHING)?;
    let mut order: IndexMap<&str, f64> = IndexMap::new();
    for row in &report.kernels {
        *order.entry(&row.name).or_default() += row.runs as f64 * row.predicted_s.unwrap_or(0.0);
    }
    order.sort_by(|_, a, _, b| b.total_cmp(a));
    let mut measured: IndexMap<String, f64> = IndexMap::new();
    let differ = order.len();
    for name in order.into_keys().map(str::to_owned) {
        if start.elapsed() >= budget {
            break;
        }
        if let Some(program) = programs.get(&name) {
            // The clock does not see what is shorter.
            measured.insert(name, (run(program)? - call).max(1e-9));
        }
    }
    for row in &mut report.kernels {
        row.measured_s = measured.get(&row.name).copied();
        let roof = report.machine.as_ref().zip(row.flops).zip(row.bytes);
        let dot4 = row.dot4.as_deref().and_then(Dot4::named);
        let roof =
            roof.map(|((machine, flops), bytes)| machine.with_dots(dot4).roof(flops as f64, bytes as f64));
        row.roofline = roof.zip(row.measured_s).map(|(roof, measured)| roof / measured);
    }
    report.totals.measured(&report.kernels);
    Ok((differ, measured.len()))
}

fn seconds_of(program: &str, options: &CompileOptions, scratch: &Path) -> Result<f64, Failure> {
    let file = scratch.join("kernel.mlir");
    std::fs::write(&file, program).map_err(Failure::file("write", &file))?;
    seconds(&load::load(&file, options)?, KERNEL)
}

/// Seconds of the fastest run of a model on random inputs.
pub fn seconds(module: &Module, budget: Duration) -> Result<f64, Failure> {
    let inputs = inputs(module, None, 0)?;
    let mut session = module.session()?;
    let plan = Plan { warm_up: 2, runs: 1000, budget: Some(budget) };
    Ok(measure(plan, || session.run(&inputs))?.min_s)
}
