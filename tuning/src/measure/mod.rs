//! Measuring: kernels are compiled here, and run in a process of their own, here or on devices of a pool, which may crash, hang or lie.

mod agree;
mod error;
mod local;
mod pool;
mod replay;
mod shop;
pub mod worker;

pub use error::MeasureError;
pub use local::{Local, Running};
pub use pool::{Devices, Pool};
pub use replay::{Replay, ReplayError};

use crate::kernel::Kernel;
use fusion_schedule::auto_schedule::Choice;

/// What a call took, in picoseconds, several times; or why it cannot be known.
pub type Measured = Result<Vec<u64>, String>;

/// Turns of each kernel when the best are measured again.
const TURNS: usize = 6;

/// Measures kernels.
pub trait Measurer {
    /// Why it cannot go on.
    type Error;

    /// Measures a kernel with each of these choices. What a kernel gives is compared with what its default gives.
    fn measure(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, Self::Error>;

    /// Measures a kernel with these choices in turn, several times each.
    fn again(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, Self::Error>;
}
