//! Devices, and what is held against them. That goes by name, and stays when a device goes and comes again.

use super::job::JobId;
use fusion_pool_protocol::messages::{DeviceStatus, Register};

/// Verdicts after which a device is set aside.
const MOST_WRONG: u64 = 2;
/// Jobs in a row that a device may be lost with.
const MOST_LOST: u64 = 3;

/// The number of a device: another one each time it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u64);

/// A device that is there.
#[derive(Debug)]
pub struct Device {
    /// What it says of itself.
    pub says: Register,
    /// The job that it runs.
    pub job: Option<JobId>,
}

/// What is known of a name.
#[derive(Clone, Debug, Default)]
pub struct Record {
    done: u64,
    wrong: u64,
    lost: u64,
    lost_in_row: u64,
    wrong_since: u64,
}

impl Record {
    /// Why it gets no jobs.
    pub fn set_aside(&self) -> Option<String> {
        if self.wrong_since >= MOST_WRONG {
            return Some(format!("it gave wrong numbers for {} jobs", self.wrong_since));
        }
        (self.lost_in_row >= MOST_LOST)
            .then(|| format!("it was lost with {} jobs in a row", self.lost_in_row))
    }

    /// It ended a job.
    pub fn ended(&mut self) {
        self.done += 1;
        self.lost_in_row = 0;
    }

    /// It was lost with a job.
    pub fn was_lost(&mut self) {
        self.lost += 1;
        self.lost_in_row += 1;
    }

    /// It gave wrong numbers.
    pub fn was_wrong(&mut self) {
        self.wrong += 1;
        self.wrong_since += 1;
    }

    /// It gets jobs again.
    pub fn forget(&mut self) {
        self.lost_in_row = 0;
        self.wrong_since = 0;
    }

    /// As it is shown.
    pub fn status(&self, says: &Register, busy: bool) -> DeviceStatus {
        DeviceStatus {
            device: Some(says.clone()),
            busy,
            set_aside: self.set_aside().unwrap_or_default(),
            done: self.done,
            wrong: self.wrong,
            lost: self.lost,
        }
    }
}
