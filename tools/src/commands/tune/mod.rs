//! `fusion tune`: finds schedules by measuring them.

mod logs;
mod progress;

use super::device;
use super::options::Options;
use super::output;
use super::pool::{Connected, Elsewhere};
use crate::failure::Failure;
use crate::report::Report;
use crate::report::machine::Machine;
use crate::{print, program};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use fusion::driver::{self, CompileOptions};
use fusion_tuning::kernel::Kernel;
use fusion_tuning::log::{self, Record};
use fusion_tuning::measure::{Devices, Local, Pool, Replay, Running, worker};
use fusion_tuning::tuner;
use fusion_tuning::{cost_model, search, target_of};
use indexmap::IndexMap;
use logs::{Logs, Merge, Statistics};
use progress::Progress;
use std::io::{Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Find faster schedules for the kernels of a model by measuring them on this machine, or on devices of a pool.
///
/// Writes a log, a line of JSON a measurement, which `fusion compile --tuning-log` and all other commands that compile take. Each kernel's default is
/// measured too, and stays where nothing is faster (see docs/how-to/tune.md).
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Tune {
    #[command(subcommand)]
    command: Option<Command>,

    /// The model: .onnx, .relay, .mlir, .mlirbc or .jax.
    #[arg(required = true, value_name = "MODEL")]
    model: Option<PathBuf>,

    /// The log. What it has already stays there.
    #[arg(short, long, required = true, value_name = "LOG.jsonl")]
    output: Option<PathBuf>,

    /// Measurements in all, besides those of the defaults and those of the best few at the end.
    #[arg(long, value_name = "N", default_value_t = 200)]
    trials: usize,

    /// Begin no more measurements after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = super::bench::budget)]
    time: Option<Duration>,

    /// Leave a kernel once it reaches this share of its roof, such as 0.95. The roof is what its arithmetic or its bytes take at least, by the description
    /// of the machine.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    until: Option<f64>,

    /// Leave a kernel after so many batches of eight that found nothing faster, where the cost model expects nothing either; 0 to go on.
    #[arg(long, value_name = "N", default_value_t = 6)]
    patience: usize,

    /// Logs of other kernels and machines, or directories of logs, of which the cost model learns before it starts.
    #[arg(long, value_name = "DIR|LOG", num_args = 1..)]
    warm_start: Vec<PathBuf>,

    /// The seed of the search.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// How points are found.
    #[arg(long, value_name = "SEARCH", default_value = "annealing", value_parser = named(search::Kind::ALL))]
    search: search::Kind,

    /// What predicts how long a point takes.
    #[arg(long, value_name = "MODEL", default_value = "trees", value_parser = named(cost_model::Kind::ALL))]
    cost_model: cost_model::Kind,

    /// Threads that kernels run on; 0 for one a processor.
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: u16,

    /// Kernels that are compiled at a time [default: one a processor].
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,

    /// Seconds after which a kernel is taken to hang.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = super::bench::budget)]
    timeout: Duration,

    /// Take the times from a log in place of measuring; the search is the same, step by step.
    #[arg(long, value_name = "LOG.jsonl")]
    replay: Option<PathBuf>,

    /// Write what was found as a page for the browser: curves of the best, predictions beside times, what the best changed, and which features tell the
    /// times.
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,

    #[command(flatten)]
    elsewhere: Elsewhere,

    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print what logs found best for each kernel.
    Best(Logs),
    /// Print what there is in logs of each kernel: measurements, those that failed and why, and by which versions.
    Stats(Statistics),
    /// Write the measurements of several logs into one.
    Merge(Merge),
    /// Answer requests of `fusion tune`.
    #[command(hide = true)]
    Worker,
}

fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [(T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().map(|(_, name)| *name));
    names.map(|name| all.iter().find(|(_, known)| *known == name).map_or(all[0].0, |(value, _)| *value))
}

impl Tune {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        match (&self.command, &self.model, &self.output) {
            (Some(Command::Worker), ..) => {
                worker::serve(stdin().lock(), stdout().lock()).map_err(Failure::file("read", Path::new("-")))
            }
            (Some(Command::Best(logs)), ..) => logs.best(),
            (Some(Command::Stats(statistics)), ..) => statistics.run(),
            (Some(Command::Merge(merge)), ..) => merge.run(),
            (None, Some(model), Some(output)) => self.tune(model, output),
            // clap asks for both.
            (None, ..) => Ok(()),
        }
    }

    fn tune(&self, model: &Path, log_file: &Path) -> Result<(), Failure> {
        self.options.fit(model)?;
        self.html.as_deref().map_or(Ok(()), output::can_be_written)?;
        // A replay has its times from a log, wherever they were measured.
        let elsewhere = if self.replay.is_some() { None } else { self.elsewhere.connect()? };
        if elsewhere.is_some() && self.threads == 0 {
            return Err(Failure::ThreadsElsewhere);
        }
        let options = match &elsewhere {
            Some(pool) => pool.aim(&self.options)?.resolve()?,
            None => self.options.resolve()?,
        };
        if options.target.device().is_some() {
            return Err(Failure::TunesProcessors(options.target.name.clone()));
        }
        let kernels = kernels(model, &options, self.counted_threads())?;
        if kernels.is_empty() {
            return Err(Failure::NothingToTune(model.to_owned()));
        }
        let search = tuner::Options {
            trials: self.trials,
            time: self.time,
            seed: self.seed,
            search: self.search,
            model: self.cost_model,
            target: target_of(&options),
            threads: self.counted_threads(),
            until: self.until,
            patience: Some(self.patience).filter(|rounds| *rounds > 0),
            past: match self.warm_start.is_empty() {
                true => Vec::new().into(),
                false => cost_model::from_logs(&self.warm_start)?.into(),
            },
        };
        let replayed = self.replay.as_ref().map(|path| log::read(path)).transpose()?;
        let mut file = log::append(log_file)?;
        let mut progress = Progress::of(&kernels, self.trials, self.time);
        let mut written: Vec<Record> = Vec::new();
        let mut keep = |record: &Record| {
            append(&mut file, log_file, record)?;
            written.push(record.clone());
            progress.tell(record);
            Ok::<(), Failure>(())
        };
        match (replayed, elsewhere) {
            (Some(records), _) => tuner::tune(&kernels, &search, &mut Replay::of(records), &mut keep)?,
            (None, Some(pool)) => tuner::tune(&kernels, &search, &mut self.pool(&options, pool)?, &mut keep)?,
            (None, None) => tuner::tune(&kernels, &search, &mut self.local(&options)?, &mut keep)?,
        }
        progress.end();
        logs::write_page(self.html.as_deref(), &written)?;
        print::line(logs::best_of(&log::best(&written)))
    }

    /// The threads that kernels run on.
    fn counted_threads(&self) -> u16 {
        match self.threads {
            0 => {
                std::thread::available_parallelism().map_or(1, |n| u16::try_from(n.get()).unwrap_or(u16::MAX))
            }
            threads => threads,
        }
    }

    /// What measures on this machine, by processes of this program.
    fn local(&self, options: &CompileOptions) -> Result<Local, Failure> {
        let mut command = program::command().map_err(Failure::file("find", Path::new("this program")))?;
        command.extend(["tune".into(), "worker".into()]);
        let running =
            Running { command, threads: self.threads, jobs: self.counted_jobs(), timeout: self.timeout };
        Ok(Local::new(options, running)?)
    }

    /// What measures on devices of a pool.
    fn pool(&self, options: &CompileOptions, pool: Connected) -> Result<Pool, Failure> {
        let devices = Devices {
            key: pool.key,
            command: device::child()?,
            threads: self.threads,
            jobs: self.counted_jobs(),
            timeout: self.timeout,
        };
        Ok(Pool::new(options, pool.client, devices)?)
    }

    /// The kernels that are compiled at a time.
    fn counted_jobs(&self) -> usize {
        match self.jobs {
            Some(jobs) => jobs as usize,
            None => std::thread::available_parallelism().map_or(1, Into::into),
        }
    }
}

