//! `fusion bench`: how long a model takes.

use super::device::Choice;
use super::executor::Executor;
use super::given::Given;
use super::options::Options;
use super::pool::{Elsewhere, Remote};
use super::profile::{How, Profiled, Profiling};
use super::run::only_tensors;
use crate::failure::Failure;
use crate::inputs::{random, random_of};
use crate::print;
use crate::profile::Profile;
use clap::Args;
use fusion::load;
use fusion::programs;
use fusion_operators::Tensor;
use fusion_pool_protocol::messages::Timing;
use fusion_runtime::gpu::Device;
use fusion_runtime::measure::{self, Plan, Statistics};
use fusion_runtime::vm::read_program;
use fusion_runtime::{ModelDescription, Module, NativeProgram};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Time a model over many runs.
///
/// Prints the median, minimum, 95th percentile and mean, and what the median comes to in GFLOP/s
/// and GB/s where the model's kernels tell their cost.
#[derive(Debug, Args)]
pub struct Bench {
    /// The model, compiled (.so) or not (.onnx, .relay, .mlir, .mlirbc, .jax).
    #[arg(value_name = "MODEL_OR_SO")]
    model: PathBuf,

    /// How to run it [default: as it was compiled; graph for models of operators alone, aot for programs of the whole language].
    #[arg(long, value_name = "EXECUTOR", value_enum)]
    executor: Option<Executor>,

    #[command(flatten)]
    given: Given,

    /// Seed of random inputs, which a model of tensors of known shapes is run on where none are given: floats between -1 and 1,
    /// integers 0 or 1; but what the model was compiled for where it relies on a value.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Runs to time [default: as many as the budget allows, at most 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Runs before the clock starts.
    #[arg(long, value_name = "N", default_value_t = 3)]
    warm_up: u32,

    /// Stop timing after this many seconds [default: 3, without --runs].
    #[arg(long, value_name = "SECONDS", value_parser = budget)]
    budget: Option<Duration>,

    /// Print one JSON object, with times in seconds.
    #[arg(long)]
    json: bool,

    /// Threads to run on; 0 for one a processor [default: FUSION_THREADS, else 1].
    #[arg(long, value_name = "N")]
    threads: Option<u16>,

    /// The device to run on, such as cuda:0 or hip:1 [default: that of FUSION_DEVICE, else the first].
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,

    #[command(flatten)]
    profiling: Profiling,

    #[command(flatten)]
    elsewhere: Elsewhere,

    #[command(flatten)]
    options: Options,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    model: &'a str,
    target: &'a str,
    /// Whether it ran on the emulator, whose times say nothing of a GPU.
    emulated: bool,
    #[serde(flatten)]
    statistics: Statistics,
    /// Floating-point operations a second, in thousand millions.
    gflops: Option<f64>,
    /// Bytes read and written a second, in thousand millions.
    gbytes_per_s: Option<f64>,
    /// Where the time goes, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a Profile>,
}

