//! `--profile` of `fusion bench`: where the time goes, kernel by kernel.
//!
//! ```text
//!   library or model --+-- for a GPU, or emulated:  timed runs, then runs with each launch timed
//!                      +-- --profiler TOOL:         a profiler of the vendor watches `fusion bench model.so`
//!                      +-- for the processor:       each kernel as a program of its own, as `fusion explain --measure` does
//! ```

use super::device::Choice;
use crate::failure::Failure;
use crate::print;
use crate::profile::vendor::{self, Tool};
use crate::profile::{Profile, Samples, text, trace};
use crate::report::machine::Machine;
use crate::report::{Report, measure};
use clap::Args;
use fusion::driver::{self, CompileOptions, Target};
use fusion::load;
use fusion::package::package;
use fusion_operators::Tensor;
use fusion_runtime::measure::Plan;
use fusion_runtime::{Device, Module, npz, output};
use indexmap::IndexSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most runs whose launches are timed.
const MOST_RUNS: usize = 20;
/// The most seconds that kernels of a processor are measured.
const BUDGET: Duration = Duration::from_secs(20);

/// Where the time goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Profiling")]
pub struct Profiling {
    /// Tell how long each kernel takes, its bandwidth and FLOP rate beside the target's roof, and the operators it is made of.
    #[arg(long)]
    profile: bool,

    /// Write the same as JSON.
    #[arg(long, value_name = "FILE.json")]
    profile_json: Option<PathBuf>,

    /// Write a run as a trace for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,

    /// Have a profiler of the GPU's vendor watch the runs, and put what it tells into the same table: ncu, rocprofv3, rocprof-sys or
    /// rocprof-compute.
    #[arg(long, value_name = "TOOL")]
    profiler: Option<vendor::Choice>,

    /// Counters that the profiler shall read as well, by its names: metrics of ncu, counters of rocprofv3.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "profiler")]
    counters: Vec<String>,
}

/// A model that can be profiled.
pub struct Profiled {
    /// The model, loaded.
    pub module: Module,
    /// Its kernels.
    report: Report,
    /// What it was compiled from, where it was not compiled before.
    source: Option<Source>,
}

/// What a model was compiled to, and how.
struct Source {
    compiled: driver::Compiled,
    options: CompileOptions,
}

impl Profiling {
    /// Whether any of it is asked for.
    pub fn is_wanted(&self) -> bool {
        self.profile || self.profile_json.is_some() || self.trace.is_some() || self.profiler.is_some()
    }

    /// Whether runs of this process are timed, not those that a profiler watches.
    pub fn times_runs(&self) -> bool {
        self.profiler.is_none()
    }

    /// Profiles a model on these inputs.
    pub fn of(
        &self,
        model: &mut Profiled,
        inputs: &[Tensor],
        plan: Plan,
        how: &How,
    ) -> Result<Profile, Failure> {
        let description = model.module.description();
        if let Some(vendor::Choice(tool)) = self.profiler {
            tool.check(description.device, &description.target)?;
            return self.watched(tool, model, inputs, how);
        }
        match description.device {
            Some(device) => {
                let emulated = device == Device::Emulated;
                let plan = Plan { runs: plan.runs.min(MOST_RUNS), ..plan };
                let samples = Samples::of_session(&mut model.module.session()?, inputs, plan, emulated)?;
                Ok(Profile::new(&model.report, &samples, emulated))
            }
            None => model.measured(how.budget.unwrap_or(BUDGET)),
        }
    }

    fn watched(
        &self,
        tool: &'static Tool,
        model: &Profiled,
        inputs: &[Tensor],
        how: &How,
    ) -> Result<Profile, Failure> {
        let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
        let library = match &model.source {
            None => how.model.to_owned(),
            Some(source) => {
                let library = scratch.path().join("model.so");
                package(&source.compiled, None, |package| package.write_library(&library))?;
                library
            }
        };
        let file = scratch.path().join("inputs.npz");
        let names = model.module.description().inputs.iter().map(|input| input.name.as_str());
        npz::write(&file, names.zip(inputs))?;
        let mut arguments = vec![OsString::from("--inputs"), file.into()];
        if let Some(device) = how.device {
            arguments.extend(["--device".into(), device.to_string().into()]);
        }
        if let Some(threads) = how.threads {
            arguments.extend(["--threads".into(), threads.to_string().into()]);
        }
        let functions: IndexSet<&str> =
            model.report.kernels.iter().filter_map(|row| row.function.as_deref()).collect();
        let samples = tool.watch(&library, &functions, &arguments, &self.counters)?;
        Ok(Profile::new(&model.report, &samples, false))
    }

    /// Writes the files that were asked for; each appears whole or not at all.
    pub fn write(&self, profile: &Profile) -> Result<(), Failure> {
        let write = |file: &Path, text: String| {
            output::write(file, text.as_bytes()).map_err(Failure::file("write", file))
        };
        if let Some(file) = &self.profile_json {
            write(file, serde_json::to_string_pretty(profile)? + "\n")?;
        }
        if let Some(file) = &self.trace {
            write(file, serde_json::to_string(&trace::trace(profile))? + "\n")?;
        }
        Ok(())
    }

    /// Prints the table.
    pub fn show(&self, profile: &Profile) -> Result<(), Failure> {
        print::line(format_args!("\n{}", text::text(profile)))
    }
}

/// How a model is run, for a profiler that watches it.
pub struct How<'a> {
    /// The model.
    pub model: &'a Path,
    /// The device.
    pub device: Option<Choice>,
    /// Threads of the host.
    pub threads: Option<u16>,
    /// The most seconds that runs are timed, where it was given.
    pub budget: Option<Duration>,
}

impl Profiled {
    /// Loads a library, or compiles a model so that its kernels are known.
    pub fn load(model: &Path, options: CompileOptions) -> Result<Profiled, Failure> {
        if load::is_compiled(model)? {
            let module = Module::load(model)?;
            let mut report = Report::of_library(module.description());
            let target = report.target.parse::<Target>().ok();
            report.machine = target.map(|target| Machine::of(target.description()));
            return Ok(Profiled { module, report, source: None });
        }
        let options = CompileOptions { explain: true, ..options };
        let mut compiled = driver::compile(model, &options)?;
        let report = Report::of(&mut compiled, &options);
        let module = load::linked(&compiled)?;
        Ok(Profiled { module, report, source: Some(Source { compiled, options }) })
    }

    /// Kernels of a processor, each by itself.
    fn measured(&mut self, budget: Duration) -> Result<Profile, Failure> {
        let Some(Source { compiled, options }) = &self.source else {
            return Err(Failure::NoKernels(self.report.name.clone()));
        };
        let (differ, measured) = measure::kernels(&mut self.report, &compiled.programs, options, budget)?;
        if measured < differ {
            print::aside(format_args!(
                "note: {measured} of {differ} kernels were measured; --budget SECONDS allows for more"
            ));
        }
        Ok(Profile::of_measured(&self.report))
    }
}
