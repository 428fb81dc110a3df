//! Times from a log in place of measurements: the search must ask for them in the order of the log.

use super::{Measured, Measurer};
use crate::kernel::Kernel;
use crate::log::Record;
use fusion_schedule::auto_schedule::Choice;

/// Why a log does not give the search again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It ends before the search does.
    #[error(
        "the log ends after {0} measurements, and the search goes on; give the trials, seed and options that it was written with"
    )]
    Ends(usize),
    /// It has something else.
    #[error(
        "measurement {at} of the log is of kernel {found:?}, and the search asks for {wanted:?}{choices}; give the model, seed and options that it \
         was written with"
    )]
    Differs {
        /// The number of the record.
        at: usize,
        /// The kernel there.
        found: String,
        /// The kernel wanted.
        wanted: String,
        /// What is said where the kernels are one.
        choices: &'static str,
    },
}

/// A log that is replayed.
pub struct Replay {
    records: Vec<Record>,
    at: usize,
}

impl Replay {
    /// From its beginning.
    pub fn of(records: Vec<Record>) -> Replay {
        Replay { records, at: 0 }
    }

    fn next(&mut self, kernel: &Kernel, choices: &[Choice], again: bool) -> Result<Measured, ReplayError> {
        let at = self.at;
        let record = self.records.get(at).ok_or(ReplayError::Ends(at))?;
        let is_same = record.kernel == kernel.hash && record.again == again;
        if !is_same || record.choices != choices {
            let choices = if is_same { " with other choices" } else { "" };
            let (found, wanted) = (record.name.clone(), kernel.name.clone());
            return Err(ReplayError::Differs { at, found, wanted, choices });
        }
        self.at += 1;
        Ok(match &record.error {
            Some(why) => Err(why.clone()),
            None => Ok(record.times_ps.clone()),
        })
    }
}

impl Measurer for Replay {
    type Error = ReplayError;

    fn measure(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, ReplayError> {
        choices.iter().map(|choices| self.next(kernel, choices, false)).collect()
    }

    fn again(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, ReplayError> {
        choices.iter().map(|choices| self.next(kernel, choices, true)).collect()
    }
}
