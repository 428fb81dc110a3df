//! What logs say for a compilation: choices that were measured for its processor, and a sentence for each log that has none.
//!
//! ```text
//!   kernel's hash + processor + threads  ->  the best choices      (the hash holds for any version of the compiler)
//!   another processor, other threads, no measurements  ->  a note: what the log is for, what is compiled for, what to do
//! ```

use super::{Record, best};
use fusion_conversion::tuned::Choices;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What logs say for a compilation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// The best choices by the kernels' hashes, where they are not the defaults.
    pub choices: Choices,
    /// Why a log is not used, a sentence each.
    pub notes: Vec<String>,
}

/// What logs say for a processor. Of a kernel that was measured on several numbers of threads, the given one counts, else the least.
pub fn fit(logs: &[(PathBuf, Vec<Record>)], target: &str, threads: Option<u16>) -> Fit {
    let notes = logs.iter().filter_map(|(path, records)| misfit(path, records, target, threads)).collect();
    let records: Vec<&Record> = logs.iter().flat_map(|(_, records)| records).collect();
    let mut fitting = best::of(&records);
    fitting.retain(|chosen| chosen.target == target && threads.is_none_or(|n| chosen.threads == n));
    fitting.sort_by_key(|chosen| chosen.threads);
    let mut fit = Fit { choices: Choices::default(), notes };
    let mut decided = BTreeSet::new();
    for chosen in fitting {
        // A default that is best on few threads is a decision as well.
        if decided.insert(chosen.kernel.clone()) {
            fit.choices.extend(chosen.choices.map(|(choices, _)| (chosen.kernel, choices)));
        }
    }
    fit
}

/// Why a log has nothing for a compilation.
fn misfit(path: &Path, records: &[Record], target: &str, threads: Option<u16>) -> Option<String> {
    let path = path.display();
    if records.is_empty() {
        return Some(format!(
            "the tuning log {path} has no measurements; write some with `fusion tune MODEL -o {path}`"
        ));
    }
    let own: Vec<&Record> = records.iter().filter(|record| record.target == target).collect();
    if own.is_empty() {
        let targets: BTreeSet<&str> = records.iter().map(|record| record.target.as_str()).collect();
        let targets = targets.into_iter().collect::<Vec<_>>().join(" and ");
        return Some(format!(
            "the tuning log {path} is for the processor {targets}, and the model is compiled for {target}; tune for {target}, or compile for {targets}"
        ));
    }
    let threads = threads.filter(|n| own.iter().all(|record| record.threads != *n))?;
    let measured: BTreeSet<u16> = own.iter().map(|record| record.threads).collect();
    let measured = measured.iter().map(u16::to_string).collect::<Vec<_>>().join(" and ");
    Some(format!(
        "the tuning log {path} was measured on {measured} threads, and --tuning-threads asks for {threads}; tune with --threads {threads}, or leave \
         --tuning-threads away"
    ))
}