impl Bench {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        self.options.fit(&self.model)?;
        if let Some(remote) = Remote::of(&self.model, &self.elsewhere, &self.options)? {
            return self.elsewhere(&remote);
        }
        let whole = matches!(self.executor, Some(Executor::Interp | Executor::Vm | Executor::Aot));
        if whole || programs::is_bytecode(&self.model)? {
            return self.program();
        }
        if self.profiling.is_wanted() {
            return self.profiled();
        }
        let module = load::load(&self.model, &self.options.resolve()?)?;
        if self.executor.is_some() && module.description().program.is_some() {
            return Err(Failure::NoGraph(self.model.clone()));
        }
        if module.description().takes_other_values() {
            return self.program();
        }
        let inputs = self.prepare(&module)?;
        let mut session = module.session()?;
        let statistics = measure::measure(self.plan(), || session.run(&inputs))?;
        self.show(&Report::new(module.description(), statistics))
    }

    /// Times a model on a device of a pool.
    fn elsewhere(&self, remote: &Remote) -> Result<(), Failure> {
        let only_here = [
            ("--executor", self.executor.is_some()),
            ("--device", self.device.is_some()),
            ("--profile", self.profiling.is_wanted()),
        ];
        if let Some((option, _)) = only_here.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::OnlyHere(option));
        }
        let description = remote.description();
        let inputs = match self.given.is_empty() {
            true => random_of(description, self.seed)?,
            false => description.bind(only_tensors(self.given.read()?)?)?,
        };
        let plan = self.plan();
        let timing = Timing {
            warm_up: self.warm_up,
            least_ns: 0,
            samples: plan.runs as u32,
            most_ns: plan.budget.map_or(0, |budget| budget.as_nanos() as u64),
            turns: 1,
        };
        let (_, times) = remote.run(&inputs, self.threads.unwrap_or(1), Some(timing))?;
        let nothing = || Failure::Inputs("the device gave no times".to_owned());
        self.show(&Report::new(description, Statistics::of(&times).ok_or_else(nothing)?))
    }

    /// Sets up how the model runs; gives its inputs.
    fn prepare(&self, module: &Module) -> Result<Vec<Tensor>, Failure> {
        Choice::apply(self.device, module)?;
        if let Some(threads) = self.threads {
            module.set_threads(threads);
        }
        match self.given.is_empty() {
            true => random(module, self.seed),
            false => Ok(module.bind(only_tensors(self.given.read()?)?)?),
        }
    }

    /// The same with where the time goes.
    fn profiled(&self) -> Result<(), Failure> {
        let mut model = Profiled::load(&self.model, self.options.resolve()?)?;
        if model.module.description().program.is_some() {
            return Err(Failure::NoProfile(self.model.clone()));
        }
        let inputs = self.prepare(&model.module)?;
        let how = How { model: &self.model, device: self.device, threads: self.threads, budget: self.budget };
        let statistics = match self.profiling.times_runs() {
            true => {
                let mut session = model.module.session()?;
                Some(measure::measure(self.plan(), || session.run(&inputs))?)
            }
            false => None,
        };
        let profile = self.profiling.of(&mut model, &inputs, self.plan(), &how)?;
        self.profiling.write(&profile)?;
        let timed = statistics.map(|statistics| Report::new(model.module.description(), statistics));
        match (self.json, timed) {
            (true, Some(report)) => self.show(&Report { profile: Some(&profile), ..report }),
            (true, None) => print::line(serde_json::to_string_pretty(&profile)?),
            (false, Some(report)) => self.show(&report).and_then(|()| self.profiling.show(&profile)),
            (false, None) => self.profiling.show(&profile),
        }
    }

    fn plan(&self) -> Plan {
        let budget = self.budget.or((self.runs.is_none()).then_some(Duration::from_secs(3)));
        Plan { warm_up: self.warm_up as usize, runs: self.runs.unwrap_or(1000) as usize, budget }
    }

    fn show(&self, report: &Report) -> Result<(), Failure> {
        if self.json {
            print::line(serde_json::to_string_pretty(report)?)
        } else {
            report.print(self.warm_up as usize)
        }
    }

    /// Times a program of the whole language, values in and out included.
    fn program(&self) -> Result<(), Failure> {
        if self.profiling.is_wanted() {
            return Err(Failure::NoProfile(self.model.clone()));
        }
        let bytecode = programs::is_bytecode(&self.model)?;
        if self.executor.is_some() && (bytecode || load::is_compiled(&self.model)?) {
            return Err(Failure::Compiled(self.model.clone()));
        }
        let inputs = self.given.read()?;
        let (plan, options) = (self.plan(), self.options.resolve()?);
        let (target, statistics) = match self.executor {
            Some(Executor::Interp) => {
                let statistics = programs::with_interpreted(&self.model, &options, inputs, |run| {
                    measure::measure(plan, || run().map(drop))
                });
                ("interp", statistics?)
            }
            None | Some(Executor::Aot) if !bytecode => {
                let program = match load::is_compiled(&self.model)? {
                    true => NativeProgram::load(&self.model)?,
                    false => programs::linked(&programs::native(&self.model, &options)?)?,
                };
                let program = program.ok_or(Failure::NoProgram)?;
                if let Some(threads) = self.threads {
                    program.module().set_threads(threads);
                }
                let inputs = programs::inputs_of_native(&program, inputs)?;
                ("aot", measure::measure(plan, || program.call(&inputs).map(drop))?)
            }
            _ => {
                let file = match bytecode {
                    true => read_program(&self.model)?,
                    false => programs::bytecode(&self.model, &options)?,
                };
                let mut machine = programs::machine(file, self.threads)?;
                let inputs = programs::inputs_of_machine(&machine, inputs)?;
                ("vm", measure::measure(plan, || machine.run(&inputs).map(drop))?)
            }
        };
        let model = fusion::source::name_of(&self.model);
        self.show(&Report {
            model: &model,
            target,
            statistics,
            gflops: None,
            gbytes_per_s: None,
            profile: None,
            emulated: false,
        })
    }
}

impl<'a> Report<'a> {
    fn new(description: &'a ModelDescription, statistics: Statistics) -> Self {
        let giga = |amount: Option<u64>| Some(statistics.per_second(amount?)? / 1e9);
        Report {
            model: &description.name,
            target: &description.target,
            emulated: description.device == Some(Device::Emulated),
            statistics,
            gflops: giga(description.flops()),
            gbytes_per_s: giga(description.bytes_moved()),
            profile: None,
        }
    }

    fn print(&self, warm_up: usize) -> Result<(), Failure> {
        let s = &self.statistics;
        print::line(format_args!(
            "{} on {}: {} runs after {warm_up} to warm up",
            self.model, self.target, s.runs
        ))?;
        if self.emulated {
            print::line(
                "the times are those of the emulator, which runs one thread after another, and say nothing of the GPU",
            )?;
        }
        for (name, time) in [("median", s.median_s), ("min", s.min_s), ("p95", s.p95_s), ("mean", s.mean_s)] {
            print::line(format_args!("{name:<8}{:>14}", print::seconds(time)))?;
        }
        for (name, rate) in [("GFLOP/s", self.gflops), ("GB/s", self.gbytes_per_s)] {
            if let Some(rate) = rate {
                print::line(format_args!("{name:<8}{rate:>11.2}"))?;
            }
        }
        Ok(())
    }
}

/// A number of seconds from the command line.
pub fn budget(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "it is negative or too large".to_owned())
}
