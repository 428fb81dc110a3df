//! What was measured before, of other kernels and on other machines, from logs that have the features of loops.

use crate::log::{LogError, Record, read};
use fusion_conversion::features::Features;
use indexmap::IndexSet;
use std::path::{Path, PathBuf};

/// A measurement of another kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// The number of the kernel: those of one are compared with each other, on one machine and number of threads.
    pub kernel: usize,
    /// The features of its loops.
    pub loops: Vec<f32>,
    /// The logarithm of the estimate in seconds.
    pub log_estimate: f64,
    /// The logarithm of the seconds.
    pub log_seconds: f64,
}

/// Why logs start no search.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// A log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A directory cannot be read.
    #[error("cannot read the directory {}: {why}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        why: std::io::Error,
    },
    /// There is no log in a directory.
    #[error("the directory {} has no tuning log (*.jsonl); name one that has, or a log", .0.display())]
    NoLogs(PathBuf),
    /// Nothing in them can be learned from.
    #[error(
        "the {0} measurements of --warm-start have no features of loops as this version of the compiler tells them; give logs that it wrote"
    )]
    NoFeatures(usize),
}

/// The logs that are named: files, and all of a directory.
pub fn named_logs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, PastError> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let found = in_directory(path).map_err(|why| PastError::Directory { path: path.clone(), why })?;
        if found.is_empty() {
            return Err(PastError::NoLogs(path.clone()));
        }
        all.extend(found);
    }
    Ok(all)
}

fn in_directory(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries: std::io::Result<Vec<PathBuf>> =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
    let mut logs = entries?;
    logs.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    logs.sort();
    Ok(logs)
}

/// What logs, and those in directories, have of kernels.
pub fn from_logs(paths: &[PathBuf]) -> Result<Vec<Past>, PastError> {
    let mut records = Vec::new();
    for path in named_logs(paths)? {
        records.extend(read(&path)?);
    }
    let all = past(&records);
    if all.is_empty() { Err(PastError::NoFeatures(records.len())) } else { Ok(all) }
}

/// Measurements with features, each time of the first turn.
pub(super) fn past(records: &[Record]) -> Vec<Past> {
    let width = Features::names().len();
    let mut kernels: IndexSet<(&str, &str, u16)> = IndexSet::new();
    let whole = records
        .iter()
        .filter(|record| !record.again && record.loops.len() == width && record.estimate_ps > 0);
    let of_record = |record: &'_ Record, kernel| {
        let log_estimate = (record.estimate_ps as f64 * 1e-12).ln();
        let log_seconds = record.seconds().filter(|seconds| *seconds > 0.0)?.ln();
        Some(Past { kernel, loops: record.loops.clone(), log_estimate, log_seconds })
    };
    let mut all = Vec::new();
    for record in whole {
        let (kernel, _) = kernels.insert_full((&record.kernel, &record.target, record.threads));
        all.extend(of_record(record, kernel));
    }
    all
}