/// The kernels of a model that differ, with how often each is called and the roof over it on these threads.
fn kernels(model: &Path, options: &CompileOptions, threads: u16) -> Result<Vec<Kernel>, Failure> {
    let options = CompileOptions { spaces: true, explain: true, choices: IndexMap::new(), ..options.clone() };
    let mut compiled = driver::compile(model, &options).map_err(fusion::Error::from)?;
    let report = Report::of(&mut compiled, &options);
    let machine = Machine::of_threads(options.target.description(), threads);
    let mut kernels: IndexMap<String, Kernel> = IndexMap::new();
    for (row, predicted) in report.kernels.iter().zip(&compiled.predicted) {
        let Some(found) = compiled.tunable.get(&row.name) else { continue };
        let own = Kernel {
            name: row.name.clone(),
            hash: found.hash.clone(),
            program: found.program.clone(),
            space: found.space.clone(),
            calls: 0,
            roof: machine.roof_of(row),
            features: Some(found.features.clone()),
        };
        kernels.entry(found.hash.clone()).or_insert(own).calls += predicted.runs;
    }
    Ok(kernels.into_values().collect())
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0);
    number.ok_or_else(|| {
        format!("a share of the roof is above 0 and at most 1, such as 0.95, and {text:?} is none")
    })
}

fn append(file: &mut impl Write, path: &Path, record: &Record) -> Result<(), Failure> {
    let line = log::line(record)?;
    file.write_all(line.as_bytes()).and_then(|()| file.flush()).map_err(Failure::file("write", path))
}

#[cfg(test)]
mod tests {
    #[test]
    fn shares_of_the_roof_are_parsed() {
        assert_eq!(super::share("0.95"), Ok(0.95));
        for bad in ["1.5", "0", "-1", "NaN", "much"] {
            let said = super::share(bad).unwrap_err();
            assert!(
                said.starts_with("a share of the roof is above 0 and at most 1") && said.contains(bad),
                "{said}"
            );
        }
    }
}
