//! `fusion tune best`, `stats` and `merge`: what logs have.

use crate::commands::output;
use crate::failure::Failure;
use crate::print;
use crate::report::html::tuning;
use crate::report::table::{Align, table};
use clap::Args;
use fusion_runtime::output::write;
use fusion_tuning::log::{self, Chosen, Record, Stats};
use std::path::{Path, PathBuf};

/// Logs to read.
#[derive(Debug, Args)]
pub struct Logs {
    /// The logs.
    #[arg(required = true, value_name = "LOG.jsonl")]
    logs: Vec<PathBuf>,
}

/// Logs to tell of.
#[derive(Debug, Args)]
pub struct Statistics {
    #[command(flatten)]
    logs: Logs,

    /// Write a page for the browser as well: curves of the best, predictions beside times, what the best changed, and which features tell the times.
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
}

/// Logs to read, and one to write.
#[derive(Debug, Args)]
pub struct Merge {
    #[command(flatten)]
    logs: Logs,

    /// The log to write, which may be one of them.
    #[arg(short, long, value_name = "LOG.jsonl")]
    output: PathBuf,
}

impl Logs {
    /// All their measurements.
    pub fn read(&self) -> Result<Vec<Record>, Failure> {
        Ok(log::read_all(&self.logs)?)
    }

    /// `fusion tune best`.
    pub fn best(&self) -> Result<(), Failure> {
        print::line(best_of(&log::best(&self.read()?)))
    }
}

impl Statistics {
    /// `fusion tune stats`.
    pub fn run(&self) -> Result<(), Failure> {
        let records = self.logs.read()?;
        write_page(self.html.as_deref(), &records)?;
        print::line(stats_of(&log::stats(&records)))
    }
}

/// Writes measurements as a page, where one is wanted.
pub fn write_page(file: Option<&Path>, records: &[Record]) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    write(file, tuning::page(records).as_bytes()).map_err(Failure::file("write", file))
}

impl Merge {
    /// `fusion tune merge`.
    pub fn run(&self) -> Result<(), Failure> {
        output::can_be_written(&self.output)?;
        Ok(log::write(&self.output, &self.logs.read()?)?)
    }
}

/// What was found, a line a kernel.
pub fn best_of(all: &[Chosen]) -> String {
    let row = |chosen: &Chosen| [&key(chosen)[..], &times(chosen)].concat();
    lines(
        &["kernel", "processor", "threads", "trials", "default us", "best us", "ratio"],
        all.iter().map(row),
    )
}

/// What there is of each kernel, a line each, and the reasons of failures below.
fn stats_of(all: &[Stats]) -> String {
    let row = |stats: &Stats| {
        let versions = stats.versions.iter().cloned().collect::<Vec<_>>().join(", ");
        let failed = stats.failed.values().sum::<usize>().to_string();
        let counts = [versions, stats.again.to_string(), failed];
        [&key(&stats.chosen)[..], &counts, &times(&stats.chosen)].concat()
    };
    let names = [
        "kernel",
        "processor",
        "threads",
        "fusion",
        "again",
        "failed",
        "trials",
        "default us",
        "best us",
        "ratio",
    ];
    let mut text = lines(&names, all.iter().map(row));
    for stats in all.iter().filter(|stats| !stats.failed.is_empty()) {
        let reasons = stats.failed.iter().map(|(why, times)| format!("{times} times {why}"));
        let reasons = reasons.collect::<Vec<_>>().join(", ");
        text += &format!("\n{} failed: {reasons}", stats.chosen.name);
    }
    text
}

fn key(chosen: &Chosen) -> [String; 3] {
    [chosen.name.clone(), chosen.target.clone(), chosen.threads.to_string()]
}

fn times(chosen: &Chosen) -> [String; 4] {
    let us = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{:.3}", s * 1e6));
    let gain = chosen.gain().map_or("-".to_owned(), |gain| format!("{gain:.2}"));
    [chosen.trials.to_string(), us(chosen.default), us(chosen.seconds()), gain]
}

/// A table whose names and processors are words, and whose other columns are numbers.
fn lines(names: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let aligns: Vec<Align> =
        (0..names.len()).map(|n| if n < 2 { Align::Left } else { Align::Right }).collect();
    let head = names.iter().map(|&name| name.to_owned()).collect();
    table(&aligns, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
}
