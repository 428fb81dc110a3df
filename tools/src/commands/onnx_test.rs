//! `fusion onnx-test`: ONNX backend tests, each in a process of its own.

use super::bench::budget as seconds;
use super::options::Options;
use crate::failure::Failure;
use crate::onnx::case::{self, Case};
use crate::onnx::{Verdict, pool, worker};
use crate::{print, program};
use clap::Args;
use fusion::driver::CompileOptions;
use fusion_runtime::compare::Tolerance;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Run ONNX backend tests.
///
/// Compiles model.onnx, runs it on every test_data_set_N/input_K.pb, and compares what it gives
/// with output_K.pb; with --emulate, kernels of a GPU run on this machine's processor.
///
/// Prints `PASS name`, `FAIL name: why` or `UNSUPPORTED name: why` for each case, and last how many
/// there were of each. The exit status is 1 when any case failed.
#[derive(Debug, Args)]
pub struct OnnxTest {
    /// Test directories, or directories of such.
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,

    /// Run only the cases whose names contain this text.
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,

    /// Cases to run at a time [default: one a processor].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,

    /// Seconds after which a case fails.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    timeout: Duration,

    /// Error allowed relative to the expected element.
    #[arg(long, value_name = "NUMBER", default_value_t = Tolerance::default().relative)]
    rtol: f64,

    /// Error allowed besides, absolute.
    #[arg(long, value_name = "NUMBER", default_value_t = Tolerance::default().absolute)]
    atol: f64,

    /// Compile and load each case, and leave it at that: code for a GPU that this machine does not have.
    #[arg(long)]
    no_run: bool,

    /// Run the one case in the directory in this process, and print its verdict as JSON.
    #[arg(long, hide = true)]
    worker: bool,

    #[command(flatten)]
    options: Options,
}

/// How many cases ended how.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    unsupported: usize,
}

impl OnnxTest {
    /// Carries out the command.
    pub fn run(&self) -> Result<bool, Failure> {
        let mut cases = vec![];
        for directory in &self.directories {
            cases.extend(case::find(directory)?);
        }
        if cases.is_empty() {
            let named: Vec<String> = self.directories.iter().map(|d| d.display().to_string()).collect();
            return Err(Failure::NoCases(named.join(", ")));
        }
        if self.worker {
            return self.work(&cases[0]);
        }
        let (all, example) = (cases.len(), cases[0].name.clone());
        cases.retain(|case| case.name.contains(&self.filter));
        if cases.is_empty() {
            return Err(Failure::NoneFiltered { filter: self.filter.clone(), all, example });
        }
        self.options.resolve()?; // what is wrong with them is wrong for every case

        // What a killed process leaves behind goes with this directory.
        let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
        let program = program::command().map_err(Failure::file("find", Path::new("this program")))?;
        let jobs = match self.jobs {
            Some(jobs) => jobs as usize,
            None => std::thread::available_parallelism().map_or(1, Into::into),
        };
        let command = |i: usize| self.command(&program, &cases[i], scratch.path());
        let bar = progress_bar(cases.len());
        let mut counts = Counts::default();
        let mut printed = Ok(());
        pool::run(cases.len(), jobs, self.timeout, command, |i, verdict| {
            let line = counts.count(&cases[i].name, &verdict);
            bar.inc(1);
            let result = bar.suspend(|| print::line(line));
            if printed.is_ok() {
                printed = result;
            }
        });
        bar.finish_and_clear();
        printed?;
        let Counts { passed, failed, unsupported } = counts;
        print::line(format_args!("{passed} passed, {failed} failed, {unsupported} unsupported"))?;
        Ok(failed == 0)
    }

    fn work(&self, case: &Case) -> Result<bool, Failure> {
        let tolerance = (!self.no_run).then_some(Tolerance {
            relative: self.rtol,
            absolute: self.atol,
            ..Tolerance::default()
        });
        let verdict =
            worker::run(case, &CompileOptions { jobs: Some(1), ..self.options.resolve()? }, tolerance);
        print::line(serde_json::to_string(&verdict)?)?;
        Ok(true)
    }

    /// The command that runs one case.
    fn command(&self, program: &[PathBuf], case: &Case, scratch: &Path) -> Command {
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]).args(["onnx-test", "--worker"]);
        command.arg(format!("--rtol={}", self.rtol)).arg(format!("--atol={}", self.atol));
        match &self.options.target_file {
            Some(file) => command.arg(format!("--target-file={}", file.display())),
            None => command.arg(format!("--target={}", self.options.target)),
        };
        let options = &self.options;
        let switches =
            [("--emulate", options.emulate), ("--no-run", self.no_run), ("--cubin", options.cubin)];
        command.args(switches.iter().filter(|(_, on)| *on).map(|(name, _)| name));
        if let Some(level) = options.fp_math {
            command.arg(format!("--fp-math={}", level.name()));
        }
        if let Some(error) = options.max_error {
            command.arg(format!("--max-error={error:e}"));
        }
        command.arg(format!("--opt-level={}", options.opt_level));
        command.arg(format!("--strategy={}", options.strategy().name()));
        if !options.rules_off.is_empty() {
            command.arg(format!("--rules-off={}", options.rules_off.join(",")));
        }
        for file in &options.device_libraries {
            command.arg(format!("--device-library={}", file.display()));
        }
        for path in &self.options.schedules {
            command.arg(format!("--schedule={}", path.display()));
        }
        for (name, extents) in &self.options.shapes {
            let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
            command.arg(format!("--shape={name}={}", extents.join(",")));
        }
        for (name, path) in &self.options.bindings {
            command.arg(format!("--bind={name}={}", path.display()));
        }
        command.arg("--").arg(&case.directory).env("TMPDIR", scratch);
        command
    }
}

impl Counts {
    /// Counts a case and gives its line.
    fn count(&mut self, name: &str, verdict: &Verdict) -> String {
        let one_line = |why: &str| why.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        match verdict {
            Verdict::Pass => {
                self.passed += 1;
                format!("PASS {name}")
            }
            Verdict::Fail(why) => {
                self.failed += 1;
                format!("FAIL {name}: {}", one_line(why))
            }
            Verdict::Unsupported(why) => {
                self.unsupported += 1;
                format!("UNSUPPORTED {name}: {}", one_line(why))
            }
        }
    }
}

fn progress_bar(cases: usize) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {elapsed} of about {duration}");
    ProgressBar::new(cases as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
