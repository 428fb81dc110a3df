//! Remarks of `te-schedule`: of each kernel the kinds that matched, with their estimates.

use super::choice::Choice;
use super::cover::Candidate;
use super::kind::Kernel;
use crate::schedule::Schedule;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What could compute some nests of a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KindRemark {
    /// The name of the kind.
    pub kind: String,
    /// The stages of the nests.
    pub stages: Vec<String>,
    /// The values of its knobs that take least.
    pub config: Vec<(String, i64)>,
    /// Seconds with them, as estimated.
    pub seconds: f64,
    /// True for what was chosen.
    pub chosen: bool,
}

/// The remarks of a module, by the names of kernels.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ScheduleRemarks {
    /// Those of each kernel.
    pub kernels: BTreeMap<String, Vec<KindRemark>>,
}

impl ScheduleRemarks {
    /// Writes them into a file; the error is a sentence.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string(self).map_err(|error| error.to_string())?;
        let failed =
            |error| format!("cannot write the remarks of te-schedule to {}: {error}", path.display());
        std::fs::write(path, text).map_err(failed)
    }

    /// Reads them from a file that `te-schedule` wrote; the error is a sentence.
    pub fn read(path: &Path) -> Result<ScheduleRemarks, String> {
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot read the remarks of te-schedule: {error}");
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        serde_json::from_str(&text).map_err(|error| failed(&error))
    }
}

/// The remarks on some candidates, of which those at some places were chosen.
pub(super) fn of(
    candidates: &[Candidate],
    chosen: &[usize],
    tree: &Schedule,
    kernel: &Kernel,
) -> Vec<KindRemark> {
    let remark = |(at, candidate): (usize, &Candidate)| {
        let Choice { kind, stages, knobs: config, .. } = Choice::of(candidate, tree, kernel);
        KindRemark { kind, stages, config, seconds: candidate.seconds, chosen: chosen.contains(&at) }
    };
    candidates.iter().enumerate().map(remark).collect()
}
