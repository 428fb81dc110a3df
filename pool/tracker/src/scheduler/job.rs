//! Jobs, and why one does not run.

use fusion_pool_protocol::messages::Register;

/// The number of a job. Older ones are smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// A job that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its number.
    pub id: JobId,
    /// Who wants it.
    pub client: String,
    /// The kind of devices.
    pub key: String,
    /// The most urgent of a client come first.
    pub priority: u32,
    /// Devices that it shall not run on.
    pub not_on: Vec<String>,
    /// Those of them that were lost with it.
    pub lost_with: Vec<String>,
    /// Whether the client still waits for it.
    pub is_wanted: bool,
}

impl Waiting {
    /// Whether a device is one for this job.
    pub fn may_run_on(&self, device: &Register) -> bool {
        device.key == self.key && !self.not_on.contains(&device.name)
    }
}

/// Why something is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Refusal {
    #[error(
        "the pool has no device of key {key:?}{}; {}",
        if lost_with.is_empty() { String::new() } else { format!(" any more, after {} was lost with the job", lost_with.join(", ")) },
        if keys.is_empty() { "it has none at all".to_owned() } else { format!("its keys are {}", keys.join(", ")) }
    )]
    NoKey { key: String, keys: Vec<String>, lost_with: Vec<String> },
    #[error("no device of key {key:?} takes the job: {}", why.join("; "))]
    NoneLeft { key: String, why: Vec<String> },
    #[error("{0} of this client's jobs wait already, and no more may; wait for some to end")]
    TooMany(usize),
    #[error(
        "there is a device {0:?} in the pool already; give another name with --name, or wait until the pool has noticed that it is gone"
    )]
    NameTaken(String),
    #[error("job {} is none of this client's that ended lately and was not judged yet", .0.0)]
    NotYours(JobId),
    #[error("no device {0:?} has been in the pool")]
    NoDevice(String),
}
