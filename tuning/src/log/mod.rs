//! The log: a line of JSON a measurement.
//!
//! ```text
//!   {"version":1,"fusion":"0.1.0","kernel":"9f0c...","name":"fused_dense_0","target":"znver4","threads":1,"seed":1,"trial":3,
//!    "choices":[{"kind":"contraction","stages":["relu"],"knobs":[["rows",6],...]}],"estimate_ps":4825000,"times_ps":[...]}
//! ```
//!
//! Times are whole picoseconds, so that what is read is what was written. A line that breaks off, as that of a program that was ended, is the end.

mod append;
mod best;
mod fit;
mod read;
mod stats;
mod write;

pub use append::append;
pub use best::{Chosen, best};
pub use fit::{Fit, fit};
pub use read::{LogError, read, read_all};
pub use stats::{Stats, stats};
pub use write::{line, write};

use fusion_schedule::auto_schedule::Choice;
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the format.
    pub version: u32,
    /// The version of the compiler.
    pub fusion: String,
    /// The kernel's hash.
    pub kernel: String,
    /// The kernel's name in the model that it was measured for.
    pub name: String,
    /// The processor.
    pub target: String,
    /// Threads that it ran on.
    pub threads: u16,
    /// The seed of the search.
    pub seed: u64,
    /// The number of the measurement in its search.
    pub trial: usize,
    /// What was chosen.
    pub choices: Vec<Choice>,
    /// The estimate, in picoseconds.
    pub estimate_ps: u64,
    /// What the roofline says that it takes at least, in picoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roof_ps: Option<u64>,
    /// What the cost model predicted before, in picoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_ps: Option<u64>,
    /// The features of its loops, in the order of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<f32>,
    /// What a call took, in picoseconds, several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times_ps: Vec<u64>,
    /// Why there are no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether it was measured again, in turn with the default and others of the best.
    #[serde(default, skip_serializing_if = "is_false")]
    pub again: bool,
    /// Whether it is the kernel's default.
    #[serde(default, skip_serializing_if = "is_false")]
    pub default: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Record {
    /// The middle time, in seconds.
    pub fn seconds(&self) -> Option<f64> {
        seconds(&self.times_ps)
    }
}

/// The middle of some times in picoseconds, in seconds; none of no times.
pub fn seconds(times_ps: &[u64]) -> Option<f64> {
    let mut times = times_ps.to_vec();
    times.sort_unstable();
    let last = times.len().checked_sub(1)?;
    Some((times[last / 2] + times[times.len() / 2]) as f64 / 2.0 * 1e-12)
}

/// Seconds as whole picoseconds.
pub fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round().clamp(0.0, u64::MAX as f64) as u64
}
